"""Who takes part in a review: whoever opened it, whoever was asked to, and whoever answered or signed."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.utils import timezone

from .models import Participant, Review
from .review_rows import locked, subject_of
from .rights import Act, role_of
from .writing import Refused, Writer, note, writing

__all__ = ["add_participants", "invite", "remove_participant"]


def add_participants(writer: Writer, review: Review, names: Iterable[str]) -> None:
    """Have others take part.

    Raises:
        PermissionDenied: the writer may not review some place of it.
        Refused: there is no such account, or it may not see the review.
    """
    with writing():
        row = locked(writer, review, Act.REVIEW, None)
        added = invite(writer, row, names)
        if added:
            note(writer, "participants-added", subject_of(row), None, {"names": added})


def remove_participant(writer: Writer, review: Review, name: str) -> None:
    """Have somebody take part no more; what they wrote stays.

    Raises:
        PermissionDenied: the writer may not review some place of it.
    """
    with writing():
        row = locked(writer, review, Act.REVIEW, None)
        if Participant.objects.filter(review=row, name=name).delete()[0]:
            note(writer, "participant-removed", subject_of(row), {"names": [name]}, None)


def invite(writer: Writer, review: Review, names: Iterable[str]) -> list[str]:
    """Put people among those who take part; says who is new there. It runs in the transaction of an act.

    Raises:
        Refused: there is no such account, or it may not see the whole review.
    """
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
    if not all(role_of(user, *place) for place in review.places.values_list("cluster", "namespace")):
        raise Refused(f"{name} may not see all that this review is about", "participants")
