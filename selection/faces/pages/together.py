"""Many findings at once: a preview of what that touches, doing it, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from selection.faces.filters_findings import FindingFilter, asked_state
from selection.faces.handled import handled_rows, standing_of
from selection.faces.handling_forms import TogetherForm
from selection.faces.subjects_shown import shown_subjects
from selection.people.handlings import Wish, handle_many, undo
from selection.people.models import ActRecord, Handling
from selection.people.persons import Person, person_of
from selection.people.record import Reader
from selection.people.rights import Act, may, may_somewhere
from selection.people.standings import Standing
from selection.people.writing import Refused, Stale, Writer
from selection.store.findings import in_state
from selection.store.models import Finding

__all__ = ["MOST", "done_together", "together"]

MOST = 500
"""So many findings are handled at once."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A finding of the preview: as it is, and as it would be.

    Attributes:
        finding: it.
        now: where it stands.
        version: what is seen of it, so that nothing is overwritten unseen.
        owner: who would own it.
        state: where it would stand, ``""`` where that stays.
        touched: whether anything would change.
    """

    finding: Finding
    now: Standing
    version: int
    owner: str
    state: str
    touched: bool


@require_http_methods(["GET", "HEAD", "POST"])
def together(request: HttpRequest) -> HttpResponse:
    """Handle many findings, ``/findings/together/``.

    They are named by ``key``, or with ``all`` they are those that the filters of the list leave. ``do=preview`` shows
    what would become of each, ``do=save`` does it, as long as each is still as it was seen.
    """
    person = person_of(request)
    if not may_somewhere(person, Act.DECIDE):
        raise PermissionDenied
    if request.method != "POST":
        rows, total = _chosen(request)
        return _page(request, person, rows, TogetherForm(), total=total)
    told = [each.rpartition(":") for each in request.POST.getlist("key")[: MOST + 1]]
    seen = {key: int(version) for key, _, version in told if version.isdecimal() and len(version) < 9}
    rows = list(handled_rows().filter(key__in=list(seen)[:MOST]))
    form = TogetherForm(request.POST)
    if not form.is_valid():
        return _page(request, person, rows, form, status=400)
    wish = form.wish()
    if request.POST.get("do") != "save":
        return _page(request, person, rows, form, wish)
    allowed = [row for row in rows if _may(person, row)]
    try:
        done = handle_many(Writer(person, "page"), allowed, wish, seen)
    except Refused as error:
        form.add_error(error.field if error.field in form.fields else None, f"{str(error).capitalize()}.")
        return _page(request, person, rows, form, status=400)
    except Stale:
        rows = list(handled_rows().filter(key__in=list(seen)))
        return _page(request, person, rows, form, wish, status=409, stale=True)
    return _leads_to_what_was_done(request, done)


def _leads_to_what_was_done(request: HttpRequest, done: Sequence[Handling]) -> HttpResponse:
    last = ActRecord.objects.filter(subject__in=[f"finding:{row.key}" for row in done]).exclude(batch="").first()
    if last is None:
        messages.info(request, "Nothing had to change.")
        return redirect("findings")
    messages.success(request, "It is done.", extra_tags="good saved")
    return redirect("done-together", last.batch)


def _chosen(request: HttpRequest) -> tuple[list[Finding], int]:
    """The findings that a link or the list's form names, at most :data:`MOST`, and how many there are."""
    asked = request.GET
    if "all" not in asked:
        keys = list(dict.fromkeys(asked.getlist("key")))[:MOST]
        rows = list(handled_rows().filter(key__in=keys))
        return rows, len(rows)
    state = asked_state(asked.get("state", ""), asked.get("decision", ""))
    filters = FindingFilter(asked, queryset=in_state(handled_rows(), state, asked.get("severity", "")), request=request)
    if not filters.form.is_valid():
        raise Http404("A filter holds a value that can't be read.")
    return list(filters.qs[:MOST]), filters.qs.count()


def _may(person: Person, row: Finding) -> bool:
    return may(person, Act.DECIDE, row.cluster.name, row.namespace)


def _page(
    request: HttpRequest, person: Person, rows: Sequence[Finding], form: TogetherForm, wish: Wish | None = None, *,
    status: int = 200, total: int | None = None, stale: bool = False,
) -> HttpResponse:  # fmt: skip
    lines = [_line(row, wish or Wish()) for row in rows if _may(person, row)]
    values = {
        "form": form,
        "lines": lines,
        "touched": sum(line.touched for line in lines),
        "apart": [row for row in rows if not _may(person, row)],
        "preview": wish is not None,
        "stale": stale,
        "total": len(rows) if total is None else total,
        "most": MOST,
    }
    return render(request, "findings/together.html", values, status=status)


def _line(row: Finding, wish: Wish) -> _Line:
    now = standing_of(row)
    known = now.handling or Handling(key=row.key, version=0)
    owner = known.owner if wish.owner is None else wish.owner
    state = "" if wish.state is None else "fixed" if now.state == "fixed" else wish.state
    accepting = wish.state == Handling.State.ACCEPTED
    decided = wish.state is not None and (
        accepting or (known.state, known.reason) != (wish.state, (wish.reason or "").strip())
    )
    return _Line(row, now, known.version, owner, state, owner != known.owner or decided)


@require_http_methods(["GET", "HEAD", "POST"])
def done_together(request: HttpRequest, batch: str) -> HttpResponse:
    """What was done as one, ``/findings/together/<batch>/``; a POST takes it back."""
    acts = list(ActRecord.objects.filter(batch=batch).order_by("pk"))
    if not acts:
        raise Http404("Nothing was done under that number, or you may not see it.")
    person = person_of(request)
    allowed = all(may(person, Act.DECIDE, act.cluster, act.namespace) for act in acts)
    if request.method == "POST":
        if not allowed:
            raise PermissionDenied
        try:
            undo(Writer(person, "page"), batch)
        except Refused as error:
            messages.error(request, f"{str(error)[:1].upper()}{str(error)[1:]}.", extra_tags="bad")
            return redirect("done-together", batch)
        messages.success(request, "It is taken back.", extra_tags="good")
        newest = ActRecord.objects.filter(subject=acts[0].subject).exclude(batch="").first()
        return redirect("done-together", newest.batch if newest else batch)
    values = {
        "acts": acts,
        "first": acts[0],
        "batch": batch,
        "shown": shown_subjects(act.subject for act in acts),
        "reader": Reader(person, acts),
        "allowed": allowed,
        "standing_still": _stands(acts),
        "when": timezone.now(),
    }
    return render(request, "findings/done.html", values)


def _stands(acts: Sequence[ActRecord]) -> bool:
    """Whether nobody did anything with one of them since. One query."""
    since = ActRecord.objects.filter(subject__in={act.subject for act in acts}, pk__gt=acts[0].pk)
    done = ("owned", "decided", "handled", "undone")
    return not since.filter(act__in=done).exclude(batch=acts[0].batch).exists()
