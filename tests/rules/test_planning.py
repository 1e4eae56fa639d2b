"""Moving a service: its patch, its steps and the way back, state by state, and the outcome that the rules compute."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selection.rules.explain import explain_service
from selection.rules.fleet import Fleet, evolved, read_fleet
from selection.rules.merge_patches import merge_patched
from selection.rules.objects import ObjectRef
from selection.rules.parsing import ref_of
from selection.rules.plan_steps import EXPECTATIONS, OUTAGES, PURPOSES
from selection.rules.planning import plan_services, services_on_the_way
from selection.rules.semantics import V1_2
from selection.rules.service_patches import settled
from selection.rules.service_plan import REASONS, RISKS, ServicePlan

from .manifests import MODE, Manifest, a_model, a_runtime, a_service, an_entry, deployed, moded

CHAT = ObjectRef("InferenceService", "team", "chat")
GPUS = {"resources": {"limits": {"nvidia.com/gpu": 8}}}
OLD, CURRENT, PLAIN = "LeaderWorkerSet", "InferenceReplica", "Deployment"


def pods(*args: str, size: int = 1, **fields: Any) -> dict[str, Any]:
    runner = {"name": "main", "args": list(args), **GPUS}
    return {"leader": {"runner": runner}, "worker": {"size": size, "runner": runner}, **fields}


def leaning(name: str = "fast", namespace: str | None = None, *entries: Any, **spec: Any) -> Manifest:
    """A runtime whose engine and decoder use LeaderWorkerSet's variables."""
    configs = {"engineConfig": pods("$(LWS_GROUP_SIZE)"), "decoderConfig": pods("$(LWS_GROUP_SIZE)")}
    return a_runtime(name, namespace, *entries, **{**configs, **spec})


def multi_node(**spec: Any) -> Manifest:
    """``chat``, its engine on MultiNode by its own annotation, naming ``fast``."""
    return a_service(**{"runtime": {"name": "fast"}, "engine": moded("MultiNode"), **spec})


def plan(*objects: Manifest) -> ServicePlan:
    """The plan for ``chat`` among these objects."""
    manifests = [a_model(), *objects]
    (found,) = plan_services(read_fleet(manifests), [CHAT], {ref_of(each): each for each in manifests})
    return found


def codes(notes: Any) -> list[str]:
    return [note.code for note in notes]


def purposes(found: ServicePlan) -> list[str]:
    return [step.purpose for step in found.steps]


def test_a_service_that_leans_on_its_runtimes_variables() -> None:
    found = plan(leaning(), multi_node(), deployed(OLD))
    assert (found.state, found.ready, found.reasons) == ("not-started", True, ())
    assert found.patch == {
        "spec": {
            "runtime": {"name": "fast-omenative"},
            "engine": {
                "annotations": {MODE: "OMENative"},
                "leader": {},
                "worker": {},
                "minReplicas": 1,
                "maxReplicas": 1,
            },
        }
    }
    assert purposes(found) == ["create-runtime", "move", "free-accelerators", "wait", "delete-leftovers"]
    assert [step.outage for step in found.steps] == ["none", "begins", "lasts", "over", "none"]
    assert (found.needs, found.holds) == ((("nvidia.com/gpu", 16),), (("nvidia.com/gpu", 16),))
    running = found.after.modes["engine"]
    assert (found.after.outcome, running.running.mode, running.migration) == ("named", "OMENative", "done")
    assert found.after.conflicts == ()


def test_each_command_is_one_that_a_shell_takes() -> None:
    found = plan(leaning(), multi_node(), deployed(OLD))
    create, move, free, wait, delete = found.steps
    assert create.commands == ("kubectl create -f fast-omenative.yaml",)
    words = shlex.split(move.commands[0])
    assert " ".join(words[:-1]) == "kubectl patch inferenceservice.ome.io chat -n team --type merge -p"
    assert json.loads(words[-1]) == found.patch == move.patch
    deletion = "kubectl delete leaderworkerset.leaderworkerset.x-k8s.io lws-chat-engine -n team --ignore-not-found"
    assert free.commands == delete.commands == (deletion,)
    assert free.only_if_pending
    assert "--timeout=60m" in shlex.split(wait.commands[0])
    assert [check.expect for check in move.checks] == ["replica-there", "pods-labelled", "selects-leaders"]
    assert move.checks[1].facts == {"component": "engine", "leaders": 1, "workers": 1}
    assert [check.expect for check in delete.checks] == ["pods-gone"]


def after_back(found: ServicePlan, manifest: Manifest, *objects: Manifest) -> dict[str, str]:
    """The modes that run after the plan's way back."""
    undone = settled(merge_patched(found.patched, found.back))
    explanation = explain_service(read_fleet([a_model(), *objects, undone]), "team", "chat")
    assert explanation.admission.errors == ()
    return {name: modes.running.mode for name, modes in explanation.modes.items()}


