"""What people do with reviews: open one, bring it up to date, close it; and take part, answer, sign."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from django.db.models import QuerySet
from django.utils import timezone

from .freezing import Frozen, Scope, freeze, freeze_items
from .models import Review, ReviewInput, ReviewItem, ReviewPlace
from .review_answers import Reply, answer, answered
from .review_people import add_participants, invite, remove_participant
from .review_rows import locked, may_review, require_all, save, subject_of
from .review_signing import sign, unsign
from .review_states import scope_of, state_of
from .rights import Act
from .writing import Refused, Writer, note, writing

__all__ = [
    "LONGEST_PURPOSE",
    "MOST_SIGNATURES",
    "Renewal",
    "Reply",
    "add_participants",
    "answer",
    "close",
    "may_review",
    "open_review",
    "preview_refresh",
    "refresh",
    "remove_participant",
    "reopen",
    "reviews_of",
    "sign",
    "unsign",
]

MOST_SIGNATURES = 20
LONGEST_PURPOSE = 20_000
_KEPT = ("answer", "owner", "reason", "expires_on", "answered_by", "answered_at")


def open_review(
    writer: Writer,
    name: str,
    scope: Scope,
    *,
    purpose: str = "",
    signatures_needed: int = 1,
    participants: Iterable[str] = (),
    previous: Review | None = None,
) -> Review:
    """Open a review of a scope as it is now.

    Raises:
        PermissionDenied: the writer may not review some place of it.
        Refused: the name, the scope or a participant can't be.
    """
    clean = _name(name)
    if not 1 <= signatures_needed <= MOST_SIGNATURES:
        raise Refused(f"from 1 to {MOST_SIGNATURES} signatures, please", "signatures_needed")
    if len(purpose) > LONGEST_PURPOSE or "\0" in purpose:
        raise Refused(f"a purpose is at most {LONGEST_PURPOSE:,} characters, without NUL", "purpose")
    scope.check()
    require_all(writer, Act.REVIEW, scope.places)
    with writing():
        frozen = freeze(scope)
        now = timezone.now()
        review = Review.objects.create(
            name=clean,
            purpose=purpose.strip(),
            codes=list(scope.codes),
            severities=list(scope.severities),
            signatures_needed=signatures_needed,
            previous=previous,
            created_by=writer.person.name,
            created_at=now,
            frozen_at=now,
            state_digest=frozen.digest,
        )
        ReviewPlace.objects.bulk_create(
            ReviewPlace(review=review, cluster=cluster, namespace=namespace)
            for cluster, namespace in sorted(set(scope.places))
        )
        _keep(review, frozen)
        invite(writer, review, [writer.person.name, *participants])
        told = {"name": clean, "items": len(frozen.items), "signatures_needed": signatures_needed}
        note(writer, "review-opened", subject_of(review), None, told)
    return review


@dataclass(frozen=True, slots=True)
class Renewal:
    """What bringing a review up to date would come to.

    Attributes:
        items: how many it would hold.
        new: how many of them it doesn't hold now.
        kept: how many answers would stay.
        again: the items whose answers wouldn't, as they rest on other evidence or have expired.
        gone: the items with an answer whose findings aren't there any more.
    """

    items: int
    new: int
    kept: int
    again: tuple[ReviewItem, ...]
    gone: tuple[ReviewItem, ...]


def preview_refresh(review: Review) -> Renewal:
    """What :func:`refresh` would do now. It writes nothing.

    Raises:
        Refused: its scope has grown too large, or one of its clusters isn't known any more.
    """
    scope = scope_of(review)
    scope.check()
    now = {item.key: item for item in freeze_items(scope)}
    old = list(ReviewItem.objects.filter(review=review).defer("facts"))
    today = timezone.now().date()
    answers = [item for item in old if item.answer]
    there = [item for item in answers if item.key in now]
    kept = [item for item in there if _still_answered(item, now[item.key], today)]
    keys = {item.key for item in kept}
    return Renewal(
        len(now),
        len(now.keys() - {item.key for item in old}),
        len(kept),
        tuple(item for item in there if item.key not in keys),
        tuple(item for item in answers if item.key not in now),
    )


def refresh(writer: Writer, review: Review, seen: int) -> Review:
    """Freeze the scope anew. Answers to what rests on the same evidence stay; the others are to be answered again.

    Raises:
        PermissionDenied: the writer may not review some place of it.
        Refused: it is closed, its scope has grown too large, or one of its clusters isn't known any more.
        Stale: it was changed since ``seen``.
    """
    with writing():
        row = locked(writer, review, Act.REVIEW, seen)
        scope = scope_of(row)
        scope.check()
        frozen = freeze(scope)
        old = {item.key: item for item in ReviewItem.objects.filter(review=row)}
        for item in frozen.items:
            _carry_over(item, old.get(item.key), row)
        kept = {item.key for item in frozen.items if item.answer}
        dropped = {key: _words(item) for key, item in old.items() if item.answer and key not in kept}
        ReviewItem.objects.filter(review=row).delete()
        ReviewInput.objects.filter(review=row).delete()
        _keep(row, frozen)
        before = {"state": row.state_digest, "answers": dropped}
        row.state_digest, row.frozen_at = frozen.digest, timezone.now()
        save(row)
        note(writer, "review-refreshed", subject_of(row), before, {"state": frozen.digest, "items": len(frozen.items)})
    return row


def close(writer: Writer, review: Review, seen: int) -> Review:
    """End a review as it is; nothing is answered or signed any more.

    Raises:
        PermissionDenied, Refused, Stale: as for :func:`refresh`.
    """
    with writing():
        row = locked(writer, review, Act.REVIEW, seen)
        state = state_of(row).state
        row.closed_at, row.closed_by = timezone.now(), writer.person.name
        save(row)
        note(writer, "review-closed", subject_of(row), {"state": state}, {"state": "closed"})
    return row


def reopen(writer: Writer, review: Review, seen: int) -> Review:
    """Go on with a review that was closed.

    Raises:
        PermissionDenied, Stale: as for :func:`refresh`.
        Refused: it isn't closed.
    """
    with writing():
        row = locked(writer, review, Act.REVIEW, seen, closed=True)
        row.closed_at, row.closed_by = None, ""
        save(row)
        note(writer, "review-reopened", subject_of(row), {"state": "closed"}, {"state": "open"})
    return row


def reviews_of(name: str) -> QuerySet[Review]:
    """The reviews that somebody takes part in, the newest first."""
    return Review.objects.filter(participants__name=name).distinct()


def _still_answered(item: ReviewItem, now: ReviewItem, today: date) -> bool:
    """Whether the answer to an item is one to what is there now: it rests on the same, and hasn't expired."""
    expired = item.expires_on is not None and item.expires_on < today
    return bool(item.answer) and (item.evidence, item.severity) == (now.evidence, now.severity) and not expired


def _carry_over(item: ReviewItem, was: ReviewItem | None, review: Review) -> None:
    """Give a new item the answer that holds. Its version tells whether somebody looked at another state of it."""
    if was is None:
        item.version = review.version + 1
    elif _still_answered(was, item, timezone.now().date()):
        item.version = was.version
        for field in _KEPT:
            setattr(item, field, getattr(was, field))
    else:
        same = not was.answer and (was.evidence, was.severity) == (item.evidence, item.severity)
        item.version = was.version + (not same)


def _words(item: ReviewItem) -> dict[str, str | None]:
    return {**answered(item), "answered_by": item.answered_by}


def _keep(review: Review, frozen: Frozen) -> None:
    for item in frozen.items:
        item.review = review
    for each in frozen.inputs:
        each.review = review
    ReviewItem.objects.bulk_create(frozen.items, batch_size=500)
    ReviewInput.objects.bulk_create(frozen.inputs, batch_size=500)


def _name(name: str) -> str:
    clean = " ".join(name.split())
    if not clean:
        raise Refused("a review needs a name", "name")
    if len(clean) > 200 or not clean.isprintable():
        raise Refused("a name is at most 200 printable characters", "name")
    return clean
