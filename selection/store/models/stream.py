"""Findings: what is to be said of the objects that were read, each known again for as long as it is kept.

A finding follows from the rules, and a rebuild gives the same ones; when it was first seen, went and came back can't be
rebuilt. It goes with its cluster when that is forgotten. What people write of one hangs on its ``key``, which is made
of names and never of primary keys, so that it finds the same finding again whatever became of the row.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from selection.rules.codes import CODES, OFF
from selection.store.sight import SightedModel, Where

from .derived import OF_ALL_MODELS
from .read import Cluster

__all__ = ["Finding", "FindingEvent", "SeveritySetting"]

_PRESENT = models.Q(gone_at__isnull=True)


class Finding(SightedModel):
    """One thing that is to be said of an object: see :mod:`selection.rules.stream`.

    It is there while ``gone_at`` is None. ``key`` stands for the cluster's name, the object, the component, the code
    and what it is about. ``evidence`` is a digest of what it rests on, ``told`` one of everything that is shown of it.
    """

    # The indexes below begin with the cluster.
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="stream", db_index=False)
    key = models.CharField(max_length=80)
    kind = models.CharField(max_length=63)
    namespace = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253)
    component = models.CharField(max_length=10, blank=True)
    code = models.CharField(max_length=40)
    about = models.CharField(max_length=1000, blank=True)
    path = models.CharField(max_length=500, blank=True, help_text="The deciding field, as it stands now")
    severity = models.CharField(max_length=10, help_text="The one in force; off hides it")
    urgency = models.PositiveSmallIntegerField(help_text="Sorts them: the worst first")
    evidence = models.CharField(max_length=32)
    told = models.CharField(max_length=32)
    facts: models.JSONField[Any, Any] = models.JSONField(default=dict)
    first_seen = models.DateTimeField()
    changed_at = models.DateTimeField(null=True, help_text="When its evidence last became another")
    gone_at = models.DateTimeField(null=True)
    came_back = models.PositiveIntegerField(default=0, help_text="How often it came back after it was gone")
    came_back_at = models.DateTimeField(null=True)
    generation = models.PositiveBigIntegerField(default=0, help_text="The cluster's generation that last changed it")

    # Of a runtime of the whole cluster some rest on the models of every namespace.
    where = Where(namespaces=("namespace",), hidden=models.Q(namespace="", code__in=OF_ALL_MODELS))

    class Meta:
        ordering: ClassVar[list[str]] = ["urgency", "cluster", "namespace", "name", "component", "about", "key"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["key"], name="stream_key_once")
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["cluster", "kind", "name"], name="stream_object"),
            models.Index(fields=["gone_at"], condition=~_PRESENT, name="stream_gone"),
            # What lists count, offer and sort, without the facts: of all clusters, and of one or of one code.
            models.Index(
                fields=["urgency", "code", "severity", "cluster", "kind", "namespace", "name"],
                condition=_PRESENT,
                name="stream_present",
            ),
            models.Index(
                fields=["code", "cluster", "kind", "namespace", "name", "severity", "urgency"],
                condition=_PRESENT,
                name="stream_code",
            ),
            models.Index(
                fields=["cluster", "code", "kind", "namespace", "name", "severity", "urgency"],
                condition=_PRESENT,
                name="stream_cluster",
            ),
        ]

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.code} {self.kind} {place}"

    @property
    def family(self) -> str:
        """The family of its words and sentences, ``""`` for a code that isn't known any more."""
        return CODES[self.code].family if self.code in CODES else ""

    @property
    def present(self) -> bool:
        """Whether it was there when its cluster was last judged."""
        return self.gone_at is None

    @property
    def state(self) -> str:
        """``gone``; ``back``, when it went and came again; else ``present``."""
        return "gone" if self.gone_at else "back" if self.came_back else "present"

    @property
    def hidden(self) -> bool:
        """Whether the installation doesn't want to see its code."""
        return self.severity == OFF

    # What the sentences of mode conflicts ask for beside the facts.

    @property
    def requested(self) -> str:
        """Of a mode conflict: the mode that was asked for."""
        return self.facts.get("requested") or ""

    @property
    def declared(self) -> str:
        """Of a mode conflict: the mode that the runtime declares."""
        return self.facts.get("declared") or ""

    @property
    def running(self) -> str:
        """Of a mode conflict: the mode that the component runs in."""
        return self.facts.get("running") or ""


class FindingEvent(SightedModel):
    """What became of a finding after it was first seen, written in the transaction that changes it.

    ``facts`` are what they were before, where the evidence became another.
    """

    class Act(models.TextChoices):
        """What became of it."""

        GONE = "gone"
        BACK = "back"
        CHANGED = "changed"

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    act = models.CharField(max_length=10, choices=Act)
    generation = models.PositiveBigIntegerField(help_text="The cluster's generation that was judged")
    facts: models.JSONField[Any, Any] = models.JSONField(default=dict)

    where = Where(
        "finding__cluster",
        namespaces=("finding__namespace",),
        hidden=models.Q(finding__namespace="", finding__code__in=OF_ALL_MODELS),
    )

    class Meta:
        ordering: ClassVar[list[str]] = ["-at", "-pk"]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["at"], name="finding_event_at")]

    def __str__(self) -> str:
        return f"{self.finding_id} {self.act}"


class SeveritySetting(models.Model):
    """What this installation says of a code: another severity, or off. One row for all processes to go by."""

    code = models.CharField(max_length=40)
    severity = models.CharField(max_length=10)
    by = models.CharField(max_length=150, blank=True, help_text="Who said so, as text")
    reason = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["code"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["code"], name="severity_setting_once")
        ]

    def __str__(self) -> str:
        return f"{self.code}: {self.severity}"