BACK = [
    (multi_node(), {"engine": "MultiNode"}),
    (multi_node(engine={}), {"engine": "MultiNode"}),
    (multi_node(decoder=moded("MultiNode")), {"engine": "MultiNode", "decoder": "MultiNode"}),
    (multi_node(runtime={"name": "fast", "autoSync": False}), {"engine": "MultiNode"}),
    (multi_node(runtime=None), {"engine": "MultiNode"}),
]


@pytest.mark.parametrize(("service", "modes"), BACK)
def test_the_way_back_runs_multi_node_on_the_old_runtime(service: Manifest, modes: dict[str, str]) -> None:
    found = plan(leaning(), service, deployed(OLD))
    assert after_back(found, service, leaning()) == modes
    undone = merge_patched(found.patched, found.back)
    assert undone["spec"].get("runtime") == service["spec"].get("runtime")
    (_, move, *_) = found.steps
    assert move.back[1:] == tuple(
        f"kubectl delete inferencereplica.ome.io chat-{name} -n team --ignore-not-found" for name in modes
    )


def test_engine_and_decoder_go_in_one_patch() -> None:
    found = plan(leaning(), multi_node(decoder=moded("MultiNode")), deployed(OLD), deployed(OLD, "decoder"))
    assert {name: found.patch["spec"][name]["annotations"][MODE] for name in ("engine", "decoder")} == {
        "engine": "OMENative",
        "decoder": "OMENative",
    }
    assert [step.patch is not None for step in found.steps].count(True) == 1
    assert found.ready
    assert "pair" in codes(found.risks)
    assert found.needs == (("nvidia.com/gpu", 32),)


def test_a_partner_that_runs_a_deployment_moves_too_and_leaves_it_behind() -> None:
    single = {"runner": {"name": "main", "args": ["serve"]}}
    objects = [leaning(decoderConfig=single), multi_node(decoder=moded("RawDeployment"))]
    found = plan(*objects, deployed(OLD), deployed(PLAIN, "decoder"))
    assert found.patch["spec"]["decoder"]["annotations"] == {MODE: "OMENative"}
    assert "leader" not in found.patch["spec"]["decoder"]
    assert found.steps[-1].facts["workloads"] == ["lws-chat-engine", "chat-decoder"]
    assert found.steps[-1].commands[1] == "kubectl delete deployment.apps chat-decoder -n team --ignore-not-found"
    assert found.ready
    assert "raw-partner" in codes(found.risks)
    assert after_back(found, *objects[::-1]) == {"engine": "MultiNode", "decoder": "RawDeployment"}


def test_a_namespaced_copy_is_named_with_its_kind() -> None:
    found = plan(leaning("fast", "team"), multi_node(), deployed(OLD))
    assert found.patch["spec"]["runtime"] == {"name": "fast-omenative", "kind": "ServingRuntime"}
    assert found.steps[0].commands == ("kubectl create -f fast-omenative.yaml -n team",)
    assert found.steps[0].checks[0].command == "kubectl get servingruntime.ome.io fast-omenative -n team"
    written = plan(leaning("fast", "team"), multi_node(runtime={"name": "fast", "kind": "ServingRuntime"}))
    assert written.patch["spec"]["runtime"] == {"name": "fast-omenative"}


def test_a_pinned_service_needs_a_new_token_and_loses_its_revision() -> None:
    revision = "cr-fast-0123abcd"
    service = multi_node(
        runtime={"name": "fast", "autoSync": False, "revision": revision},
        annotations={"ome.io/runtime-sync": "to-fast-omenative"},
        status={"lastRuntimeSyncToken": "to-fast-omenative-2", "pinnedRevisionName": revision},
    )
    found = plan(leaning(), service, deployed(OLD))
    assert found.patch["metadata"]["annotations"] == {"ome.io/runtime-sync": "to-fast-omenative-3"}
    assert found.patch["spec"]["runtime"] == {"name": "fast-omenative", "revision": None}
    assert found.steps[1].checks[0].facts == {"token": "to-fast-omenative-3"}
    assert found.back["metadata"]["annotations"] == {"ome.io/runtime-sync": "back-to-fast"}
    assert found.back["spec"]["runtime"] == {"name": "fast", "revision": revision}
    assert found.ready
    assert codes(found.risks) == ["pinned-revision", "one-replica"]


def test_what_its_revision_says_is_over_once_it_moved_on() -> None:
    spec = leaning(engineConfig=pods("$(LWS_GROUP_SIZE)", annotations={MODE: "MultiNode"}))["spec"]
    revision = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": "cr-fast-0123abcd", "namespace": "ome"},
        "data": {"spec": spec},
    }
    status = {"pinnedRevisionName": "cr-fast-0123abcd"}
    service = multi_node(engine={}, runtime={"name": "fast", "autoSync": False}, status=status)
    found = plan(leaning(), service, revision, deployed(OLD))
    assert found.before.modes["engine"].running.mode == "MultiNode"
    assert (found.ready, found.after.modes["engine"].running.mode) == (True, "OMENative")


