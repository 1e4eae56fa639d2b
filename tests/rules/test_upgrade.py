"""What an upgrade from v1.2 to v1.3 changes: a small cluster for each code, with v1.2's answer, v1.3's, and the pin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from selection.rules.fleet import read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.parsing import ref_of
from selection.rules.semantics import V1_2, V1_3
from selection.rules.upgrade import SEVERITIES, UPGRADES, ServiceUpgrade, UpgradePreview
from selection.rules.upgrade_preview import upgrade_preview

from .manifests import MODE, Manifest, a_model, a_runtime, a_service, an_entry, moded

SHAPED: dict[str, Any] = {"leader": {}, "worker": {}}
LWS: dict[str, Any] = {"leader": {"runner": {"name": "main", "args": ["--nnodes=$(LWS_GROUP_SIZE)"]}}, "worker": {}}
BY_NAME = {"name": "fast"}


def preview(*manifests: Manifest) -> UpgradePreview:
    """The preview of a cluster that runs v1.2."""
    return upgrade_preview(read_fleet(manifests, V1_2), {ref_of(manifest): manifest for manifest in manifests})


def row_of(*manifests: Manifest) -> ServiceUpgrade | None:
    """What changes for ``chat``."""
    return next((row for row in preview(*manifests).services if row.service.name == "chat"), None)


def pin(**components: str) -> dict[str, Any]:
    """A pin that writes a mode into components."""
    return {"spec": {name: {"annotations": {MODE: mode}} for name, mode in components.items()}}


CASES: list[tuple[list[Manifest], list[str], dict[str, Any], dict[str, Any], Mapping[str, Any] | None]] = [
    # a leader or worker, of the service or of the runtime, and no annotation
    ([a_runtime(), a_service(engine=SHAPED)], ["moves-by-shape"], {"engine": "MultiNode"}, {"engine": "OMENative"},
     pin(engine="MultiNode")),
    ([a_runtime(engineConfig=SHAPED), a_service()], ["moves-by-shape"], {"engine": "MultiNode"},
     {"engine": "OMENative"}, pin(engine="MultiNode")),
    # engine and decoder are pinned together; v1.2 reads no decoder's annotation, v1.3 does
    ([a_runtime(engineConfig=SHAPED, decoderConfig=SHAPED), a_service(decoder={})],
     ["moves-by-shape", "moves-by-shape"], {"engine": "MultiNode", "decoder": "MultiNode"},
     {"engine": "OMENative", "decoder": "OMENative"}, pin(engine="MultiNode", decoder="MultiNode")),
    # the same, and the runtime uses LeaderWorkerSet's variables
    ([a_runtime(engineConfig=LWS), a_service()], ["breaks-lws"], {"engine": "MultiNode"}, {"engine": "OMENative"},
     pin(engine="MultiNode")),
    # or the service itself does
    ([a_runtime(), a_service(engine=LWS)], ["breaks-lws"], {"engine": "MultiNode"}, {"engine": "OMENative"},
     pin(engine="MultiNode")),
    # Ray on several nodes is gone, and nothing holds it
    ([a_runtime(), a_service(engine=moded("MultiNodeRayVLLM", **SHAPED))], ["ray-becomes"],
     {"engine": "MultiNodeRayVLLM"}, {"engine": "OMENative"}, None),
    ([a_runtime(engineConfig=moded("MultiNodeRayVLLM")), a_service()], ["ray-becomes"],
     {"engine": "MultiNodeRayVLLM"}, {"engine": "RawDeployment"}, None),
    # annotations that v1.2 doesn't read
    ([a_runtime(decoderConfig=SHAPED), a_service(decoder=moded("RawDeployment"))], ["mode-starts-to-count"],
     {"engine": "RawDeployment", "decoder": "MultiNode"}, {"engine": "RawDeployment", "decoder": "RawDeployment"},
     pin(decoder="MultiNode")),
    ([a_runtime(), a_service(engine=moded("OMENative"))], ["mode-starts-to-count"], {"engine": "RawDeployment"},
     {"engine": "OMENative"}, pin(engine="RawDeployment")),
    ([a_runtime(), a_service(deploymentMode="OMENative")], ["mode-starts-to-count"], {"engine": "RawDeployment"},
     {"engine": "OMENative"}, pin(engine="RawDeployment")),
    ([a_runtime(routerConfig=moded("OMENative")), a_service(router={})], ["mode-starts-to-count"],
     {"engine": "RawDeployment", "router": "RawDeployment"}, {"engine": "RawDeployment", "router": "OMENative"},
     pin(router="RawDeployment")),
    ([a_runtime(), a_service(router=moded("MultiNode"))], ["impossible-mode"],
     {"engine": "RawDeployment", "router": "RawDeployment"}, {"engine": "RawDeployment", "router": "MultiNode"},
     pin(router="RawDeployment")),
    # a leader without a worker is refused, and moves as well
    ([a_runtime(), a_service(engine={"leader": {}})], ["leader-without-worker", "moves-by-shape"],
     {"engine": "MultiNode"}, {"engine": "OMENative"}, pin(engine="MultiNode")),
    # a runtime of one name in both scopes
    ([a_runtime(), a_runtime("fast", "team"), a_service(runtime=BY_NAME)], ["another-runtime"], {}, {},
     {"spec": {"runtime": {"kind": "ServingRuntime"}}}),
    ([a_runtime(), a_runtime("fast", "team"), a_service(runtime={"name": "fast", "autoSync": False})],
     ["another-runtime-when-unpinned"], {}, {}, {"spec": {"runtime": {"kind": "ServingRuntime"}}}),
    # and the cluster's is of another shape: both are held in one patch
    ([a_runtime(engineConfig=moded("RawDeployment")), a_runtime("fast", "team", engineConfig=SHAPED),
      a_service(runtime=BY_NAME)], ["mode-changes", "another-runtime"], {"engine": "MultiNode"},
     {"engine": "RawDeployment"},
     {"spec": {"runtime": {"kind": "ServingRuntime"}, "engine": {"annotations": {MODE: "MultiNode"}}}}),
    # a kind that v1.2 doesn't read
    ([a_runtime(), a_service(runtime={"name": "fast", "kind": "ServingRuntime"})],
     ["loses-runtime", "refused-now"], {"engine": "RawDeployment"}, {"engine": None},
     {"spec": {"runtime": {"kind": "ClusterServingRuntime"}}}),
    # a disabled runtime is refused by the webhook too, and serves on neither
    ([a_runtime(disabled=True), a_service(runtime=BY_NAME)], ["refused-now"], {"engine": None}, {"engine": None}, None),
    # a mode that v1.3 compares
    ([a_runtime("fast", None, engineConfig=moded("MultiNode")), a_runtime("slow"),
      a_service(engine=moded("OMENative"))],
     ["mode-starts-to-count", "selection-differs"], {"engine": "RawDeployment"}, {"engine": "OMENative"},
     {"spec": {"runtime": {"name": "fast", "kind": "ClusterServingRuntime"},
               "engine": {"annotations": {MODE: "RawDeployment"}}}}),
    # a runtime that was selected would refuse the pinned mode, so it is named as well
    ([a_runtime(engineConfig=moded("OMENative", **LWS)), a_service()], ["breaks-lws"], {"engine": "MultiNode"},
     {"engine": "OMENative"},
     {"spec": {"runtime": {"name": "fast", "kind": "ClusterServingRuntime"},
               "engine": {"annotations": {MODE: "MultiNode"}}}}),
    # without a model, v1.2 does nothing
    ([a_runtime(), a_service(model=None, runtime=BY_NAME)], ["gets-runtime"], {"engine": None},
     {"engine": "RawDeployment"}, None),
    # what a runtime inherits
    ([a_runtime("base", engineConfig=SHAPED, disabled=True),
      a_runtime("fast", annotations={"ome.io/inherit-from": "base"}, disabled=False), a_service(runtime=BY_NAME)],
     ["mode-changes", "inherits-now"], {"engine": "RawDeployment"}, {"engine": "OMENative"},
     pin(engine="RawDeployment")),
    ([a_runtime("fast", annotations={"ome.io/inherit-from": "gone"}), a_service(runtime=BY_NAME)],
     ["loses-runtime", "refused-now"], {"engine": "RawDeployment"}, {"engine": None}, None),
    # a runtime that doesn't fit was never refused; v1.3's webhook warns
    ([a_runtime("fast", None, {"modelFormat": {"name": "onnx"}}), a_service(runtime=BY_NAME)], ["warns-now"],
     {"engine": "RawDeployment"}, {"engine": "RawDeployment"}, None),
]  # fmt: skip


@pytest.mark.parametrize(("manifests", "codes", "before", "after", "patch"), CASES)
def test_an_upgrade_changes(
    manifests: list[Manifest],
    codes: list[str],
    before: dict[str, Any],
    after: dict[str, Any],
    patch: Mapping[str, Any] | None,
) -> None:
    row = row_of(a_model(), *manifests)
    assert row is not None
    assert [change.code for change in row.changes] == codes
    assert before == {} or dict(row.before.modes) == before
    assert after == {} or dict(row.after.modes) == after
    assert (row.pin.patch if row.pin else None) == patch


UNCHANGED = [
    # a counting annotation, of the service or the runtime
    [a_runtime(), a_service(engine=moded("MultiNode", **SHAPED))],
    [a_runtime(engineConfig=moded("MultiNode", **LWS)), a_service()],
    # what v1.2's webhook wrote is no pin, and no mistake either
    [a_runtime(), a_service(annotations={MODE: "RawDeployment"})],
    [a_runtime(), a_service(annotations={MODE: "PDDisaggregated"}, decoder={})],
    # the namespace's runtime is the only one, or is meant in so many words
    [a_runtime("fast", "team"), a_service(runtime=BY_NAME)],
    [a_runtime(), a_runtime("fast", "team"), a_service(runtime={"name": "fast", "kind": "ServingRuntime"})],
    # nobody gets the child by its name
    [a_runtime("base"), a_runtime("fast", annotations={"ome.io/inherit-from": "base"}), a_service()],
    [a_runtime(), a_service(annotations={MODE: "VirtualDeployment"})],
]


@pytest.mark.parametrize("manifests", UNCHANGED)
def test_an_upgrade_leaves_it_as_it_is(manifests: list[Manifest]) -> None:
    assert row_of(a_model(), *manifests) is None


def test_what_the_webhook_wrote_is_no_pin() -> None:
    row = row_of(a_model(), a_runtime(), a_service(annotations={MODE: "MultiNode"}, engine=SHAPED))
    assert row is not None
    assert [change.code for change in row.changes] == ["moves-by-shape"]


def test_a_pin_says_that_it_restarts_pods() -> None:
    moved = row_of(a_model(), a_runtime(), a_service(engine=SHAPED))
    raw = row_of(a_model(), a_runtime(), a_service(engine=moded("OMENative")))
    assert moved is not None
    assert raw is not None
    assert moved.pin is not None
    assert raw.pin is not None
    assert (moved.pin.restarts, raw.pin.restarts) == (True, False)
    assert moved.command.startswith("kubectl patch inferenceservice.ome.io chat -n team --type merge -p '{")


def test_the_variables_of_a_revision_count_for_those_that_follow_it() -> None:
    revision = {
        "kind": "ControllerRevision",
        "metadata": {"name": "cr-fast-0a1b2c3d", "namespace": "ome"},
        "data": {"spec": {"engineConfig": LWS}},
    }
    runtime = {"name": "fast", "autoSync": False, "revision": "cr-fast-0a1b2c3d"}
    row = row_of(a_model(), a_runtime(engineConfig=SHAPED), a_service(runtime=runtime), revision)
    assert row is not None
    assert [change.code for change in row.changes] == ["breaks-lws"]


def facts_of(found: UpgradePreview) -> list[tuple[str, str, str]]:
    """What becomes of fields: the object's name, the path and the code."""
    return [(each.object.name, each.path, each.change.code) for each in found.objects]


