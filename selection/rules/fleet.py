"""One cluster's objects, read once and indexed by what the rules ask for.

A fleet is a snapshot: build it with :func:`read_fleet`, then ask. Answers that services share (the
candidates of a namespace, the verdicts of a question, a runtime's merged spec) are computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .candidates import listed
from .fleet_answers import Effective, Judged
from .index import Key, RuntimeIndex, key_of, serves
from .inheritance import INHERIT_FROM, Chain, RuntimeKey, effective_spec, resolve_chain
from .merge import WrongType, normalised_spec
from .modes import COMPONENTS
from .objects import Model, ObjectRef, Problem, Runtime, Service, Workload
from .parsing import (
    kind_of,
    parse_accelerator_class,
    parse_model,
    parse_runtime,
    parse_runtime_spec,
    parse_service,
    parse_workload,
    ref_of,
)
from .reading import Unreadable
from .references import find_references
from .selection import Question, Verdict, judge, rank
from .semantics import V1_3, Semantics

__all__ = ["Fleet", "evolved", "parent_of", "read_fleet", "remember"]

_RUNTIMES = frozenset({"ServingRuntime", "ClusterServingRuntime"})
_MODELS = frozenset({"BaseModel", "ClusterBaseModel"})
_WORKLOADS = frozenset({"Deployment", "InferenceReplica", "LeaderWorkerSet"})


_FULL_ANSWERS = 16
"""How many full answers are kept; each holds a verdict on every candidate."""

_FEW = 20
"""With more changed runtimes than this, remembering costs more than judging again."""


@dataclass(slots=True)
class Fleet:
    """The objects of one cluster, by scope and name. Namespaces of cluster-scoped objects are ``""``.

    ``workloads`` are by the namespace and name of the service that owns them, ``owners`` leads there.
    ``revisions`` are by name, then namespace: all that is asked for is a name (:meth:`find_revision`).
    """

    semantics: Semantics = V1_3
    services: dict[tuple[str, str], Service] = field(default_factory=dict)
    runtimes: dict[tuple[str, str], Runtime] = field(default_factory=dict)
    models: dict[tuple[str, str], Model] = field(default_factory=dict)
    accelerator_classes: set[str] = field(default_factory=set)
    workloads: dict[tuple[str, str], list[Workload]] = field(default_factory=dict)
    owners: dict[ObjectRef, tuple[str, str]] = field(default_factory=dict)
    revisions: dict[str, dict[str, Mapping[str, Any]]] = field(default_factory=dict)
    problems: dict[ObjectRef, Problem] = field(default_factory=dict)
    _candidates: dict[str, tuple[Runtime, ...]] = field(default_factory=dict)
    _unreadable: dict[str, tuple[Problem, ...]] = field(default_factory=dict)
    _half_open: dict[str, tuple[Runtime, ...]] = field(default_factory=dict)
    _briefs: dict[tuple[Question, str], Judged] = field(default_factory=dict)
    _fulls: dict[tuple[Question, str], Judged] = field(default_factory=dict)
    _indexes: dict[str, RuntimeIndex] = field(default_factory=dict)
    _scopes: dict[Key, list[str]] = field(default_factory=dict)
    _shortlists: dict[tuple[Question, str], tuple[Verdict, ...]] = field(default_factory=dict)
    _effective: dict[ObjectRef, Effective] = field(default_factory=dict)
    _references: dict[int, tuple[Mapping[str, Any], bool]] = field(default_factory=dict)
    _asking: dict[str | None, list[Service]] = field(default_factory=dict)

    def asking_for(self, models: Iterable[str]) -> list[Service]:
        """The services that name a model of one of these names, whatever its scope."""
        if not self._asking:
            found: dict[str | None, list[Service]] = {}
            for service in self.services.values():
                found.setdefault(service.model_name, []).append(service)
            self._asking = found
        return [service for name in models for service in self._asking.get(name, ())]

    def candidates(self, namespace: str) -> tuple[Runtime, ...]:
        """Every runtime that a service in this namespace could get: its own and the cluster's, by name."""
        if namespace not in self._candidates:
            found = [runtime for (scope, _), runtime in self.runtimes.items() if scope in {namespace, ""}]
            found.sort(key=lambda runtime: (runtime.cluster_scoped, runtime.ref.name))
            self._candidates[namespace] = tuple(found)
        return self._candidates[namespace]

    def half_open(self, namespace: str) -> tuple[Runtime, ...]:
        """The candidates of this namespace whose size range lacks a bound, by name."""
        if namespace not in self._half_open:
            found = self.candidates(namespace)
            self._half_open[namespace] = tuple(each for each in found if each.size_range and None in each.size_range)
        return self._half_open[namespace]

    def unreadable_candidates(self, namespace: str) -> tuple[Problem, ...]:
        """The runtimes that OME couldn't read either and that would be candidates here, by kind, namespace and name."""
        if namespace not in self._unreadable:
            scopes = {ObjectRef("ClusterServingRuntime", "", ""), ObjectRef("ServingRuntime", namespace, "")}
            found = sorted(ref for ref in self.problems if ObjectRef(ref.kind, ref.namespace, "") in scopes)
            self._unreadable[namespace] = tuple(self.problems[ref] for ref in found)
        return self._unreadable[namespace]

    def judged(self, question: Question, namespace: str, *, brief: bool = False) -> Judged:
        """The answer to a question; services that share question and namespace share it.

        ``brief`` judges only the runtimes that serve the model. The ranking is the same; the reasons of the
        others, which cost most of the work, are made when someone looks.
        """
        key = (question, namespace)
        kept = self._briefs if brief else self._fulls
        found = kept.get(key)
        if found is None:
            found = self._brief(question, namespace) if brief else self._full(question, namespace)
            kept[key] = found
            if not brief:
                for oldest in list(kept)[:-_FULL_ANSWERS]:  # a list, for other threads may ask at the same time
                    kept.pop(oldest, None)
        return found

    def _full(self, question: Question, namespace: str) -> Judged:
        runtimes = self.candidates(namespace)
        verdicts = tuple(judge(question, runtime) for runtime in runtimes)
        ranked = tuple(rank(verdicts))
        clustered = sum(runtime.cluster_scoped for runtime in runtimes)
        return Judged(ranked, verdicts, listed(verdicts, ranked), len(runtimes) - clustered, clustered)

    def _brief(self, question: Question, namespace: str) -> Judged:
        # Namespaced runtimes outrank the cluster's, so the two scopes are ranked apart and shared apart.
        scopes = dict.fromkeys((namespace, ""))
        verdicts = tuple(verdict for scope in scopes for verdict in self.shortlist(question, scope))
        ranked = tuple(verdict for verdict in verdicts if verdict.qualified)
        namespaced = len(self._index(namespace).runtimes) if namespace else 0
        return Judged(ranked, verdicts, (), namespaced, len(self._index("").runtimes), brief=True)

    def shortlist(self, question: Question, scope: str) -> tuple[Verdict, ...]:
        """The verdicts on the runtimes of one scope that serve the model: the qualified ranked, then the rest."""
        serving = self._index(scope).serving(question.model)
        if not serving:
            return ()
        key = (question, scope)
        if key not in self._shortlists:
            verdicts = [judge(question, runtime) for runtime in serving]
            rest = [verdict for verdict in verdicts if not verdict.qualified]
            self._shortlists[key] = (*rank(verdicts), *rest)
        return self._shortlists[key]

    def scopes_with(self, model: Model) -> list[str]:
        """The scopes with a runtime that may serve a model, the cluster's first."""
        if not self._scopes:
            self._index("")
            found: dict[Key, list[str]] = {}
            for scope, index in sorted(self._indexes.copy().items()):
                for key in index.keys:
                    found.setdefault(key, []).append(scope)
            self._scopes.update(found)  # at once, so that no other thread sees half of them
        return self._scopes.get(key_of(model), [])

    def _index(self, scope: str) -> RuntimeIndex:
        if not self._indexes:
            scopes: dict[str, list[Runtime]] = {"": []}
            for (namespace, _), runtime in self.runtimes.items():
                scopes.setdefault(namespace, []).append(runtime)
            self._indexes.update({name: RuntimeIndex(runtimes) for name, runtimes in scopes.items()})
        return self._indexes.setdefault(scope, RuntimeIndex(()))

    def find_model(self, namespace: str, name: str) -> Model | Problem | None:
        """The model of that name: a BaseModel in the namespace wins over a ClusterBaseModel, whatever its kind says.

        An unreadable model is returned as its problem.
        """
        for scope, kind in ((namespace, "BaseModel"), ("", "ClusterBaseModel")):
            model = self.models.get((scope, name))
            if model is not None:
                return model
            problem = self.problems.get(ObjectRef(kind, scope, name))
            if problem is not None:
                return problem
        return None

    def find_runtime(self, namespace: str, name: str) -> Runtime | Problem | None:
        """The runtime of that name in one scope (``""`` is the cluster's); an unreadable one as its problem."""
        kind = "ServingRuntime" if namespace else "ClusterServingRuntime"
        return self.runtimes.get((namespace, name)) or self.problems.get(ObjectRef(kind, namespace, name))

    def find_revision(self, name: str) -> Mapping[str, Any] | None:
        """The ControllerRevision of that name. Revisions live in one namespace; of several the first one counts."""
        found = self.revisions.get(name)
        return found[min(found)] if found else None

    def effective(self, runtime: Runtime) -> Effective:
        """The runtime's chain and merged spec; without inheritance, the runtime itself."""
        if self.runtimes.get((runtime.ref.namespace, runtime.ref.name)) is not runtime:
            return self._resolve(runtime)  # as it would be, not as it is
        if runtime.ref not in self._effective:
            self._effective[runtime.ref] = self._resolve(runtime)
        return self._effective[runtime.ref]

    def children(self, runtime: Runtime) -> list[Runtime]:
        """The runtimes whose chain has this one as the nearest parent, by scope and name."""
        return [
            other
            for other in sorted(self.runtimes.values(), key=lambda each: each.ref)
            if len(members := self.effective(other).chain.members) > 1 and members[-2] == _key(runtime.ref)
        ]

    def uses_leader_worker_set(self, runtime: Runtime, component: str) -> bool:
        """Whether a component rendered from this runtime refers to LeaderWorkerSet's variables or labels."""
        config = runtime.spec.get(f"{component}Config")
        if not isinstance(config, Mapping):
            return False
        if id(config) not in self._references:
            # The config is kept beside the answer, so that its identity isn't given to another one.
            self._references[id(config)] = (config, bool(find_references(config)))
        return self._references[id(config)][1]

    def leans(self, service: Service, runtime: Runtime, component: str) -> bool:
        """Whether a service's component, or the router in front of it, refers to LeaderWorkerSet's variables or labels.

        Both what the service writes itself and what it has from the runtime count. A router's references are labels by
        which it selects the leaders.
        """
        parts = {name: service.components[name] for name in (component, "router") if name in service.components}
        return any(
            part.uses_leader_worker_set or self.uses_leader_worker_set(runtime, name) for name, part in parts.items()
        )

    def _resolve(self, runtime: Runtime) -> Effective:
        start = _key(runtime.ref)
        if not self.semantics.inherits:
            return Effective(Chain((start,), None), runtime)
        chain = resolve_chain(start, self._manifest)
        if chain.problem is not None:
            return Effective(chain, None)
        if len(chain.members) == 1:
            return Effective(chain, runtime)
        members = [self.runtimes[(member.namespace or "", member.name)] for member in chain.members]
        try:
            spec = effective_spec([member.spec for member in members])
            merged = parse_runtime_spec(runtime.ref, spec, runtime.annotations, runtime.generation)
        except (WrongType, Unreadable) as error:
            return Effective(chain, None, Problem(runtime.ref, error.path, error.message))
        return Effective(chain, merged)

    def _manifest(self, kind: str, namespace: str | None, name: str) -> Mapping[str, Any] | None:
        found = self.runtimes.get((namespace or "", name))
        return None if found is None else {"metadata": {"name": name, "annotations": dict(found.annotations)}}


