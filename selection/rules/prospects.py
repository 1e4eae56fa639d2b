"""What hangs on a runtime: who would lose it if it were gone, who could win it, and what stands beside it.

Losing is judged on the fleet without the runtime, winning on the fleet as it is. Follows OME: runtime selection,
reference a runtime explicitly, runtime inheritance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .accelerators import required_classes
from .explain import explain_service
from .fleet import Fleet, evolved, parent_of
from .index import serves
from .matrix import Asking, askings
from .objects import Model, ObjectRef, Runtime, Service
from .selection import Verdict, model_error, only_the_name, question_of

__all__ = ["Loss", "Overlap", "Win", "descendants", "losses", "overlaps", "served_models", "wins"]

Key = tuple[str, str]

_RUNTIMES = frozenset({"ServingRuntime", "ClusterServingRuntime"})


@dataclass(frozen=True, slots=True)
class Loss:
    """Services that have the runtime, or name one that inherits from it, and what they would get without it.

    Attributes:
        how: ``selected``, ``named``, or ``heir``: they name a runtime that inherits from it.
        outcome: what would become of them, one of the outcomes of an explanation.
        instead: the runtime that they would get, None for none.
        services: which, by namespace and name.
    """

    how: str
    outcome: str
    instead: ObjectRef | None
    services: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Win:
    """Services for which the runtime qualifies and another comes first, always the same one for the same reason.

    ``winner`` and ``verdict`` are the two as they are judged for the first of the services.
    """

    winner: Verdict
    verdict: Verdict
    rank: int
    services: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Another runtime of the same scope that qualifies for some of the same models.

    ``ahead`` and ``behind`` are the models for which the other ranks before and after; ``tied`` those among them for
    which only the names decide.
    """

    other: ObjectRef
    ahead: int
    behind: int
    tied: int

    @property
    def models(self) -> int:
        """How many models they share."""
        return self.ahead + self.behind


def served_models(fleet: Fleet, runtime: Runtime) -> list[Model]:
    """The models that pass the runtime's formats and size and that its scope sees, by name."""
    scopes = {"", runtime.ref.namespace} if runtime.ref.namespace else None
    found = (model for (scope, _), model in fleet.models.items() if scopes is None or scope in scopes)
    matchable = (model for model in found if model_error(model) is None)
    return sorted((model for model in matchable if serves(runtime, model)), key=lambda model: model.ref)


def descendants(fleet: Fleet, runtime: Runtime) -> set[ObjectRef]:
    """The runtimes that inherit from it, directly or not."""
    start = (runtime.ref.namespace, runtime.ref.name)
    return {
        other.ref
        for other in fleet.runtimes.values()
        if parent_of(other)
        for members in [fleet.effective(other).chain.members[:-1]]
        if any((each.namespace or "", each.name) == start for each in members)
    }


def losses(fleet: Fleet, runtime: Runtime, having: Iterable[Key], limit: int) -> tuple[list[Loss], int]:
    """What would become of the services that have the runtime or name an heir of it, were it gone; most first.

    Args:
        fleet: the cluster.
        runtime: the runtime that would be gone.
        having: the services that get it today, by namespace and name.
        limit: how many different questions are judged, of those that select and of those that name it each.

    Returns:
        The groups, and how many services were left out because of the limit.
    """
    users = [fleet.services[key] for key in dict.fromkeys(having) if key in fleet.services]
    selecting, _ = askings(fleet, (service for service in users if not service.named_runtime))
    selecting.sort(key=lambda each: -len(each.services))
    found: dict[tuple[str, str, ObjectRef | None], list[Key]] = {}
    for asking in selecting[:limit]:
        # The ranking of the others doesn't depend on the one that is gone.
        ranked = fleet.judged(asking.question, asking.namespace, brief=True).ranked
        instead = next((each.runtime.ref for each in ranked if each.runtime.ref != runtime.ref), None)
        outcome = "auto-selected" if instead else "no-runtime"
        found.setdefault(("selected", outcome, instead), []).extend(map(_key, asking.services))
    naming = _naming(fleet, runtime, users)
    if not _stands_in(fleet, runtime):  # then the name leads nowhere, whoever asks
        lost = [_key(service) for how, alike in naming if how == "named" for service in alike]
        if lost:
            found[("named", "no-runtime", None)] = lost
        naming = [(how, alike) for how, alike in naming if how == "heir"]
    if naming:
        without = evolved(fleet, (), (runtime.ref,))
        for how, alike in naming[:limit]:
            told = explain_service(without, *_key(alike[0]), brief=True)
            ref = told.selected.ref if told.selected else None
            if how == "named" or not _same(fleet, without, alike[0]):
                found.setdefault((how, told.outcome, ref), []).extend(map(_key, alike))
    rows = [Loss(how, outcome, ref, tuple(sorted(keys))) for (how, outcome, ref), keys in found.items()]
    left = sum(len(each.services) for each in selecting[limit:]) + sum(len(alike) for _, alike in naming[limit:])
    return sorted(rows, key=lambda row: (-len(row.services), row.services)), left