def test_fields_that_are_dropped_are_told_with_their_path() -> None:
    found = preview(
        a_model(),
        a_runtime(workers={"size": 1}, engineConfig={"scaleMetric": "cpu", "scaleTarget": 60, "kedaConfig": {}}),
        a_service(kedaConfig={"enableKeda": True}, engine={"kedaConfig": {"enableKeda": True}}, decoder=None),
    )
    assert facts_of(found) == [
        ("fast", "spec.workers", "workers-dropped"),
        ("fast", "spec.engineConfig.kedaConfig", "field-dropped"),
        ("fast", "spec.engineConfig.scaleMetric", "field-dropped"),
        ("fast", "spec.engineConfig.scaleTarget", "field-dropped"),
        ("chat", "spec.engine.kedaConfig", "field-dropped"),
        ("chat", "spec.kedaConfig", "field-dropped"),
    ]
    assert found.objects[0].services == 1
    assert found.verdict == "decide"


def test_the_keda_annotation_blocks_wherever_it_stands() -> None:
    keda = {"ome.io/autoscalerClass": "keda"}
    found = preview(
        a_model(),
        a_runtime(engineConfig={"annotations": keda}),
        a_service(annotations=keda, engine={"annotations": keda}),
        a_service("calm", annotations={"ome.io/autoscalerClass": "hpa"}),
    )
    place = 'annotations["ome.io/autoscalerClass"]'
    assert facts_of(found) == [
        ("fast", f"spec.engineConfig.{place}", "keda-annotation"),
        ("chat", f"metadata.{place}", "keda-annotation"),
        ("chat", f"spec.engine.{place}", "keda-annotation"),
    ]
    assert found.verdict == "no-go"


