"""The severities of findings, as this installation sets them: who may change them, and everybody sees them."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from selection.people.grading import grade
from selection.people.persons import person_of
from selection.people.rights import Act, may
from selection.people.writing import Writer
from selection.rules.codes import CODES, SETTABLE
from selection.store.findings import finding_rows
from selection.store.severities import Graded, grades

__all__ = ["severities"]

DEFAULT = "default"
"""What the form says for the severity that a code has by itself."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A code with how many findings are there that have it, also those that are off."""

    grade: Graded
    count: int


@require_http_methods(["GET", "HEAD", "POST"])
def severities(request: HttpRequest) -> HttpResponse:
    """The page of the severities, ``/findings/severities/``: who is an admin everywhere may change them."""
    person = person_of(request)
    allowed = may(person, Act.GRADE)
    if request.method == "POST":
        if not allowed:
            raise PermissionDenied
        return _saved(request, Writer(person, "page"))
    present = finding_rows().filter(gone_at=None).order_by().values_list("code")
    counts = dict(present.annotate(rows=Count("pk")))
    lines = [_Line(each, counts.get(each.code.code, 0)) for each in grades()]
    values = {"lines": lines, "allowed": allowed, "settable": SETTABLE, "default": DEFAULT}
    return render(request, "findings/severities.html", values)


def _saved(request: HttpRequest, by: Writer) -> HttpResponse:
    """Set what differs from what is in force, and say how many findings that graded anew."""
    reason = request.POST.get("reason", "").strip()
    changed = graded = 0
    for each in grades():
        asked = request.POST.get(each.code.code, "")
        said = each.setting.severity if each.setting else DEFAULT
        if asked in (*SETTABLE, DEFAULT) and asked != said:
            graded += grade(by, each.code.code, "" if asked == DEFAULT else asked, reason=reason)
            changed += 1
    told = [request.POST.get(code) or DEFAULT for code in CODES]
    unknown = [each for each in told if each not in (*SETTABLE, DEFAULT)]
    if unknown:
        messages.error(request, f"{unknown[0][:40]} is no severity.", extra_tags="bad")
    if changed or not unknown:
        codes, rows = _counted(changed, "code"), _counted(graded, "finding")
        messages.success(request, f"{codes} changed, {rows} graded anew.", extra_tags="good")
    return redirect("severities")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