def _key(service: Service) -> Key:
    return service.ref.namespace, service.ref.name


def _naming(fleet: Fleet, runtime: Runtime, users: Iterable[Service]) -> list[tuple[str, list[Service]]]:
    """The services that name the runtime or an heir of it, those together that get the same answer; most first."""
    heirs = {ref.name for ref in descendants(fleet, runtime)}
    concerned = [("named", service) for service in users if service.named_runtime]
    if heirs:
        known = {service.ref for _, service in concerned}
        every = (service for service in fleet.services.values() if service.named_runtime in heirs)
        concerned += [("heir", service) for service in every if service.ref not in known]
    found: dict[tuple[object, ...], list[Service]] = {}
    for how, service in concerned:
        key = (service.ref.namespace, service.named_runtime, service.runtime, service.model_name)
        shape = (service.deployment_mode, required_classes(service), tuple(service.components))
        found.setdefault((how, *key, *shape, service.replica_refs), []).append(service)
    return sorted(((str(key[0]), alike) for key, alike in found.items()), key=lambda each: -len(each[1]))


def _stands_in(fleet: Fleet, runtime: Runtime) -> bool:
    """Whether another scope has something of the runtime's name, readable or not."""
    refs = (*(other.ref for other in fleet.runtimes.values()), *fleet.problems)
    return any(ref.name == runtime.ref.name and ref != runtime.ref and ref.kind in _RUNTIMES for ref in refs)


def _same(fleet: Fleet, without: Fleet, service: Service) -> bool:
    """Whether an heir of the runtime is as it was without it: another of its name stands in."""
    before, after = (explain_service(each, *_key(service), brief=True).selected for each in (fleet, without))
    return before is not None and after is not None and (before.ref, before.spec) == (after.ref, after.spec)


def wins(fleet: Fleet, runtime: Runtime, models: Iterable[Model], limit: int) -> tuple[list[Win], int]:
    """The services for which the runtime qualifies behind another, by that other and the reason; most first.

    Args:
        fleet: the cluster.
        runtime: the runtime.
        models: those that it serves.
        limit: how many different questions are judged.

    Returns:
        The groups, and how many services were left out because of the limit.
    """
    if runtime.disabled:
        return [], 0
    served = {model.ref for model in models}
    names = {ref.name for ref in served}
    users = [
        service
        for service in fleet.asking_for(sorted(names))
        if not service.named_runtime and (runtime.cluster_scoped or service.ref.namespace == runtime.ref.namespace)
    ]
    asked, _ = askings(fleet, users)
    asked = sorted((each for each in asked if each.model.ref in served), key=lambda each: -len(each.services))
    found: dict[tuple[object, ...], tuple[Verdict, Verdict, int, list[Key]]] = {}
    for asking in asked[:limit]:
        _count_win(fleet, runtime, asking, found)
    rows = [Win(winner, verdict, rank, tuple(sorted(keys))) for winner, verdict, rank, keys in found.values()]
    left = sum(len(each.services) for each in asked[limit:])
    return sorted(rows, key=lambda row: (-len(row.services), row.services)), left


def _count_win(
    fleet: Fleet,
    runtime: Runtime,
    asking: Asking,
    found: dict[tuple[object, ...], tuple[Verdict, Verdict, int, list[Key]]],
) -> None:
    ranked = fleet.judged(asking.question, asking.namespace, brief=True).ranked
    place = next((place for place, each in enumerate(ranked) if each.runtime.ref == runtime.ref), 0)
    if place == 0:  # it is the first, or doesn't qualify
        return
    winner, verdict = ranked[0], ranked[place]
    key = (winner.runtime.ref, _score(winner), _score(verdict), winner.distance, verdict.distance)
    known = found.setdefault(key, (winner, verdict, place + 1, []))
    known[3].extend((service.ref.namespace, service.ref.name) for service in asking.services)


def _score(verdict: Verdict) -> int:
    return verdict.score.score if verdict.score else 0


def overlaps(fleet: Fleet, runtime: Runtime, models: Sequence[Model]) -> list[Overlap]:
    """The runtimes of its scope that qualify for models that it qualifies for, those that share most first.

    As a service that asks for nothing else sees them.
    """
    counted: dict[ObjectRef, list[int]] = {}
    for model in models:
        verdicts = fleet.shortlist(question_of(None, model, fleet.semantics), runtime.ref.namespace)
        ranked = [verdict for verdict in verdicts if verdict.qualified]
        mine = next((place for place, each in enumerate(ranked) if each.runtime.ref == runtime.ref), None)
        if mine is None:
            continue
        for place, other in enumerate(ranked):
            if place != mine:
                numbers = counted.setdefault(other.runtime.ref, [0, 0, 0])
                numbers[place > mine] += 1
                numbers[2] += only_the_name(other, ranked[mine])
    rows = [Overlap(ref, *numbers) for ref, numbers in counted.items()]
    return sorted(rows, key=lambda row: (-row.models, row.other))