def test_replicas_that_are_written_stay() -> None:
    config = pods("$(LWS_GROUP_SIZE)", minReplicas=2, maxReplicas=4)
    assert "minReplicas" not in plan(leaning(engineConfig=config), multi_node()).patch["spec"]["engine"]
    found = plan(leaning(engineConfig=pods("x", minReplicas=3)), multi_node())
    assert found.patch["spec"]["engine"]["maxReplicas"] == 3
    own = plan(leaning(), multi_node(engine=moded("MultiNode", minReplicas=2)))
    assert own.patch["spec"]["engine"]["maxReplicas"] == 2
    assert own.needs == (("nvidia.com/gpu", 32),)
    none = plan(leaning(), multi_node(engine=moded("MultiNode", minReplicas=0)))
    assert (none.needs, codes(none.risks)) == ((), [])  # no replica is not one replica


def test_a_runtime_that_works_as_it_is_is_kept() -> None:
    found = plan(a_runtime(engineConfig=pods("serve")), multi_node(), deployed(OLD))
    assert (found.copy, purposes(found)[0]) == (None, "move")
    assert "runtime" not in found.patch["spec"]
    assert (found.ready, found.after.outcome) == (True, "named")


def test_a_runtime_that_only_says_multi_node_gets_a_copy_that_does_not() -> None:
    config = pods("serve", annotations={MODE: "MultiNode"})
    found = plan(a_runtime(engineConfig=config), multi_node(engine={}), deployed(OLD))
    assert found.copy is not None
    assert (found.copy.need, found.ready, found.after.conflicts) == ("mode", True, ())
    other = plan(a_runtime(engineConfig=pods("serve"), decoderConfig=config), multi_node(engine=moded("MultiNode")))
    assert other.copy is None  # the decoder that it has no use for


def test_a_selected_runtime_is_named_from_then_on() -> None:
    found = plan(leaning(), multi_node(runtime=None), deployed(OLD))
    assert found.before.outcome == "auto-selected"
    assert found.patch["spec"]["runtime"] == {"name": "fast-omenative"}
    assert (found.ready, found.after.outcome) == (True, "named")
    assert "auto-selected" in codes(found.risks)
    assert found.back["spec"]["runtime"] is None


def test_a_selected_runtimes_parents_count_only_when_it_is_copied() -> None:
    base = a_runtime("base", None, {"modelFormat": {"name": "other"}}, routerConfig={"labels": {"a": "b"}})
    child = leaning(annotations={"ome.io/inherit-from": "base"})
    found = plan(base, child, multi_node(runtime=None))
    assert codes(found.risks) == ["one-replica", "auto-selected", "auto-inherits"]
    plain = a_runtime(annotations={"ome.io/inherit-from": "base"}, engineConfig=pods("serve"))
    assert plan(leaning("base", None, an_entry(autoSelect=False)), plain, multi_node(runtime=None)).copy is None


STATES: list[tuple[str, list[Manifest], list[str], list[str]]] = [
    ("done", [a_runtime(), a_service(engine=moded("OMENative")), deployed(CURRENT)], [], []),
    (
        "cleanup-due",
        [a_runtime(), a_service(engine=moded("OMENative")), deployed(CURRENT), deployed(OLD)],
        ["wait", "delete-leftovers"],
        ["none", "none"],
    ),
    (
        "cleanup-due",
        [a_runtime(), a_service(), deployed(PLAIN), deployed(OLD)],
        ["wait", "delete-leftovers"],
        ["none", "none"],
    ),
    (
        "at-risk",
        [leaning(), a_service(runtime={"name": "fast"}), deployed(CURRENT), deployed(OLD)],
        ["create-runtime", "move", "free-accelerators", "wait", "delete-leftovers"],
        ["none", "lasts-already", "lasts", "over", "none"],
    ),
    (
        "at-risk",
        [leaning(), a_service(runtime={"name": "fast"}), deployed(CURRENT)],
        ["create-runtime", "move", "wait"],
        ["none", "lasts-already", "over"],
    ),
    (
        "moved-by-upgrade",
        [a_runtime(engineConfig=pods("serve")), a_service(), deployed(CURRENT), deployed(OLD)],
        ["move", "free-accelerators", "wait", "delete-leftovers"],
        ["none", "none", "none", "none"],
    ),
    (
        "waiting-on-pin",
        [
            a_runtime(),
            a_service(engine=moded("OMENative"), runtime={"name": "fast", "autoSync": False}),
            deployed(OLD),
        ],
        ["move", "free-accelerators", "wait", "delete-leftovers"],
        ["begins", "lasts", "over", "none"],
    ),
]


