"""Signing a review, and taking that back."""

from __future__ import annotations

from django.utils import timezone

from .models import Review, Signature
from .review_people import invite
from .review_rows import locked, subject_of
from .review_states import answers_digest, state_of
from .rights import Act
from .writing import Refused, Stale, Writer, note, writing

__all__ = ["LONGEST_NOTE", "sign", "unsign"]

LONGEST_NOTE = 5_000


def sign(writer: Writer, review: Review, seen: int, words: str = "", answers: str = "") -> Signature:
    """Sign what is frozen and answered.

    Args:
        writer: who signs.
        review: it.
        seen: its version that the writer saw.
        words: what they say to it.
        answers: what the answers that the writer saw come to (:func:`.review_states.answers_digest`); ``""`` not to
            compare them.

    Raises:
        PermissionDenied: the writer may not sign in some place of it.
        Refused: items are open, something differs from what was frozen, it is closed, or the writer has signed.
        Stale: the review was changed since ``seen``, or an answer since ``answers``.
    """
    words = words.strip()
    if len(words) > LONGEST_NOTE or "\0" in words:
        raise Refused(f"a signature's words are at most {LONGEST_NOTE:,} characters, without NUL", "note")
    with writing():
        row = locked(writer, review, Act.SIGN, seen)
        found = state_of(row)
        if found.stale:
            raise Refused("what was frozen isn't so any more: bring the review up to date first")
        if found.progress.open:
            noun = "item is" if found.progress.open == 1 else "items are"
            raise Refused(f"{found.progress.open} {noun} without an answer")
        digest = answers_digest(row)
        if answers not in ("", digest):
            raise Stale(row, {"note": words})
        if any(each.name == writer.person.name for each in found.signatures):
            raise Refused("you have signed this already")
        signature = Signature.objects.create(
            review=row,
            name=writer.person.name,
            token=writer.person.token,
            signed_at=timezone.now(),
            digest=digest,
            note=words,
        )
        invite(writer, row, [writer.person.name])
        note(writer, "signed", subject_of(row), None, {"state": digest, "note": signature.note})
    return signature


def unsign(writer: Writer, review: Review) -> None:
    """Take one's signature back.

    Raises:
        PermissionDenied: the writer may not sign in some place of it.
        Refused: there is none that counts, or the review is closed.
    """
    with writing():
        row = locked(writer, review, Act.SIGN, None)
        mine = Signature.objects.filter(review=row, name=writer.person.name, digest=answers_digest(row)).first()
        if mine is None:
            raise Refused("there is no signature of yours that counts")
        before = {"state": mine.digest, "note": mine.note}
        mine.delete()
        note(writer, "signature-withdrawn", subject_of(row), before, None)
