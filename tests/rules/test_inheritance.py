"""Chains of runtimes: where parents are found, what breaks a chain, and who set what."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.inheritance import (
    INHERIT_FROM,
    PROFILE,
    Chain,
    Lookup,
    RuntimeKey,
    effective_spec,
    parent_name,
    profile_problem,
    provenance,
    resolve_chain,
)

NAMESPACE = "team"


def cluster(name: str) -> RuntimeKey:
    return RuntimeKey("ClusterServingRuntime", None, name)


def namespaced(name: str, namespace: str = NAMESPACE) -> RuntimeKey:
    return RuntimeKey("ServingRuntime", namespace, name)


def lookup_in(parents: dict[RuntimeKey, str | None]) -> Lookup:
    """Runtimes by key, each with the name in its annotation (None: without the annotation)."""

    def lookup(kind: str, namespace: str | None, name: str) -> dict[str, Any] | None:
        key = RuntimeKey(kind, namespace, name)
        if key not in parents:
            return None
        parent = parents[key]
        annotations = {} if parent is None else {INHERIT_FROM: parent}
        return {"metadata": {"name": name, "annotations": annotations}}

    return lookup


def row(*names: str) -> dict[RuntimeKey, str | None]:
    """Cluster runtimes of which each inherits from the next."""
    return {cluster(name): parent for name, parent in zip(names, [*names[1:], None], strict=True)}


def problem_of(chain: Chain) -> tuple[str, str]:
    assert chain.problem is not None
    return chain.problem.reason, chain.problem.message


def test_a_runtime_without_a_parent_is_a_chain_of_one() -> None:
    assert resolve_chain(cluster("a"), lookup_in(row("a"))) == Chain((cluster("a"),), None)


def test_an_empty_annotation_names_no_parent() -> None:
    assert resolve_chain(cluster("a"), lookup_in({cluster("a"): "", cluster(""): None})).members == (cluster("a"),)


def test_members_stand_root_first() -> None:
    chain = resolve_chain(cluster("a"), lookup_in(row("a", "b", "c")))
    assert chain.members == (cluster("c"), cluster("b"), cluster("a"))
    assert chain.names == ("c", "b", "a")
    assert chain.problem is None


def test_a_cluster_runtime_finds_parents_only_in_the_cluster() -> None:
    lookup = lookup_in({cluster("a"): "b", namespaced("b"): None})
    assert problem_of(resolve_chain(cluster("a"), lookup)) == (
        "ParentNotFound",
        'inherit-from parent "b" not found (chain so far: [a])',
    )


def test_a_namespaced_runtime_looks_in_its_namespace_first() -> None:
    both = {namespaced("a"): "b", namespaced("b"): None, cluster("b"): None}
    assert resolve_chain(namespaced("a"), lookup_in(both)).members == (namespaced("b"), namespaced("a"))
    only_cluster = {namespaced("a"): "b", cluster("b"): None, namespaced("b", "other"): None}
    assert resolve_chain(namespaced("a"), lookup_in(only_cluster)).members == (cluster("b"), namespaced("a"))


def test_parents_of_a_cluster_parent_are_looked_for_in_the_first_runtimes_namespace() -> None:
    lookup = lookup_in({namespaced("a"): "b", cluster("b"): "c", namespaced("c"): None, cluster("c"): None})
    assert resolve_chain(namespaced("a"), lookup).members == (namespaced("c"), cluster("b"), namespaced("a"))
    assert resolve_chain(cluster("b"), lookup).members == (cluster("c"), cluster("b"))


def test_a_missing_parent_is_told_with_the_chain_child_first() -> None:
    chain = resolve_chain(cluster("a"), lookup_in({cluster("a"): "b", cluster("b"): 'c "x"'}))
    assert problem_of(chain) == (
        "ParentNotFound",
        'inherit-from parent "c \\"x\\"" not found (chain so far: [a b])',
    )
    assert chain.names == ("b", "a")


def test_a_runtime_that_names_itself_is_a_cycle() -> None:
    chain = resolve_chain(cluster("a"), lookup_in({cluster("a"): "a"}))
    assert problem_of(chain) == ("InheritanceCycle", "inheritance cycle detected: [a a]")
    assert chain.names == ("a",)


def test_a_cycle_is_told_with_the_name_that_closes_it() -> None:
    lookup = lookup_in({cluster("a"): "b", cluster("b"): "a"})
    assert problem_of(resolve_chain(cluster("a"), lookup)) == (
        "InheritanceCycle",
        "inheritance cycle detected: [a b a]",
    )


def test_one_name_in_both_scopes_is_a_cycle() -> None:
    lookup = lookup_in({namespaced("a"): "a", cluster("a"): None})
    assert problem_of(resolve_chain(namespaced("a"), lookup))[0] == "InheritanceCycle"


def test_five_runtimes_are_the_most() -> None:
    assert len(resolve_chain(cluster("a"), lookup_in(row(*"abcde"))).members) == 5
    chain = resolve_chain(cluster("a"), lookup_in(row(*"abcdef")))
    assert problem_of(chain) == (
        "MaxDepthExceeded",
        "inheritance chain exceeds max depth 5 (chain: [a b c d e])",
    )
    assert chain.names == tuple("edcba")


def test_the_depth_is_looked_at_before_the_cycle_and_before_the_parent() -> None:
    assert problem_of(resolve_chain(cluster("a"), lookup_in(row(*"abcde") | {cluster("e"): "a"})))[0] == (
        "MaxDepthExceeded"
    )
    assert problem_of(resolve_chain(cluster("a"), lookup_in(row(*"abcde") | {cluster("e"): "x"})))[0] == (
        "MaxDepthExceeded"
    )
    assert problem_of(resolve_chain(cluster("a"), lookup_in(row(*"abcd") | {cluster("d"): "a"})))[0] == (
        "InheritanceCycle"
    )


def test_there_must_be_a_runtime_to_start_from() -> None:
    with pytest.raises(LookupError, match="no ClusterServingRuntime a"):
        resolve_chain(cluster("a"), lookup_in({}))


@given(st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from(["", *"abcdefgx"]), min_size=1))
def test_every_chain_ends(parents: dict[str, str]) -> None:
    start = next(iter(parents))
    chain = resolve_chain(cluster(start), lookup_in({cluster(name): parent for name, parent in parents.items()}))
    assert chain.members[-1] == cluster(start)
    assert 1 <= len(set(chain.members)) == len(chain.members) <= 5
    for parent, child in zip(chain.members, chain.members[1:], strict=False):
        assert parents[child.name] == parent.name
    if chain.problem is None:
        assert parents[chain.members[0].name] == ""
    else:
        assert parents[chain.members[0].name] != ""


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        {"metadata": None},
        {"metadata": []},
        {"metadata": {"annotations": None}},
        {"metadata": {"annotations": {INHERIT_FROM: None}}},
        {"metadata": {"annotations": {INHERIT_FROM: 1}}},
        {"metadata": {"annotations": {"ome.io/Inherit-From": "a"}}},
        {"annotations": {INHERIT_FROM: "a"}},
    ],
)
def test_a_manifest_without_the_annotation_has_no_parent(manifest: dict[str, Any]) -> None:
    assert parent_name(manifest) == ""


def test_an_annotation_is_taken_as_written() -> None:
    assert parent_name({"metadata": {"annotations": {INHERIT_FROM: " a "}}}) == " a "


@pytest.mark.parametrize(
    ("value", "spec", "allowed"),
    [
        ("true", {"disabled": True}, True),
        ("true", {"disabled": False}, False),
        ("true", {}, False),
        ("true", None, False),
        ("True", {}, True),
        ("", {}, True),
        (None, {}, True),
    ],
)
def test_a_profile_must_be_disabled(value: str | None, spec: dict[str, Any] | None, allowed: bool) -> None:
    problem = profile_problem({"metadata": {"annotations": {PROFILE: value}}, "spec": spec})
    text = 'runtimes carrying ome.io/runtime-profile="true" must also set spec.disabled: true'
    assert problem == (None if allowed else text)


def test_the_child_of_a_disabled_profile_is_disabled_until_it_says_otherwise() -> None:
    profile = {"disabled": True, "hostNetwork": True}
    assert effective_spec([profile, {}])["disabled"] is True
    assert effective_spec([profile, {"disabled": False}])["disabled"] is False


CHAIN = Chain((cluster("root"), cluster("middle"), cluster("leaf")))
SPECS: list[dict[str, Any]] = [
    {
        "engineConfig": {
            "annotations": {"ome.io/deploymentMode": "MultiNode", "a": "1"},
            "leader": {"runner": {"name": "main", "command": ["serve", "$(LWS_GROUP_SIZE)"]}},
            "volumes": [{"name": "dshm", "emptyDir": {}}, {"name": "models", "emptyDir": {}}],
        },
        "routerConfig": {"annotations": {"ome.io/deploymentMode": "MultiNode"}},
        "supportedModelFormats": [{"modelFormat": {"name": "a"}}],
    },
    {
        "engineConfig": {
            "annotations": {"ome.io/deploymentMode": ""},
            "volumes": [{"name": "extra", "emptyDir": {}}, {"name": "dshm", "emptyDir": {"medium": "Memory"}}],
        },
        "supportedModelFormats": [{"modelFormat": {"name": "b"}, "autoSelect": True}],
    },
    {"engineConfig": {"leader": {"runner": {"name": "main", "image": "new"}}}, "disabled": False},
]

SET_BY = [
    ("spec.disabled", "leaf"),
    ('spec.engineConfig.annotations["ome.io/deploymentMode"]', "middle"),
    ("spec.engineConfig.annotations.a", "root"),
    ("spec.engineConfig.annotations", "middle"),
    ('spec.routerConfig.annotations["ome.io/deploymentMode"]', "root"),
    ("spec.engineConfig.leader.runner.command[1]", "root"),
    ("spec.engineConfig.leader.runner.image", "leaf"),
    ("spec.engineConfig.leader.runner", "leaf"),
    # the merged list is extra, dshm, models: each item has its own history
    ("spec.engineConfig.volumes[0].name", "middle"),
    ("spec.engineConfig.volumes[1].emptyDir.medium", "middle"),
    ("spec.engineConfig.volumes[2].emptyDir", "root"),
    # a list without a merge key comes from one member
    ("spec.supportedModelFormats", "middle"),
    ("spec.supportedModelFormats[0].modelFormat.name", "middle"),
]


@pytest.mark.parametrize(("path", "name"), SET_BY)
def test_provenance_tells_who_set_a_place(path: str, name: str) -> None:
    assert provenance(CHAIN, SPECS)[path].name == name


def test_provenance_of_one_runtime_is_itself() -> None:
    told = provenance(Chain((cluster("a"),)), [{"labels": {"x": "1"}, "disabled": True}])
    assert set(told) == {"spec", "spec.labels", "spec.labels.x", "spec.disabled"}
    assert set(told.values()) == {cluster("a")}


def test_a_child_that_unsets_nothing_sets_nothing() -> None:
    chain = Chain((cluster("root"), cluster("leaf")))
    told = provenance(chain, [{"hostNetwork": True, "dnsPolicy": "Default"}, {"hostNetwork": False, "dnsPolicy": None}])
    assert {told["spec.hostNetwork"], told["spec.dnsPolicy"], told["spec"]} == {cluster("root")}
