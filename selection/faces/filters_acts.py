"""What the record of what people did can be narrowed by: the same for its page and its REST list."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import Q, QuerySet

from selection.faces import words
from selection.faces.filterfields import Choice, Name, Value, Words, labelled
from selection.faces.filters_changes import When
from selection.people.models import ActRecord
from selection.store.models import Cluster

__all__ = ["ActFilter"]

_SORTS = [
    ("finding", "findings"),
    ("object", "objects"),
    ("review", "reviews"),
    ("item", "items of reviews"),
    ("account", "accounts"),
    ("group", "groups"),
    ("cluster", "clusters"),
    ("code", "severities"),
]


def _of_sort(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    return qs.filter(subject__startswith=f"{value}:")


def _of_review(qs: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
    """The subject, and what belongs to it: a review has items."""
    found = Q(subject=value)
    if value.startswith("review:"):
        found |= Q(subject__startswith=f"item:{value.removeprefix('review:')}/")
    return qs.filter(found)


class ActFilter(django_filters.FilterSet):
    """What people did by who did it, what, to what, where, how and when."""

    q = Words("actor", "subject", "token")
    actor = Value("actor", "Who")
    act = Choice("Did what", labelled("did", words.DID), field="act")
    since = When("Since", "gte", "24h, 2026-05-01")
    about = Choice("To", _SORTS, narrow=_of_sort)
    until = When("Until", "lt", "1h, 2026-05-02", end=True)
    cluster = Value("cluster", "Cluster", source=(Cluster, "name"))
    namespace = Name("namespace", "Namespace")
    via = Choice("How", labelled("via", words.VIA), field="via")
    subject = django_filters.CharFilter(label="Of one thing", method=_of_review, max_length=700)

    class Meta:
        model = ActRecord
        fields: list[str] = []
