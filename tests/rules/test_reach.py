"""Whatever a change makes different is in its reach: the rest needs no second look."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.explain import explain_service
from selection.rules.findings import Finding
from selection.rules.fleet import Fleet, evolved, read_fleet
from selection.rules.inheritance import provenance
from selection.rules.objects import Model, ObjectRef
from selection.rules.parsing import ref_of
from selection.rules.reach import Reach, Reaching, reach
from selection.rules.references import find_references
from selection.rules.selection import model_error, question_of
from selection.rules.semantics import Semantics

from .fleets_more import all_findings, edits, holds, put_into, releases, rich_fleets, unreadable
from .manifests import Manifest, a_model, a_runtime, a_service, an_entry, deployed

Keys = set[tuple[str, str]]


def services(fleet: Fleet) -> Keys:
    """Every service, readable or not."""
    unread = {(ref.namespace, ref.name) for ref in fleet.problems if ref.kind == "InferenceService"}
    return set(fleet.services) | unread


def of_service(fleet: Fleet, key: tuple[str, str]) -> dict[str, Any]:
    """The brief explanation without counts, and without the candidates that can't be read.

    These are in every explanation of a scope: they are looked up when someone looks.
    """
    explanation = explain_service(fleet, *key, brief=True)
    told = explanation.to_dict()
    named = explanation.service.named_runtime if explanation.service else ""
    told["problems"] = [
        problem.to_dict()
        for problem in explanation.problems
        if not problem.object.kind.endswith("ServingRuntime") or problem.object.name == named
    ]
    told["score"] = explanation.score
    told["qualified"] = explanation.qualified
    return told


def of_runtime(fleet: Fleet, ref: ObjectRef) -> Any:
    """What is told of a runtime: its chain, its own problem, and the references with who set them."""
    runtime = fleet.runtimes.get((ref.namespace, ref.name))
    if runtime is None:
        return fleet.problems.get(ref)
    effective = fleet.effective(runtime)
    if effective.runtime is None:
        return runtime, effective.chain, effective.problem
    members = [fleet.runtimes[(key.namespace or "", key.name)].spec for key in effective.chain.members]
    setters = provenance(effective.chain, members) if len(members) > 1 else {}
    found = [(reference, setters.get(reference.path)) for reference in find_references(effective.runtime.spec)]
    return runtime, effective.chain, effective.runtime, effective.runtime.spec, found


def of_model(fleet: Fleet, ref: ObjectRef) -> Any:
    """A model and the runtimes that qualify for it in its own scope, in order."""
    model = fleet.models.get((ref.namespace, ref.name))
    if model is None:
        return fleet.problems.get(ref)
    if model_error(model) is not None:
        return model
    ranked = fleet.judged(question_of(None, model, fleet.semantics), ref.namespace, brief=True).ranked
    return model, [(verdict.runtime.ref, verdict.score, repr(verdict.distance)) for verdict in ranked]


def refs(fleet: Fleet, *kinds: str) -> set[ObjectRef]:
    """Every runtime or model, readable or not."""
    readable = {runtime.ref for runtime in fleet.runtimes.values()} | {model.ref for model in fleet.models.values()}
    return {ref for ref in (*readable, *fleet.problems) if ref.kind in kinds}


def different(old: Fleet, new: Fleet) -> Reach:
    """What is told otherwise of two fleets, or of one alone."""

    def differs(there: tuple[Any, Any], told: Any, key: Any) -> bool:
        return (key in there[0]) != (key in there[1]) or told(old, key) != told(new, key)

    found = Reach()
    both = services(old), services(new)
    found.services = {key for key in both[0] | both[1] if differs(both, of_service, key)}
    runtimes = tuple(refs(fleet, "ServingRuntime", "ClusterServingRuntime") for fleet in (old, new))
    found.runtimes = {ref for ref in runtimes[0] | runtimes[1] if of_runtime(old, ref) != of_runtime(new, ref)}
    models = tuple(refs(fleet, "BaseModel", "ClusterBaseModel") for fleet in (old, new))
    found.models = {ref for ref in models[0] | models[1] if of_model(old, ref) != of_model(new, ref)}
    return found


def reached(old: Fleet, new: Fleet, touched: tuple[ObjectRef, ...]) -> Reach:
    """What the objects can touch, before and after."""
    found = Reach()
    for ref in touched:
        found.add(reach(old, ref))
        found.add(reach(new, ref))
    return found


def by_kind(findings: list[Finding], of_services: bool) -> Iterator[tuple[Any, ...]]:
    """Findings about services, or about everything else, so that two lists can be compared."""
    for finding in findings:
        if (finding.object.kind == "InferenceService") == of_services:
            yield finding.object, finding.code, finding.path, str(finding.facts)


@holds(2)
@given(rich_fleets(), releases, st.data())
def test_what_a_change_makes_different_is_in_its_reach(
    manifests: list[Manifest], release: Semantics, data: st.DataObject
) -> None:
    edit = data.draw(edits(manifests))
    old = read_fleet(manifests, release)
    new = read_fleet(put_into(manifests, edit), release)
    found, changed = reached(old, new, edit.refs), different(old, new)
    assert changed.services <= found.services
    assert changed.runtimes <= found.runtimes
    assert changed.models <= found.models


@holds(4)
@given(rich_fleets(), releases, st.data())
def test_a_finding_that_a_change_brings_or_takes_is_in_its_reach(
    manifests: list[Manifest], release: Semantics, data: st.DataObject
) -> None:
    edit = data.draw(edits(manifests))
    old = read_fleet(manifests, release)
    new = read_fleet(put_into(manifests, edit), release)
    found, before, after = reached(old, new, edit.refs), all_findings(old), all_findings(new)
    for about, *_ in set(by_kind(before, of_services=True)) ^ set(by_kind(after, of_services=True)):
        assert (about.namespace, about.name) in found.services
    if set(by_kind(before, of_services=False)) != set(by_kind(after, of_services=False)):
        assert found.runtimes or found.models


# --- what is reached, by hand ------------------------------------------------------------------------

FLEET = [
    a_model(),
    a_model("onnx", None, modelFormat={"name": "onnx"}),
    a_runtime("fast"),
    a_runtime("child", None, an_entry(modelFormat={"name": "onnx"}), annotations={"ome.io/inherit-from": "fast"}),
    a_runtime("own", "team"),
    a_service(),
    a_service("other", "web"),
    a_service("onnx", model={"name": "onnx"}),
    a_service("named", runtime={"name": "child"}),
    a_service("pinned", runtime={"name": "fast", "autoSync": False}, status={"pinnedRevisionName": "cr-fast-0123abcd"}),
    a_service("asking", "web", engine={"acceleratorOverride": {"acceleratorClass": "h100"}}),
    deployed("Deployment"),
    {"kind": "AcceleratorClass", "metadata": {"name": "h100"}},
    {"kind": "AcceleratorClass", "metadata": {"name": "a100"}},
    {"kind": "ControllerRevision", "metadata": {"name": "cr-fast-0123abcd", "namespace": "ome"}, "data": {}},
    {"kind": "ControllerRevision", "metadata": {"name": "cr-fast-00000000", "namespace": "ome"}, "data": {}},
]
TEAM, WEB = {"chat", "pinned", "named"}, {"other", "asking"}
CASES = [
    ("ClusterServingRuntime", "", "fast", TEAM | WEB),
    ("ClusterServingRuntime", "", "child", {"onnx", "named"}),
    ("ServingRuntime", "team", "own", TEAM),
    ("ClusterBaseModel", "", "llama", TEAM | WEB),
    ("ClusterBaseModel", "", "onnx", {"onnx"}),
    ("InferenceService", "team", "chat", {"chat"}),
    ("Deployment", "team", "chat-engine", {"chat"}),
    ("ControllerRevision", "ome", "cr-fast-0123abcd", {"pinned"}),
    ("ControllerRevision", "ome", "cr-fast-00000000", set()),
    ("AcceleratorClass", "", "h100", {"asking"}),
    ("AcceleratorClass", "", "a100", set()),
    ("ServingRuntime", "team", "nobody", set()),
    ("ClusterBaseModel", "", "nobody", set()),
    ("Deployment", "team", "nobody", set()),
    ("Secret", "team", "nobody", set()),
]


@pytest.mark.parametrize(("kind", "namespace", "name", "expected"), CASES)
def test_a_change_reaches_those_services_and_no_others(
    kind: str, namespace: str, name: str, expected: set[str]
) -> None:
    found = reach(read_fleet(FLEET), ObjectRef(kind, namespace, name))
    assert {key[1] for key in found.services} == expected


def test_a_runtime_reaches_its_heirs_and_the_models_that_it_serves() -> None:
    found = reach(read_fleet(FLEET), ObjectRef("ClusterServingRuntime", "", "fast"))
    assert {ref.name for ref in found.runtimes} == {"fast", "child"}
    assert {ref.name for ref in found.models} == {"llama"}


def test_a_runtime_reaches_the_heirs_of_its_heirs_also_where_the_chain_is_broken() -> None:
    far = a_runtime("far", "team", annotations={"ome.io/inherit-from": "child"})
    lost = a_runtime("lost", None, annotations={"ome.io/inherit-from": "gone"})
    fleet = read_fleet([*FLEET, far, lost, a_service("named-far", runtime={"name": "far"})])
    found = reach(fleet, ObjectRef("ClusterServingRuntime", "", "fast"))
    assert {ref.name for ref in found.runtimes} == {"fast", "child", "far"}
    assert ("team", "named-far") in found.services
    assert {ref.name for ref in reach(fleet, ObjectRef("ClusterServingRuntime", "", "gone")).runtimes} == {
        "gone",
        "lost",
    }


def inheriting(name: str, parent: str) -> Manifest:
    return a_runtime(name, None, annotations={"ome.io/inherit-from": parent})


def test_what_is_asked_before_changes_no_answer() -> None:
    ring = [inheriting(f"ring-{number}", f"ring-{(number + 1) % 5}") for number in range(5)]
    branches = [inheriting("twig", "ring-3"), inheriting("leaf", "twig"), inheriting("root", "gone")]
    fleet = read_fleet([*FLEET, *ring, *branches, a_service("named-leaf", runtime={"name": "leaf"})])
    refs = sorted(each.ref for each in fleet.runtimes.values())

    for order in (refs, refs[::-1], refs[3:] + refs[:3]):
        many = Reaching(fleet)
        assert [many.of(ref) for ref in order] == [reach(fleet, ref) for ref in order]


def test_a_cycle_of_a_thousand_is_walked_once() -> None:
    services = [a_service(f"s{number}") for number in range(2000)]
    fleet = read_fleet([*(inheriting(f"r{number}", f"r{(number + 1) % 1000}") for number in range(1000)), *services])
    many = Reaching(fleet)

    before = time.process_time()
    found = [many.of(ref).runtimes for ref in [each.ref for each in fleet.runtimes.values()]]

    assert time.process_time() - before < 1.5  # it takes a fifth of a second, and took ten times as long
    assert {len(each) for each in found} == {1000}


def test_an_object_that_cannot_be_read_reaches_what_it_could_be() -> None:
    for broken in FLEET[:4]:
        ref = ref_of(broken)
        fleet = evolved(read_fleet(FLEET), [unreadable(broken)], [])
        assert ref in fleet.problems
        found = reach(fleet, ref)
        assert ref in (found.models if "Model" in ref.kind else found.runtimes)


def test_a_model_may_hide_another_one() -> None:
    old = read_fleet(FLEET)
    new = evolved(old, [a_model("llama", "team", modelFormat={"name": "gguf"})], [])
    ref = ObjectRef("BaseModel", "team", "llama")
    assert reach(old, ref).services == reach(new, ref).services == {("team", name) for name in TEAM}


def test_a_model_is_known_by_itself() -> None:
    fleet = read_fleet(FLEET)
    assert isinstance(fleet.find_model("team", "llama"), Model)
    assert reach(fleet, ObjectRef("ClusterBaseModel", "", "llama")).models == {
        ObjectRef("ClusterBaseModel", "", "llama")
    }
