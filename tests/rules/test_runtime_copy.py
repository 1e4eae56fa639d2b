"""The OMENative copy of a runtime: three as OME's catalog has them, the corners, and what holds of every copy."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selection.rules.edits import Edit, edited, place_text
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.inheritance import INHERIT_FROM, PROFILE
from selection.rules.objects import ObjectRef
from selection.rules.parent_copies import bare_manifest, parent_copy
from selection.rules.parsing import parse_runtime
from selection.rules.references import find_references
from selection.rules.runtime_copy import RuntimeCopy, plan_copy

from .fleets import runtime_manifests
from .manifests import MODE, Manifest, a_runtime, an_entry

LWS = "leaderworkerset.sigs.k8s.io"
RENDEZVOUS = ["--dist-init-addr", "$(LWS_LEADER_ADDRESS):5000", "--nnodes", "$(LWS_GROUP_SIZE)"]
RANK = ["--node-rank", "$(LWS_WORKER_INDEX)"]
MOVED = ["--dist-init-addr", "$(OME_LEADER_ADDRESS):5000", "--nnodes", "$(OME_INSTANCE_POD_COUNT)"]
MOVED_RANK = ["--node-rank", "$(OME_INSTANCE_POD_RANK)"]
MULTI_NODE = {MODE: "MultiNode"}


def pods(*command: str, size: int = 1, **fields: Any) -> dict[str, Any]:
    """A leader and workers that run a command on eight GPUs each."""
    runner = {"name": "main", "command": list(command), "resources": {"limits": {"nvidia.com/gpu": 8}}}
    return {"leader": {"runner": copy.deepcopy(runner)}, "worker": {"size": size, "runner": runner}, **fields}


def a_router(*command: str) -> dict[str, Any]:
    return {"runner": {"name": "router", "command": list(command)}}


def one_engine() -> Manifest:
    """One engine over two nodes, its router given the selector as an argument of its own."""
    selector = f"component=engine {LWS}/worker-index=0 ome.io/inferenceservice=$(INFERENCESERVICE_NAME)"
    return a_runtime(
        "one-engine",
        None,
        an_entry(autoSelect=False, priority=1),
        disabled=False,
        engineConfig=pods("serve", *RENDEZVOUS, *RANK, annotations={"rdma/profile": "roce"}),
        routerConfig=a_router("route", "--selector", selector, "--port", "8080"),
    )


def a_pair() -> Manifest:
    """Prefill and decode, and a router whose whole command is one text for a shell."""
    script = (
        f"route --pd --prefill-selector component=engine {LWS}/worker-index=0 ome.io/inferenceservice=${{NAME}} "
        f"--decode-selector component=decoder {LWS}/worker-index=0 ome.io/inferenceservice=${{NAME}} --port 8080\n"
    )
    return a_runtime(
        "a-pair",
        None,
        an_entry(autoSelect=False),
        engineConfig=pods("serve", "--mode", "prefill", *RENDEZVOUS, *RANK),
        decoderConfig=pods("serve", "--mode", "decode", *RENDEZVOUS, *RANK, size=3),
        routerConfig=a_router("sh", "-c", script),
    )


def a_selected_pair() -> Manifest:
    """A pair that OME may select, says MultiNode and keeps its pods together in LeaderWorkerSet's own way."""
    topology = {f"{LWS}/exclusive-topology": "rack"}
    chosen = [f"component={name} {LWS}/worker-index=0" for name in ("engine", "decoder")]
    return a_runtime(
        "a-selected-pair",
        None,
        an_entry(),
        {"modelFormat": {"name": "safetensors"}},
        engineConfig=pods("serve", *RENDEZVOUS, *RANK, annotations={**MULTI_NODE, **topology, "own": "x"}),
        decoderConfig=pods("serve", *RENDEZVOUS, *RANK, annotations=MULTI_NODE | topology),
        routerConfig=a_router("route", "--prefill-selector", chosen[0], "--decode-selector", chosen[1]),
    )


def planned(manifest: Manifest, *others: Manifest) -> RuntimeCopy:
    return plan_copy(read_fleet([manifest, *others]), manifest)


