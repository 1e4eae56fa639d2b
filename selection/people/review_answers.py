"""Answering the items of a review."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.core.exceptions import PermissionDenied
from django.utils import timezone

from selection.store.models import Finding

from .handlings import LONGEST_REASON, Wish, check_acceptance, checked_owner, handle
from .models import Handling, Review, ReviewItem
from .review_people import invite
from .review_rows import subject_of_item
from .rights import Act, may
from .writing import Refused, Stale, Writer, note, writing

__all__ = ["Reply", "answer", "answered"]

_ANSWERS = ReviewItem.Answer


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to an item.

    Attributes:
        answer: one of :class:`ReviewItem.Answer`, ``""`` to take it back.
        owner: who is to change it; ``needs-change`` needs one.
        reason: why; ``accepted`` needs one, and the others may have one.
        expires_on: the last day that an acceptance holds; ``accepted`` needs one.
    """

    answer: str
    owner: str = ""
    reason: str = ""
    expires_on: date | None = None

    def fields(self) -> dict[str, Any]:
        """What is said, by field."""
        return {"answer": self.answer, "owner": self.owner, "reason": self.reason, "expires_on": self.expires_on}


def answer(writer: Writer, item: ReviewItem, reply: Reply, seen: int, evidence: str = "") -> ReviewItem:
    """Answer an item. What it says of the finding is done with it, too: its owner, and its acceptance.

    Args:
        writer: who answers.
        item: it, as the writer saw it: it is found again by its finding, as bringing the review up to date makes new
            rows.
        reply: the answer.
        seen: the item's version that the writer saw.
        evidence: the digest of the evidence that the writer saw; ``""`` not to compare it.

    Raises:
        PermissionDenied: the writer may not review where the finding is.
        Refused: the reply can't be, the review is closed, or the finding isn't in it any more.
        Stale: somebody else answered meanwhile, or the finding rests on other evidence now.
    """
    if not may(writer.person, Act.REVIEW, item.cluster, item.namespace):
        raise PermissionDenied(f"{writer.person.name} may not review in {item.cluster}.")
    with writing():
        review = Review.objects.select_for_update().get(pk=item.review_id)
        row = ReviewItem.objects.filter(review=review, key=item.key).first()
        if row is None:
            raise Refused("this finding isn't in the review any more: it was brought up to date meanwhile")
        if row.version != seen or evidence not in ("", row.evidence):
            raise Stale(row, reply.fields())
        if review.closed_at is not None:
            raise Refused("this review is closed")
        before = answered(row)
        _reply(writer, row, reply)
        after = answered(row)
        if before == after:
            return row
        row.version += 1
        row.answered_by, row.answered_at = (writer.person.name, timezone.now()) if row.answer else ("", None)
        row.save()
        _pass_on(writer, row)
        invite(writer, review, [writer.person.name])
        note(writer, "answered", subject_of_item(row), before if before["answer"] else None, after)
    return row


def answered(row: ReviewItem) -> dict[str, Any]:
    """What was answered to an item, as JSON."""
    day = row.expires_on.isoformat() if row.expires_on else None
    return {"answer": row.answer, "owner": row.owner, "reason": row.reason, "expires_on": day}


def _reply(writer: Writer, row: ReviewItem, reply: Reply) -> None:
    """Put a reply into an item.

    Raises:
        Refused: it can't be.
    """
    if reply.answer and reply.answer not in _ANSWERS.values:
        raise Refused(f"there is no answer {reply.answer[:40]!r}; there are {', '.join(_ANSWERS.values)}", "answer")
    reason = reply.reason.strip()
    if len(reason) > LONGEST_REASON or "\0" in reason:
        raise Refused(f"a reason is at most {LONGEST_REASON:,} characters, without NUL", "reason")
    owner = ""
    if reply.answer == _ANSWERS.CHANGE:
        owner = checked_owner(reply.owner.strip(), writer, row.cluster, row.namespace)
        if not owner:
            raise Refused("somebody has to change it: say who", "owner")
    if reply.answer == _ANSWERS.ACCEPTED:
        check_acceptance(reason, reply.expires_on, timezone.now().date())
    row.answer, row.owner = reply.answer, owner
    row.reason = reason if reply.answer else ""
    row.expires_on = reply.expires_on if reply.answer == _ANSWERS.ACCEPTED else None


def _pass_on(writer: Writer, row: ReviewItem) -> None:
    """Do with the finding what was answered, where it is still there."""
    finding = Finding.objects.select_related("cluster").filter(key=row.key, gone_at__isnull=True).first()
    if finding is None or row.answer not in {_ANSWERS.CHANGE, _ANSWERS.ACCEPTED}:
        return
    if row.answer == _ANSWERS.CHANGE:
        wish = Wish(owner=row.owner, state=Handling.State.IN_PROGRESS, reason=row.reason)
    else:
        wish = Wish(state=Handling.State.ACCEPTED, reason=row.reason, expires_on=row.expires_on)
    there = Handling.objects.select_for_update().filter(key=row.key).first()
    handle(writer, finding, wish, there.version if there else 0)
