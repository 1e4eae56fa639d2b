"""An object's manifest as it was read, with the lines that decide."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.links import CLUSTER_SCOPE, manifest_url, object_url
from selection.faces.manifests import annotated_lines, manifest_text, marks_of
from selection.faces.pages.errors import missing_object
from selection.store.lookup import find_object
from selection.store.models import KindSync

__all__ = ["object_page"]

LONGEST = 5000
"""Lines that are shown; a longer manifest is for downloading."""


@require_GET
def object_page(request: HttpRequest, cluster: str, kind: str, scope: str, name: str) -> HttpResponse:
    """The manifest as YAML, secrets replaced as they are stored.

    ``?download=1`` sends it as a file; ``?mark=`` (paths, separated by ``|``) marks further lines.
    """
    namespace = "" if scope == CLUSTER_SCOPE else scope
    found = find_object(cluster, kind, namespace, name)
    if found is None:
        return missing_object(request, cluster, kind, namespace, name)
    text = manifest_text(found.manifest)
    if request.GET.get("download"):
        file = "-".join(part for part in (kind.lower(), namespace, name) if part)
        return HttpResponse(
            text + "\n",
            content_type="application/yaml",
            headers={"Content-Disposition": f'attachment; filename="{_safe(file)}.yaml"'},
        )
    asked = [path for path in request.GET.get("mark", "").split("|")[:100] if path]
    marks = marks_of(kind, text, asked, found.problem_path)
    lines = list(annotated_lines(text, marks))
    page = object_url(cluster, kind, namespace, name)
    return render(
        request,
        "objects/page.html",
        {
            "object": found,
            "cluster": found.cluster,
            "page_url": page if page != manifest_url(cluster, kind, namespace, name) else "",
            "marks": marks,
            "asked_line": min((mark.first for mark in marks if mark.path in asked), default=0),
            "lines": lines[:LONGEST],
            "hidden_lines": max(0, len(lines) - LONGEST),
            "kind_sync": KindSync.objects.filter(cluster=found.cluster, kind=kind).first(),
        },
    )


def _safe(name: str) -> str:
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in ".-_") else "_" for letter in name)
