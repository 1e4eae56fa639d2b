"""What the rules say of the objects that were read: it can be rebuilt at any time, row for row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db import models
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from selection.store.sight import Sight, SightedModel, Where

from .read import Cluster

__all__ = [
    "ComponentResult",
    "ConflictRow",
    "ModelResult",
    "ReferenceRow",
    "RuntimeResult",
    "ServiceResult",
]


OF_ALL_MODELS = ("overlap", "shadowed", "entry-architecture-missing")
"""The findings that, of a runtime of the whole cluster, rest on the models of every namespace."""


class ServiceResult(SightedModel):
    """What the rules say of one InferenceService; the explanation itself is computed when someone looks."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="services")
    namespace = models.CharField(max_length=253)
    name = models.CharField(max_length=253)
    outcome = models.CharField(max_length=20)
    selected_kind = models.CharField(max_length=63, blank=True)
    selected_namespace = models.CharField(max_length=253, blank=True)
    selected_name = models.CharField(max_length=253, blank=True)
    score = models.BigIntegerField(null=True)
    named = models.BooleanField(default=False)
    model_kind = models.CharField(max_length=63, blank=True)
    model_namespace = models.CharField(max_length=253, blank=True)
    model_name = models.CharField(max_length=253, blank=True)
    message = models.TextField(blank=True, help_text="OME's text, without the list of excluded runtimes")
    admitted = models.BooleanField(default=True)
    qualified = models.PositiveIntegerField(default=0)
    modes: models.JSONField[Any, Any] = models.JSONField(default=dict, help_text="As in the explanation's contract")
    conflicts: models.JSONField[Any, Any] = models.JSONField(
        default=list, help_text="Conflict codes, sorted, each once"
    )
    computed_from: models.JSONField[Any, Any] = models.JSONField(
        default=list, help_text="The deciding objects and their resourceVersions"
    )
    computed_at = models.DateTimeField(help_text="When this answer was first computed from these objects")
    generation = models.PositiveBigIntegerField(default=0, help_text="The cluster's generation that last changed it")

    where = Where(namespaces=("namespace",))

    class Meta:
        ordering: ClassVar[list[str]] = ["cluster", "namespace", "name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["cluster", "namespace", "name"], name="service_result_once")
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["outcome"], name="service_outcome"),
            models.Index(fields=["cluster", "outcome"], condition=models.Q(admitted=False), name="service_refused"),
            models.Index(fields=["cluster", "name"], name="service_name"),
            models.Index(
                fields=["cluster", "selected_kind", "selected_namespace", "selected_name"], name="service_selected"
            ),
            models.Index(fields=["cluster", "model_kind", "model_namespace", "model_name"], name="service_model"),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}: {self.outcome}"


class ComponentResult(SightedModel):
    """One declared component of a service: what was asked for, declared, and runs, and where its migration stands."""

    result = models.ForeignKey(ServiceResult, on_delete=models.CASCADE, related_name="components")
    component = models.CharField(max_length=10)
    requested = models.CharField(max_length=30, blank=True)
    requested_source = models.CharField(max_length=60, blank=True)
    declared = models.CharField(max_length=30, blank=True, help_text="The runtime's mode")
    running = models.CharField(max_length=30, blank=True, help_text="Empty when no runtime resolves")
    running_source = models.CharField(max_length=30, blank=True)
    conflict = models.CharField(max_length=20, blank=True)
    migration = models.CharField(max_length=20, blank=True)
    workloads = models.CharField(
        max_length=200, blank=True, help_text="Kinds of the observed workloads, comma-separated"
    )

    where = Where("result__cluster", namespaces=("result__namespace",))

    class Meta:
        ordering: ClassVar[list[str]] = ["result", "component"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["result", "component"], name="component_result_once")
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["running", "component"], name="component_running"),
            models.Index(fields=["migration"], name="component_migration"),
        ]

    def __str__(self) -> str:
        return f"{self.component}: {self.running}"