@pytest.mark.parametrize(("state", "objects", "steps", "outages"), STATES)
def test_each_state_gets_the_steps_that_fit(
    state: str, objects: list[Manifest], steps: list[str], outages: list[str]
) -> None:
    found = plan(*objects)
    assert (found.state, found.ready) == (state, True)
    assert purposes(found) == steps
    assert [step.outage for step in found.steps] == outages
    modes = found.after.modes["engine"]
    assert modes.migration in {"done", None}
    assert found.after.conflicts == ()


UPGRADED = [a_runtime(engineConfig=pods("serve")), a_service(), deployed(CURRENT), deployed(OLD)]


def test_what_an_upgrade_moved_keeps_its_pods_and_replicas() -> None:
    found = plan(*UPGRADED)
    assert found.patch == {"spec": {"engine": {"leader": {}, "worker": {}}}}, "neither annotation nor replicas"
    assert (found.ready, found.copy, codes(found.risks)) == (True, None, [])
    (move, *_, delete) = found.steps
    assert (move.facts["moves"], move.facts["stopping"], move.facts["rolling"]) == (False, [], [])
    assert len(move.back) == 1, "its InferenceReplica is what serves"
    assert not delete.facts["again"]
    assert found.after.modes["engine"].migration == "done"


def test_what_an_upgrade_moved_and_declares_its_pods_itself_only_has_something_to_delete() -> None:
    found = plan(a_runtime(), a_service(engine=pods("serve")), deployed(CURRENT), deployed(OLD))
    assert (found.state, found.patch) == ("moved-by-upgrade", {})
    assert purposes(found) == ["free-accelerators", "wait", "delete-leftovers"]
    assert {step.outage for step in found.steps} == {"none"}


def test_a_pin_needs_no_token_where_nothing_is_to_be_rolled_out() -> None:
    runtime = {"name": "fast", "autoSync": False}
    found = plan(a_runtime(), a_service(runtime=runtime, engine=pods("x")), deployed(CURRENT), deployed(OLD))
    assert (found.state, found.patch) == ("moved-by-upgrade", {})


def test_an_upgrade_moved_what_then_finds_no_leader_so_it_gets_a_copy_and_the_way_back_is_multi_node() -> None:
    found = plan(leaning(), a_service(runtime={"name": "fast"}), deployed(CURRENT), deployed(OLD))
    assert found.state == "at-risk"
    assert found.patch["spec"]["engine"]["annotations"] == {MODE: "OMENative"}
    assert found.back["spec"]["engine"]["annotations"] == {MODE: "MultiNode"}
    assert found.steps[1].back[1:] == ("kubectl delete inferencereplica.ome.io chat-engine -n team --ignore-not-found",)


HALVES = [a_runtime(engineConfig=pods("serve"), decoderConfig=pods("serve")), deployed(CURRENT)]


def test_the_half_of_a_pair_that_runs_omenative_goes_on_and_stays_so_when_the_other_goes_back() -> None:
    service = a_service(decoder=moded("MultiNode"))
    found = plan(*HALVES, service, deployed(OLD, "decoder"))
    assert found.ready
    written = {name: found.patch["spec"][name].get("annotations") for name in ("engine", "decoder")}
    annotation = {MODE: "OMENative"}
    assert written == {"engine": annotation, "decoder": annotation}, "the webhook wants both to say so"
    assert "minReplicas" not in found.patch["spec"]["engine"]
    assert found.patch["spec"]["decoder"]["maxReplicas"] == 1
    move = found.steps[0]
    assert (move.outage, move.facts["stopping"], move.facts["rolling"]) == ("begins", ["decoder"], ["engine"])
    assert codes(found.risks) == ["rolls", "one-replica"]
    assert found.risks[1].facts == {"components": ["decoder"]}
    assert found.needs == (("nvidia.com/gpu", 16),), "the engine's pods are there"
    assert after_back(found, service, HALVES[0]) == {"engine": "OMENative", "decoder": "MultiNode"}
    assert move.back[1:] == ("kubectl delete inferencereplica.ome.io chat-decoder -n team --ignore-not-found",)


def test_both_halves_go_back_where_one_says_omenative_itself() -> None:
    config = pods("serve", annotations={MODE: "MultiNode"})
    runtime = a_runtime(engineConfig=pods("serve"), decoderConfig=config)
    service = multi_node(engine=moded("OMENative"), decoder={})
    found = plan(runtime, service, deployed(CURRENT), deployed(OLD, "decoder"))
    assert (found.ready, found.steps[1].facts["stopping"]) == (True, ["decoder"])
    assert after_back(found, service, runtime) == {"engine": "MultiNode", "decoder": "MultiNode"}
    assert len(found.steps[1].back) == 3


def test_replicas_of_what_an_autoscaler_may_have_scaled_are_left_alone() -> None:
    single = {"runner": {"name": "main", "args": ["serve"]}}
    objects = [leaning(decoderConfig=single), multi_node(decoder=moded("RawDeployment"))]
    found = plan(*objects, deployed(OLD), deployed(PLAIN, "decoder"))
    assert found.patch["spec"]["decoder"] == {"annotations": {MODE: "OMENative"}}
    assert found.patch["spec"]["engine"]["maxReplicas"] == 1