def parent_of(runtime: Runtime) -> str:
    """The name of the runtime that this one inherits from, or ``""``."""
    return runtime.annotations.get(INHERIT_FROM, "")


def evolved(fleet: Fleet, put: Iterable[Mapping[str, Any]], dropped: Iterable[ObjectRef]) -> Fleet:
    """A fleet with some objects put in (new or in place of the old) and some dropped; the given one stays as it is."""
    new = Fleet(
        fleet.semantics,
        dict(fleet.services),
        dict(fleet.runtimes),
        dict(fleet.models),
        set(fleet.accelerator_classes),
        dict(fleet.workloads),  # what an owner has, or a name, is replaced and never changed in place
        dict(fleet.owners),
        dict(fleet.revisions),
        dict(fleet.problems),
    )
    for ref in dropped:
        _drop(new, ref)
    for manifest in put:
        _put(new, manifest)
    remember(fleet, new)
    return new


def remember(old: Fleet, new: Fleet) -> None:
    """Take over the answers of another fleet of the same release that the differing runtimes can't have changed."""
    keys = old.runtimes.keys() | new.runtimes.keys()
    changed: dict[str, list[Runtime]] = {}
    for scope, name in keys:
        pair = (old.runtimes.get((scope, name)), new.runtimes.get((scope, name)))
        if pair[0] is not pair[1]:
            changed.setdefault(scope, []).extend(runtime for runtime in pair if runtime is not None)
    if sum(map(len, changed.values())) > _FEW:
        return
    # Copies, for other threads may ask the old fleet at the same time.
    for scope, index in old._indexes.copy().items():
        if scope not in changed:
            new._indexes[scope] = index
            continue
        found = RuntimeIndex(runtime for (owner, _), runtime in new.runtimes.items() if owner == scope)
        found.remember(index, changed[scope])
        new._indexes[scope] = found
    for scope in changed.keys() - old._indexes.keys():
        if new._indexes:
            new._indexes[scope] = RuntimeIndex(
                runtime for (owner, _), runtime in new.runtimes.items() if owner == scope
            )
    for (question, scope), verdicts in old._shortlists.copy().items():
        if not any(serves(runtime, question.model) for runtime in changed.get(scope, ())):
            new._shortlists[(question, scope)] = verdicts
    for runtime in new.runtimes.values():
        for name in COMPONENTS:
            known = old._references.get(id(runtime.spec.get(f"{name}Config")))
            if known is not None:
                new._references[id(known[0])] = known


