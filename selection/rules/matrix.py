"""Many services over many runtimes: who gets what, and what keeps the others away.

Services of a namespace that ask the same (the same model, classes, modes, and runtime by name) share a row. Of the
runtimes only those are told one by one that qualify somewhere or are named; the others are counted. Follows OME:
runtime selection; a named runtime is looked up and judged as in :mod:`.named`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .accelerators import required_classes
from .fleet import Fleet
from .modes import MODE_ANNOTATION, VIRTUAL_DEPLOYMENT, requested_mode
from .named import Named, judge_named
from .objects import Model, ObjectRef, Runtime, Service
from .selection import Question, Verdict, compatibility_failures, model_error, question_of

__all__ = ["Asking", "Cell", "Others", "Row", "askings", "cells", "columns", "fill", "others"]


_LAST = 10**6
"""The place of a runtime that doesn't qualify."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Services of one namespace that ask the same, by name; ``named`` is the runtime that they name, or ``""``."""

    model: Model
    question: Question
    namespace: str
    services: tuple[Service, ...]
    named: str


@dataclass(frozen=True, slots=True)
class Cell:
    """What one runtime comes to for the services of a row.

    Attributes:
        code: ``selected``, ``named``, ``advised`` (named without declared support), ``refused`` (named, and refused),
            ``qualifies``, the code of the first check that it fails, or ``absent`` (it is in another namespace).
        rank: its place in automatic selection, None when it doesn't qualify.
    """

    code: str
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One asking with what its candidates come to: the qualified in order, and those that only serve the model."""

    asking: Asking
    ranked: tuple[Verdict, ...]
    excluded: tuple[Verdict, ...]
    named: Named | None

    @property
    def astray(self) -> str:
        """Why the name leads to no runtime: ``missing``, ``unreadable``, or ``""`` when it does or none is named."""
        if self.named is None or self.named.runtime is not None:
            return ""
        return "unreadable" if self.named.problem is not None else "missing"


@dataclass(frozen=True, slots=True)
class Others:
    """The candidates that are told by number only.

    Attributes:
        count: how many there are.
        disabled: how many of them are disabled.
        excluded: how many serve a model of the rows and fail another check, by the first check that they fail.
        serve_none: how many serve none of the models: format or size doesn't fit.
    """

    count: int
    disabled: int
    excluded: tuple[tuple[str, int], ...]
    serve_none: int


def askings(fleet: Fleet, services: Iterable[Service]) -> tuple[list[Asking], list[Service]]:
    """The services by what they ask, alike models together; and those that nothing can be selected for.

    The latter have no model, one that can't be matched or is disabled, or ask for no workload of their own.
    """
    found: dict[tuple[object, ...], tuple[Model, list[Service]]] = {}
    without = []
    for service in sorted(services, key=lambda each: each.ref):
        model = _model(fleet, service)
        if model is None:
            without.append(service)
            continue
        modes = tuple(requested_mode(service, name, fleet.semantics) for name in ("engine", "decoder"))
        asked = tuple(mode.mode if mode else None for mode in modes)
        kind = service.runtime.kind if service.runtime else None
        key = (service.ref.namespace, model.ref, required_classes(service), asked, service.named_runtime, kind)
        found.setdefault(key, (model, []))[1].append(service)
    rows = [
        Asking(model, question_of(alike[0], model, fleet.semantics), alike[0].ref.namespace, tuple(alike), name)
        for model, alike in found.values()
        for name in [alike[0].named_runtime]
    ]
    return sorted(rows, key=_family), without


def _model(fleet: Fleet, service: Service) -> Model | None:
    """The model that runtimes are compared with, None when nothing is compared."""
    if service.replica_refs or service.annotations.get(MODE_ANNOTATION) == VIRTUAL_DEPLOYMENT:
        return None
    model = fleet.find_model(service.ref.namespace, service.model_name) if service.model_name else None
    if not isinstance(model, Model) or model.disabled or model_error(model) is not None:
        return None
    return model


def _family(asking: Asking) -> tuple[str, ...]:
    """Sorts models together that the same runtimes may serve."""
    model = asking.model
    framework = model.framework.name if model.framework else ""
    kin = (model.format.name, framework, model.architecture or "", model.quantization or "", model.ref.name)
    return (*kin, asking.namespace, asking.named, asking.services[0].ref.name)


def fill(fleet: Fleet, asked: Sequence[Asking]) -> list[Row]:
    """What each asking's candidates come to; only those that serve its model are judged."""
    rows = []
    for each in asked:
        judged = fleet.judged(each.question, each.namespace, brief=True)
        excluded = tuple(verdict for verdict in judged.verdicts if not verdict.qualified)
        named = judge_named(fleet, each.services[0], each.model, each.question) if each.named else None
        rows.append(Row(each, judged.ranked, excluded, named))
    return rows