def test_one_engine_and_its_router() -> None:
    found = planned(one_engine())
    spec = found.manifest["spec"]
    assert (found.need, found.ready, found.notes, found.reasons) == ("references", True, (), ())
    assert found.copy == ObjectRef("ClusterServingRuntime", "", "one-engine-omenative")
    assert spec["engineConfig"] == pods("serve", *MOVED, *MOVED_RANK, annotations={"rdma/profile": "roce"})
    selector = "component=engine ome.io/runner=leader ome.io/inferenceservice=$(INFERENCESERVICE_NAME)"
    assert spec["routerConfig"] == a_router("route", "--selector", selector, "--port", "8080")
    assert spec["supportedModelFormats"] == [an_entry(autoSelect=False, priority=1)]
    assert len(found.edits) == 8  # the name, three variables in leader and worker, the selector


def test_a_pair_whose_router_is_one_text() -> None:
    found = planned(a_pair())
    script = found.manifest["spec"]["routerConfig"]["runner"]["command"][2]
    assert script == (
        "route --pd --prefill-selector component=engine ome.io/runner=leader ome.io/inferenceservice=${NAME} "
        "--decode-selector component=decoder ome.io/runner=leader ome.io/inferenceservice=${NAME} --port 8080\n"
    )
    assert len(found.references) == 14
    assert find_references(found.manifest["spec"]) == ()


def test_a_pair_that_was_selected_and_said_multi_node() -> None:
    found = planned(a_selected_pair())
    spec = found.manifest["spec"]
    assert spec["engineConfig"]["annotations"] == {"own": "x"}
    assert "annotations" not in spec["decoderConfig"]
    assert [entry["autoSelect"] for entry in spec["supportedModelFormats"]] == [False, False]
    assert [edit.op for edit in found.edits if edit.why == ("auto-select",)] == ["replace", "add"]
    both = next(edit for edit in found.edits if edit.place == "spec.decoderConfig.annotations")
    assert both.why == ("no-counterpart", "mode-annotation")


def test_metadata_and_status_stay_with_the_original() -> None:
    manifest = {**a_runtime("fast", "team"), "status": {"x": 1}}
    manifest["metadata"] |= {"uid": "1", "resourceVersion": "7", "labels": {"helm": "x"}, "annotations": {"a": "b"}}
    found = planned(manifest)
    assert found.manifest["metadata"] == {"name": "fast-omenative", "namespace": "team"}
    assert "status" not in found.manifest
    assert {edit.place: edit.why for edit in found.edits if not edit.place.startswith("spec")} == {
        "metadata.name": ("new-name",),
        "metadata.uid": ("server-set",),
        "metadata.resourceVersion": ("server-set",),
        "metadata.labels": ("metadata",),
        "metadata.annotations": ("metadata",),
        "status": ("server-set",),
    }


@pytest.mark.parametrize(
    ("spec", "need"),
    [
        ({"engineConfig": {"runner": {"args": ["serve"]}}}, ""),
        ({"engineConfig": {"annotations": {MODE: "RawDeployment"}}}, ""),
        ({"engineConfig": {"annotations": MULTI_NODE}}, "mode"),
        ({"decoderConfig": {"annotations": MULTI_NODE}}, "mode"),
        ({"routerConfig": {"annotations": MULTI_NODE}}, ""),
        ({"engineConfig": {"annotations": MULTI_NODE, "runner": {"args": ["$LWS_GROUP_SIZE"]}}}, "references"),
        ({"routerConfig": {"runner": {"args": [f"{LWS}/worker-index=0"]}}}, "references"),
    ],
)
def test_it_says_what_a_copy_is_for(spec: dict[str, Any], need: str) -> None:
    assert planned(a_runtime(**spec)).need == need


