"""What people say of a finding, an object or a review: said, edited, removed."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.utils import timezone

from .markdown import LONGEST, mentioned
from .models import Comment, Mention
from .rights import Act, may
from .subjects import BadSubject, Subject, parse
from .writing import Refused, Stale, Writer, note, require, writing

__all__ = ["comments_on", "counts_of", "edit", "may_edit", "may_remove", "mentions_of", "remove", "say"]


def say(writer: Writer, subject: Subject, text: str) -> Comment:
    """Say something.

    Raises:
        PermissionDenied: the writer may not comment there.
        Refused: the text is empty or too long.
    """
    require(writer, Act.COMMENT, subject)
    clean = _checked(text)
    with writing():
        row = Comment.objects.create(
            subject=subject.text,
            cluster=subject.cluster,
            namespace=subject.namespace,
            author=writer.person.name,
            token=writer.person.token,
            text=clean,
            created_at=timezone.now(),
        )
        _mention(row)
        note(writer, "commented", subject, None, {"comment": str(row.pk), "text": clean})
    return row


def edit(writer: Writer, comment: Comment, text: str, seen: int) -> Comment:
    """Say it otherwise; what it was stays in the record.

    Raises:
        PermissionDenied: it is somebody else's.
        Refused: the text is empty or too long, or the comment was removed.
        Stale: it was changed since ``seen``, the version that the writer saw.
    """
    clean = _checked(text)
    with writing():
        row = _held(comment)
        if not may_edit(writer, row):
            raise PermissionDenied(f"This comment is {row.author}'s.")
        subject = _subject(row)
        if row.removed_at is not None:
            raise Refused("this comment was removed", "text")
        if row.version != seen:
            raise Stale(row, {"text": text})
        if row.text == clean:
            return row
        before = {"comment": str(row.pk), "text": row.text}
        row.text, row.edited_at, row.version = clean, timezone.now(), row.version + 1
        row.save()
        row.mentions.all().delete()
        _mention(row)
        note(writer, "edited", subject, before, {"comment": str(row.pk), "text": clean})
    return row


def remove(writer: Writer, comment: Comment, seen: int) -> Comment:
    """Take a comment away. That there was one stays to be seen; what it said stands in the record of acts alone.

    Raises:
        PermissionDenied: it is somebody else's, and the writer is no admin there.
        Refused: it was removed before.
        Stale: it was changed since ``seen``.
    """
    with writing():
        row = _held(comment)
        if not may_remove(writer, row):
            raise PermissionDenied(f"This comment is {row.author}'s.")
        subject = _subject(row)
        if row.removed_at is not None:
            raise Refused("this comment was removed")
        if row.version != seen:
            raise Stale(row, {})
        before = {"comment": str(row.pk), "text": row.text}
        row.text, row.removed_at, row.removed_by = "", timezone.now(), writer.person.name
        row.version += 1
        row.save()
        row.mentions.all().delete()
        note(writer, "removed", subject, before, None)
    return row


def may_edit(writer: Writer, comment: Comment) -> bool:
    """Whether the writer may say it otherwise: their own, as long as they may comment there."""
    return comment.author == writer.person.name and may(writer.person, Act.COMMENT, comment.cluster, comment.namespace)


def may_remove(writer: Writer, comment: Comment) -> bool:
    """Whether the writer may take it away: their own, or anybody's as an admin of the place."""
    return may_edit(writer, comment) or may(writer.person, Act.GRANT, comment.cluster, comment.namespace)


def comments_on(subject: Subject) -> QuerySet[Comment]:
    """What was said of it, in the order in which it was said."""
    return Comment.objects.filter(subject=subject.text).order_by("created_at", "pk")


def counts_of(subjects: list[Subject]) -> dict[str, int]:
    """How much was said of each of these, by its text. One query."""
    found: dict[str, int] = dict.fromkeys((each.text for each in subjects), 0)
    rows = Comment.objects.filter(subject__in=list(found), removed_at__isnull=True).order_by()
    for text in rows.values_list("subject", flat=True):
        found[text] += 1
    return found


def mentions_of(name: str) -> QuerySet[Comment]:
    """The comments that name somebody, the newest first."""
    return Comment.objects.filter(mentions__name=name).order_by("-created_at", "-pk")


def _held(comment: Comment) -> Comment:
    """The row as it is now, and nobody changes it until this is done."""
    return Comment.objects.select_for_update().get(pk=comment.pk)


def _subject(row: Comment) -> Subject:
    """What it is about, also when nothing else is known of that any more."""
    try:
        return parse(row.subject)
    except BadSubject:
        sort: Any = row.subject.partition(":")[0]
        return Subject(row.subject, sort, row.cluster, row.namespace)


def _checked(text: str) -> str:
    clean = text.replace("\r\n", "\n").strip()
    if not clean:
        raise Refused("there is nothing in it", "text")
    if len(clean) > LONGEST:
        raise Refused(f"at most {LONGEST:,} characters; this has {len(clean):,}", "text")
    if "\0" in clean:
        raise Refused("a comment holds no NUL", "text")
    return clean


def _mention(row: Comment) -> None:
    if "@" not in row.text:
        return
    known = set(User.objects.filter(is_active=True).values_list("username", flat=True))
    Mention.objects.bulk_create(
        Mention(comment=row, name=name, cluster=row.cluster, namespace=row.namespace)
        for name in mentioned(row.text, known)
    )
