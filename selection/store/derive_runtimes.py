"""Rows about runtimes and models: what a list of them shows, and where runtimes refer to LeaderWorkerSet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from django.db.models import Count, QuerySet

from selection.rules.fleet import Fleet
from selection.rules.inheritance import PROFILE, parent_name
from selection.rules.modes import runtime_mode
from selection.rules.objects import Model, ObjectRef, Problem, Runtime
from selection.rules.reach import Reach
from selection.rules.reference_origins import Located, located_references
from selection.rules.selection import Verdict, model_error, question_of
from selection.rules.sizes import range_text

from .models import Cluster, ModelResult, ReferenceRow, RuntimeResult, ServiceResult
from .rows import Written, having, write_rows

__all__ = ["write_models", "write_runtimes"]

_RUNTIME_KINDS = frozenset({"ServingRuntime", "ClusterServingRuntime"})
_MODEL_KINDS = frozenset({"BaseModel", "ClusterBaseModel"})


def write_runtimes(cluster: Cluster, fleet: Fleet, touched: Reach | None, generation: int) -> Written:
    """Write one row for each runtime, readable or not, and one for each LeaderWorkerSet reference.

    Only what is touched is made anew, unless None; who gets a runtime is counted for all, from the services' rows.
    Rows that differ get the generation.
    """
    rows = RuntimeResult.objects.filter(cluster=cluster)
    counts = _served_services(cluster)
    if touched is None:
        refs = {
            *(runtime.ref for runtime in fleet.runtimes.values()),
            *(ref for ref in fleet.problems if ref.kind in _RUNTIME_KINDS),
        }
        existing: Iterable[RuntimeResult] = rows
    else:
        refs = touched.runtimes
        existing = [row for row in having(rows, "name", (ref.name for ref in refs)) if _ref(row) in refs]
    found = {runtime.ref: runtime for runtime in fleet.runtimes.values() if runtime.ref in refs}
    references = {ref: located_references(fleet, runtime) for ref, runtime in found.items()}
    wanted = [
        _runtime_row(cluster, fleet, runtime, counts.get(ref, (0, 0)), len(references[ref]))
        for ref, runtime in found.items()
    ]
    wanted += [_unreadable_runtime(cluster, fleet.problems[ref]) for ref in refs if ref in fleet.problems]
    written = _write_stamped(existing, wanted, RuntimeResult, generation)
    keys = {ObjectRef(*key): pk for pk, *key in rows.values_list("pk", "kind", "namespace", "name")}
    pks = {keys[ref]: ref for ref in found}
    parts = ReferenceRow.objects.filter(runtime__cluster=cluster)
    old_parts = parts if touched is None else having(parts, "runtime_id", (keys[ref] for ref in refs if ref in keys))
    new_parts = [row for pk, ref in pks.items() for row in _reference_rows(pk, references[ref])]
    return written + write_rows(old_parts, new_parts, ReferenceRow) + _recount(rows, counts, touched, generation)


Result = TypeVar("Result", RuntimeResult, ModelResult)


def _write_stamped(existing: Iterable[Result], wanted: list[Result], model: type[Result], generation: int) -> Written:
    for row in wanted:
        row.generation = generation
    return write_rows(existing, wanted, model, stamps=["generation"])


def _ref(row: RuntimeResult) -> ObjectRef:
    return ObjectRef(row.kind, row.namespace, row.name)


def _served_services(cluster: Cluster) -> dict[ObjectRef, tuple[int, int]]:
    """How many services get each runtime by selection and by name."""
    found: dict[ObjectRef, tuple[int, int]] = {}
    fields = ("selected_kind", "selected_namespace", "selected_name", "outcome")
    groups = ServiceResult.objects.filter(cluster=cluster).exclude(selected_name="").order_by()
    for kind, namespace, name, outcome, count in groups.values_list(*fields).annotate(count=Count("pk")):
        selected, named = found.get(ObjectRef(kind, namespace, name), (0, 0))
        automatic = outcome == "auto-selected"
        found[ObjectRef(kind, namespace, name)] = (selected + count * automatic, named + count * (not automatic))
    return found


def _recount(
    rows: QuerySet[RuntimeResult], counts: dict[ObjectRef, tuple[int, int]], touched: Reach | None, generation: int
) -> Written:
    """Correct the counts of runtimes that weren't touched themselves: their services may have gone elsewhere."""
    if touched is None:
        return Written()
    stored = rows.values_list("pk", "kind", "namespace", "name", "selected_by", "named_by")
    changed = [
        RuntimeResult(pk=pk, selected_by=new[0], named_by=new[1], generation=generation)
        for pk, kind, namespace, name, *old in stored
        if (new := counts.get(ObjectRef(kind, namespace, name), (0, 0))) != tuple(old)
    ]
    RuntimeResult.objects.bulk_update(changed, ["selected_by", "named_by", "generation"], batch_size=500)
    return Written(updated=len(changed))