def columns(rows: Sequence[Row], *, excluded: bool = False) -> list[Runtime]:
    """The runtimes to tell one by one, those first that are selected or named, then by their best rank.

    They qualify for a row or are named by one; with ``excluded`` also those that serve its model.
    """
    found: dict[ObjectRef, Runtime] = {}
    best: dict[ObjectRef, int] = {}
    for row in rows:
        told = [(1, row.named.runtime)] if row.named is not None and row.named.runtime is not None else []
        told += [(place, verdict.runtime) for place, verdict in enumerate(row.ranked, start=1)]
        told += [(_LAST, verdict.runtime) for verdict in row.excluded if excluded]
        for place, runtime in told:
            found.setdefault(runtime.ref, runtime)
            best[runtime.ref] = min(place, best.get(runtime.ref, _LAST))
    return sorted(found.values(), key=lambda runtime: best[runtime.ref])  # stable: as the rows come upon them


def cells(row: Row, runtimes: Sequence[Runtime]) -> Iterator[Cell]:
    """What each of the runtimes comes to for a row."""
    ranks = {verdict.runtime.ref: place for place, verdict in enumerate(row.ranked, start=1)}
    failing = {verdict.runtime.ref: verdict.failures[0].code for verdict in row.excluded}
    named = row.named.runtime.ref if row.named is not None and row.named.runtime is not None else None
    for runtime in runtimes:
        rank = ranks.get(runtime.ref)
        if not runtime.cluster_scoped and runtime.ref.namespace != row.asking.namespace:
            yield Cell("absent")
        elif runtime.ref == named:
            yield Cell(_as_named(row.named), rank)
        elif rank is not None:
            yield Cell("selected" if rank == 1 and not row.asking.named else "qualifies", rank)
        elif runtime.ref in failing:
            yield Cell(failing[runtime.ref])
        else:
            yield Cell(next(compatibility_failures(row.asking.question, runtime)).code)


def _as_named(named: Named | None) -> str:
    if named is None or (named.reason and not named.advised):
        return "refused"
    return "advised" if named.advised else "named"


def others(fleet: Fleet, rows: Sequence[Row], told: Sequence[Runtime]) -> Others:
    """The candidates of the rows' namespaces that aren't told one by one."""
    candidates = {
        runtime.ref: runtime
        for namespace in dict.fromkeys(row.asking.namespace for row in rows)
        for runtime in fleet.candidates(namespace)
    }
    rest = candidates.keys() - {runtime.ref for runtime in told}
    first: dict[ObjectRef, str] = {}
    for row in rows:
        for verdict in row.excluded:
            if verdict.runtime.ref in rest:
                first.setdefault(verdict.runtime.ref, verdict.failures[0].code)
    disabled = sum(candidates[ref].disabled for ref in rest)
    counted = Counter(first.values())
    none = len(rest) - disabled - sum(counted.values())
    return Others(len(rest), disabled, tuple(sorted(counted.items())), none)
