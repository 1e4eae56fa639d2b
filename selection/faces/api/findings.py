"""Findings: everything that is to be said of the objects."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from django.db.models import QuerySet

from selection.faces.api.handlings import HandlingShape, handling_value
from selection.faces.api.lists import ListView, More, list_shape, row_value
from selection.faces.api.paths import address
from selection.faces.api.problems import NotFound
from selection.faces.api.shapes import Shape, mapped, moment, number, text, whole
from selection.faces.api.states import of_answers, of_people
from selection.faces.api.views import ReadView
from selection.faces.handled import handled_rows
from selection.faces.pages.findings import FINDINGS
from selection.faces.telling import plainly_told
from selection.people.handlings import handlings_of
from selection.rules.codes import SETTABLE
from selection.store.models import Finding

__all__ = ["FindingDetail", "FindingList"]


class FindingRowShape(Shape):
    """A finding about an object."""

    severity = text(f"One of {', '.join(SETTABLE)}.")
    code = text("What it is; docs/rules/findings.md has the codes.")
    cluster = text("The cluster.")
    kind = text("The object's kind.")
    namespace = text('The object\'s namespace, `""` for a cluster-scoped one.')
    name = text("The object's name.")
    path = text("The field.")
    facts = mapped("What there is to say of it.")
    key = text("What it is known by, whatever becomes of the object; part of its page's address.")
    family = text("What kind of finding it is; docs/rules/findings.md has the families.")
    component = text('`engine`, `decoder`, `router`, or `""` for the whole object.')
    about = text("What else tells it apart: another object, an entry, a field, a mode.")
    state = text("`present`, `back` when it was gone and is there again, or `gone`.")
    first_seen = moment("When it was first seen.")
    changed_at = moment("When what it rests on last became another.", null=True)
    came_back = number("How often it came back after it was gone.")
    came_back_at = moment("When it last came back.", null=True)
    gone_at = moment("When it went.", null=True)
    evidence = text("A digest of what it rests on.")
    decision = text("Where it stands with people: `open`, `in-progress`, `accepted`, or `fixed` when it is gone.")
    lapsed = text('Why it isn\'t accepted any more: `expired`, `evidence-changed`, or `""`.')
    owner = text('Who looks after it, `""` for nobody.')
    reason = text("Why it was decided so.")
    expires_on = text("The last day on which an acceptance holds, such as `2026-12-31`.", null=True)
    decided_by = text('Who decided, `""` when nobody has.')
    decided_at = moment("When that was.", null=True)
    version = number("The version of what people wrote of it, 0 for nothing: send it back when you write.")
    what = text("What it is, for people: the words may change.")
    next = text("What to do, for people: the words may change.")
    self = text("The path of this resource.")


def _what(row: Finding) -> str:
    return plainly_told(row, row.cluster.name)


def _next(row: Finding) -> str:
    return plainly_told(row, row.cluster.name, "next")


def _version(row: Finding) -> int:
    told = getattr(row, "handled", None)
    return told["version"] if told else 0


MORE: More = {
    "version": _version,
    "what": _what,
    "next": _next,
    "self": lambda row: address("finding", {"key": row.key}),
}


class FindingDetailShape(FindingRowShape):
    """A finding, and what people do with it."""

    handling = whole(HandlingShape, "What people do with it.")


class FindingList(ListView):
    """List findings."""

    operation, tag = "listFindings", "findings"
    row, shape = FindingRowShape, list_shape(FindingRowShape)
    listing = FINDINGS
    more = MORE
    identity = ("cluster__name", "kind", "namespace", "name", "code", "key")
    by = "cluster, kind, namespace, name and code"

    def state(self, **names: str) -> Hashable:
        """What it follows from: the clusters, what people did, and the day on which acceptances end."""
        return of_answers(), of_people()

    def rows(self, **names: str) -> QuerySet[Finding]:
        """Every finding that is seen."""
        return handled_rows()


class FindingDetail(ReadView):
    """Read a finding."""

    operation, tag, shape = "readFinding", "findings", FindingDetailShape

    def state(self, **names: str) -> Hashable:
        """As for the list."""
        return of_answers(), of_people()

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The finding's row, and what people do with it."""
        found = handled_rows().filter(key=names["key"]).first()
        if found is None:
            raise NotFound(f"There is no finding {names['key'][:80]}.")
        row = handlings_of([found]).get(found.key)
        return {**row_value(found, FINDINGS, None, MORE), "handling": handling_value(found.key, found, row)}
