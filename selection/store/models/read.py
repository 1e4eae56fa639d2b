"""What was read of clusters, and how that went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db import models
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from selection.store.sight import Sight, SightedModel, Where

__all__ = ["Cluster", "KindSync", "StoredObject"]


class Cluster(SightedModel):
    """A Kubernetes cluster, or a set of files that stands for one.

    ``generation`` grows with every change of its objects; caches and derived rows name the one they saw.
    ``answers_generation`` is the newest one that changed a derived row, so that a page knows whether to look again.
    A cluster that is followed has one process that watches it, its holder; ``claim`` counts the holders, and one that
    finds another number than its own there has lost the cluster and must not write.
    """

    class Access(models.TextChoices):
        """How it is reached. One that is read from files, or by hand, isn't followed."""

        NONE = "", "by hand"
        KUBECONFIG = "kubeconfig", "a context of the kubeconfig"
        IN_CLUSTER = "in-cluster", "the cluster that the dashboard runs in"

    class DeclaredBy(models.TextChoices):
        """Who said that it is to be followed."""

        NOBODY = ""
        FILE = "file"
        ENVIRONMENT = "environment"
        PAGE = "page"
        COMMAND = "command"

    class VersionSource(models.TextChoices):
        """Where ``ome_version`` comes from."""

        DEFAULT = "default"
        DETECTED = "detected"
        SET = "set"

    name = models.CharField(max_length=253, unique=True)
    source = models.CharField(max_length=500, blank=True, help_text="Where it was read from, in words")
    ome_version = models.CharField(max_length=10, default="1.3")
    ome_version_source = models.CharField(max_length=10, choices=VersionSource, default=VersionSource.DEFAULT)
    ome_namespace = models.CharField(max_length=63, default="ome")
    generation = models.PositiveBigIntegerField(default=0)
    evaluated_generation = models.PositiveBigIntegerField(default=0)
    evaluated_version = models.CharField(max_length=10, blank=True, help_text="The release line that it was judged by")
    answers_generation = models.PositiveBigIntegerField(default=0)
    access = models.CharField(max_length=12, choices=Access, default=Access.NONE, blank=True)
    context = models.CharField(max_length=253, blank=True, help_text="Of the kubeconfig; empty for the current one")
    kubeconfig = models.CharField(max_length=1000, blank=True, help_text="Empty for KUBECONFIG or ~/.kube/config")
    declared_by = models.CharField(max_length=12, choices=DeclaredBy, default=DeclaredBy.NOBODY, blank=True)
    followed = models.BooleanField(default=False, help_text="Whether a process is to watch it")
    claim = models.PositiveBigIntegerField(default=0)
    holder = models.CharField(max_length=253, blank=True, help_text="The process that watches it: host and number")
    heartbeat_at = models.DateTimeField(null=True, help_text="When the holder last said that it is there")
    lag_ms = models.PositiveIntegerField(null=True, help_text="From the arrival of the last event to its answers")
    sync_started_at = models.DateTimeField(null=True)
    sync_finished_at = models.DateTimeField(null=True)
    sync_error = models.TextField(blank=True)

    where = Where("pk")

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name


def _kind_counts(sight: Sight) -> Mapping[str, Combinable]:
    """How many of a kind's objects are seen. Events aren't kept by namespace, so they are told of whole clusters."""
    whole = [place.pk for place in sight.places or () if place.namespaces is None]
    seen = StoredObject.objects.filter(cluster=models.OuterRef("cluster"), kind=models.OuterRef("kind"))
    counted = seen.order_by().values("cluster").annotate(rows=models.Count("pk")).values("rows")
    of_all = models.When(cluster__in=whole, then=models.F("events"))
    return {
        "object_count": Coalesce(models.Subquery(counted), 0, output_field=models.PositiveIntegerField()),
        "events": models.Case(of_all, default=0, output_field=models.PositiveBigIntegerField()),
    }


class KindSync(SightedModel):
    """How the last read of one kind went, and whether it is watched.

    ``listed_at`` is when it was last read whole, ``confirmed_at`` when what is stored was last known to be what the
    cluster has: by a list, an event or a bookmark.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="kinds")
    kind = models.CharField(max_length=63)
    outcome = models.CharField(max_length=20)
    reason = models.TextField(blank=True)
    resource_version = models.CharField(max_length=64, blank=True)
    object_count = models.PositiveIntegerField(default=0)
    attempted_at = models.DateTimeField()
    listed_at = models.DateTimeField(null=True)
    watching = models.BooleanField(default=False, help_text="Whether the holder has a watch open")
    watch_trouble = models.TextField(blank=True, help_text="Why it has none")
    confirmed_at = models.DateTimeField(null=True)
    last_event_at = models.DateTimeField(null=True)
    events = models.PositiveBigIntegerField(default=0, help_text="How many were ever received")

    where = Where(counts=_kind_counts)

    class Meta:
        ordering: ClassVar[list[str]] = ["kind"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["cluster", "kind"], name="kind_sync_once")
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.kind}: {self.outcome}"

    def veil(self, sight: Sight) -> None:
        """Forget counts of all namespaces; what is seen is counted by the manager."""
        if not sight.whole(self.__dict__.get("cluster_id", 0)):
            self.object_count = self.events = 0


class StoredObject(SightedModel):
    """An object as it was read, its secrets replaced. ``problem_path`` says why it can't be judged."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="objects_read")
    kind = models.CharField(max_length=63)
    namespace = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253)
    uid = models.CharField(max_length=64, blank=True)
    resource_version = models.CharField(max_length=64, blank=True)
    manifest: models.JSONField[Any, Any] = models.JSONField()
    digest = models.CharField(max_length=64)
    generation = models.PositiveBigIntegerField(
        default=0, help_text="The cluster's generation that brought it as it is"
    )
    problem_path = models.CharField(max_length=500, blank=True)
    problem_message = models.TextField(blank=True)

    where = Where(namespaces=("namespace",))

    class Meta:
        ordering: ClassVar[list[str]] = ["kind", "namespace", "name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["cluster", "kind", "namespace", "name"], name="object_once")
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["cluster", "generation"], name="object_generation"),
            # Few can't be judged; they are counted on every overview.
            models.Index(fields=["cluster", "kind"], condition=~models.Q(problem_message=""), name="object_problem"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"
