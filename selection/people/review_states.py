"""Where a review stands: how far it is, whether what was frozen is still so, and who signed for that.

All of it follows from what is there now, and is asked each time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import Exists

from selection.rules.differences import deciding_digest
from selection.rules.stream import digest_of
from selection.store.findings import shown
from selection.store.models import Finding, StoredObject

from .freezing import Scope, findings_in
from .models import Review, ReviewInput, ReviewItem, Signature

__all__ = [
    "Comparison",
    "Difference",
    "Progress",
    "ReviewState",
    "answers_digest",
    "compare_reviews",
    "differing",
    "progress_of",
    "scope_of",
    "state_of",
]

SHOWN = 200
"""So many differences are told of each sort; there may be more."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How many items there are, and how many have each answer."""

    total: int
    fine: int
    needs_change: int
    accepted: int

    @property
    def answered(self) -> int:
        """How many have an answer."""
        return self.fine + self.needs_change + self.accepted

    @property
    def open(self) -> int:
        """How many have none."""
        return self.total - self.answered


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that isn't as it was when the review was frozen.

    Attributes:
        what: ``finding-gone``, ``finding-changed``, ``finding-new``, ``object-changed`` or ``object-gone``.
        cluster: the name of its cluster.
        kind, namespace, name: the object.
        key: the finding's, ``""`` for an object.
        code: the finding's, ``""`` for an object.
    """

    what: str
    cluster: str
    kind: str
    namespace: str
    name: str
    key: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class ReviewState:
    """Where a review stands.

    Attributes:
        state: ``closed``; ``stale``, something differs; ``signed``, by as many as it asks for; ``ready`` to be signed;
            ``open``, some items have no answer.
        progress: how far it is.
        differences: what isn't as it was, at most :data:`SHOWN` of each sort.
        signatures: those that count: under what is frozen and answered now.
        earlier: those that don't count any more.
    """

    state: str
    progress: Progress
    differences: tuple[Difference, ...]
    signatures: tuple[Signature, ...]
    earlier: tuple[Signature, ...]

    @property
    def stale(self) -> bool:
        """Whether something isn't as it was frozen."""
        return bool(self.differences)


def scope_of(review: Review) -> Scope:
    """What a review is about."""
    places = tuple(review.places.values_list("cluster", "namespace"))
    return Scope(places, tuple(review.codes), tuple(review.severities))


def state_of(review: Review) -> ReviewState:
    """Where a review stands now; at most eight queries, however many items there are."""
    progress = progress_of(review)
    found = tuple(differing(review))
    digest = answers_digest(review)
    signatures = list(review.signatures.all())
    counting = tuple(each for each in signatures if each.digest == digest)
    earlier = tuple(each for each in signatures if each.digest != digest)
    if review.closed_at is not None:
        state = "closed"
    elif found:
        state = "stale"
    elif progress.open:
        state = "open"
    else:
        state = "signed" if len(counting) >= review.signatures_needed else "ready"
    return ReviewState(state, progress, found, counting, earlier)


def progress_of(review: Review) -> Progress:
    """How far a review is. One query."""
    Answer = ReviewItem.Answer
    counted = ReviewItem.objects.filter(review=review).aggregate(
        total=Count("pk"),
        fine=Count("pk", filter=Q(answer=Answer.FINE)),
        needs_change=Count("pk", filter=Q(answer=Answer.CHANGE)),
        accepted=Count("pk", filter=Q(answer=Answer.ACCEPTED)),
    )
    return Progress(**counted)


def answers_digest(review: Review) -> str:
    """What a signature is put under: what was frozen, and each answer with its owner, reason and day. One query."""
    fields = ("key", "answer", "owner", "reason", "expires_on")
    rows = ReviewItem.objects.filter(review=review).order_by("key").values_list(*fields)
    return digest_of([review.state_digest, [list(row) for row in rows]])


def differing(review: Review) -> Iterable[Difference]:
    """What isn't as it was when the review was frozen."""
    now = Finding.objects.filter(key=OuterRef("key"))
    items = ReviewItem.objects.filter(review=review)
    known = items.annotate(
        now=Subquery(shown(now).values("evidence")[:1]), graded=Subquery(shown(now).values("severity")[:1])
    )
    for item in known.filter(now__isnull=True).order_by("place")[:SHOWN]:
        yield _of_finding("finding-gone", item)
    changed = known.exclude(now__isnull=True).exclude(now=F("evidence"), graded=F("severity"))
    for item in changed.order_by("place")[:SHOWN]:
        yield _of_finding("finding-changed", item)
    for finding in _new(review, items):
        yield Difference(
            "finding-new",
            finding.cluster.name,
            finding.kind,
            finding.namespace,
            finding.name,
            finding.key,
            finding.code,
        )
    yield from _objects(review)


def _new(review: Review, items: QuerySet[ReviewItem]) -> QuerySet[Finding]:
    there = findings_in(scope_of(review)).filter(~Exists(items.filter(key=OuterRef("key"))))
    return there.order_by("urgency", "pk")[:SHOWN]


def _objects(review: Review) -> Iterable[Difference]:
    """Objects that are gone, or differ in a field that can decide something; what else differs about one is nothing."""
    stored = StoredObject.objects.filter(
        cluster__name=OuterRef("cluster"), kind=OuterRef("kind"), namespace=OuterRef("namespace"), name=OuterRef("name")
    )
    inputs = ReviewInput.objects.filter(review=review)
    rows = inputs.annotate(
        now=Subquery(stored.values("digest")[:1]), version_now=Subquery(stored.values("resource_version")[:1])
    )
    for row in rows.filter(now__isnull=True)[:SHOWN]:
        yield Difference("object-gone", row.cluster, row.kind, row.namespace, row.name)
    touched = rows.exclude(now__isnull=True).exclude(now=F("digest"))
    touched = touched.annotate(manifest_now=Subquery(stored.values("manifest")[:1]))
    told = 0
    for row in touched.iterator(chunk_size=500):
        if deciding_digest(row.manifest_now) != row.deciding:
            yield Difference("object-changed", row.cluster, row.kind, row.namespace, row.name)
            told += 1
            if told == SHOWN:
                return


def _of_finding(what: str, item: ReviewItem) -> Difference:
    return Difference(what, item.cluster, item.kind, item.namespace, item.name, item.key, item.code)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The items of a review beside those of an earlier one: what is new, gone, and rests on other evidence now."""

    new: tuple[ReviewItem, ...]
    gone: tuple[ReviewItem, ...]
    changed: tuple[tuple[ReviewItem, ReviewItem], ...]
    same: int


def compare_reviews(review: Review, earlier: Review) -> Comparison:
    """What differs from an earlier review. Two queries."""
    now = {item.key: item for item in ReviewItem.objects.filter(review=review).order_by("place")}
    then = {item.key: item for item in ReviewItem.objects.filter(review=earlier).order_by("place")}
    both = [(then[key], item) for key, item in now.items() if key in then]
    changed = tuple(
        pair for pair in both if (pair[0].evidence, pair[0].severity) != (pair[1].evidence, pair[1].severity)
    )
    return Comparison(
        tuple(item for key, item in now.items() if key not in then),
        tuple(item for key, item in then.items() if key not in now),
        changed,
        len(both) - len(changed),
    )
