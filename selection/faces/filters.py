"""What the lists can be narrowed by: the same filter sets for a page and for its REST list.

Every filter is a query parameter. An unknown value in a fixed choice is an error that names it; an unknown
cluster, namespace or name simply has no rows, so that an old link still answers.
"""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from selection.faces.filterfields import NONE, Choice, Name, Value, Words, labelled, one_of, scope, yes_no
from selection.faces.filters_findings import FindingFilter
from selection.rules.conflicts import CODES
from selection.rules.explanation import OUTCOMES
from selection.rules.migration import STATES
from selection.rules.modes import COMPONENTS
from selection.rules.semantics import VERSIONS
from selection.store.models import (
    Cluster,
    ComponentResult,
    ConflictRow,
    KindSync,
    ModelResult,
    RuntimeResult,
    ServiceResult,
    StoredObject,
)

__all__ = [
    "MODES",
    "AnswerFilter",
    "ConflictFilter",
    "FindingFilter",
    "KindFilter",
    "MigrationFilter",
    "ModelFilter",
    "RuntimeFilter",
    "ServiceFilter",
    "UnreadableFilter",
    "UserFilter",
]

#: Every mode of every release that is known.
MODES = tuple(sorted({mode for semantics in VERSIONS.values() for mode in semantics.modes}))


_OUTCOMES = labelled("outcome", OUTCOMES)
_CONFLICTS = labelled("conflict", CODES)
_STATES = labelled("migration", STATES)
_RUNTIME_KINDS = {"cluster": "ClusterServingRuntime", "namespaced": "ServingRuntime"}
_MODEL_KINDS = {"cluster": "ClusterBaseModel", "namespaced": "BaseModel"}