def _drop(fleet: Fleet, ref: ObjectRef) -> None:
    key = (ref.namespace, ref.name)
    fleet.problems.pop(ref, None)
    if ref.kind == "InferenceService":
        fleet.services.pop(key, None)
    elif ref.kind in _RUNTIMES:
        fleet.runtimes.pop(key, None)
    elif ref.kind in _MODELS:
        fleet.models.pop(key, None)
    elif ref.kind == "AcceleratorClass":
        fleet.accelerator_classes.discard(ref.name)
    elif ref.kind == "ControllerRevision":
        known = fleet.revisions.pop(ref.name, {})
        if left := {namespace: manifest for namespace, manifest in known.items() if namespace != ref.namespace}:
            fleet.revisions[ref.name] = left
    elif ref in fleet.owners:
        owner = fleet.owners.pop(ref)
        fleet.workloads[owner] = [workload for workload in fleet.workloads[owner] if workload.ref != ref]


def _key(ref: ObjectRef) -> RuntimeKey:
    return RuntimeKey(ref.kind, ref.namespace or None, ref.name)


def read_fleet(manifests: Iterable[Mapping[str, Any]], semantics: Semantics = V1_3) -> Fleet:
    """Read a cluster's manifests. Never raises: an object that can't be read is a problem, the others are judged.

    Of two manifests of one object the last one counts. Kinds that the rules don't look at are passed over.
    """
    fleet = Fleet(semantics)
    for manifest in manifests:
        _put(fleet, manifest)
    return fleet


