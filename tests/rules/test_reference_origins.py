"""References in what a runtime renders, and the member of its chain that wrote each."""

from __future__ import annotations

from typing import Any

from selection.rules.fleet import Fleet, read_fleet
from selection.rules.inheritance import INHERIT_FROM
from selection.rules.objects import ObjectRef
from selection.rules.reference_origins import Located, holders, located_references

from .manifests import a_runtime

PARENT = {"leader": {"runner": {"name": "main", "args": ["$(LWS_GROUP_SIZE)"]}}}
BASE, CHILD = ObjectRef("ClusterServingRuntime", "", "base"), ObjectRef("ClusterServingRuntime", "", "child")


def found(fleet: Fleet, name: str = "child") -> tuple[Located, ...]:
    return located_references(fleet, fleet.runtimes[("", name)])


def a_chain(**child: Any) -> Fleet:
    inherits = {INHERIT_FROM: "base"}
    return read_fleet([a_runtime("base", engineConfig=PARENT), a_runtime("child", annotations=inherits, **child)])


def test_a_reference_that_is_inherited_names_the_parent() -> None:
    (located,) = found(a_chain())
    assert (located.origin, located.reference.token) == (BASE, "$(LWS_GROUP_SIZE)")
    assert located.to_dict()["origin"] == {"kind": "ClusterServingRuntime", "namespace": None, "name": "base"}


def test_what_the_child_replaces_is_the_childs() -> None:
    (located,) = found(a_chain(engineConfig={"leader": {"runner": {"name": "main", "args": ["$(LWS_WORKER_INDEX)"]}}}))
    assert (located.origin, located.reference.token) == (CHILD, "$(LWS_WORKER_INDEX)")


def test_who_holds_most_comes_first() -> None:
    worker = {"worker": {"runner": {"name": "main", "args": ["$(LWS_GROUP_SIZE)", "$(LWS_WORKER_INDEX)"]}}}
    assert holders(found(a_chain(engineConfig=worker))) == {CHILD: 2, BASE: 1}


def test_with_a_broken_chain_its_own_are_told() -> None:
    fleet = read_fleet([a_runtime("child", annotations={INHERIT_FROM: "gone"}, engineConfig=PARENT)])
    assert [located.origin for located in found(fleet)] == [CHILD]
