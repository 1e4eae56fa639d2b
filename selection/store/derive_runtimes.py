"""Rows about runtimes and models: what a list of them shows, and where runtimes refer to LeaderWorkerSet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet
from selection.rules.inheritance import PROFILE, Chain, parent_name, provenance
from selection.rules.merge import WrongType
from selection.rules.modes import runtime_mode
from selection.rules.objects import Model, ObjectRef, Problem, Runtime
from selection.rules.references import Reference, find_references
from selection.rules.selection import Verdict, model_error, question_of
from selection.rules.sizes import range_text

from .models import Cluster, ModelResult, ReferenceRow, RuntimeResult
from .rows import Written, write_rows

__all__ = ["write_models", "write_runtimes"]

_RUNTIME_KINDS = frozenset({"ServingRuntime", "ClusterServingRuntime"})
_MODEL_KINDS = frozenset({"BaseModel", "ClusterBaseModel"})


def write_runtimes(cluster: Cluster, fleet: Fleet, explanations: Sequence[Explanation]) -> Written:
    """Write one row for each runtime, readable or not, and one for each LeaderWorkerSet reference."""
    selected: Counter[ObjectRef] = Counter()
    named: Counter[ObjectRef] = Counter()
    for explanation in explanations:
        if explanation.selected is not None:
            (selected if explanation.outcome == "auto-selected" else named)[explanation.selected.ref] += 1
    references = {runtime.ref: list(_references(fleet, runtime)) for runtime in fleet.runtimes.values()}
    wanted = [
        _runtime_row(cluster, fleet, runtime, selected, named, len(references[runtime.ref]))
        for runtime in fleet.runtimes.values()
    ]
    wanted += [
        _unreadable_runtime(cluster, problem)
        for problem in fleet.problems.values()
        if problem.object.kind in _RUNTIME_KINDS
    ]
    written = write_rows(RuntimeResult.objects.filter(cluster=cluster), wanted, ["kind", "namespace", "name"])
    keys = {
        ObjectRef(kind, namespace, name): pk
        for pk, kind, namespace, name in RuntimeResult.objects.filter(cluster=cluster).values_list(
            "pk", "kind", "namespace", "name"
        )
    }
    rows = [row for ref, found in references.items() for row in _reference_rows(keys[ref], found)]
    parts = write_rows(ReferenceRow.objects.filter(runtime__cluster=cluster), rows, ["runtime_id", "path", "ordinal"])
    return Written(written.created + parts.created, written.updated + parts.updated, written.deleted + parts.deleted)


def _runtime_row(
    cluster: Cluster,
    fleet: Fleet,
    runtime: Runtime,
    selected: Counter[ObjectRef],
    named: Counter[ObjectRef],
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
        selected_by=selected[runtime.ref],
        named_by=named[runtime.ref],
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


def _references(fleet: Fleet, runtime: Runtime) -> Iterator[tuple[Reference, ObjectRef]]:
    """The references in what a service that names the runtime is rendered from, and whose they are.

    With a broken chain (nothing can be rendered) the runtime's own references are told.
    """
    effective = fleet.effective(runtime)
    if effective.runtime is None or len(effective.chain.members) == 1:
        for reference in find_references(runtime.spec):
            yield reference, runtime.ref
        return
    owners = _owners(fleet, effective.chain)
    for reference in find_references(effective.runtime.spec):
        yield reference, owners.get(reference.path, runtime.ref)


def _owners(fleet: Fleet, chain: Chain) -> Mapping[str, ObjectRef]:
    specs = [fleet.runtimes[(member.namespace or "", member.name)].spec for member in chain.members]
    try:
        told = provenance(chain, specs)
    except WrongType:
        return {}
    return {path: ObjectRef(key.kind, key.namespace or "", key.name) for path, key in told.items()}


def _reference_rows(runtime_pk: int, found: list[tuple[Reference, ObjectRef]]) -> Iterator[ReferenceRow]:
    seen: Counter[str] = Counter()
    for reference, owner in found:
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


def write_models(cluster: Cluster, fleet: Fleet, explanations: Sequence[Explanation]) -> Written:
    """Write one row for each model, readable or not."""
    used = Counter(explanation.model.ref for explanation in explanations if explanation.model is not None)
    wanted = [_model_row(cluster, fleet, model, used[model.ref]) for model in fleet.models.values()]
    wanted += [
        ModelResult(
            cluster=cluster,
            kind=problem.object.kind,
            namespace=problem.object.namespace,
            name=problem.object.name,
            matchable=False,
            problem=f"{problem.path}: {problem.message}",
        )
        for problem in fleet.problems.values()
        if problem.object.kind in _MODEL_KINDS
    ]
    return write_rows(ModelResult.objects.filter(cluster=cluster), wanted, ["kind", "namespace", "name"])


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
