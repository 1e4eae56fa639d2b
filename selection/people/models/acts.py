"""What people did: one row for each act, and none is ever changed."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar, NoReturn

from django.db import models

from .written import Written, WrittenManager, narrowed

__all__ = ["ActRecord"]


class _AppendOnly(models.QuerySet["ActRecord"]):
    def update(self, **_: Any) -> NoReturn:
        raise TypeError("what people did is never changed")

    def delete(self) -> NoReturn:
        raise TypeError("what people did is never deleted")


class _ActManager(WrittenManager["ActRecord"]):
    def get_queryset(self) -> models.QuerySet[ActRecord]:
        return narrowed(_AppendOnly(self.model, using=self._db))


class ActRecord(Written):
    """Who did what, when, to what, and what it was before and after.

    People are named, so that the record outlasts their accounts. ``before`` and ``after`` hold the fields that the act
    changed; None where there was or is nothing. ``number`` is the same in every database that it is brought to.
    """

    class Via(models.TextChoices):
        """How it was done."""

        PAGE = "page"
        API = "api"
        COMMAND = "command"

    number = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    token = models.CharField(max_length=80, blank=True, help_text="The name of the token that acted for them")
    via = models.CharField(max_length=10, choices=Via)
    act = models.CharField(max_length=40)
    subject = models.CharField(max_length=700, help_text="What it was done to: see selection.people.subjects")
    before: models.JSONField[Any, Any] = models.JSONField(null=True)
    after: models.JSONField[Any, Any] = models.JSONField(null=True)
    batch = models.CharField(max_length=32, blank=True, help_text="Shared by the acts that were done as one")

    objects: ClassVar[_ActManager] = _ActManager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-at", "-pk"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["subject", "at"], name="act_subject"),
            models.Index(fields=["at"], name="act_at"),
            models.Index(fields=["actor", "at"], name="act_actor"),
            models.Index(fields=["batch"], condition=~models.Q(batch=""), name="act_batch"),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.act} {self.subject}"

    def save(self, *args: Any, **options: Any) -> None:
        """Append the row.

        Raises:
            TypeError: it is there already.
        """
        if self.pk is not None:
            raise TypeError("what people did is never changed")
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        """Refuse."""
        raise TypeError("what people did is never deleted")
