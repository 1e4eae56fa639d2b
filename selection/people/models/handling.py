"""What people do with a finding: who owns it, and what was decided."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from .written import Written

__all__ = ["Handling"]


class Handling(Written):
    """What people do with one finding, by the finding's key; made with the first act.

    Whether a decision still holds isn't written down: it follows from the date, and from the evidence that the finding
    has now (:mod:`selection.people.standings`). What the finding was stands here too, for when it is long gone.
    """

    class State(models.TextChoices):
        """What was decided. That it is fixed is never written: the finding is gone then."""

        OPEN = "open"
        IN_PROGRESS = "in-progress"
        ACCEPTED = "accepted"

    key = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    component = models.CharField(max_length=10, blank=True)
    code = models.CharField(max_length=40)
    about = models.CharField(max_length=1000, blank=True)
    owner = models.CharField(max_length=150, blank=True)
    state = models.CharField(max_length=12, choices=State, default=State.OPEN)
    reason = models.TextField(blank=True)
    expires_on = models.DateField(null=True, help_text="The last day on which an acceptance holds")
    evidence = models.CharField(max_length=32, blank=True, help_text="The finding's, when this was decided")
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering: ClassVar[list[str]] = ["-changed_at", "-pk"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["owner"], condition=~models.Q(owner=""), name="handling_owner"),
            models.Index(fields=["state", "expires_on"], name="handling_state"),
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.state}"