def test_what_ome_has_not_acted_on_is_a_risk_and_looked_at_before_anything_is_deleted() -> None:
    found = plan(a_runtime(), a_service(engine=moded("OMENative", minReplicas=1, maxReplicas=1)), deployed(OLD))
    assert (found.state, found.patch, codes(found.risks)) == ("not-started", {}, ["not-acted", "one-replica"])
    assert purposes(found) == ["free-accelerators", "wait", "delete-leftovers"]
    assert [check.expect for check in found.steps[1].checks] == ["condition-met", "replica-ready"]


def test_old_pods_go_only_when_the_new_ones_are_ready() -> None:
    for _, objects, _, _ in STATES:
        found = plan(*objects)
        native = [each.name for each in found.components if found.after.modes[each.name].running.mode == "OMENative"]
        for step in found.steps:
            if step.purpose == "wait":
                checked = [check.facts["component"] for check in step.checks if check.expect == "replica-ready"]
                assert checked == native


def test_the_new_pods_of_a_component_that_moved_need_nothing_further() -> None:
    found = plan(a_runtime(engineConfig=pods("serve")), a_service(), deployed(CURRENT), deployed(OLD))
    assert (found.needs, found.holds) == ((), (("nvidia.com/gpu", 16),))


def test_a_leftover_holds_what_its_own_manifest_says() -> None:
    template = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"amd.com/gpu": "4"}}}]}}
    group = {"size": 3, "workerTemplate": template}
    left = {**deployed(OLD), "spec": {"replicas": 2, "leaderWorkerTemplate": group}}
    assert plan(leaning(), multi_node(), left).holds == (("amd.com/gpu", 24),)
    silent = {**deployed(OLD), "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": {}}}}
    assert plan(leaning(), multi_node(), silent).holds == (("nvidia.com/gpu", 32),)


def test_a_workload_that_nobody_saw_is_deleted_and_holds_nothing() -> None:
    found = plan(leaning(), multi_node())
    assert purposes(found)[-1] == "delete-leftovers"
    assert (found.holds, found.components[0].leftovers[0].there) == ((), False)


NOT_READY: list[tuple[str, list[Manifest]]] = [
    ("rework", [leaning(engineConfig=pods("$((LWS_GROUP_SIZE-1))")), multi_node()]),
    ("copy-refused", [leaning(acceleratorRequirements={"acceleratorClasses": ["gone"]}), multi_node()]),
    ("no-runtime", [multi_node(), deployed(OLD)]),
    ("service-refused", [leaning(), multi_node(engine=moded("MultiNode", leader={"runner": {}}), decoder=None)]),
    (
        "conflict",
        [leaning(routerConfig=moded("MultiNode")), multi_node(router={})],  # a router can't run MultiNode, nor then
    ),
]


@pytest.mark.parametrize(("code", "objects"), NOT_READY)
def test_a_plan_that_leads_elsewhere_is_not_ready_and_says_why(code: str, objects: list[Manifest]) -> None:
    if code == "service-refused":
        objects[1]["spec"]["engine"]["worker"] = {"size": 0}
    if code == "conflict":
        objects[0]["spec"]["decoderConfig"] = moded("RawDeployment")
        objects[1]["spec"]["decoder"] = moded("MultiNode")
    found = plan(*objects)
    assert not found.ready
    assert code in codes(found.reasons)


def test_a_service_that_names_leader_worker_set_itself_is_not_ready_and_says_where() -> None:
    selector = {"runner": {"name": "router", "args": ["--selector", "leaderworkerset.sigs.k8s.io/worker-index=0"]}}
    engine = moded("MultiNode", **pods("--nnodes=$(LWS_GROUP_SIZE)"))
    found = plan(a_runtime(engineConfig=pods("serve")), multi_node(engine=engine, router=selector), deployed(OLD))
    (reason,) = found.reasons
    assert reason.code == "own-references"
    assert reason.facts["places"] == [
        "spec.engine.leader.runner.args[0]",
        "spec.engine.worker.runner.args[0]",
        "spec.router.runner.args[1]",
    ]


def test_the_router_restarts_and_is_no_conflict() -> None:
    found = plan(leaning(), multi_node(router={}), deployed(OLD), deployed(PLAIN, "router"))
    assert (found.ready, "router" in codes(found.risks)) == (True, True)
    assert found.after.conflicts == ()


def test_what_a_webhook_wrote_on_the_service_stops_nothing() -> None:
    found = plan(leaning(), multi_node(annotations={MODE: "MultiNode"}), deployed(OLD))
    assert codes(found.after.conflicts) == ["ignored"]
    assert found.ready