def _runtime_row(
    cluster: Cluster,
    fleet: Fleet,
    runtime: Runtime,
    services: tuple[int, int],
    references: int,
) -> RuntimeResult:
    chain = fleet.effective(runtime).chain
    modes = {name: runtime_mode(runtime, name, fleet.semantics) for name in ("engine", "decoder", "router")}
    formats = sorted({entry.format.name for entry in runtime.entries if entry.format is not None})
    return RuntimeResult(
        cluster=cluster,
        kind=runtime.ref.kind,
        namespace=runtime.ref.namespace,
        name=runtime.ref.name,
        disabled=runtime.disabled,
        profile=runtime.annotations.get(PROFILE) == "true",
        auto_select=any(entry.auto_select for entry in runtime.entries),
        formats=", ".join(formats),
        size_range=range_text(runtime.size_range) if runtime.size_range else "",
        engine_mode=modes["engine"].mode if modes["engine"] else "",
        decoder_mode=modes["decoder"].mode if modes["decoder"] else "",
        router_mode=modes["router"].mode if modes["router"] else "",
        parent=parent_name({"metadata": {"annotations": dict(runtime.annotations)}})
        if fleet.semantics.inherits
        else "",
        chain_problem=chain.problem.reason if chain.problem else "",
        selected_by=services[0],
        named_by=services[1],
        references=references,
    )


def _unreadable_runtime(cluster: Cluster, problem: Problem) -> RuntimeResult:
    ref = problem.object
    return RuntimeResult(
        cluster=cluster,
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        problem=f"{problem.path}: {problem.message}",
    )


def _reference_rows(runtime_pk: int, found: Sequence[Located]) -> Iterator[ReferenceRow]:
    seen: Counter[str] = Counter()
    for each in found:
        reference, owner = each.reference, each.origin
        yield ReferenceRow(
            runtime_id=runtime_pk,
            path=reference.path,
            ordinal=seen[reference.path[:499]],
            component=reference.component or "",
            container=reference.container or "",
            init_container=reference.init_container,
            token=reference.token,
            remedy=reference.remedy,
            replacement=reference.replacement or "",
            code=reference.explanation,
            line=reference.line or 1,
            origin_kind=owner.kind,
            origin_namespace=owner.namespace,
            origin_name=owner.name,
        )
        seen[reference.path[:499]] += 1


def write_models(cluster: Cluster, fleet: Fleet, touched: Reach | None, generation: int) -> Written:
    """Write one row for each model, readable or not; only those touched, unless None.

    Rows that differ get the generation.
    """
    used = _using_services(cluster)
    rows = ModelResult.objects.filter(cluster=cluster)
    if touched is None:
        refs = {model.ref for model in fleet.models.values()}
        refs |= {ref for ref in fleet.problems if ref.kind in _MODEL_KINDS}
        existing: Iterable[ModelResult] = rows
    else:
        # A service that stopped using a model touches it too; the counts tell which.
        stored = rows.values_list("kind", "namespace", "name", "services")
        counted = ((ObjectRef(kind, namespace, name), services) for kind, namespace, name, services in stored)
        refs = touched.models | {ref for ref, services in counted if services != used[ref]}
        existing = [row for row in having(rows, "name", (ref.name for ref in refs)) if _model_ref(row) in refs]
    wanted = [
        _model_row(cluster, fleet, model, used[model.ref]) for model in fleet.models.values() if model.ref in refs
    ]
    wanted += [_unreadable_model(cluster, fleet.problems[ref]) for ref in refs if ref in fleet.problems]
    return _write_stamped(existing, wanted, ModelResult, generation)


def _model_ref(row: ModelResult) -> ObjectRef:
    return ObjectRef(row.kind, row.namespace, row.name)


def _using_services(cluster: Cluster) -> Counter[ObjectRef]:
    """How many services use each model."""
    groups = ServiceResult.objects.filter(cluster=cluster).exclude(model_kind="").order_by()
    fields = ("model_kind", "model_namespace", "model_name")
    counted = groups.values_list(*fields).annotate(count=Count("pk"))
    return Counter({ObjectRef(kind, namespace, name): count for kind, namespace, name, count in counted})


def _unreadable_model(cluster: Cluster, problem: Problem) -> ModelResult:
    ref = problem.object
    return ModelResult(
        cluster=cluster,
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        matchable=False,
        problem=f"{problem.path}: {problem.message}",
    )


def _model_row(cluster: Cluster, fleet: Fleet, model: Model, services: int) -> ModelResult:
    error = model_error(model)
    # A ClusterBaseModel is judged against the cluster's runtimes, which every namespace sees.
    ranked = () if error else _brief(fleet, model)
    first = ranked[0].runtime.ref if ranked else ObjectRef("", "", "")
    return ModelResult(
        cluster=cluster,
        kind=model.ref.kind,
        namespace=model.ref.namespace,
        name=model.ref.name,
        format=_with_version(model.format.name, model.format.version),
        framework=_with_version(model.framework.name, model.framework.version) if model.framework else "",
        architecture=model.architecture or "",
        quantization=model.quantization or "",
        size=model.size or "",
        disabled=model.disabled,
        matchable=error is None,
        qualified=len(ranked),
        first_kind=first.kind,
        first_name=first.name,
        services=services,
    )


def _brief(fleet: Fleet, model: Model) -> tuple[Verdict, ...]:
    return fleet.judged(question_of(None, model, fleet.semantics), model.ref.namespace, brief=True).ranked


def _with_version(name: str, version: Any) -> str:
    return f"{name} {version}" if version else name
