"""What people do with reviews: open one, take part, answer, bring it up to date, sign, close."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.utils import timezone

from selection.store.models import Finding

from .freezing import Frozen, Scope, freeze
from .handlings import Wish, handle, handlings_of
from .models import Handling, Participant, Review, ReviewInput, ReviewItem, ReviewPlace, Signature
from .persons import Person
from .review_states import answers_digest, scope_of, state_of
from .rights import Act, may
from .subjects import Subject, item_subject, review_subject
from .writing import Refused, Stale, Writer, note, writing

__all__ = [
    "Reply",
    "add_participants",
    "answer",
    "close",
    "may_review",
    "open_review",
    "refresh",
    "remove_participant",
    "reopen",
    "reviews_of",
    "sign",
    "unsign",
]

MOST_SIGNATURES = 20
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
    if len(purpose) > 20_000 or "\0" in purpose:
        raise Refused("a purpose is at most 20,000 characters, without NUL", "purpose")
    scope.check()
    _require_all(writer, Act.REVIEW, scope.places)
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
        _add(writer, review, [writer.person.name, *participants])
        told = {"name": clean, "items": len(frozen.items), "signatures_needed": signatures_needed}
        note(writer, "review-opened", _subject(review), None, told)
    return review


def refresh(writer: Writer, review: Review, seen: int) -> Review:
    """Freeze the scope anew. Answers to what rests on the same evidence stay; the others are to be answered again.

    Raises:
        PermissionDenied: the writer may not review some place of it.
        Refused: it is closed, or its scope has grown too large.
        Stale: it was changed since ``seen``.
    """
    with writing():
        row = _locked(writer, review, Act.REVIEW, seen)
        frozen = freeze(scope_of(row))
        old = {item.key: item for item in ReviewItem.objects.filter(review=row)}
        for item in frozen.items:
            was = old.get(item.key)
            if was is not None and (was.evidence, was.severity) == (item.evidence, item.severity):
                for field in ("answer", "owner", "reason", "expires_on", "answered_by", "answered_at"):
                    setattr(item, field, getattr(was, field))
            item.version = was.version + 1 if was is not None else 1
        lost = {key: item.answer for key, item in old.items() if item.answer}
        kept = {item.key for item in frozen.items if item.answer}
        dropped = {key: value for key, value in lost.items() if key not in kept}
        ReviewItem.objects.filter(review=row).delete()
        ReviewInput.objects.filter(review=row).delete()
        _keep(row, frozen)
        before = {"state": row.state_digest, "answers": dropped}
        row.state_digest, row.frozen_at = frozen.digest, timezone.now()
        _save(row)
        note(writer, "review-refreshed", _subject(row), before, {"state": frozen.digest, "items": len(frozen.items)})
    return row


def answer(writer: Writer, item: ReviewItem, reply: Reply, seen: int) -> ReviewItem:
    """Answer an item. What it says of the finding is done with it, too: its owner, and its acceptance.

    Raises:
        PermissionDenied: the writer may not review where the finding is.
        Refused: the reply can't be, or the review is closed.
        Stale: somebody else answered since ``seen``, the version that the writer saw.
    """
    if not may(writer.person, Act.REVIEW, item.cluster, item.namespace):
        raise PermissionDenied(f"{writer.person.name} may not review in {item.cluster}.")
    with writing():
        row = ReviewItem.objects.select_for_update().select_related("review").get(pk=item.pk)
        if row.version != seen:
            raise Stale(row, reply.fields())
        if row.review.closed_at is not None:
            raise Refused("this review is closed")
        before = _answered(row)
        _reply(writer, row, reply)
        after = _answered(row)
        if before == after:
            return row
        row.version += 1
        row.answered_by, row.answered_at = (writer.person.name, timezone.now()) if row.answer else ("", None)
        row.save()
        _pass_on(writer, row)
        note(writer, "answered", _item_subject(row), before if before["answer"] else None, after)
    return row


def sign(writer: Writer, review: Review, seen: int, words: str = "") -> Signature:
    """Sign what is frozen and answered.

    Raises:
        PermissionDenied: the writer may not sign in some place of it.
        Refused: items are open, something differs from what was frozen, it is closed, or the writer has signed.
        Stale: an answer or the review was changed since ``seen``.
    """
    with writing():
        row = _locked(writer, review, Act.SIGN, seen)
        found = state_of(row)
        if found.stale:
            raise Refused("what was frozen isn't so any more: bring the review up to date first")
        if found.progress.open:
            noun = "item is" if found.progress.open == 1 else "items are"
            raise Refused(f"{found.progress.open} {noun} without an answer")
        digest = answers_digest(row)
        if any(each.name == writer.person.name for each in found.signatures):
            raise Refused("you have signed this already")
        signature = Signature.objects.create(
            review=row,
            name=writer.person.name,
            token=writer.person.token,
            signed_at=timezone.now(),
            digest=digest,
            note=words.strip()[:5_000],
        )
        note(writer, "signed", _subject(row), None, {"state": digest, "note": signature.note})
    return signature


def unsign(writer: Writer, review: Review) -> None:
    """Take one's signature back.

    Raises:
        Refused: there is none that counts.
    """
    with writing():
        row = Review.objects.select_for_update().get(pk=review.pk)
        mine = Signature.objects.filter(review=row, name=writer.person.name, digest=answers_digest(row)).first()
        if mine is None:
            raise Refused("there is no signature of yours that counts")
        before = {"state": mine.digest, "note": mine.note}
        mine.delete()
        note(writer, "signature-withdrawn", _subject(row), before, None)


def close(writer: Writer, review: Review, seen: int) -> Review:
    """End a review as it is; nothing is answered or signed any more.

    Raises:
        PermissionDenied, Refused, Stale: as for :func:`refresh`.
    """
    with writing():
        row = _locked(writer, review, Act.REVIEW, seen)
        state = state_of(row).state
        row.closed_at, row.closed_by = timezone.now(), writer.person.name
        _save(row)
        note(writer, "review-closed", _subject(row), {"state": state}, {"state": "closed"})
    return row


def reopen(writer: Writer, review: Review, seen: int) -> Review:
    """Go on with a review that was closed.

    Raises:
        PermissionDenied, Stale: as for :func:`refresh`.
        Refused: it isn't closed.
    """
    with writing():
        row = _locked(writer, review, Act.REVIEW, seen, closed=True)
        row.closed_at, row.closed_by = None, ""
        _save(row)
        note(writer, "review-reopened", _subject(row), {"state": "closed"}, {"state": "open"})
    return row


def add_participants(writer: Writer, review: Review, names: Iterable[str]) -> None:
    """Have others take part.

    Raises:
        PermissionDenied: the writer may not review some place of it.
        Refused: there is no such account, or it may not see the review.
    """
    with writing():
        row = _locked(writer, review, Act.REVIEW, None)
        added = _add(writer, row, names)
        if added:
            note(writer, "participants-added", _subject(row), None, {"names": added})


def remove_participant(writer: Writer, review: Review, name: str) -> None:
    """Have somebody take part no more; what they wrote stays.

    Raises:
        PermissionDenied: the writer may not review some place of it.
    """
    with writing():
        row = _locked(writer, review, Act.REVIEW, None)
        if Participant.objects.filter(review=row, name=name).delete()[0]:
            note(writer, "participant-removed", _subject(row), {"names": [name]}, None)


def may_review(person: Person, review: Review, act: Act = Act.REVIEW) -> bool:
    """Whether somebody may do something with a review: in each of its places. One query."""
    return all(may(person, act, *place) for place in review.places.values_list("cluster", "namespace"))


def reviews_of(name: str) -> QuerySet[Review]:
    """The reviews that somebody takes part in, the newest first."""
    return Review.objects.filter(participants__name=name).distinct()


def _locked(writer: Writer, review: Review, act: Act, seen: int | None, *, closed: bool = False) -> Review:
    row = Review.objects.select_for_update().get(pk=review.pk)
    _require_all(writer, act, row.places.values_list("cluster", "namespace"))
    if seen is not None and row.version != seen:
        raise Stale(row, {})
    if (row.closed_at is not None) != closed:
        raise Refused("this review isn't closed" if closed else "this review is closed")
    return row


def _save(row: Review) -> None:
    row.version += 1
    row.save()


def _require_all(writer: Writer, act: Act, places: Iterable[tuple[str, str]]) -> None:
    for cluster, namespace in places:
        if not may(writer.person, act, cluster, namespace):
            where = f"namespace {namespace} of {cluster}" if namespace else f"the whole of {cluster}"
            raise PermissionDenied(f"{writer.person.name} may not {act.value} in {where}.")


def _keep(review: Review, frozen: Frozen) -> None:
    for item in frozen.items:
        item.review = review
    for each in frozen.inputs:
        each.review = review
    ReviewItem.objects.bulk_create(frozen.items, batch_size=500)
    ReviewInput.objects.bulk_create(frozen.inputs, batch_size=500)


def _add(writer: Writer, review: Review, names: Iterable[str]) -> list[str]:
    known = set(Participant.objects.filter(review=review).values_list("name", flat=True))
    wanted = [name for name in dict.fromkeys(each.strip() for each in names) if name and name not in known]
    for name in wanted:
        if name != writer.person.name:
            _check_participant(writer, review, name)
    now = timezone.now()
    Participant.objects.bulk_create(
        Participant(review=review, name=name, added_by=writer.person.name, added_at=now) for name in wanted
    )
    return wanted


def _check_participant(writer: Writer, review: Review, name: str) -> None:
    if len(name) > 150 or not name.isprintable():
        raise Refused("a name is at most 150 printable characters", "participants")
    if writer.person.local:
        return
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise Refused(f"there is no account {name[:80]!r}", "participants")
    if not may_review(Person(name, user), review, Act.SEE):
        raise Refused(f"{name} may not see all that this review is about", "participants")


def _name(name: str) -> str:
    clean = " ".join(name.split())
    if not clean:
        raise Refused("a review needs a name", "name")
    if len(clean) > 200 or not clean.isprintable():
        raise Refused("a name is at most 200 printable characters", "name")
    return clean


def _reply(writer: Writer, row: ReviewItem, reply: Reply) -> None:
    """Put a reply into an item.

    Raises:
        Refused: it can't be.
    """
    if reply.answer and reply.answer not in _ANSWERS.values:
        raise Refused(f"there is no answer {reply.answer[:40]!r}; there are {', '.join(_ANSWERS.values)}", "answer")
    reason = reply.reason.strip()
    if len(reason) > 5_000 or "\0" in reason:
        raise Refused("a reason is at most 5,000 characters, without NUL", "reason")
    if reply.answer == _ANSWERS.CHANGE and not reply.owner.strip():
        raise Refused("somebody has to change it: say who", "owner")
    if reply.answer == _ANSWERS.ACCEPTED and not reason:
        raise Refused("accepting a finding needs a reason", "reason")
    if reply.answer == _ANSWERS.ACCEPTED and reply.expires_on is None:
        raise Refused("accepting a finding needs a day until which that holds", "expires_on")
    row.answer = reply.answer
    row.owner = reply.owner.strip() if reply.answer == _ANSWERS.CHANGE else ""
    row.reason = reason if reply.answer else ""
    row.expires_on = reply.expires_on if reply.answer == _ANSWERS.ACCEPTED else None


def _pass_on(writer: Writer, row: ReviewItem) -> None:
    """Do with the finding what was answered, where it is still there."""
    finding = Finding.objects.select_related("cluster").filter(key=row.key, gone_at__isnull=True).first()
    if finding is None or row.answer not in {_ANSWERS.CHANGE, _ANSWERS.ACCEPTED}:
        return
    there = handlings_of([finding]).get(row.key)
    if row.answer == _ANSWERS.CHANGE:
        wish = Wish(owner=row.owner, state=Handling.State.IN_PROGRESS, reason=row.reason)
    else:
        wish = Wish(state=Handling.State.ACCEPTED, reason=row.reason, expires_on=row.expires_on)
    handle(writer, finding, wish, there.version if there else 0)


def _answered(row: ReviewItem) -> dict[str, Any]:
    day = row.expires_on.isoformat() if row.expires_on else None
    return {"answer": row.answer, "owner": row.owner, "reason": row.reason, "expires_on": day}


def _subject(review: Review) -> Subject:
    """The review; in the record it stands with its cluster and namespace when it has one of each."""
    places = list(review.places.values_list("cluster", "namespace"))
    found = review_subject(str(review.pk))
    clusters = {cluster for cluster, _ in places}
    namespace = places[0][1] if len(places) == 1 else ""
    return Subject(found.text, found.sort, clusters.pop() if len(clusters) == 1 else "", namespace, found.key)


def _item_subject(row: ReviewItem) -> Subject:
    finding = Subject(f"finding:{row.key}", "finding", row.cluster, row.namespace, row.key)
    return item_subject(str(row.review_id), finding)
