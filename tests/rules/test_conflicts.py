"""Where the modes of service, runtime and workloads don't agree: each kind, and that agreement is quiet."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.conflicts import CODES, LISTED, runtime_conflicts
from selection.rules.semantics import V1_2, V1_3, Semantics

from .manifests import MODE, a_model, a_runtime, a_service, an_entry, deployed, explained, moded, read_runtime

Facts = dict[str, Any]


def found(
    *objects: dict[str, Any],
    runtime: dict[str, Any] | None = None,
    component: str = "engine",
    semantics: Semantics = V1_3,
    **service: Any,
) -> dict[str, Facts]:
    """The conflicts of one component of ``chat`` by code, with ``fast`` of this spec beside these objects."""
    explanation = explained(
        a_model(), a_runtime(**(runtime or {})), *objects, a_service(**service), semantics=semantics
    )
    conflicts = explanation.modes[component].conflicts
    codes = [conflict.code for conflict in conflicts]
    assert codes == sorted(codes, key=CODES.index)
    assert all(conflict.component == component for conflict in conflicts)
    assert explanation.modes[component].to_dict()["conflict"] == (codes[0] if codes else None)
    return {conflict.code: dict(conflict.facts) for conflict in conflicts}


NAMED = {"name": "fast"}

QUIET: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    # both say the same
    ({"engineConfig": moded("OMENative")}, {"deploymentMode": "OMENative"}),
    ({"engineConfig": moded("OMENative")}, {"engine": moded("OMENative")}),
    # only the service says one
    ({"engineConfig": {}}, {"engine": moded("OMENative")}),
    # a shape is no word
    ({"engineConfig": {"leader": {}, "worker": {}}}, {}),
    # the runtime says what would run anyway
    ({"engineConfig": moded("RawDeployment")}, {}),
    ({"engineConfig": moded("OMENative", leader={}, worker={})}, {}),
    # a service's metadata that says what runs, or what v1.2's webhook writes for a pair
    ({}, {"annotations": {MODE: "RawDeployment"}}),
    ({}, {"annotations": {MODE: "PDDisaggregated"}, "decoder": {}}),
    ({}, {"annotations": {MODE: ""}}),
    # no workload at all is no conflict
    ({"engineConfig": moded("MultiNode")}, {"annotations": {MODE: "VirtualDeployment"}}),
]


@pytest.mark.parametrize(("runtime", "service"), QUIET)
def test_agreement_is_quiet(runtime: dict[str, Any], service: dict[str, Any]) -> None:
    assert found(runtime=runtime, **service) == {}


def test_rejected_names_the_runtimes_that_only_a_mode_keeps_away() -> None:
    facts = found(
        a_runtime("slow", "team", engineConfig=moded("MultiNode")),
        a_runtime("onnx", None, an_entry(modelFormat={"name": "onnx"}), engineConfig=moded("MultiNode")),
        a_runtime("off", disabled=True, engineConfig=moded("MultiNode")),
        a_runtime("unranked", None, an_entry(autoSelect=False), engineConfig=moded("RawDeployment")),
        runtime={"engineConfig": moded("MultiNode")},
        deploymentMode="OMENative",
    )
    assert facts["rejected"] == {
        "requested": "OMENative",
        "source": "spec.deploymentMode",
        "declared": "RawDeployment",
        "count": 1,
        "runtimes": [{"kind": "ClusterServingRuntime", "namespace": None, "name": "unranked"}],
    }
    conflicts = explained(
        a_model(),
        a_runtime("slow", "team", engineConfig=moded("MultiNode")),
        a_runtime(engineConfig=moded("MultiNode")),
        a_service(engine=moded("OMENative")),
    ).conflicts
    assert [conflict.facts["count"] for conflict in conflicts] == [2]
    assert [ref["name"] for ref in conflicts[0].facts["runtimes"]] == ["slow", "fast"]


def test_rejected_is_told_once_for_each_mode_in_order() -> None:
    explanation = explained(
        a_model(),
        a_runtime("a", engineConfig=moded("RawDeployment")),
        a_runtime("b", engineConfig=moded("MultiNode")),
        a_service(engine=moded("OMENative")),
    )
    assert [conflict.facts["declared"] for conflict in explanation.conflicts] == ["MultiNode", "RawDeployment"]


def test_rejected_lists_some_and_counts_all() -> None:
    many = [a_runtime(f"slow-{number:02}", engineConfig=moded("MultiNode")) for number in range(LISTED + 5)]
    facts = found(*many, deploymentMode="OMENative")["rejected"]
    assert facts["count"] == LISTED + 5
    assert len(facts["runtimes"]) == LISTED


def test_rejected_is_per_component() -> None:
    service: dict[str, Any] = {"engine": moded("OMENative"), "decoder": moded("OMENative")}
    assert "rejected" not in found(runtime={"decoderConfig": moded("MultiNode")}, **service)
    decoder = found(runtime={"decoderConfig": moded("MultiNode")}, component="decoder", **service)
    assert decoder["rejected"]["source"] == "spec.decoder.annotations"


def test_rejected_also_when_another_runtime_is_selected() -> None:
    facts = found(a_runtime("slow", engineConfig=moded("MultiNode")), deploymentMode="OMENative")
    assert facts["rejected"]["declared"] == "MultiNode"


OVERRIDDEN: list[tuple[dict[str, Any], Facts]] = [
    # the runtime's mode runs, unless the component's own annotation says otherwise
    ({"deploymentMode": "OMENative"}, {"requested": "OMENative", "declared": "MultiNode", "running": "MultiNode"}),
    ({"engine": moded("OMENative")}, {"requested": "OMENative", "declared": "MultiNode", "running": "OMENative"}),
]


@pytest.mark.parametrize(("service", "facts"), OVERRIDDEN)
def test_overridden_when_the_runtime_is_named_anyway(service: dict[str, Any], facts: Facts) -> None:
    explanation = explained(a_model(), a_runtime(engineConfig=moded("MultiNode")), a_service(runtime=NAMED, **service))
    conflicts = {conflict.code: dict(conflict.facts) for conflict in explanation.modes["engine"].conflicts}
    assert conflicts["overridden"] == facts
    assert "rejected" not in conflicts
    assert "silent-takeover" not in conflicts


TAKEN: list[tuple[str, dict[str, Any], dict[str, Any], Facts]] = [
    ("engine", {"engineConfig": moded("MultiNode")}, {}, {"running": "MultiNode", "otherwise": "RawDeployment"}),
    (
        "decoder",
        {"decoderConfig": moded("OMENative")},
        {"decoder": {}},
        {"running": "OMENative", "otherwise": "RawDeployment"},
    ),
    # it can also take a shape away
    (
        "engine",
        {"engineConfig": moded("RawDeployment", leader={}, worker={})},
        {},
        {"running": "RawDeployment", "otherwise": "OMENative"},
    ),
    # a router's is never compared, so what the service's spec says is taken over silently
    (
        "router",
        {"routerConfig": moded("OMENative")},
        {"router": {}, "deploymentMode": "RawDeployment"},
        {"running": "OMENative", "otherwise": "RawDeployment"},
    ),
    # nor is anything without a model
    (
        "engine",
        {"engineConfig": moded("MultiNode")},
        {"model": None, "runtime": NAMED, "deploymentMode": "OMENative"},
        {"running": "MultiNode", "otherwise": "OMENative"},
    ),
]


@pytest.mark.parametrize(("component", "runtime", "service", "facts"), TAKEN)
def test_a_silent_takeover_says_what_would_run_otherwise(
    component: str, runtime: dict[str, Any], service: dict[str, Any], facts: Facts
) -> None:
    explanation = explained(a_model(), a_runtime(**runtime), a_service(**service))
    conflicts = {conflict.code: dict(conflict.facts) for conflict in explanation.modes[component].conflicts}
    assert conflicts["silent-takeover"] == facts


IGNORED: list[tuple[str, dict[str, Any], dict[str, Any], Facts]] = [
    (
        "engine",
        {},
        {"engine": moded("Omenative")},
        {
            "value": "Omenative",
            "path": "spec.engine.annotations",
            "side": "service",
            "running": "RawDeployment",
            "hides": None,
        },
    ),
    (
        "decoder",
        {},
        {"decoder": moded("MultiNodeRayVLLM")},
        {
            "value": "MultiNodeRayVLLM",
            "path": "spec.decoder.annotations",
            "side": "service",
            "running": "RawDeployment",
            "hides": None,
        },
    ),
    (
        "engine",
        {"engineConfig": moded("MultiNodeRayVLLM")},
        {},
        {
            "value": "MultiNodeRayVLLM",
            "path": "spec.engineConfig.annotations",
            "side": "runtime",
            "running": "RawDeployment",
        },
    ),
    (
        "engine",
        {},
        {"annotations": {MODE: "OMENative"}},
        {"value": "OMENative", "path": "metadata.annotations", "side": "service", "running": "RawDeployment"},
    ),
    (
        "engine",
        {},
        {"deploymentMode": "MultiNode"},
        {"value": "MultiNode", "path": "spec.deploymentMode", "side": "service", "running": "RawDeployment"},
    ),
]


@pytest.mark.parametrize(("component", "runtime", "service", "facts"), IGNORED)
def test_a_value_that_is_not_read_is_ignored(
    component: str, runtime: dict[str, Any], service: dict[str, Any], facts: Facts
) -> None:
    assert found(runtime=runtime, component=component, **service) == {"ignored": facts}


def test_a_runtimes_bad_value_does_not_matter_where_the_service_says_one() -> None:
    assert found(runtime={"engineConfig": moded("Multinode")}, engine=moded("OMENative")) == {}


@pytest.mark.parametrize("value", ["multinode", ""])
def test_a_bad_value_hides_the_runtimes_good_one(value: str) -> None:
    assert found(runtime={"engineConfig": moded("MultiNode")}, engine=moded(value)) == {
        "hidden": {
            "value": value,
            "path": "spec.engine.annotations",
            "side": "service",
            "running": "RawDeployment",
            "hides": "MultiNode",
        }
    }


def test_a_bad_value_hides_nothing_when_the_runtimes_is_as_bad() -> None:
    facts = found(runtime={"engineConfig": moded("Multinode")}, engine=moded("multinode"))
    assert list(facts) == ["ignored"]
    assert (facts["ignored"]["value"], facts["ignored"]["hides"]) == ("multinode", None)


def test_a_value_that_is_not_read_hides_nothing() -> None:
    runtime = {"decoderConfig": moded("MultiNode")}
    facts = found(runtime=runtime, component="decoder", decoder=moded("RawDeployment"), semantics=V1_2)
    assert facts["ignored"]["hides"] is None
    assert "hidden" not in facts


IMPOSSIBLE: list[tuple[str, dict[str, Any], Facts]] = [
    ("router", {"router": moded("MultiNode")}, {"mode": "MultiNode", "stops": ["router"]}),
    (
        "engine",
        {"engine": moded("VirtualDeployment")},
        {"mode": "VirtualDeployment", "stops": ["engine", "decoder", "router"]},
    ),
    (
        "decoder",
        {"decoder": moded("VirtualDeployment")},
        {"mode": "VirtualDeployment", "stops": ["decoder", "router"]},
    ),
]


@pytest.mark.parametrize(("component", "service", "facts"), IMPOSSIBLE)
def test_an_impossible_mode_stops_what_comes_after(component: str, service: dict[str, Any], facts: Facts) -> None:
    assert found(component=component, **service)["impossible"] == facts


def test_a_mixed_pair_that_the_webhook_rejects() -> None:
    for component in ("engine", "decoder"):
        facts = found(component=component, engine=moded("OMENative"), decoder=moded("raw"))["pair"]
        assert facts == {"engine": "OMENative", "decoder": "raw", "rejected": True}


def test_a_mixed_pair_that_only_runs() -> None:
    facts = found(runtime={"engineConfig": {"leader": {}, "worker": {}}}, decoder={})["pair"]
    assert facts == {"engine": "OMENative", "decoder": "RawDeployment", "rejected": False}


def test_a_pair_without_ome_native_may_differ() -> None:
    assert "pair" not in found(engine=moded("MultiNode"), decoder=moded("RawDeployment"))


def test_v1_2_knows_no_mixed_pair() -> None:
    assert "pair" not in found(engine=moded("OMENative"), decoder={}, semantics=V1_2)


def test_multi_node_is_deprecated_whoever_says_it() -> None:
    facts = {"running": "MultiNode", "source": "ComponentAnnotation"}
    assert found(engine=moded("MultiNode")) == {"deprecated": facts}
    assert found(runtime={"engineConfig": moded("MultiNode")})["deprecated"] == facts


def test_on_v1_2_a_shape_is_multi_node_and_so_is_ray() -> None:
    shaped = found(engine={"leader": {}, "worker": {}}, semantics=V1_2)
    assert shaped == {"deprecated": {"running": "MultiNode", "source": "LeaderWorkerShape"}}
    ray = found(engine=moded("MultiNodeRayVLLM"), semantics=V1_2)
    assert ray == {"deprecated": {"running": "MultiNodeRayVLLM", "source": "ComponentAnnotation"}}


def test_on_v1_2_a_decoders_annotation_is_ignored() -> None:
    facts = found(component="decoder", decoder=moded("MultiNode"), semantics=V1_2)
    assert facts["ignored"]["path"] == "spec.decoder.annotations"


@pytest.mark.parametrize(
    ("runtime", "service"),
    [({}, {"engine": {"leader": {}, "worker": {}}}), ({"engineConfig": {"leader": {}, "worker": {}}}, {})],
)
def test_a_leader_in_raw_deployment_has_no_workers(runtime: dict[str, Any], service: dict[str, Any]) -> None:
    assert found(runtime=runtime, deploymentMode="RawDeployment", **service) == {"no-workers": {}}


DRIFTS: list[tuple[list[dict[str, Any]], list[Facts]]] = [
    # nothing there yet, or what should be there
    ([], []),
    ([deployed("Deployment")], []),
    # what is left of another mode is the migration's matter
    ([deployed("Deployment"), deployed("LeaderWorkerSet", runtime="old")], []),
    # another kind, another runtime, or both
    (
        [deployed("LeaderWorkerSet")],
        [{"what": "kind", "expected": "Deployment", "observed": ["LeaderWorkerSet"]}],
    ),
    (
        [deployed("Deployment", runtime="slow")],
        [{"what": "runtime", "expected": "fast", "observed": ["slow"], "automatic": True}],
    ),
    (
        [deployed("InferenceReplica", runtime="slow")],
        [
            {"what": "kind", "expected": "Deployment", "observed": ["InferenceReplica"]},
            {"what": "runtime", "expected": "fast", "observed": ["slow"], "automatic": True},
        ],
    ),
    (
        [deployed("LeaderWorkerSet", runtime="slow"), deployed("InferenceReplica", runtime="old")],
        [
            {"what": "kind", "expected": "Deployment", "observed": ["InferenceReplica", "LeaderWorkerSet"]},
            {"what": "runtime", "expected": "fast", "observed": ["old", "slow"], "automatic": True},
        ],
    ),
    # a label that is missing says nothing, another component's workload isn't this one's
    ([deployed("Deployment", runtime="")], []),
    ([deployed("LeaderWorkerSet", "decoder")], []),
]


@pytest.mark.parametrize(("workloads", "drifts"), DRIFTS)
def test_drift_is_what_runs_against_what_the_rules_say(workloads: list[dict[str, Any]], drifts: list[Facts]) -> None:
    explanation = explained(a_model(), a_runtime(), *workloads, a_service())
    assert [dict(conflict.facts) for conflict in explanation.modes["engine"].conflicts] == drifts


def test_a_named_runtimes_drift_is_not_automatic() -> None:
    explanation = explained(a_model(), a_runtime(), deployed("Deployment", runtime="slow"), a_service(runtime=NAMED))
    assert [conflict.facts["automatic"] for conflict in explanation.conflicts] == [False]


def test_without_a_runtime_nothing_is_expected() -> None:
    explanation = explained(a_model(), deployed("LeaderWorkerSet"), a_service())
    assert explanation.conflicts == ()
    assert not explanation.modes["engine"].rendered


OWN: list[tuple[dict[str, Any], list[tuple[str, str, str]]]] = [
    ({}, []),
    ({"engineConfig": {}, "decoderConfig": moded("OMENative")}, []),
    ({"engineConfig": moded("multinode")}, [("ignored", "engine", "spec.engineConfig.annotations")]),
    ({"engineConfig": moded("MultiNode")}, [("deprecated", "engine", "spec.engineConfig.annotations")]),
    ({"routerConfig": moded("MultiNode")}, [("impossible", "router", "spec.routerConfig.annotations")]),
    ({"decoderConfig": moded("VirtualDeployment")}, [("impossible", "decoder", "spec.decoderConfig.annotations")]),
    ({"annotations": {MODE: "OMENative"}}, [("ignored", "", "metadata.annotations")]),
]


@pytest.mark.parametrize(("spec", "conflicts"), OWN)
def test_a_runtime_has_conflicts_of_its_own(spec: dict[str, Any], conflicts: list[tuple[str, str, str]]) -> None:
    told = runtime_conflicts(read_runtime(**spec), V1_3)
    assert [(each.code, each.component, each.facts["path"]) for each in told] == conflicts
    assert all(each.to_dict()["facts"]["side"] == "runtime" for each in told)


def test_on_v1_2_only_the_engines_annotation_counts() -> None:
    runtime = read_runtime(engineConfig=moded("OMENative"), decoderConfig=moded("MultiNode"))
    assert [(each.code, each.component) for each in runtime_conflicts(runtime, V1_2)] == [
        ("ignored", "engine"),
        ("ignored", "decoder"),
    ]