class ConflictRow(SightedModel):
    """One mode conflict of a service's component, or of a runtime alone (then ``namespace``/``service`` are empty)."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="conflicts")
    namespace = models.CharField(max_length=253, blank=True)
    service = models.CharField(max_length=253, blank=True)
    component = models.CharField(max_length=10, blank=True)
    code = models.CharField(max_length=20)
    ordinal = models.PositiveSmallIntegerField(default=0, help_text="Tells conflicts of one code and component apart")
    runtime_kind = models.CharField(max_length=63, blank=True)
    runtime_namespace = models.CharField(max_length=253, blank=True)
    runtime_name = models.CharField(max_length=253, blank=True)
    requested = models.CharField(max_length=30, blank=True)
    declared = models.CharField(max_length=30, blank=True)
    running = models.CharField(max_length=30, blank=True)
    facts: models.JSONField[Any, Any] = models.JSONField(default=dict)

    where = Where(namespaces=("namespace", "runtime_namespace"))

    class Meta:
        ordering: ClassVar[list[str]] = [
            "cluster",
            "code",
            "namespace",
            "service",
            "component",
            "runtime_name",
            "ordinal",
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=[
                    "cluster",
                    "namespace",
                    "service",
                    "component",
                    "code",
                    "runtime_kind",
                    "runtime_namespace",
                    "runtime_name",
                    "ordinal",
                ],
                name="conflict_once",
            )
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["code"], name="conflict_code"),
            models.Index(fields=["cluster", "service"], name="conflict_service"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.namespace}/{self.service} {self.component}"


def _counted(sight: Sight, field: str, rows: models.QuerySet[ServiceResult]) -> Combinable:
    """How many of these services are seen; of whole clusters what is stored."""
    whole = [place.pk for place in sight.places or () if place.namespaces is None]
    counted = rows.order_by().values("cluster").annotate(rows=models.Count("pk")).values("rows")
    number = models.PositiveIntegerField()
    return models.Case(
        models.When(cluster__in=whole, then=models.F(field)),
        default=Coalesce(models.Subquery(counted), 0, output_field=number),
        output_field=number,
    )


def _runtime_counts(sight: Sight) -> Mapping[str, Combinable]:
    own = {f"selected_{part}": models.OuterRef(part) for part in ("kind", "namespace", "name")}
    rows = ServiceResult.objects.filter(cluster=models.OuterRef("cluster"), **own)
    return {
        "selected_by": _counted(sight, "selected_by", rows.filter(outcome="auto-selected")),
        "named_by": _counted(sight, "named_by", rows.exclude(outcome="auto-selected")),
    }


def _model_counts(sight: Sight) -> Mapping[str, Combinable]:
    own = {f"model_{part}": models.OuterRef(part) for part in ("kind", "namespace", "name")}
    rows = ServiceResult.objects.filter(cluster=models.OuterRef("cluster"), **own)
    return {"services": _counted(sight, "services", rows)}


class RuntimeResult(SightedModel):
    """A runtime with what a list of runtimes shows."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="runtimes")
    kind = models.CharField(max_length=63)
    namespace = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253)
    disabled = models.BooleanField(default=False)
    profile = models.BooleanField(default=False)
    auto_select = models.BooleanField(default=False, help_text="Whether any entry has autoSelect: true")
    formats = models.CharField(max_length=500, blank=True)
    size_range = models.CharField(max_length=100, blank=True)
    engine_mode = models.CharField(max_length=30, blank=True)
    decoder_mode = models.CharField(max_length=30, blank=True)
    router_mode = models.CharField(max_length=30, blank=True)
    parent = models.CharField(max_length=253, blank=True)
    chain_problem = models.CharField(max_length=30, blank=True)
    selected_by = models.PositiveIntegerField(default=0, help_text="Services that get it by automatic selection")
    named_by = models.PositiveIntegerField(default=0, help_text="Services that name it and get it")
    references = models.PositiveIntegerField(default=0, help_text="LeaderWorkerSet references in what it renders")
    problem = models.TextField(blank=True, help_text="Why it can't be read")
    generation = models.PositiveBigIntegerField(default=0, help_text="The cluster's generation that last changed it")

    where = Where(namespaces=("namespace",), counts=_runtime_counts)

    class Meta:
        ordering: ClassVar[list[str]] = ["cluster", "kind", "namespace", "name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["cluster", "kind", "namespace", "name"], name="runtime_result_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def veil(self, sight: Sight) -> None:
        """Forget counts of all namespaces; who is seen is counted by the manager."""
        if not sight.whole(self.__dict__.get("cluster_id", 0)):
            self.selected_by = self.named_by = 0


class ReferenceRow(SightedModel):
    """One LeaderWorkerSet reference in a runtime, its own or inherited (``origin_*`` says from where)."""

    runtime = models.ForeignKey(RuntimeResult, on_delete=models.CASCADE, related_name="reference_rows")
    path = models.CharField(max_length=500)
    ordinal = models.PositiveSmallIntegerField(default=0)
    component = models.CharField(max_length=10, blank=True)
    container = models.CharField(max_length=253, blank=True)
    init_container = models.BooleanField(default=False)
    token = models.CharField(max_length=500)
    remedy = models.CharField(max_length=10)
    replacement = models.CharField(max_length=500, blank=True)
    code = models.CharField(max_length=60, blank=True)
    line = models.PositiveIntegerField(default=1)
    origin_kind = models.CharField(max_length=63, blank=True)
    origin_namespace = models.CharField(max_length=253, blank=True)
    origin_name = models.CharField(max_length=253, blank=True)

    where = Where("runtime__cluster", namespaces=("runtime__namespace",))

    class Meta:
        ordering: ClassVar[list[str]] = ["runtime", "path", "ordinal"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["runtime", "path", "ordinal"], name="reference_once")
        ]

    def __str__(self) -> str:
        return f"{self.path}: {self.token}"


class ModelResult(SightedModel):
    """A model with what a list of models shows. ``qualified`` counts runtimes in its own scope."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="models")
    kind = models.CharField(max_length=63)
    namespace = models.CharField(max_length=253, blank=True)
    name = models.CharField(max_length=253)
    format = models.CharField(max_length=100, blank=True)
    framework = models.CharField(max_length=200, blank=True)
    architecture = models.CharField(max_length=200, blank=True)
    quantization = models.CharField(max_length=60, blank=True)
    size = models.CharField(max_length=60, blank=True)
    disabled = models.BooleanField(default=False)
    matchable = models.BooleanField(default=True, help_text="Whether it has modelFormat.name")
    qualified = models.PositiveIntegerField(default=0)
    first_kind = models.CharField(max_length=63, blank=True)
    first_name = models.CharField(max_length=253, blank=True)
    services = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True)
    generation = models.PositiveBigIntegerField(default=0, help_text="The cluster's generation that last changed it")

    where = Where(namespaces=("namespace",), counts=_model_counts)

    class Meta:
        ordering: ClassVar[list[str]] = ["cluster", "kind", "namespace", "name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["cluster", "kind", "namespace", "name"], name="model_result_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def veil(self, sight: Sight) -> None:
        """Forget counts of all namespaces; who is seen is counted by the manager."""
        if not sight.whole(self.__dict__.get("cluster_id", 0)):
            self.services = 0
