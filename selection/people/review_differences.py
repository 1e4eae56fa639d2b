"""What isn't as it was when a review was frozen: findings, and the objects that they were computed from.

Of objects only the fields that can decide something count: what the API server counts up, or the rest of a status,
makes nothing stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from django.db.models import Case, F, Func, IntegerField, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.expressions import Exists
from django.utils import timezone

from selection.rules.differences import deciding_digest
from selection.store.findings import shown
from selection.store.models import Finding, StoredObject

from .freezing import Scope, findings_in
from .models import Review, ReviewInput, ReviewItem

__all__ = ["SHOWN", "WHATS", "Difference", "differing", "scope_of", "stale_among", "tell_apart"]

SHOWN = 200
"""So many differences are told of each sort; there may be more."""

WHATS = (
    "finding-new",
    "finding-changed",
    "finding-gone",
    "acceptance-expired",
    "object-changed",
    "object-gone",
)
"""What may differ."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that isn't as it was when the review was frozen.

    Attributes:
        what: one of :data:`WHATS`.
        cluster: the name of its cluster.
        kind, namespace, name: the object.
        key: the finding's, ``""`` for an object.
        code: the finding's, ``""`` for an object.
        place: the item's place in the review, 0 where it isn't in it.
    """

    what: str
    cluster: str
    kind: str
    namespace: str
    name: str
    key: str = ""
    code: str = ""
    place: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The difference as JSON."""
        return {
            "what": self.what,
            "cluster": self.cluster,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "key": self.key,
            "code": self.code,
        }


def scope_of(review: Review) -> Scope:
    """What a review is about."""
    places = tuple((place.cluster, place.namespace) for place in review.places.all())
    return Scope(places, tuple(review.codes), tuple(review.severities))


def differing(review: Review) -> Iterator[Difference]:
    """What isn't as it was when the review was frozen; at most :data:`SHOWN` of each sort. Five queries."""
    items = ReviewItem.objects.filter(review=review)
    known = _with_now(items)
    new = findings_in(scope_of(review)).filter(~Exists(items.filter(key=OuterRef("key"))))
    for finding in new.order_by("urgency", "pk")[:SHOWN]:
        yield Difference(
            "finding-new",
            finding.cluster.name,
            finding.kind,
            finding.namespace,
            finding.name,
            finding.key,
            finding.code,
        )
    there: dict[str, list[Difference]] = {"finding-changed": [], "finding-gone": []}
    for item in known.filter(_CHANGED | _GONE).order_by("place").defer("facts"):
        what = "finding-gone" if vars(item)["now"] is None else "finding-changed"
        there[what].append(_of_item(what, item))
    for each in there.values():
        yield from each[:SHOWN]
    for item in items.filter(_expired(timezone.now().date())).order_by("place")[:SHOWN]:
        yield _of_item("acceptance-expired", item)
    yield from _objects([review])


def stale_among(reviews: Sequence[Review], items_of: Mapping[Any, int]) -> set[Any]:
    """Of which of the reviews something differs, by primary key. A few queries, however many there are.

    Args:
        reviews: they, with their places.
        items_of: how many items each has, by primary key.
    """
    asked = [review.pk for review in reviews]
    items = ReviewItem.objects.filter(review__in=asked)
    differs = _CHANGED | _GONE | _expired(timezone.now().date())
    stale = set(_with_now(items).filter(differs).order_by().values_list("review_id", flat=True).distinct())
    rest = [review for review in reviews if review.pk not in stale]
    if rest:
        # Whatever was frozen is there as it was, so there is something new when there is more than that.
        counted = Review.objects.filter(pk__in=[review.pk for review in rest]).order_by()
        there = counted.annotate(there=Case(*map(_count_now, rest), output_field=IntegerField()))
        stale |= {pk for pk, count in there.values_list("pk", "there") if (count or 0) != items_of.get(pk, 0)}
        rest = [review for review in rest if review.pk not in stale]
    return stale | set(_reviews_with_other_objects(rest))