def plan_on_v1_2(*objects: Manifest) -> ServicePlan:
    manifests = [a_model(), *objects]
    (found,) = plan_services(read_fleet(manifests, V1_2), [CHAT], {ref_of(each): each for each in manifests})
    return found


ON_V1_2 = [
    # by its shape, which the upgrade moves; by its annotation, which stays
    (a_service(runtime={"name": "fast"}), ["engine"]),
    (multi_node(), []),
    (a_service(runtime={"name": "fast"}, engine=moded("MultiNode"), decoder={}), ["decoder"]),
    # selected, pinned, in a namespace of its own
    (a_service(), ["engine"]),
    (a_service(runtime={"name": "fast", "autoSync": False}), ["engine"]),
]


@pytest.mark.parametrize(("service", "moves"), ON_V1_2)
def test_on_a_release_without_omenative_the_plan_says_that_alone_and_what_comes_of_it_after_the_upgrade(
    service: Manifest, moves: list[str]
) -> None:
    found = plan_on_v1_2(leaning(), service, deployed(OLD))
    assert [note.to_dict() for note in found.reasons] == [
        {"code": "needs-v1.3", "facts": {"version": "1.2", "moves": moves}}
    ]
    assert (found.before.ome_version, found.after.ome_version) == ("1.2", "1.3")
    assert {modes.running.mode for modes in found.before.modes.values()} == {"MultiNode"}
    assert {modes.running.mode for modes in found.after.modes.values()} == {"OMENative"}
    assert (found.after.conflicts, found.after.admission.errors) == ((), ())


def test_what_stands_in_the_way_after_the_upgrade_too_is_told_before_it() -> None:
    lone = a_service(engine=moded("MultiNode", leader={}), router=moded("MultiNode"), runtime={"name": "fast"})
    init = {"initContainers": [{"name": "wait", "command": ["$(LWS_LEADER_ADDRESS)"]}]}
    leader = {"runner": {"name": "main"}, **init}
    found = plan_on_v1_2(a_runtime(engineConfig={"leader": leader, "worker": {}}), lone, deployed(OLD))
    assert codes(found.reasons) == ["needs-v1.3", "rework"], "the router is the upgrade's matter, not the plan's"


def test_on_a_release_without_omenative_what_only_has_something_to_delete_needs_no_other() -> None:
    found = plan_on_v1_2(a_runtime(), a_service(), deployed(PLAIN), deployed(OLD))
    assert (found.state, found.reasons, purposes(found)) == ("cleanup-due", (), ["wait", "delete-leftovers"])


def test_a_service_that_is_not_there_is_told() -> None:
    with pytest.raises(LookupError):
        plan_services(Fleet(), [CHAT], {})


def test_a_service_that_can_not_be_read_has_no_plan_and_says_where() -> None:
    found = plan(leaning(), a_service(engine={"minReplicas": "two"}), deployed(OLD))
    assert (found.ready, found.steps, found.components) == (False, (), ())
    assert [note.facts["path"] for note in found.reasons] == ["spec.engine.minReplicas"]
    manifests = [a_model(), leaning(), multi_node()]
    (missing,) = plan_services(read_fleet(manifests), [CHAT], {})
    assert (codes(missing.reasons), missing.patch) == (["unreadable"], {})


def test_services_of_one_runtime_share_its_copy() -> None:
    manifests = [a_model(), leaning(), multi_node(), multi_node(name="other")]
    refs = [ref_of(each) for each in manifests[2:]]
    one, other = plan_services(read_fleet(manifests), refs, {ref_of(each): each for each in manifests})
    assert one.copy is other.copy
    assert codes(one.risks) == ["shared-runtime", "one-replica"]


def test_others_that_name_the_runtime_count_though_they_are_not_planned() -> None:
    found = plan(leaning(), multi_node(), multi_node(name="other"), a_service("else", runtime={"name": "plain"}))
    assert [note.facts for note in found.risks if note.code == "shared-runtime"] == [{"services": 2}]
    scoped = plan(leaning("fast", "team"), multi_node(), multi_node(name="other", namespace="elsewhere"))
    assert "shared-runtime" not in codes(scoped.risks)


def test_those_that_get_the_runtime_by_selection_count_too_and_those_that_moved_do_not() -> None:
    moved = a_service("moved", runtime={"name": "fast-omenative"}, engine=moded("OMENative"))
    objects = [leaning(), multi_node(), multi_node(name="chosen", runtime=None), multi_node(name="named"), moved]
    alone = plan(*objects)
    manifests = [a_model(), *objects]
    fleet = read_fleet(manifests)
    everyone = plan_services(fleet, services_on_the_way(fleet), {ref_of(each): each for each in manifests})
    told = [note.facts for found in (alone, *everyone) for note in found.risks if note.code == "shared-runtime"]
    assert told == [{"services": 3}] * 4