def test_what_needs_a_person_is_listed_and_left() -> None:
    config = pods("sh", "-c", "run -n $((LWS_GROUP_SIZE - 1)) -a $LWS_LEADER_ADDRESS")
    config["leader"]["initContainers"] = [{"name": "wait", "args": ["$(LWS_LEADER_ADDRESS)"]}]
    found = planned(a_runtime(engineConfig=config))
    assert not found.ready
    assert [note.to_dict() for note in found.reasons] == [{"code": "rework", "facts": {"count": 3}}]
    assert sorted(each.reference.explanation for each in found.rework) == ["arithmetic", "arithmetic", "init-container"]
    written = found.manifest["spec"]["engineConfig"]["leader"]
    assert written["runner"]["command"][2] == "run -n $((LWS_GROUP_SIZE - 1)) -a $OME_LEADER_ADDRESS"
    assert written["initContainers"] == config["leader"]["initContainers"]


def test_what_the_webhook_refuses_is_a_reason() -> None:
    found = planned(a_runtime(acceleratorRequirements={"acceleratorClasses": ["gone"]}))
    assert [(note.code, "[gone]" in note.facts["message"]) for note in found.reasons] == [("copy-refused", True)]


def test_a_value_that_was_taken_out_makes_it_not_ready() -> None:
    manifest = a_runtime(engineConfig=pods("serve", "--key=<taken out>"))
    found = plan_copy(read_fleet([manifest]), manifest, placeholder="<taken out>")
    (reason,) = found.reasons
    assert reason.code == "secrets-replaced"
    assert reason.facts["paths"] == [f"spec.engineConfig.{pod}.runner.command[1]" for pod in ("leader", "worker")]


# Names.


@pytest.mark.parametrize(
    ("name", "copied", "codes"),
    [
        ("fast", "fast-omenative", []),
        ("a" * 53, "a" * 53 + "-omenative", []),
        ("a" * 54, "a" * 53 + "-omenative", ["name-shortened"]),
        ("a" * 52 + "-b", "a" * 52 + "-omenative", ["name-shortened"]),
        ("a" * 64, "a" * 64 + "-omenative", []),  # no label's value as it is
        ("a" * 253, "a" * 243 + "-omenative", ["name-shortened"]),
    ],
)
def test_a_copys_name_fits_where_the_originals_does(name: str, copied: str, codes: list[str]) -> None:
    found = planned(a_runtime(name))
    assert (found.copy.name, [note.code for note in found.notes]) == (copied, codes)


def test_the_next_free_name_is_taken() -> None:
    others = [a_runtime("fast-omenative", disabled=True), a_runtime("fast-omenative-2", "team", disabled=True)]
    found = planned(a_runtime("fast"), *others)
    assert found.copy.name == "fast-omenative-3"
    assert [note.facts["name"] for note in found.notes] == ["fast-omenative", "fast-omenative-2"]
    assert planned(a_runtime("fast", "other"), *others).copy.name == "fast-omenative-2"


def test_a_copy_that_is_there_is_used() -> None:
    there = a_runtime(
        "fast-omenative", None, {"modelFormat": {"name": "safetensors", "weight": 1}, "autoSelect": False}
    )
    found = planned(a_runtime("fast"), there)
    assert (found.copy.name, found.exists) == ("fast-omenative", True)


def reworked(**leader: Any) -> Manifest:
    """The copy of ``fast`` that somebody finished; without more it still computes with a variable."""
    config = pods("serve", "$(OME_INSTANCE_POD_COUNT)", "$((OME_INSTANCE_POD_COUNT-1))")
    config["leader"] |= leader
    return a_runtime("fast-omenative", None, an_entry(autoSelect=False), engineConfig=config)


def to_rework() -> Manifest:
    config = pods("serve", "$(LWS_GROUP_SIZE)", "$((LWS_GROUP_SIZE-1))")
    config["leader"]["initContainers"] = [{"name": "wait", "args": ["$(LWS_LEADER_ADDRESS)"]}]
    return a_runtime("fast", engineConfig=config)


def test_a_copy_that_a_person_finished_is_used() -> None:
    for finished in (reworked(), reworked(initContainers=[{"name": "wait", "args": ["all"]}])):
        found = planned(to_rework(), finished)
        assert (found.copy.name, found.exists, found.ready) == ("fast-omenative", True, True)
        assert [note.code for note in found.notes] == ["copy-by-hand"]
        assert len(found.rework) == 3