_CHANGED = Q(now__isnull=False) & ~(Q(now=F("evidence")) & Q(graded=F("severity")))
_GONE = Q(now__isnull=True)


def _expired(today: date) -> Q:
    return Q(answer=ReviewItem.Answer.ACCEPTED, expires_on__lt=today)


def _with_now(items: QuerySet[ReviewItem]) -> QuerySet[ReviewItem]:
    """The items with the evidence (``now``) and severity (``graded``) that their findings have now."""
    there = shown(Finding.objects.filter(key=OuterRef("key")))
    return items.annotate(now=Subquery(there.values("evidence")[:1]), graded=Subquery(there.values("severity")[:1]))


def _count(rows: QuerySet[Any]) -> Subquery:
    counted = rows.order_by().annotate(rows=Func(F("pk"), function="Count")).values("rows")
    return Subquery(counted, output_field=IntegerField())


def _count_now(review: Review) -> When:
    return When(pk=review.pk, then=_count(findings_in(scope_of(review)).select_related(None)))


def _objects(reviews: Sequence[Review]) -> Iterator[Difference]:
    """Objects that are gone, or differ in a field that can decide something."""
    told = {"object-changed": 0, "object-gone": 0}
    for what, row in _other_objects(reviews):
        told[what] += 1
        if told[what] <= SHOWN:
            yield Difference(what, row.cluster, row.kind, row.namespace, row.name)


def _reviews_with_other_objects(reviews: Sequence[Review]) -> Iterator[Any]:
    if reviews:
        for _, row in _other_objects(reviews):
            yield row.review_id


def _other_objects(reviews: Sequence[Review]) -> Iterator[tuple[str, ReviewInput]]:
    stored = StoredObject.objects.filter(
        cluster__name=OuterRef("cluster"), kind=OuterRef("kind"), namespace=OuterRef("namespace"), name=OuterRef("name")
    )
    inputs = ReviewInput.objects.filter(review__in=[review.pk for review in reviews])
    rows = inputs.annotate(there=Subquery(stored.values("pk")[:1]), now=Subquery(stored.values("digest")[:1]))
    differing = list(rows.filter(Q(now__isnull=True) | ~Q(now=F("digest"))))
    deciding = _deciding_of({row.there: row.now for row in differing if row.there is not None})
    for row in differing:
        if row.there is None:
            yield "object-gone", row
        elif deciding.get(row.there) != row.deciding:
            yield "object-changed", row


@lru_cache(maxsize=20_000)
def _cell(digest: str) -> list[str]:
    """Room for the deciding digest of what has this digest as a whole; who computes it puts it there.

    The digest stands for all that the other is made of, so that this holds for whoever asks.
    """
    return []


def _deciding_of(digests: dict[int, str]) -> dict[int, str]:
    """The deciding digests of stored objects, given as primary key and digest of the whole."""
    cells = {pk: _cell(digest) for pk, digest in digests.items()}
    wanted = [pk for pk, cell in cells.items() if not cell]
    for start in range(0, len(wanted), 500):
        rows = StoredObject.objects.filter(pk__in=wanted[start : start + 500])
        for pk, digest, manifest in rows.values_list("pk", "digest", "manifest"):
            if digest == digests[pk]:  # else it was changed in between, and is asked again the next time
                cells[pk][:] = [deciding_digest(manifest)]
    return {pk: cell[0] for pk, cell in cells.items() if cell}


def _of_item(what: str, item: ReviewItem) -> Difference:
    return Difference(what, item.cluster, item.kind, item.namespace, item.name, item.key, item.code, item.place)


def tell_apart(found: Iterable[Difference]) -> dict[str, list[Difference]]:
    """Differences by what they are, in the order of :data:`WHATS`."""
    by_what: dict[str, list[Difference]] = {}
    for each in found:
        by_what.setdefault(each.what, []).append(each)
    return {what: by_what[what] for what in WHATS if what in by_what}
