"""What the lists of reviews and of a review's items can be narrowed by: the same for pages and REST lists."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import Q, QuerySet

from selection.faces import words
from selection.faces.filterfields import NONE, Choice, Name, Value, Words, labelled, one_of
from selection.people.models import Review, ReviewItem
from selection.store.findings import CODES, FAMILIES, codes_of
from selection.store.models import Cluster

__all__ = ["ItemFilter", "ReviewFilter"]


def _answered(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    return qs.filter(answer="" if value == NONE else value)


class _Cluster(Value):
    """The reviews that are about a cluster, or a part of it."""

    def filter(self, qs: QuerySet[Any], value: str | None) -> QuerySet[Any]:
        """Narrow the rows; one that is about two of its namespaces is there once."""
        return qs.filter(places__cluster=value).distinct() if value else qs


class ReviewFilter(django_filters.FilterSet):
    """Reviews by name, whether they are closed, what they are about and who takes part."""

    q = Words("name", "purpose", "created_by")
    state = one_of("State", {"open": ("not closed", Q(closed_at=None)), "closed": ("closed", ~Q(closed_at=None))})
    cluster = _Cluster("name", "Cluster", source=(Cluster, "name"))
    participant = Name("participants__name", "Takes part")
    created_by = Name("created_by", "Opened by")

    class Meta:
        model = Review
        fields: list[str] = []


class ItemFilter(django_filters.FilterSet):
    """The items of a review by answer, by how much they matter, what they are and where."""

    q = Words("namespace", "name", "path", "about", "reason")
    answer = Choice("Answer", labelled("answer", ReviewItem.Answer.values), none="no answer", narrow=_answered)
    severity = Choice("Severity", labelled("severity", words.SEVERITIES), field="severity")
    family = Choice(
        "Family", labelled("family", FAMILIES), narrow=lambda qs, value: qs.filter(code__in=codes_of(value))
    )
    code = Choice("Finding", labelled("code", CODES), field="code")
    cluster = Value("cluster", "Cluster")
    namespace = Value("namespace", "Namespace")
    kind = Value("kind", "Kind")
    name = Name("name", "Name")
    owner = Name("owner", "Owner")
    answered_by = Name("answered_by", "Answered by")

    class Meta:
        model = ReviewItem
        fields: list[str] = []
