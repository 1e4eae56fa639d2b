"""The record of what people did, as somebody may read it: what a comment said that was taken away only admins read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from .models import ActRecord, Comment
from .persons import Person
from .rights import Act, may
from .subjects import Subject

__all__ = ["Reader", "acts_about", "acts_of"]


def acts_of() -> QuerySet[ActRecord]:
    """Everything that is seen of what people did, the newest first."""
    return ActRecord.objects.order_by("-at", "-pk")


def acts_about(subject: Subject) -> QuerySet[ActRecord]:
    """What people did with one thing, the newest first."""
    return acts_of().filter(subject=subject.text)


class Reader:
    """Somebody who reads the record.

    A comment that was taken away is gone for whoever is no admin of its place, and so is every version of it that the
    record keeps.
    """

    def __init__(self, person: Person, among: Iterable[ActRecord] | None = None) -> None:
        """``among`` are the acts that will be read, None for any; it says how many comments are asked after."""
        self.person = person
        self._among = None if among is None else list(among)

    @cached_property
    def _removed(self) -> frozenset[str]:
        """The comments that were taken away. One query, and none where no act is about a comment."""
        rows = Comment.objects.filter(removed_at__isnull=False).order_by()
        if self._among is not None:
            asked = {name for act in self._among if (name := _comment(act))}
            if not asked:
                return frozenset()
            rows = rows.filter(pk__in=asked)
        return frozenset(str(pk) for pk in rows.values_list("pk", flat=True))

    def veiled(self, act: ActRecord) -> bool:
        """Whether the words of an act aren't this person's to read."""
        name = _comment(act)
        return bool(name) and name in self._removed and not may(self.person, Act.GRANT, act.cluster, act.namespace)

    def before(self, act: ActRecord) -> Mapping[str, Any] | None:
        """What there was before, as far as it is to be read."""
        return self._told(act, act.before)

    def after(self, act: ActRecord) -> Mapping[str, Any] | None:
        """What there was after, as far as it is to be read."""
        return self._told(act, act.after)

    def _told(self, act: ActRecord, value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if value is None or "text" not in value or not self.veiled(act):
            return value
        return {name: None if name == "text" else each for name, each in value.items()}


def _comment(act: ActRecord) -> str:
    """The number of the comment that an act is about, ``""`` when it is about none."""
    for value in (act.after, act.before):
        if isinstance(value, dict) and isinstance(value.get("comment"), str):
            return str(value["comment"])
    return ""