@pytest.mark.parametrize("revision", ["cr-fast-0123abcd", None])
def test_the_way_back_says_that_a_revision_which_nobody_named_does_not_come_back(revision: str | None) -> None:
    status = {"pinnedRevisionName": revision} if revision else {}
    found = plan(leaning(), multi_node(runtime={"name": "fast", "autoSync": False}, status=status), deployed(OLD))
    (move,) = [step for step in found.steps if step.purpose == "move"]
    assert move.facts["unpinned"] == {
        "runtime": {"kind": "ClusterServingRuntime", "namespace": None, "name": "fast"},
        "revision": revision,
    }


@pytest.mark.parametrize("fields", [{"autoSync": False, "revision": "cr-fast-0123abcd"}, {}])
def test_a_revision_that_is_named_comes_back(fields: dict[str, Any]) -> None:
    found = plan(leaning(), multi_node(runtime={"name": "fast", **fields}), deployed(OLD))
    assert [step.facts["unpinned"] for step in found.steps if step.purpose == "move"] == [None]


def test_the_conflicts_of_a_component_are_one_reason() -> None:
    for _, objects in NOT_READY:
        told = [note.facts for note in plan(*objects).reasons if note.code == "conflict"]
        assert len({each["component"] for each in told}) == len(told)
        assert all(each["conflicts"] == list(dict.fromkeys(each["conflicts"])) for each in told)


def counting(component: str = "engine") -> Manifest:
    """A runtime that hands LeaderWorkerSet's variable on in one of its own."""
    config = pods("--nnodes=$(COUNT)")
    env = [{"name": "COUNT", "value": "$(LWS_GROUP_SIZE)"}]
    config["leader"]["runner"] = {**config["leader"]["runner"], "env": env}
    found = leaning()
    found["spec"][f"{component}Config"] = config
    return found


def test_a_variable_that_would_not_be_expanded_is_a_risk_of_the_copy_and_of_who_uses_it() -> None:
    found = plan(counting(), multi_node())
    assert found.ready
    assert found.copy is not None
    (note,) = [each for each in found.copy.notes if each.code == "env-value-order"]
    (risk,) = [each for each in found.risks if each.code == "env-value-order"]
    (told,) = note.facts["variables"]
    assert (told["name"], told["uses"]) == ("COUNT", ["$(OME_INSTANCE_POD_COUNT)"])
    assert told["used"] == ["spec.engineConfig.leader.runner.args[0]"]
    assert risk.facts == note.facts


def test_a_variable_of_a_component_that_the_service_has_not_is_no_risk_of_its() -> None:
    found = plan(counting("decoder"), multi_node())
    assert found.copy is not None
    assert "env-value-order" in codes(found.copy.notes)
    assert "env-value-order" not in codes(found.risks)


def test_it_knows_who_is_on_the_way() -> None:
    manifests = [a_model(), leaning(), multi_node(), a_service("done", engine=moded("OMENative"), model=None)]
    assert services_on_the_way(read_fleet(manifests)) == [CHAT]


# Properties.

UNHURRIED = settings(deadline=None)
MODES = st.sampled_from([None, "MultiNode", "MultiNode", "OMENative", "RawDeployment", "Multinode"])
ARGS = st.sampled_from(["serve", "$(LWS_GROUP_SIZE)", "$LWS_WORKER_INDEX", "$((LWS_GROUP_SIZE-1))"])


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    """A runtime's engine or decoder, mostly of several pods."""
    shape = draw(st.sampled_from([pods, pods, lambda arg: {"runner": {"args": [arg]}}]))
    config: dict[str, Any] = shape(draw(ARGS))
    if mode := draw(MODES):
        config["annotations"] = {MODE: mode}
    return config | draw(st.sampled_from([{}, {"minReplicas": 2}, {"minReplicas": 0, "maxReplicas": 3}]))


@st.composite
def components(draw: st.DrawFn) -> dict[str, Any]:
    """A service's engine or decoder."""
    mode = draw(MODES)
    shape = draw(st.sampled_from([{}, {}, {"leader": {}, "worker": {"size": 2}}]))
    return {
        **({"annotations": {MODE: mode}} if mode else {}),
        **shape,
        **draw(st.sampled_from([{}, {"minReplicas": 1}])),
    }