def test_of_a_copy_that_is_there_its_own_variables_are_told() -> None:
    size = {"name": "SIZE", "value": "$(OME_INSTANCE_POD_COUNT)"}
    finished = reworked()
    finished["spec"]["engineConfig"]["leader"]["runner"]["env"] = [size]
    original = to_rework()
    original["spec"]["engineConfig"]["leader"]["runner"]["env"] = [{**size, "value": "$((LWS_GROUP_SIZE-1))"}]
    assert [note.code for note in planned(original, finished).notes] == ["copy-by-hand", "env-value-order"]
    finished["spec"]["engineConfig"]["leader"]["runner"]["env"] = []
    assert [note.code for note in planned(original, finished).notes] == ["copy-by-hand"]


@pytest.mark.parametrize(
    "other",
    [
        reworked(dnsPolicy="Default"),  # differs where nothing had to be reworked
        reworked(initContainers=[{"name": "wait", "args": ["$(LWS_LEADER_ADDRESS)"]}]),  # isn't finished
        a_runtime("fast-omenative", None, an_entry(autoSelect=False)),
    ],
)
def test_another_runtime_of_that_name_is_no_copy(other: Manifest) -> None:
    found = planned(to_rework(), other)
    assert (found.copy.name, found.exists, found.ready) == ("fast-omenative-2", False, False)


# Inheritance.


def a_family(**parent: Any) -> tuple[Manifest, Manifest, Manifest]:
    base = a_runtime("base", engineConfig=pods("serve", *RENDEZVOUS), **parent)
    inherits = {INHERIT_FROM: "base"}
    child = a_runtime("child", annotations=inherits, engineConfig={"minReplicas": 2}, disabled=False)
    return base, child, a_runtime("sister", annotations=inherits, disabled=False)


def test_a_copy_has_what_its_original_inherits() -> None:
    base, child, _ = a_family()
    found = planned(child, base)
    assert found.manifest["metadata"] == {"name": "child-omenative"}
    config = found.manifest["spec"]["engineConfig"]
    assert (config["minReplicas"], config["leader"]["runner"]["command"]) == (2, ["serve", *MOVED])
    assert [note.to_dict() for note in found.notes] == [
        {"code": "inherits", "facts": {"chain": ["base", "child"]}},
        {
            "code": "inherited-references",
            "facts": {"parent": ObjectRef("ClusterServingRuntime", "", "base").to_dict(), "count": 4},
        },
    ]
    assert next(edit.why for edit in found.edits if edit.place == "metadata.annotations") == ("merged", "metadata")


def test_a_broken_chain_is_a_reason() -> None:
    found = planned(a_runtime(annotations={INHERIT_FROM: "gone"}))
    assert [note.code for note in found.reasons] == ["broken-chain"]


def in_layers(fleet: Fleet, child: Manifest) -> Any:
    return parent_copy(fleet, plan_copy(fleet, child), child)


def test_where_others_wait_on_the_parent_it_is_copied_once() -> None:
    base, child, sister = a_family()
    layers = in_layers(read_fleet([base, child, sister]), child)
    assert layers.parent.copy.name == "base-omenative"
    assert [ref.name for ref in layers.others] == ["sister"]
    assert layers.child["metadata"] == {"name": "child-omenative", "annotations": {INHERIT_FROM: "base-omenative"}}
    assert layers.child["spec"]["engineConfig"] == {"minReplicas": 2}
    assert find_references(layers.manifest["spec"]) == ()
    assert layers.to_dict()["manifests"] == [layers.manifest, layers.child]


def test_a_profile_stays_a_profile() -> None:
    base, child, sister = a_family(annotations={PROFILE: "true"}, disabled=True)
    layers = in_layers(read_fleet([base, child, sister]), child)
    assert layers.manifest["metadata"]["annotations"] == {PROFILE: "true"}


def test_nobody_else_waits_on_the_parent() -> None:
    base, child, sister = a_family()
    assert in_layers(read_fleet([base, child]), child) is None
    plain = {"engineConfig": {"leader": {"runner": {"command": ["x"]}}, "worker": {"runner": {"command": ["x"]}}}}
    assert in_layers(read_fleet([base, child, {**sister, "spec": sister["spec"] | plain}]), child) is None


