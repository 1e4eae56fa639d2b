"""Findings: everything that is to be said of the objects, as one list and each on a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.discussing import discussion_of
from selection.faces.filters_findings import FindingFilter, asked_state
from selection.faces.handled import HANDLED, handled_rows
from selection.faces.lists import Column, Group, Listing, ListState, show_list
from selection.faces.pages.handling import handled_values
from selection.faces.words import word
from selection.people.handlings import handlings_of
from selection.people.models import ActRecord
from selection.people.persons import person_of
from selection.people.rights import Act, may_somewhere
from selection.people.subjects import finding_subject
from selection.rules.codes import CODES
from selection.rules.objects import ObjectRef
from selection.store.findings import Seen, code_counts, find_finding, findings_about, in_state, seen_of
from selection.store.models import FindingEvent
from selection.store.severities import grade_of

__all__ = ["FINDINGS", "finding", "findings"]

TOLD = 50
"""So many of the last acts stand on a finding's page."""

MANY = 12
"""With more codes than this they are offered by family first."""

FINDINGS = Listing(
    name="findings",
    noun="finding",
    filters=FindingFilter,
    columns=(
        Column("severity", "Severity", ("urgency", "code"), "severity"),
        Column("code", "Finding", ("code",), "code"),
        Column("cluster", "", value="cluster.name"),
        Column("kind", "", value="kind"),
        Column("namespace", "", value="namespace"),
        Column("name", "Object", ("name", "namespace", "cluster__name"), "name"),
        Column("path", "", value="path"),
        Column("what", "What it is, and what to do"),
        Column("people", "Decision"),
        Column("seen", "Since", ("-first_seen",)),
        Column("facts", "", value="facts"),
        Column("key", "", value="key"),
        Column("family", "", value="family"),
        Column("component", "", value="component"),
        Column("about", "", value="about"),
        Column("state", "", value="state"),
        Column("first_seen", "", value="first_seen"),
        Column("changed_at", "", value="changed_at"),
        Column("came_back", "", value="came_back"),
        Column("came_back_at", "", value="came_back_at"),
        Column("gone_at", "", value="gone_at"),
        Column("evidence", "", value="evidence"),
        *HANDLED,
    ),
    row="findings/row.html",
    empty="findings/empty.html",
    sort="severity",
    groups={
        "severity": Group("severity", ("severity",), ("urgency",), "severity"),
        "code": Group("finding", ("code",), ("urgency",), "code"),
        "cluster": Group("cluster", ("cluster__name",)),
        "namespace": Group("namespace", ("namespace",)),
        "object": Group("object", ("cluster__name", "kind", "namespace", "name")),
    },
    summary="findings/summary.html",
)


@require_GET
def findings(request: HttpRequest) -> HttpResponseBase:
    """The page of findings, ``/findings/``."""
    asked = request.GET
    state = asked_state(asked.get("state", ""), asked.get("decision", ""))
    rows = in_state(handled_rows(), state, asked.get("severity", ""))
    return show_list(request, FINDINGS, rows, "findings/page.html", _summary)


def _summary(state: ListState) -> dict[str, Any]:
    """The count of each code, or of each family where there are many codes; it counts what the other filters leave."""
    counts = code_counts(state.narrowed_without("code"))
    asked = state.query.get("code", "")
    if not asked:  # then nothing has to count again
        state.counted = sum(count for _, count in counts.values())
    codes = [(code, word("severity", severity), count, code == asked) for code, (severity, count) in counts.items()]
    families: dict[str, int] = {}
    if len(counts) > MANY and not asked and not state.query.get("family"):
        for code, (_, count) in counts.items():
            if code in CODES:
                families[CODES[code].family] = families.get(CODES[code].family, 0) + count
    return {
        "codes": [] if families else codes,
        "families": families,
        "all_codes": sum(each[2] for each in codes),
        "may_decide": may_somewhere(person_of(state.request), Act.DECIDE),
    }


def _past(acts: Sequence[ActRecord], seen: Seen) -> list[tuple[datetime, ActRecord | None, FindingEvent | None]]:
    """What people did and what became of the finding, the newest first; what it was first is told apart."""
    done: list[tuple[datetime, ActRecord | None, FindingEvent | None]] = [(act.at, act, None) for act in acts]
    became = [(event.at, None, event) for event in seen.events]
    return sorted([*done, *became], key=lambda each: each[0], reverse=True)


@require_GET
def finding(request: HttpRequest, key: str) -> HttpResponse:
    """The page of one finding, ``/findings/<key>/``: what, why, since when, what it rests on, and what to do."""
    found = find_finding(key)
    if found is None:
        raise Http404("There is no such finding, or it is gone for longer than findings are kept.")
    ref = ObjectRef(found.kind, found.namespace, found.name)
    others = [each for each in findings_about(found.cluster, ref) if each.pk != found.pk]
    discussion = discussion_of(request, finding_subject(found), acts=TOLD)
    seen = seen_of(found)
    values = {
        "finding": found,
        "cluster": found.cluster,
        "ref": ref,
        "seen": seen,
        "discussion": discussion,
        "past": _past(discussion.acts, seen),
        **handled_values(request, found, handlings_of([found]).get(found.key)),
        "grade": grade_of(found.code),
        "others": others,
    }
    return render(request, "findings/finding.html", values)