@st.composite
def moves(draw: st.DrawFn) -> list[Manifest]:
    """``chat`` with a runtime to leave, and what may stand in the way: pins, parents, namesakes, old workloads."""
    namespace = draw(st.sampled_from([None, None, "team"]))
    inherits = {"ome.io/inherit-from": "base"}
    annotations = draw(st.sampled_from([{}, {}, inherits]))
    routers: list[dict[str, Any]] = [{}, {"routerConfig": {"runner": {"args": ["a=b"]}}}]
    router = draw(st.sampled_from(routers))
    runtime = a_runtime(
        "fast",
        namespace,
        annotations=annotations,
        engineConfig=draw(configs()),
        decoderConfig=draw(configs()),
        **router,
    )
    revision = "r-team-fast-0123abcd" if namespace else "cr-fast-0123abcd"
    kind = {"kind": "ServingRuntime"} if namespace else {}
    pins: list[dict[str, Any]] = [{}, {}, {"autoSync": False}, {"autoSync": False, "revision": revision}]
    pin = draw(st.sampled_from(pins))
    named = draw(st.sampled_from([None, {"name": "fast", **kind, **pin}, {"name": "fast", **kind, **pin}]))
    extras: list[dict[str, Any]] = [{}, {"router": {}}, {"deploymentMode": "RawDeployment"}]
    rest = draw(st.sampled_from(extras))
    decoder = draw(st.none() | components())
    service = a_service(runtime=named, engine=draw(components()), decoder=decoder, **rest)
    found = [a_model(), runtime, a_runtime("base", None, {"modelFormat": {"name": "x"}}, engineConfig=draw(configs()))]
    found += [deployed(kind) for kind in draw(st.sets(st.sampled_from([OLD, CURRENT, PLAIN])))]
    found += draw(st.sampled_from([[], [], [a_runtime("fast-omenative", disabled=True)]]))
    return [*found, service]


def changed_by(found: ServicePlan) -> list[Manifest]:
    """The objects that the plan puts into the cluster."""
    copies = [dict(found.copy.manifest)] if found.copy and not found.copy.exists else []
    return [*copies, settled(found.patched)] if found.patch else copies


@UNHURRIED
@given(moves())
def test_the_outcome_is_what_the_rules_say_of_the_patched_objects(manifests: list[Manifest]) -> None:
    found = plan(*manifests)
    service = next(each for each in manifests if ref_of(each) == CHAT)
    assert found.patched == merge_patched(service, found.patch)
    alone = evolved(read_fleet(manifests), changed_by(found), [])
    told = explain_service(alone, "team", "chat", brief=True)
    assert (told.outcome, told.admission) == (found.after.outcome, found.after.admission)
    running = {name: modes.running for name, modes in found.after.modes.items()}
    assert {name: modes.running for name, modes in told.modes.items()} == running


@UNHURRIED
@given(moves())
def test_a_plan_that_is_ready_leads_to_omenative_or_has_nothing_to_do(manifests: list[Manifest]) -> None:
    found = plan(*manifests)
    assert {note.code for note in found.reasons} <= set(REASONS)
    assert {note.code for note in found.risks} <= set(RISKS)
    if found.ready:
        assert found.after.admission.errors == () or not found.patch
        for component in found.components:
            assert not component.moves or found.after.modes[component.name].running.mode == "OMENative"
            assert not component.moves or found.after.modes[component.name].migration == "done"
    assert json.loads(json.dumps(found.to_dict()))["ready"] is found.ready


@UNHURRIED
@given(moves())
def test_every_step_has_codes_that_have_sentences_and_commands_that_a_shell_takes(manifests: list[Manifest]) -> None:
    found = plan(*manifests)
    for step in found.steps:
        assert step.purpose in PURPOSES
        assert step.outage in OUTAGES
        assert {check.expect for check in step.checks} <= set(EXPECTATIONS)
        assert all(shlex.split(command)[0] == "kubectl" for command in (*step.commands, *step.back))
    order = [PURPOSES.index(step.purpose) for step in found.steps]
    assert order == sorted(set(order))


@UNHURRIED
@given(moves())
def test_a_plan_made_after_the_plan_has_nothing_left_to_do(manifests: list[Manifest]) -> None:
    found = plan(*manifests)
    if not found.ready or not found.patch:
        return
    kept = [each for each in manifests if ref_of(each) != CHAT and each["kind"] not in {OLD, PLAIN, CURRENT}]
    runtime = found.after.selected.ref.name if found.after.selected else ""
    there = [deployed(CURRENT, each.name, runtime) for each in found.components if each.moves]
    second = plan(*[each for each in kept if each["kind"] != "ClusterBaseModel"], *changed_by(found), *there)
    assert (second.patch, second.steps) == ({}, ())
    assert second.state == "done"


@UNHURRIED
@given(moves())
def test_the_way_back_is_admitted_and_runs_what_stopped_on_multi_node(manifests: list[Manifest]) -> None:
    found = plan(*manifests)
    if not found.ready or not found.back:
        return
    undone = settled(merge_patched(found.patched, found.back))
    told = explain_service(evolved(read_fleet(manifests), [*changed_by(found)[:-1], undone], []), "team", "chat")
    assert set(told.admission.errors) <= set(found.before.admission.errors)
    (move,) = [step for step in found.steps if step.purpose == "move"]
    for component in found.components:
        mode = told.modes[component.name].running.mode
        if component.name in move.facts["stopping"] and component.running.mode != "RawDeployment":
            assert mode == "MultiNode"
        elif component.moves:  # what ran OMENative already stays so, unless the webhook wants it to go along
            assert mode in {component.running.mode, "MultiNode"}