def test_a_copy_in_layers_that_would_be_another_runtime_is_not_offered() -> None:
    base, child, sister = a_family()
    base["spec"]["engineConfig"]["annotations"] = {MODE: "RawDeployment"}
    child["spec"]["engineConfig"]["annotations"] = MULTI_NODE  # gone from the child, the parent's would come through
    assert in_layers(read_fleet([base, child, sister]), child) is None


# Properties.

UNHURRIED = settings(deadline=None)
SCRIPTS = st.sampled_from(
    [
        "$(LWS_GROUP_SIZE)",
        "$((LWS_GROUP_SIZE-1))",
        f"a=b,{LWS}/worker-index=0",
        f"a=b {LWS}/name=x",
        "serve",
        "$(LWS_X)",
    ]
)


@st.composite
def multi_node_runtimes(draw: st.DrawFn) -> Manifest:
    """A runtime of any kind with references in some of its components."""
    manifest = draw(runtime_manifests())
    for name in draw(st.sets(st.sampled_from(["engineConfig", "decoderConfig", "routerConfig"]))):
        config = {**(manifest["spec"].get(name) or {})}
        config["runner"] = {"name": "main", "args": draw(st.lists(SCRIPTS, max_size=3))}
        config["labels"] = draw(st.dictionaries(st.sampled_from([f"{LWS}/name", "own"]), st.just("x"), max_size=2))
        manifest["spec"][name] = config
    manifest["metadata"] |= draw(st.sampled_from([{}, {"uid": "1"}, {"labels": {"a": "b"}}]))
    return manifest


def copied(manifest: Manifest) -> RuntimeCopy:
    return plan_copy(read_fleet([manifest]), manifest)


@UNHURRIED
@given(multi_node_runtimes())
def test_a_copy_of_the_copy_differs_in_nothing_but_the_name(manifest: Manifest) -> None:
    first = copied(manifest).manifest
    second = copied(dict(first))
    assert [edit.place for edit in second.edits] == ["metadata.name"]
    assert second.manifest["spec"] == first["spec"]


def differences(one: Any, other: Any, path: tuple[Any, ...] = ()) -> list[str]:
    """The places that differ, down to where the two have another shape."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other})
        return [each for key in keys for each in differences(one.get(key), other.get(key), (*path, key))]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [each for index in range(len(one)) for each in differences(one[index], other[index], (*path, index))]
    return [] if one == other else [place_text(path)]


@UNHURRIED
@given(multi_node_runtimes())
def test_nothing_differs_but_what_is_explained(manifest: Manifest) -> None:
    found = copied(manifest)
    assert edited(found.original, found.edits) == found.manifest
    explained = [edit.place for edit in found.edits]
    assert all(edit.why for edit in found.edits)
    for place in differences(found.original, found.manifest):
        assert any(place == each or place.startswith((f"{each}.", f"{each}[")) for each in explained), place


@UNHURRIED
@given(multi_node_runtimes())
def test_each_change_stands_where_it_says(manifest: Manifest) -> None:
    found = copied(manifest)

    def stands(edit: Edit) -> Any:
        here: Any = found.original
        for token in edit.path:
            here = here[token]
        return here

    for edit in found.edits:
        assert edit.op == "add" or edit.before == (edit.path[-1] if edit.op == "rename" else stands(edit))


@UNHURRIED
@given(multi_node_runtimes())
def test_the_finder_finds_in_the_copy_what_needs_a_person_and_nothing_else(manifest: Manifest) -> None:
    found = copied(manifest)
    left = find_references(found.manifest["spec"])
    assert {each.remedy for each in left} <= {"rework"}
    assert len(left) == len(found.rework)
    assert bool(left) <= (not found.ready)


@UNHURRIED
@given(multi_node_runtimes())
def test_automatic_selection_never_takes_a_copy(manifest: Manifest) -> None:
    assert not any(entry.auto_select for entry in parse_runtime(copied(manifest).manifest).entries)


@UNHURRIED
@given(runtime_manifests())
def test_a_bare_manifest_reads_as_the_runtime_it_is_of(manifest: Manifest) -> None:
    runtime = parse_runtime(manifest)
    assert parse_runtime(bare_manifest(runtime)) == runtime
