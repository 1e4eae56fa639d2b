"""A fleet with some namespaces only is the one that is read from their objects alone."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from selection.rules.explain import explain_service
from selection.rules.fleet import read_fleet
from selection.rules.narrowing import narrowed
from selection.rules.parsing import ref_of
from selection.rules.semantics import Semantics

from .fleets_more import everything, holds, releases, rich_fleets
from .manifests import Manifest, a_model, a_runtime, a_service


def in_namespaces(manifests: list[Manifest], seen: set[str]) -> list[Manifest]:
    """The objects of these namespaces, those that are in none, and the revisions: services follow any by its name."""
    return [each for each in manifests if each["kind"] == "ControllerRevision" or ref_of(each).namespace in {"", *seen}]


@holds(2)
@given(rich_fleets(), releases, st.data())
def test_it_tells_what_a_fleet_of_these_objects_alone_tells(
    manifests: list[Manifest], release: Semantics, data: st.DataObject
) -> None:
    whole = read_fleet(manifests, release)
    namespaces = sorted({ref_of(each).namespace for each in manifests} - {""})
    seen = data.draw(st.sets(st.sampled_from(namespaces))) if namespaces else set()
    if data.draw(st.booleans()):
        everything(whole)  # what is known already is taken over
    before = sorted(whole.services), sorted(whole.runtimes)
    few = narrowed(whole, seen)
    assert everything(few) == everything(read_fleet(in_namespaces(manifests, seen), release))
    assert (sorted(whole.services), sorted(whole.runtimes)) == before
    assert {scope for scope, _ in (*few.services, *few.runtimes, *few.models)} <= {"", *seen}
    assert {ref.namespace for ref in (*few.problems, *few.owners)} <= {"", *seen}


@holds(2)
@given(rich_fleets(), releases)
def test_no_answer_about_what_is_left_is_another_one(manifests: list[Manifest], release: Semantics) -> None:
    whole = read_fleet(manifests, release)
    for namespace in {namespace for namespace, _ in whole.services}:
        few = narrowed(whole, {namespace})
        for key in few.services:
            assert explain_service(few, *key).to_dict() == explain_service(whole, *key).to_dict()


def revision(name: str, namespace: str, mode: str) -> Manifest:
    config = {"annotations": {"ome.io/deploymentMode": mode}}
    return {
        "kind": "ControllerRevision",
        "metadata": {"name": name, "namespace": namespace},
        "data": {"spec": {"engineConfig": config}},
    }


def test_a_revision_stays_for_the_services_that_follow_it_and_no_other_does() -> None:
    pinned: dict[str, Any] = {"runtime": {"name": "vllm", "autoSync": False, "revision": "vllm-1"}}
    whole = read_fleet(
        [
            a_model(),
            a_runtime("vllm"),
            a_service("chat", "team", **pinned),
            revision("vllm-1", "ome", "OMENative"),
            revision("vllm-2", "ome", "OMENative"),
            revision("vllm-3", "team", "OMENative"),
        ]
    )
    assert set(narrowed(whole, {"team"}).revisions) == {"vllm-1", "vllm-3"}
    assert set(narrowed(whole, set()).revisions) == set()
    assert explain_service(narrowed(whole, {"team"}), "team", "chat").revision == "vllm-1"