def _runs(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    return qs.filter(Exists(ComponentResult.objects.filter(result=OuterRef("pk"), running=value)))


def _conflicts(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    rows = ConflictRow.objects.filter(
        cluster=OuterRef("cluster"), namespace=OuterRef("namespace"), service=OuterRef("name")
    )
    if value == NONE:
        return qs.filter(~Exists(rows))
    return qs.filter(Exists(rows if value == "any" else rows.filter(code=value)))


def _migrates(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    return qs.filter(Exists(ComponentResult.objects.filter(result=OuterRef("pk"), migration=value)))


class AnswerFilter(django_filters.FilterSet):
    """InferenceServices by what they get and how they run."""

    q = Words("namespace", "name", "selected_name", "model_name", "message")
    outcome = Choice("Outcome", _OUTCOMES, field="outcome")
    mode = Choice("Runs in", MODES, narrow=_runs)
    conflict = Choice("Conflict", (("any", "any conflict"), *_CONFLICTS), none="no conflict", narrow=_conflicts)
    named = yes_no("Names its runtime", Q(named=True))

    class Meta:
        model = ServiceResult
        fields: list[str] = []


class UserFilter(AnswerFilter):
    """The services that use one runtime or model. ``namespace`` is taken on those pages: it says where to judge."""

    within = Value("namespace", "Namespace")

    class Meta:
        model = ServiceResult
        fields = ("q", "within", "outcome", "mode", "conflict", "named")


class ServiceFilter(AnswerFilter):
    """InferenceServices by where they are, what they get and how they run."""

    namespace = Value("namespace", "Namespace")
    cluster = Value("cluster__name", "Cluster", source=(Cluster, "name"))
    migration = Choice("Migration", _STATES, narrow=_migrates)
    runtime = Name("selected_name", "Runtime")
    runtime_namespace = Name("selected_namespace", "Runtime's namespace")
    model = Name("model_name", "Model")
    admitted = yes_no("Would be admitted", Q(admitted=True))

    class Meta:
        model = ServiceResult
        # The order of the form.
        fields = ("q", "cluster", "namespace", "outcome", "mode", "conflict", "migration", "runtime")


class ConflictFilter(django_filters.FilterSet):
    """Mode conflicts by kind, place and the modes that don't agree."""

    q = Words("namespace", "service", "runtime_name", "runtime_namespace")
    code = Choice("Kind of conflict", _CONFLICTS, field="code")
    cluster = Value("cluster__name", "Cluster", source=(Cluster, "name"))
    namespace = Value("namespace", "Namespace")
    component = Choice("Component", COMPONENTS, field="component", none="whole runtime")
    runtime = Name("runtime_name", "Runtime")
    service = Name("service", "Service")
    requested = Choice("Service asks for", MODES, field="requested", none="nothing")
    declared = Choice("Runtime declares", MODES, field="declared", none="nothing")
    about = one_of("About", {"services": ("services", ~Q(service="")), "runtimes": ("runtimes alone", Q(service=""))})

    class Meta:
        model = ConflictRow
        fields: list[str] = []


class MigrationFilter(django_filters.FilterSet):
    """Components on MultiNode or on the way from it."""

    q = Words("result__namespace", "result__name", "result__selected_name")
    state = Choice("State", _STATES, field="migration")
    cluster = Value("result__cluster__name", "Cluster", source=(Cluster, "name"))
    namespace = Value("result__namespace", "Namespace", source=(ServiceResult, "namespace"))
    component = Choice("Component", COMPONENTS[:2], field="component")
    running = Choice("Runs in", MODES, field="running")
    runtime = Name("result__selected_name", "Runtime")
    model = Name("result__model_name", "Model")

    class Meta:
        model = ComponentResult
        fields: list[str] = []


def _declares(qs: QuerySet[Any], value: str) -> QuerySet[Any]:
    wanted = "" if value == NONE else value
    if value == NONE:
        return qs.filter(engine_mode="", decoder_mode="", router_mode="")
    return qs.filter(Q(engine_mode=wanted) | Q(decoder_mode=wanted) | Q(router_mode=wanted))


class RuntimeFilter(django_filters.FilterSet):
    """ServingRuntimes and ClusterServingRuntimes."""

    q = Words("namespace", "name", "formats", "parent", "problem")
    cluster = Value("cluster__name", "Cluster", source=(Cluster, "name"))
    scope = scope("Scope", _RUNTIME_KINDS)
    namespace = Value("namespace", "Namespace")
    model_format = Value("formats", "Format", split=", ")
    mode = Choice("Declares", MODES, none="no mode", narrow=_declares)
    auto_select = yes_no("Auto-select", Q(auto_select=True))
    disabled = yes_no("Disabled", Q(disabled=True))
    used = one_of(
        "Used",
        {
            "selected": ("by selection", Q(selected_by__gt=0)),
            "named": ("by name", Q(named_by__gt=0)),
            "nobody": ("by nobody", Q(selected_by=0, named_by=0)),
        },
    )
    references = yes_no("LeaderWorkerSet references", Q(references__gt=0))
    trouble = one_of(
        "Problem",
        {
            "chain": ("broken inheritance", ~Q(chain_problem="")),
            "unreadable": ("can't be read", ~Q(problem="")),
            "none": ("none", Q(chain_problem="", problem="")),
        },
    )

    class Meta:
        model = RuntimeResult
        fields: list[str] = []


class ModelFilter(django_filters.FilterSet):
    """BaseModels and ClusterBaseModels."""

    q = Words("namespace", "name", "architecture", "framework", "quantization", "size")
    cluster = Value("cluster__name", "Cluster", source=(Cluster, "name"))
    scope = scope("Scope", _MODEL_KINDS)
    namespace = Value("namespace", "Namespace")
    model_format = Value("format", "Format")
    state = one_of(
        "Selection",
        {
            "served": ("some runtime qualifies", Q(qualified__gt=0)),
            "unserved": ("no runtime qualifies", Q(qualified=0, matchable=True, problem="")),
            "unmatchable": ("can't be matched yet", Q(matchable=False, problem="")),
            "unreadable": ("can't be read", ~Q(problem="")),
        },
    )
    used = yes_no("Used by a service", Q(services__gt=0))
    disabled = yes_no("Disabled", Q(disabled=True))

    class Meta:
        model = ModelResult
        fields: list[str] = []


class KindFilter(django_filters.FilterSet):
    """How the reads of each kind went."""

    q = Words("kind", "reason")
    cluster = Value("cluster__name", "Cluster", source=(Cluster, "name"))
    kind = Value("kind", "Kind")
    outcome = Value("outcome", "Outcome")

    class Meta:
        model = KindSync
        fields: list[str] = []


class UnreadableFilter(django_filters.FilterSet):
    """Objects that were read and can't be judged."""

    q = Words("namespace", "name", "problem_path", "problem_message")
    cluster = Value("cluster__name", "Cluster", source=(Cluster, "name"))
    kind = Value("kind", "Kind")
    namespace = Value("namespace", "Namespace")

    class Meta:
        model = StoredObject
        fields: list[str] = []
