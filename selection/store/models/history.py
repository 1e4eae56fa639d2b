"""What happened. It is kept for a time and can't be rebuilt."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from selection.store.sight import Sight, SightedModel, Where

from .read import Cluster

__all__ = ["Change", "DailyCount", "ObjectChange", "Tally"]


class ObjectChange(SightedModel):
    """An object that differs from what was read before, in a field that can decide something.

    Written in the transaction that stores the object, so that whoever evaluates next knows what it looks for.
    """

    class Act(models.TextChoices):
        """What became of it. ``RECREATED``: another object of that name (another uid)."""

        CREATED = "created"
        CHANGED = "changed"
        RECREATED = "recreated"
        DELETED = "deleted"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="object_changes")
    generation = models.PositiveBigIntegerField(help_text="The cluster's generation that brought it")
    at = models.DateTimeField()
    kind = models.CharField(max_length=63)
    namespace = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253)
    act = models.CharField(max_length=10, choices=Act)
    old_version = models.CharField(max_length=64, blank=True, help_text="resourceVersion")
    new_version = models.CharField(max_length=64, blank=True)
    differences: models.JSONField[Any, Any] = models.JSONField(
        default=list, help_text='[{"path", "before", "after"}]: the deciding fields that differ, at most twenty'
    )
    more_differences = models.PositiveIntegerField(default=0, help_text="How many more there are")

    where = Where(namespaces=("namespace",))

    veiled = False
    """Whether this is an object that whoever asks may not see: then it says when, and nothing else."""

    class Meta:
        ordering: ClassVar[list[str]] = ["-at", "-pk"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["cluster", "generation"], name="object_change_generation"),
            models.Index(fields=["cluster", "kind", "namespace", "name"], name="object_change_object"),
            models.Index(fields=["at"], name="object_change_at"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name} {self.act}"

    def veil(self, sight: Sight) -> None:
        """Say nothing of an object that isn't seen and caused what is."""
        known = self.__dict__
        if "cluster_id" in known and "namespace" in known and sight.sees(self.cluster_id, self.namespace):
            return
        self.veiled = True
        self.kind = self.namespace = self.name = self.act = self.old_version = self.new_version = ""
        self.differences, self.more_differences = [], 0


class Change(SightedModel):
    """One thing about a service that became another: from what to what, and the object whose change caused it.

    ``before`` and ``after`` hold a code; of a runtime ``kind/namespace/name``; empty for nothing. ``cause`` is None
    when no object's change explains it: the release line was set, or the rules themselves changed.
    """

    class What(models.TextChoices):
        """What changed. ``SERVICE`` came or went; ``CONFLICT`` appeared (``after``) or was gone (``before``)."""

        SERVICE = "service"
        OUTCOME = "outcome"
        RUNTIME = "runtime"
        MODE = "mode"
        CONFLICT = "conflict"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="changes")
    generation = models.PositiveBigIntegerField(help_text="The cluster's generation that was judged")
    at = models.DateTimeField()
    namespace = models.CharField(max_length=253)
    service = models.CharField(max_length=253)
    what = models.CharField(max_length=10, choices=What)
    component = models.CharField(max_length=10, blank=True)
    before = models.CharField(max_length=600, blank=True)
    after = models.CharField(max_length=600, blank=True)
    cause = models.ForeignKey(ObjectChange, null=True, on_delete=models.SET_NULL, related_name="effects")
    reason = models.CharField(max_length=300, blank=True, help_text="The cause in words, where no object is one")
    other_causes: models.JSONField[Any, Any] = models.JSONField(
        default=list, help_text='[{"kind", "namespace", "name", "act"}]: what else changed that can have caused it'
    )

    where = Where(namespaces=("namespace",))

    class Meta:
        ordering: ClassVar[list[str]] = ["-at", "-pk"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["cluster", "namespace", "service", "at"], name="change_service"),
            models.Index(fields=["at"], name="change_at"),
            # How many a cluster had on each day.
            models.Index(fields=["cluster", "at"], name="change_day"),
            # How many there are of each kind, without a look at the rows themselves.
            models.Index(fields=["what", "at"], name="change_what"),
            # Who lost a runtime, and who got it. Without a condition: SQLite can't use an index that has one here,
            # because it plans a query before it is told the values.
            models.Index(fields=["cluster", "before"], name="change_before"),
            models.Index(fields=["cluster", "after"], name="change_after"),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.service} {self.what}: {self.before} → {self.after}"

    def veil(self, sight: Sight) -> None:
        """Leave out the objects that aren't seen from those that can have caused it."""
        if self.__dict__.get("other_causes"):
            cluster = self.__dict__.get("cluster_id", 0)
            self.other_causes = [each for each in self.other_causes if sight.sees(cluster, each["namespace"] or "")]


class Tally(SightedModel):
    """A count that only grows, with a sum beside it: what metrics tell of the processes that sync.

    Names: ``sync_failures`` by reason; ``evaluations`` by ``full`` or ``part``, with their seconds; ``batches`` of
    events, with their seconds.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="tallies")
    name = models.CharField(max_length=40)
    label = models.CharField(max_length=40, blank=True)
    count = models.PositiveBigIntegerField(default=0)
    total = models.FloatField(default=0.0)

    where = Where(only_whole=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["cluster", "name", "label"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["cluster", "name", "label"], name="tally_once")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.label}: {self.count}"


class DailyCount(SightedModel):
    """How a cluster stood at the end of a day (UTC), or stands today: the progress off MultiNode.

    Written with the answers that it counts; a day without a row is one on which nobody judged the cluster.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="days")
    day = models.DateField()
    multi_node = models.PositiveIntegerField(help_text="Components that are, or were, on a LeaderWorkerSet")
    off = models.PositiveIntegerField(help_text="Those of them that run in OMENative")

    where = Where(only_whole=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["cluster", "day"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["cluster", "day"], name="daily_count_once")
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.day}: {self.off} of {self.multi_node}"
