"""What is derived follows from the objects alone, however it came about."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from selection.store import evaluate as module
from selection.store.evaluate import evaluate
from selection.store.models import Cluster, ServiceResult

from .builders import MODE, Manifest, manager, model, revision, rows, runtime, service, sync, workload

pytestmark = pytest.mark.django_db


FLEET = [model(), runtime("vllm"), runtime("sglang", "ml"), service("chat"), service("search", "web")]


def read(cluster: Cluster) -> Cluster:
    return Cluster.objects.get(pk=cluster.pk)


def test_judging_anew_gives_the_same_rows() -> None:
    cluster, _ = sync("east", *FLEET)
    before = rows(cluster)
    done = evaluate(read(cluster), anew=True)
    assert (done.services, done.changed, done.complete) == (2, 0, True)
    assert rows(cluster) == before


def test_judging_in_another_process_gives_the_same_rows() -> None:
    cluster, _ = sync("east", *FLEET)
    before = rows(cluster)
    module._seen.clear()
    assert evaluate(read(cluster)).changed == 0
    assert rows(cluster) == before


def test_only_what_a_change_reaches_is_judged() -> None:
    sync("east", *FLEET)
    cluster, _ = sync("east", *FLEET)
    before = {row["name"]: row for row in rows(cluster)["ServiceResult"]}
    [chat] = [each for each in FLEET if each["metadata"]["name"] == "chat"]
    changed = {**chat, "spec": {**chat["spec"], "deploymentMode": "OMENative"}}
    sync("east", *FLEET[:3], changed, FLEET[4])
    after = {row["name"]: row for row in rows(cluster)["ServiceResult"]}
    assert after["search"] == before["search"]
    assert after["chat"]["computed_at"] > before["chat"]["computed_at"]
    assert after["chat"]["id"] == before["chat"]["id"]


def test_a_result_names_what_it_was_computed_from_and_keeps_its_time_until_that_changes() -> None:
    cluster, _ = sync("east", *FLEET)
    first = ServiceResult.objects.get(cluster=cluster, name="chat")
    versions = {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in FLEET}
    assert first.computed_from == [
        {"kind": "InferenceService", "namespace": "ml", "name": "chat", "resourceVersion": versions["chat"]},
        {"kind": "ClusterBaseModel", "namespace": None, "name": "llama", "resourceVersion": versions["llama"]},
        {"kind": "ServingRuntime", "namespace": "ml", "name": "sglang", "resourceVersion": versions["sglang"]},
    ]
    touched = {**FLEET[2], "metadata": {**FLEET[2]["metadata"], "resourceVersion": "9000"}}
    sync("east", *FLEET[:2], touched, *FLEET[3:])
    second = ServiceResult.objects.get(cluster=cluster, name="chat")
    assert second.computed_from[2]["resourceVersion"] == "9000"
    assert second.computed_at > first.computed_at


def test_another_release_judges_everything_anew() -> None:
    native = runtime("native", engineConfig={"leader": {}, "worker": {"size": 1}})
    cluster, _ = sync("east", model(), native, service("chat"))
    assert ServiceResult.objects.get(cluster=cluster).modes["engine"]["running"]["mode"] == "OMENative"
    sync("east", model(), native, service("chat"), ome_version="1.2")
    assert ServiceResult.objects.get(cluster=cluster).modes["engine"]["running"]["mode"] == "MultiNode"


# --- several processes -------------------------------------------------------------------------------


@pytest.mark.parametrize("anew", [True, False])
def test_an_evaluation_that_took_long_does_not_undo_a_newer_one(anew: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, _ = sync("east", *FLEET)
    slow = read(cluster)
    _meanwhile(monkeypatch, lambda: sync("east", model(), service("chat")))
    evaluate(slow, anew=anew)
    now = read(cluster)
    assert now.evaluated_generation == now.generation
    assert {row.name: row.outcome for row in ServiceResult.objects.filter(cluster=cluster)} == {"chat": "no-runtime"}
    before = rows(cluster)
    assert evaluate(now, anew=True).changed == 0
    assert rows(cluster) == before


def test_an_evaluation_does_not_build_on_rows_that_another_process_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, _ = sync("east", *FLEET)

    def other_process() -> None:
        module._seen.clear()
        ServiceResult.objects.filter(cluster=cluster, name="search").update(outcome="no-runtime")
        Cluster.objects.filter(pk=cluster.pk).update(evaluated_generation=0)

    _meanwhile(monkeypatch, other_process)
    sync("east", *FLEET[:3], service("chat"), FLEET[4])
    before = rows(cluster)
    assert evaluate(read(cluster), anew=True).changed == 0
    assert rows(cluster) == before


def test_a_release_that_is_set_meanwhile_is_the_one_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    native = runtime("native", engineConfig={"leader": {}, "worker": {"size": 1}})
    cluster, _ = sync("east", model(), native, service("chat"))
    _meanwhile(monkeypatch, lambda: Cluster.objects.update(ome_version="1.2", ome_version_source="set"))
    evaluate(read(cluster), anew=True)
    assert ServiceResult.objects.get(cluster=cluster).modes["engine"]["running"]["mode"] == "MultiNode"


def _meanwhile(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], Any]) -> None:
    """Let something happen once after the next evaluation has computed its answers and before it writes them."""
    real = module._explanations
    waiting = [happens]

    def computed(*args: Any) -> Any:
        explanations = real(*args)
        if waiting:
            waiting.pop()()
        return explanations

    monkeypatch.setattr(module, "_explanations", computed)


# --- the quick way and the long way ------------------------------------------------------------------

MODES = ["OMENative", "MultiNode", "RawDeployment", "Multinode", "VirtualDeployment", ""]
RUNTIMES = ["r0", "r1", "r2", "r3"]
PIN = "cr-r0-00000001"


class Cast:
    """Makes up objects that get in each other's way: few names, many relations, some of them unreadable."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def some(self, likelihood: float, **values: Any) -> dict[str, Any]:
        return values if self.random.random() < likelihood else {}

    def one(self, *values: Any) -> Any:
        return self.random.choice(values)

    def annotated(self) -> dict[str, Any]:
        return self.some(0.5, annotations={MODE: self.one(*MODES)})

    def entry(self) -> dict[str, Any]:
        return {
            "modelFormat": {"name": self.one("safetensors", "onnx")},
            "autoSelect": self.one(True, True, False),
            **self.some(0.3, modelArchitecture=self.one("A", "B")),
            **self.some(0.3, priority=self.one(0, 1, 2, 2, "x")),
        }

    def runtime_spec(self) -> dict[str, Any]:
        return {
            "supportedModelFormats": [self.entry() for _ in range(self.one(0, 1, 1, 2))],
            **self.some(0.2, disabled=self.one(True, False)),
            **self.some(0.3, modelSizeRange={"min": "1B", "max": "10B"}),
            **self.some(0.2, acceleratorRequirements={"acceleratorClasses": ["h100"]}),
            **self.some(0.3, decoderConfig=self.annotated()),
            **self.some(
                0.6,
                engineConfig={
                    **self.annotated(),
                    **self.some(0.3, leader={}, worker={"size": 1}),
                    **self.some(0.3, runner={"args": ["$(LWS_GROUP_SIZE)"]}),
                },
            ),
        }

    def runtime(self, scope: str) -> Manifest:
        inherits = self.some(0.4, **{"ome.io/inherit-from": self.one(*RUNTIMES)})
        return runtime(self.one(*RUNTIMES), self.one("", scope), annotations=inherits, **self.runtime_spec())

    def model(self, scope: str) -> Manifest:
        spec = {
            **self.some(0.4, modelFormat=self.one({"name": "onnx"}, {"name": "onnx"}, {}, "x")),
            **self.some(0.3, modelArchitecture=self.one("A", "B")),
            **self.some(0.3, modelParameterSize=self.one("7B", "70B", "inf")),
            **self.some(0.1, disabled=True),
        }
        return model(self.one("llama", "m1"), self.one("", scope), **spec)

    def service(self, scope: str) -> Manifest:
        reference = self.one({}, {}, {"kind": "ServingRuntime"}, {"kind": ""}, {"autoSync": False})
        spec = {
            **self.some(0.4, model=self.one({"name": "m1"}, {"name": "m1"}, None, 5)),
            **self.some(0.4, runtime={"name": self.one(*RUNTIMES), **reference, **self.some(0.2, revision=PIN)}),
            **self.some(0.3, deploymentMode=self.one("OMENative", "RawDeployment")),
            **self.some(0.3, decoder=self.annotated()),
            **self.some(0.2, router=self.annotated()),
            **self.some(0.2, acceleratorSelector={"acceleratorClass": "h100"}),
            "engine": self.annotated(),
        }
        status = self.one(None, None, None, {"pinnedRevisionName": PIN})
        return service(self.one("s0", "s1", "s2"), scope, status=status, **spec)

    def anything(self) -> Manifest:
        scope, dice = self.one("a", "b"), self.random.random()
        if dice < 0.3:
            return self.runtime(scope)
        if dice < 0.45:
            return self.model(scope)
        if dice < 0.75:
            return self.service(scope)
        if dice < 0.85:
            kind, component = (
                self.one("Deployment", "LeaderWorkerSet", "InferenceReplica"),
                self.one("engine", "decoder"),
            )
            return workload(
                kind, self.one("w0", "w1"), self.one("s0", "s1"), scope, component=component, by=self.one(*RUNTIMES)
            )
        if dice < 0.9:
            return revision(PIN, self.one({"spec": self.runtime_spec()}, self.runtime_spec(), None))
        if dice < 0.95:
            return {**model("h100"), "kind": "AcceleratorClass"}
        return manager(self.one("x/ome-manager:v1.2.3", "x/ome-manager:v1.3.0"))


def _identity(manifest: Manifest) -> tuple[str, str, str]:
    return manifest["kind"], manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"]


@pytest.mark.parametrize("seed", range(8))
def test_judging_what_a_change_reaches_gives_the_rows_that_judging_all_gives(seed: int) -> None:
    cast = Cast(seed)
    objects = {_identity(each): each for each in (cast.anything() for _ in range(cast.one(3, 10, 20)))}
    for _ in range(5):
        cluster, _ = sync("east", *objects.values())
        before = rows(cluster)
        assert evaluate(read(cluster), anew=True).changed == 0
        assert rows(cluster) == before
        for _ in range(cast.one(1, 1, 2, 4)):
            if objects and cast.random.random() < 0.3:
                del objects[cast.one(*objects)]
            else:
                each = cast.anything()
                objects[_identity(each)] = each