def test_the_keda_annotation_is_told_of_a_runtime_that_begins_to_inherit_it() -> None:
    keda = {"annotations": {"ome.io/autoscalerClass": "keda"}}
    inherits = {"ome.io/inherit-from": "base"}
    found = preview(
        a_runtime("base", engineConfig=keda),
        a_runtime("child", annotations=inherits),
        a_runtime("other", annotations=inherits, engineConfig={"annotations": {"ome.io/autoscalerClass": "hpa"}}),
        a_runtime("same", annotations=inherits, engineConfig=keda),
    )
    blocked = [each for each in found.objects if each.change.code == "keda-annotation"]
    assert [(each.object.name, each.change.facts.get("inherited")) for each in blocked] == [
        ("base", None),
        ("child", "base"),
        ("same", None),
    ]
    assert {each.path for each in blocked} == {'spec.engineConfig.annotations["ome.io/autoscalerClass"]'}


def test_runtimes_that_v13_refuses_or_begins_to_read_are_told() -> None:
    profile = {"ome.io/runtime-profile": "true"}
    found = preview(
        a_runtime("base", annotations=profile),
        a_runtime("child", annotations={"ome.io/inherit-from": "base"}),
        a_runtime("open", modelSizeRange={"min": "7B"}),
        a_runtime("orphan", annotations={"ome.io/inherit-from": "gone"}),
    )
    assert facts_of(found) == [
        ("base", "", "runtime-refused"),
        ("orphan", "", "runtime-refused"),
        ("child", 'metadata.annotations["ome.io/inherit-from"]', "inherit-from-counts"),
        ("orphan", 'metadata.annotations["ome.io/inherit-from"]', "inherit-from-counts"),
        ("open", "spec.modelSizeRange", "open-range-counts"),
    ]
    assert found.objects[2].change.facts["chain"] == ["base", "child"]
    assert found.objects[3].change.facts["problem"]


