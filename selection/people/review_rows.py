"""What the acts on reviews have in common: locking a review for a writer who may, and naming it in the record."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import PermissionDenied

from .models import Review, ReviewItem
from .persons import Person
from .rights import Act, may
from .subjects import Subject, item_subject, review_subject
from .writing import Refused, Stale, Writer

__all__ = ["locked", "may_review", "require_all", "save", "subject_of", "subject_of_item"]


def may_review(person: Person, review: Review, act: Act = Act.REVIEW) -> bool:
    """Whether somebody may do something with a review: in each of its places. One query."""
    return all(may(person, act, *place) for place in review.places.values_list("cluster", "namespace"))


def require_all(writer: Writer, act: Act, places: Iterable[tuple[str, str]]) -> None:
    """See that the writer may do it in all of these places.

    Raises:
        PermissionDenied: in one they may not.
    """
    for cluster, namespace in places:
        if not may(writer.person, act, cluster, namespace):
            where = f"namespace {namespace} of {cluster}" if namespace else f"the whole of {cluster}"
            raise PermissionDenied(f"{writer.person.name} may not {act.value} in {where}.")


def locked(writer: Writer, review: Review, act: Act, seen: int | None, *, closed: bool = False) -> Review:
    """The review as it is now, held until the transaction ends.

    Whoever writes to a review or to a part of it holds the review first, so that none waits for another in a circle.

    Args:
        writer: who is to do something with it.
        review: it.
        act: what.
        seen: the version that the writer saw, None when it doesn't matter.
        closed: whether it has to be closed, rather than not.

    Raises:
        PermissionDenied: the writer may not, in some place of it.
        Stale: it was changed since.
        Refused: it is closed, or isn't.
    """
    row = Review.objects.select_for_update().get(pk=review.pk)
    require_all(writer, act, row.places.values_list("cluster", "namespace"))
    if seen is not None and row.version != seen:
        raise Stale(row, {})
    if (row.closed_at is not None) != closed:
        raise Refused("this review isn't closed" if closed else "this review is closed")
    return row


def save(row: Review) -> None:
    """Write a review as its next version."""
    row.version += 1
    row.save()


def subject_of(review: Review) -> Subject:
    """The review, with the place that it belongs to."""
    return review_subject(str(review.pk), review.places.values_list("cluster", "namespace"))


def subject_of_item(row: ReviewItem) -> Subject:
    """An item of a review, with the place of its finding."""
    finding = Subject(f"finding:{row.key}", "finding", row.cluster, row.namespace, row.key)
    return item_subject(str(row.review_id), finding)
