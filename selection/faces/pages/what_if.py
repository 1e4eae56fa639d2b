"""What would be if manifests were applied, other ones, or gone: pasted or uploaded, judged, and not kept."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from ome_dashboard.throttling import count_page
from selection.cluster.pasted import Refusal, read_pasted
from selection.faces.pages.errors import missing_object
from selection.faces.supposing import deletions_in, limits
from selection.faces.what_if_results import echo, prefilled, result_values
from selection.rules.semantics import V1_3, VERSIONS
from selection.store.lookup import find_cluster
from selection.store.models import Cluster
from selection.store.what_if import Supposed, suppose

__all__ = ["what_if"]

_OVERHEAD = 512 * 1024
"""Bytes of a form besides the manifests: what is to be deleted, and what stands between the parts."""


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@csrf_exempt
def what_if(request: HttpRequest) -> HttpResponse:
    """``/what-if/``; ``?cluster=`` chooses one, ``?from=Kind/scope/name`` gives its manifest to begin with.

    The size is looked at before anything of the body is read, and so before the token against forged requests.
    """
    if request.method == "POST":
        if _length(request) > settings.WHAT_IF_BYTES + _OVERHEAD:
            refusal = Refusal("too-large", f"larger than {settings.WHAT_IF_BYTES:,} bytes: not read")
            return render(request, "what_if/page.html", {**_choices(), "refusals": [refusal]}, status=413)
        request.upload_handlers = [_InMemory(request)]
        return _asked(request)
    return _opened(request)


def _length(request: HttpRequest) -> int:
    length = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(length) if length.isdecimal() and len(length) < 15 else 0


class _InMemory(MemoryFileUploadHandler):
    """Keeps an upload in memory, for its size is known to be small enough: no manifest comes to lie on a disk."""

    def handle_raw_input(self, *args: Any, **options: Any) -> None:
        """Take every upload."""
        super().handle_raw_input(*args, **options)
        self.activated = True


def _choices() -> dict[str, Any]:
    return {
        "clusters": list(Cluster.objects.order_by("name").values_list("name", flat=True)),
        "versions": sorted(VERSIONS, reverse=True),
        "version": V1_3.version,
        "most": settings.WHAT_IF_BYTES,
    }


@csrf_protect
def _opened(request: HttpRequest) -> HttpResponse:
    choices = _choices()
    named = request.GET.get("cluster", "")
    cluster = find_cluster(named) if named else None
    if named and cluster is None:
        return missing_object(request, named, "Cluster", "", named)
    choices["chosen"] = named if named or "cluster" in request.GET else next(iter(choices["clusters"]), "")
    if cluster is not None and (begun := request.GET.getlist("from")[:20]):
        choices["manifests"], choices["missing"] = prefilled(cluster, begun)
    return render(request, "what_if/page.html", choices)


@csrf_protect
@sensitive_post_parameters("manifests", "delete")
def _asked(request: HttpRequest) -> HttpResponse:
    if wait := count_page(request, "what-if"):
        values = {**_choices(), "chosen": request.POST.get("cluster", ""), "wait": wait, "asked": True}
        answer = render(request, "what_if/page.html", values, status=429)
        answer.headers["Retry-After"] = str(wait)
        return answer
    asked = request.POST
    named, version = asked.get("cluster", ""), asked.get("version", "")
    cluster = find_cluster(named) if named else None
    if named and cluster is None:
        return missing_object(request, named, "Cluster", "", named)
    given = _given(request)
    gone = deletions_in(asked.get("delete", ""))
    if isinstance(given, Refusal):
        supposed = Supposed(None, (given, *gone.refusals))
    else:
        pasted = read_pasted(given, limits=limits())
        refusals = (*pasted.refusals, *gone.refusals)
        supposed = (
            Supposed(None, refusals, (*pasted.told, *gone.told))
            if refusals
            else suppose(cluster, pasted, gone.refs, version=version if version in VERSIONS else None, told=gone.told)
        )
    values = {
        **_choices(),
        "chosen": named,
        "version": supposed.answer.version if supposed.answer else version,
        "refusals": supposed.refusals,
        "told": supposed.told,
        "asked": True,
    }
    if supposed.answer is not None:
        values |= result_values(cluster, supposed.answer, asked)
        if "HX-Request" not in request.headers:  # a page that is drawn anew; else the fields stay as they are
            values |= {"manifests": echo(supposed.manifests), "deletions": _lines(gone.refs)}
    too_large = any(each.code == "too-large" for each in supposed.refusals)
    return render(request, "what_if/page.html", values, status=413 if too_large else 422 if supposed.refusals else 200)


def _given(request: HttpRequest) -> str | bytes | Refusal:
    """The text of the field or of the file."""
    text = request.POST.get("manifests", "")
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile):
        return text
    if text.strip():
        return Refusal("document", "a text and a file are given: empty one of them")
    return bytes(file.read())


def _lines(refs: Any) -> str:
    return "\n".join(f"{ref.kind} {ref.namespace}/{ref.name}" if ref.namespace else str(ref) for ref in refs)