def test_a_runtime_pin_reaches_those_that_follow_it_and_decide_nothing_themselves() -> None:
    found = preview(
        a_model(),
        a_runtime(engineConfig=LWS),
        a_service(),
        a_service("other", runtime=BY_NAME),
        a_service("held", runtime={"name": "fast", "autoSync": False}),
        a_service("hidden", engine=moded("multinode")),
    )
    (runtime,) = found.runtimes
    assert (runtime.runtime, runtime.moves, runtime.breaks) == (ObjectRef("ClusterServingRuntime", "", "fast"), 4, 4)
    assert runtime.pin is not None
    assert runtime.pin.patch == {"spec": {"engineConfig": {"annotations": {MODE: "MultiNode"}}}}
    assert (runtime.pin.holds, runtime.pin.missed) == (2, 2)


def test_a_runtime_pin_that_holds_half_of_a_service_does_not_count() -> None:
    found = preview(
        a_model(), a_runtime(), a_service(engine=moded("omenative", **SHAPED), decoder=SHAPED), a_service("plain")
    )
    assert [(each.moves, each.pin) for each in found.runtimes] == [(1, None)]


def test_a_runtime_pin_that_would_take_the_runtime_from_others_is_not_offered() -> None:
    # "chat" asks for RawDeployment, which the pin would have the runtime refuse
    found = preview(
        a_model(), a_runtime(engineConfig=SHAPED), a_service(engine=moded("RawDeployment")), a_service("moves")
    )
    assert [(each.moves, each.pin) for each in found.runtimes] == [(1, None)]


