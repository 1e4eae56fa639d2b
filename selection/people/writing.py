"""The one way to write: who may, that nobody's words are overwritten unseen, and a line in the record, all or nothing.

Every function that changes what people wrote runs in :func:`writing`, and says what it did with :func:`note`. Nothing
else writes these tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import uuid4

from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.utils import timezone

from .models import ActRecord
from .persons import Person
from .rights import Act, may
from .subjects import Subject

__all__ = ["Refused", "Stale", "Writer", "note", "require", "writing"]

Via = Literal["page", "api", "command"]


class Refused(ValueError):
    """What was asked for can't be: says why, and of which field."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class Stale(Exception):
    """Somebody else changed it meanwhile: nothing was written.

    Attributes:
        current: the row as it stands now.
        wanted: what was to be written, by field; no text is lost.
    """

    def __init__(self, current: models.Model, wanted: Mapping[str, Any]) -> None:
        super().__init__("somebody else changed it meanwhile")
        self.current = current
        self.wanted = dict(wanted)


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, and how. The acts of one ``batch`` were done as one, and are undone as one."""

    person: Person
    via: Via
    batch: str = ""

    def as_one(self) -> Writer:
        """The same, for several acts at once."""
        return replace(self, batch=uuid4().hex)


@contextmanager
def writing() -> Iterator[None]:
    """All of it is written, or nothing."""
    with transaction.atomic():
        yield


def require(writer: Writer, act: Act, subject: Subject) -> None:
    """See that the writer may do it where the subject is.

    Raises:
        PermissionDenied: they may not.
    """
    if not may(writer.person, act, subject.cluster, subject.namespace):
        where = f"namespace {subject.namespace} of {subject.cluster}" if subject.namespace else subject.cluster
        raise PermissionDenied(f"{writer.person.name} may not {act.value} in {where or 'all clusters'}.")


def note(
    writer: Writer, act: str, subject: Subject, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> ActRecord:
    """Append to the record of what people did.

    Args:
        writer: who did it.
        act: what, as a code.
        subject: to what.
        before: the fields that changed, as they were; None when there was nothing.
        after: the same as they are; None when there is nothing any more.
    """
    row = ActRecord(
        at=timezone.now(),
        actor=writer.person.name,
        token=writer.person.token,
        via=writer.via,
        act=act,
        subject=subject.text,
        cluster=subject.cluster,
        namespace=subject.namespace,
        before=dict(before) if before is not None else None,
        after=dict(after) if after is not None else None,
        batch=writer.batch,
    )
    row.save()
    return row
