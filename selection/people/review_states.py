"""Where a review stands: how far it is, whether what was frozen is still so, and who signed for that.

All of it follows from what is there now, and is asked each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from selection.rules.stream import digest_of

from .models import Review, ReviewItem, Signature
from .review_differences import Difference, differing, scope_of, stale_among

__all__ = [
    "STATES",
    "Comparison",
    "Progress",
    "ReviewState",
    "Standing",
    "answers_digest",
    "compare_reviews",
    "progress_of",
    "scope_of",
    "standings_of",
    "state_of",
]

STATES = ("stale", "open", "ready", "signed", "closed")
"""``stale``: something differs from what was frozen; ``open``: some items have no answer; ``ready`` to be signed;
``signed`` by as many as the review asks for; ``closed``."""

_SIGNED_UNDER = ("key", "answer", "owner", "reason", "expires_on")


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
class Standing:
    """Where a review stands, in short.

    Attributes:
        state: one of :data:`STATES`.
        progress: how far it is.
        signed: how many signatures count.
    """

    state: str
    progress: Progress
    signed: int


@dataclass(frozen=True, slots=True)
class ReviewState:
    """Where a review stands.

    Attributes:
        review: it.
        state: one of :data:`STATES`.
        progress: how far it is.
        differences: what isn't as it was, at most :data:`.review_differences.SHOWN` of each sort.
        signatures: those that count: under what is frozen and answered now.
        earlier: those that don't count any more.
    """

    review: Review
    state: str
    progress: Progress
    differences: tuple[Difference, ...]
    signatures: tuple[Signature, ...]
    earlier: tuple[Signature, ...]

    @property
    def stale(self) -> bool:
        """Whether something isn't as it was frozen."""
        return bool(self.differences)

    @property
    def answers(self) -> str:
        """What is frozen and answered comes to, for who is to sign just that: see :func:`answers_digest`. One query."""
        return answers_digest(self.review)


def state_of(review: Review) -> ReviewState:
    """Where a review stands now; at most ten queries, however many items there are."""
    progress = progress_of(review)
    found = tuple(differing(review))
    signatures = list(review.signatures.all())
    digest = answers_digest(review) if signatures else ""
    counting = tuple(each for each in signatures if each.digest == digest)
    earlier = tuple(each for each in signatures if each.digest != digest)
    state = _state(review, progress, bool(found), len(counting))
    return ReviewState(review, state, progress, found, counting, earlier)


def standings_of(reviews: Sequence[Review]) -> dict[Any, Standing]:
    """Where each of these reviews stands now, by primary key; the same as :func:`state_of` says, in a few queries.

    Ask for the reviews with their places (``prefetch_related("places")``).
    """
    asked = [review.pk for review in reviews]
    progress = {row.pop("review_id"): Progress(**row) for row in _progress(asked)}
    signatures: dict[Any, list[str]] = {}
    for pk, digest in Signature.objects.filter(review__in=asked).values_list("review_id", "digest"):
        signatures.setdefault(pk, []).append(digest)
    signed = _digests([review for review in reviews if review.pk in signatures])
    totals = {pk: each.total for pk, each in progress.items()}
    stale = stale_among([review for review in reviews if review.closed_at is None], totals)
    none = Progress(0, 0, 0, 0)
    found = {}
    for review in reviews:
        how_far = progress.get(review.pk, none)
        counting = signatures.get(review.pk, []).count(signed.get(review.pk, ""))
        found[review.pk] = Standing(_state(review, how_far, review.pk in stale, counting), how_far, counting)
    return found


def _state(review: Review, progress: Progress, stale: bool, signatures: int) -> str:
    if review.closed_at is not None:
        return "closed"
    if stale:
        return "stale"
    if progress.open:
        return "open"
    return "signed" if signatures >= review.signatures_needed else "ready"


def progress_of(review: Review) -> Progress:
    """How far a review is. One query."""
    rows = _progress([review.pk])
    return Progress(**{name: rows[0][name] for name in Progress.__slots__}) if rows else Progress(0, 0, 0, 0)


def _progress(reviews: Iterable[Any]) -> list[dict[str, Any]]:
    Answer = ReviewItem.Answer
    rows = ReviewItem.objects.filter(review__in=list(reviews)).order_by().values("review_id")
    counted = rows.annotate(
        total=Count("pk"),
        fine=Count("pk", filter=Q(answer=Answer.FINE)),
        needs_change=Count("pk", filter=Q(answer=Answer.CHANGE)),
        accepted=Count("pk", filter=Q(answer=Answer.ACCEPTED)),
    )
    return [dict(row) for row in counted]


def answers_digest(review: Review) -> str:
    """What a signature is put under: what was frozen, and each answer with its owner, reason and day. One query."""
    return _digests([review])[review.pk]


def _digests(reviews: Sequence[Review]) -> Mapping[Any, str]:
    rows: dict[Any, list[list[Any]]] = {review.pk: [] for review in reviews}
    if rows:
        found = ReviewItem.objects.filter(review__in=list(rows)).order_by("review", "key")
        for pk, *told in found.values_list("review_id", *_SIGNED_UNDER):
            rows[pk].append(told)
    return {review.pk: digest_of([review.state_digest, rows[review.pk]]) for review in reviews}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The items of a review beside those of an earlier one: what is new, gone, and rests on other evidence now."""

    new: tuple[ReviewItem, ...]
    gone: tuple[ReviewItem, ...]
    changed: tuple[tuple[ReviewItem, ReviewItem], ...]
    same: int


def compare_reviews(review: Review, earlier: Review, *, facts: bool = True) -> Comparison:
    """What differs from an earlier review. Two queries; without ``facts`` the items have none, and it is quicker."""
    rows = ReviewItem.objects.order_by("place") if facts else ReviewItem.objects.order_by("place").defer("facts")
    now, then = ({item.key: item for item in rows.filter(review=each)} for each in (review, earlier))
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