def test_checks_tell_what_objects_do_not() -> None:
    found = preview(
        a_model(),
        a_runtime(engineConfig=SHAPED),
        a_service(),
        a_service("raw", engine=moded("RawDeployment"), runtime=BY_NAME),
        a_service("broken", engine=[]),
    )
    checks = {check.code: check.facts for check in found.checks}
    assert checks["pod-monitor"] == {"services": 1, "command": "kubectl get crd podmonitors.monitoring.coreos.com"}
    assert checks["pins-restart"] == {"services": 1}
    assert checks["follows-edits"] == {"services": 1}
    assert checks["unreadable"] == {"objects": 1, "first": ["InferenceService team/broken"], "more": 0}


def test_of_many_that_can_not_be_read_the_first_are_named() -> None:
    (check,) = preview(*[a_service(f"broken-{number}", engine=[]) for number in range(7)]).checks
    assert check.facts["first"] == [f"InferenceService team/broken-{number}" for number in range(5)]
    assert (check.facts["objects"], check.facts["more"]) == (7, 2)


def test_a_cluster_that_nothing_changes_for_may_go() -> None:
    found = preview(a_model(), a_runtime(), a_service())
    assert (found.verdict, found.services, found.total) == ("go", (), 1)


def test_the_answer_is_the_same_whichever_release_the_cluster_runs() -> None:
    manifests = [a_model(), a_runtime(engineConfig=LWS), a_service(), a_service("b", engine=moded("OMENative"))]
    old, new = (upgrade_preview(read_fleet(manifests, semantics)).to_dict() for semantics in (V1_2, V1_3))
    assert (old.pop("runs"), new.pop("runs")) == ("1.2", "1.3")
    assert old == new


def test_what_a_runtime_inherits_is_counted_for_those_that_name_and_follow_it() -> None:
    keda = {"ome.io/autoscalerClass": "keda"}
    child = a_runtime("fast", None, annotations={"ome.io/inherit-from": "base"})
    base = a_runtime("base", None, an_entry(autoSelect=False), engineConfig={"annotations": keda}, disabled=False)
    found = preview(
        a_model(),
        base,
        child,
        a_service("selected"),
        a_service("named", runtime=BY_NAME),
        a_service("pinned", runtime={**BY_NAME, "autoSync": False, "revision": "cr-fast-0a1b2c3d"}),
        a_service("says-itself", runtime=BY_NAME, engine={"annotations": {"ome.io/autoscalerClass": "hpa"}}),
        a_service("of-base", runtime={"name": "base"}),
    )
    told = {(each.object.name, each.change.code): each.services for each in found.objects}
    assert told == {
        ("fast", "inherit-from-counts"): 2,
        ("fast", "keda-annotation"): 1,
        ("base", "keda-annotation"): 1,
    }


