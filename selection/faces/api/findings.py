"""Findings: what follows from the rules and nobody else reports."""

from __future__ import annotations

from typing import ClassVar

from django.db.models import QuerySet

from selection.faces.api.lists import ListView, More, list_shape
from selection.faces.api.shapes import Shape, mapped, text
from selection.faces.pages.findings import FINDINGS
from selection.faces.plain import plain_sentence
from selection.store.findings import ORDER, finding_rows
from selection.store.models import FindingRow

__all__ = ["FindingList"]


class FindingRowShape(Shape):
    """A finding about an object."""

    severity = text(f"One of {', '.join(ORDER)}.")
    code = text("What it is; docs/rules/findings.md has the codes.")
    cluster = text("The cluster.")
    kind = text("The object's kind.")
    namespace = text('The object\'s namespace, `""` for a cluster-scoped one.')
    name = text("The object's name.")
    path = text("The field.")
    facts = mapped("What there is to say of it.")
    what = text("What it is, for people: the words may change.")
    next = text("What to do, for people: the words may change.")


def _what(row: FindingRow) -> str:
    return plain_sentence("finding", row.code, finding=row, cluster=row.cluster.name)


def _next(row: FindingRow) -> str:
    return plain_sentence("finding", row.code, "next", finding=row, cluster=row.cluster.name)


class FindingList(ListView):
    """List findings."""

    operation, tag = "listFindings", "findings"
    row, shape = FindingRowShape, list_shape(FindingRowShape)
    listing = FINDINGS
    more: ClassVar[More] = {"what": _what, "next": _next}
    identity = ("cluster__name", "kind", "namespace", "name", "code", "path", "ordinal")
    by = "cluster, kind, namespace, name, code and field"

    def rows(self, **names: str) -> QuerySet[FindingRow]:
        """Every finding that is seen."""
        return finding_rows()