def _put(fleet: Fleet, manifest: Mapping[str, Any]) -> None:
    ref = ref_of(manifest)
    _drop(fleet, ref)
    try:
        _add(fleet, manifest)
    except (Unreadable, WrongType) as error:
        fleet.problems[ref] = Problem(ref, error.path, error.message)


def _add(fleet: Fleet, manifest: Mapping[str, Any]) -> None:
    kind = kind_of(manifest)
    if kind == "InferenceService":
        service = parse_service(manifest)
        fleet.services[(service.ref.namespace, service.ref.name)] = service
    elif kind in _RUNTIMES:
        runtime = parse_runtime(manifest)
        normalised_spec(runtime.spec)  # every field of it, also those that decide nothing here
        fleet.runtimes[(runtime.ref.namespace, runtime.ref.name)] = runtime
    elif kind in _MODELS:
        model = parse_model(manifest)
        fleet.models[(model.ref.namespace, model.ref.name)] = model
    elif kind == "AcceleratorClass":
        fleet.accelerator_classes.add(parse_accelerator_class(manifest).ref.name)
    elif kind in _WORKLOADS:
        workload = parse_workload(manifest)
        if workload is not None:
            owner = (workload.ref.namespace, workload.service)
            fleet.workloads[owner] = [*fleet.workloads.get(owner, ()), workload]
            fleet.owners[workload.ref] = owner
    elif kind == "ControllerRevision":
        ref = ref_of(manifest)
        fleet.revisions[ref.name] = {**fleet.revisions.get(ref.name, {}), ref.namespace: manifest}