def test_an_autoscaler_of_a_component_that_nobody_declares_reaches_nobody() -> None:
    keda = {"annotations": {"ome.io/autoscalerClass": "keda"}}
    found = preview(a_model(), a_runtime(engineConfig=keda, decoderConfig=keda), a_service())
    assert {each.change.component: each.services for each in found.objects} == {"engine": 1, "decoder": 0}


SIZED = a_model(modelParameterSize="7B")
OPEN: dict[str, Any] = {"modelSizeRange": {"min": "1B"}}
OTHER = an_entry(modelFormat={"name": "onnx"})

RECOVERS: list[tuple[list[Manifest], list[str]]] = [
    # a candidate whose formats match, also one that would not be selected, or that the size would rule out
    ([SIZED, a_runtime(**OPEN), a_service()], ["fast"]),
    ([SIZED, a_runtime(), a_runtime("wide", "team", an_entry(autoSelect=False), **OPEN), a_service()], ["wide"]),
    ([SIZED, a_runtime(), a_runtime("huge", modelSizeRange={"min": "100B"}), a_service()], ["huge"]),
    # the runtime that it names
    ([SIZED, a_runtime(**OPEN), a_service(runtime=BY_NAME)], ["fast"]),
    # not one that it doesn't look at, whose range it doesn't reach, or a model without a size
    ([SIZED, a_runtime(), a_runtime("open", **OPEN), a_service(runtime=BY_NAME)], []),
    ([SIZED, a_runtime(), a_runtime("open", "other", **OPEN), a_service()], []),
    ([SIZED, a_runtime(), a_runtime("open", None, OTHER, **OPEN), a_service()], []),
    ([SIZED, a_runtime(), a_runtime("open", disabled=True, **OPEN), a_service()], []),
    ([a_model(), a_runtime(**OPEN), a_service()], []),
    ([SIZED, a_runtime(modelSizeRange={"min": "1B", "max": "9B"}), a_service()], []),
    # nothing is selected for it at all
    ([SIZED, a_runtime(**OPEN), a_service(annotations={MODE: "VirtualDeployment"})], []),
]


@pytest.mark.parametrize(("manifests", "over"), RECOVERS)
def test_services_over_whose_candidates_v12_breaks_down_are_told_one_by_one(
    manifests: list[Manifest], over: list[str]
) -> None:
    row = row_of(*manifests)
    told = [change for change in row.changes if change.code == "selection-recovers"] if row is not None else []
    assert [[each["name"] for each in change.facts["over"]] for change in told] == ([over] if over else [])
    assert row is None or row.pin is None, "v1.2 would act at once on what makes its selector answer"


SELECTOR = {"runner": {"name": "router", "args": ["--selector", "leaderworkerset.sigs.k8s.io/worker-index=0"]}}


@pytest.mark.parametrize(
    ("runtime", "service", "code"),
    [
        (a_runtime(routerConfig=SELECTOR), a_service(engine=SHAPED, router={}), "breaks-lws"),
        (a_runtime(), a_service(engine=SHAPED, router=SELECTOR), "breaks-lws"),
        (a_runtime(routerConfig=SELECTOR), a_service(engine=SHAPED), "moves-by-shape"),
    ],
)
def test_a_router_that_selects_leaders_by_their_old_label_finds_none(
    runtime: Manifest, service: Manifest, code: str
) -> None:
    row = row_of(a_model(), runtime, service)
    assert row is not None
    assert [change.code for change in row.changes] == [code]


def test_the_worst_comes_first() -> None:
    found = preview(
        a_model(),
        a_runtime(engineConfig=LWS),
        a_runtime("shaped", None, {"modelFormat": {"name": "safetensors"}}, engineConfig=SHAPED),
        a_service("a", runtime={"name": "shaped"}),
        a_service("z"),
        a_service("m", model={"name": "llama"}, engine=moded("OMENative")),
    )
    assert [row.service.name for row in found.services] == ["m", "z", "a"]
    assert list(found.counts) == sorted(found.counts, key=list(UPGRADES).index)
    assert list(found.severities) == list(SEVERITIES)
    assert found.to_dict()["counts"][0] == {"code": "breaks-lws", "severity": "blocks", "count": 2, "held": 2}
