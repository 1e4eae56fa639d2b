"""``manage.py explain``: the public contract, and bad input in one line."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from selection.store.models import Cluster
from selection.store.secrettext import PLACEHOLDER
from tests.store.builders import MODE, model, runtime, service, sync

from .cli import as_yaml, manage, refused, run, run_json

ENTRY = {"modelFormat": {"name": "safetensors"}, "autoSelect": True}
LLAMA = {**ENTRY, "modelArchitecture": "LlamaForCausalLM"}

FLEET = [
    model(modelArchitecture="LlamaForCausalLM", modelParameterSize="70B"),
    runtime("large", supportedModelFormats=[{**LLAMA, "priority": 2}], modelSizeRange={"min": "30B", "max": "80B"}),
    runtime("wider", supportedModelFormats=[LLAMA], modelSizeRange={"min": "1B", "max": "80B"}),
    runtime("mine", "ml", supportedModelFormats=[LLAMA]),
    runtime("theirs", "other"),
    runtime("off", disabled=True),
    runtime("multi", engineConfig={"annotations": {MODE: "MultiNode"}}, modelSizeRange={"max": "7B"}),
    runtime("another", "ml", supportedModelFormats=[]),
    service("chat", deploymentMode="OMENative"),
    service("fixed", runtime={"name": "multi"}, deploymentMode="OMENative"),
    service("lost", model={"name": "nothing"}),
    service("virtual")
    | {"metadata": {"name": "virtual", "namespace": "ml", "annotations": {MODE: "VirtualDeployment"}}},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(as_yaml(*FLEET))
    return path


# --- the table ---------------------------------------------------------------------------------------


def test_the_table_is_the_one_that_kubectl_ome_runtime_explain_prints(file: Path) -> None:
    table = run("explain", "-f", file, "--isvc", "ml/chat").split("\n\n")[0]
    label = "model format 'mt:safetensors:LlamaForCausalLM' not in supported formats"
    mode = "runtime engine deployment mode MultiNode does not match requested engine deployment mode OMENative"
    assert [line.split(maxsplit=5) for line in table.splitlines()] == [
        ["RUNTIME", "SCOPE", "COMPATIBLE", "PRIORITY", "WEIGHT", "REASON"],
        ["mine", "Namespaced", "Yes", "1", "1", "-"],
        ["large", "Cluster", "Yes", "2", "2", "-"],
        ["wider", "Cluster", "Yes", "1", "1", "-"],
        ["another", "Namespaced", "No", "-", "-", f"{label}: no supported formats defined"],
        ["multi", "Cluster", "No", "-", "-", mode],
        ["off", "Cluster", "No", "-", "-", "runtime is disabled"],
    ]


def test_below_the_table_stands_what_it_comes_to(file: Path) -> None:
    assert run("explain", "-f", file, "--isvc", "ml/chat").split("\n\n")[1].splitlines() == [
        "InferenceService ml/chat: auto-selected, ServingRuntime ml/mine",
        "engine runs OMENative (ServiceSpec)",
        "Admission warning: Runtime mine will be auto-selected for model llama",
    ]


def test_the_wide_table_says_every_further_reason(file: Path) -> None:
    lines = run("explain", "-f", file, "--isvc", "ml/chat", "-o", "wide").split("\n\n")[0].splitlines()
    assert lines[0].split()[5:] == ["SCORE", "DISTANCE", "CODE", "REASON", "ALSO"]
    [multi] = [line for line in lines if line.startswith("multi ")]
    assert "engine-deployment-mode" in multi
    assert multi.endswith("model size 70B is outside supported range (-inf, 7B]")
    [large] = [line for line in lines if line.startswith("large ")]
    assert large.split()[3:7] == ["2", "2", "2", "50000000000"]


def test_a_component_without_a_runtime_does_not_run(file: Path) -> None:
    assert "engine has no runtime to run by" in run("explain", "-f", file, "--isvc", "ml/lost")


# --- the JSON ----------------------------------------------------------------------------------------


def check_reference(value: Any) -> None:
    assert value.keys() == {"kind", "namespace", "name"}
    assert isinstance(value["kind"], str)
    assert isinstance(value["name"], str)
    assert value["namespace"] is None or value["namespace"]


def check_mode(value: Any) -> None:
    assert value.keys() == {"mode", "source"}
    assert all(isinstance(each, str) for each in value.values())


def check_contract(value: Any) -> None:
    """The form that ``docs/explain.md`` promises."""
    json.dumps(value, allow_nan=False)
    check_reference(value["subject"])
    assert value["outcome"] in {
        "auto-selected",
        "named",
        "named-with-advice",
        "no-runtime",
        "not-applicable",
        "invalid",
    }
    if value["selected"] is not None:
        check_reference(value["selected"])
    assert (value["selected"] is not None) == (value["outcome"] in {"auto-selected", "named", "named-with-advice"})
    for name in ("message", "event"):
        assert value[name] is None or (isinstance(value[name], str) and value[name])
    ranks = [candidate["rank"] for candidate in value["candidates"] if candidate["rank"] is not None]
    assert ranks == list(range(1, len(ranks) + 1))
    for candidate in value["candidates"]:
        check_reference({key: candidate[key] for key in ("kind", "namespace", "name")})
        assert candidate["scope"] == ("Cluster" if candidate["kind"] == "ClusterServingRuntime" else "Namespaced")
        assert candidate["compatible"] is (candidate["rank"] is not None)
        assert (candidate["reason"] is None) == (candidate["code"] is None) == candidate["compatible"]
        for name in ("priority", "weight", "score"):
            assert candidate[name] is None or isinstance(candidate[name], int)
        assert candidate["size_distance"] is None or math.isfinite(candidate["size_distance"])
        for further in candidate["also"]:
            assert further.keys() == {"code", "reason"}
    assert set(value["modes"]) <= {"engine", "decoder", "router"}
    for modes in value["modes"].values():
        check_mode(modes["running"])
        for name in ("requested", "runtime"):
            if modes[name] is not None:
                check_mode(modes[name])
        assert modes["conflict"] is None or isinstance(modes["conflict"], str)
    assert value["admission"].keys() >= {"allowed", "errors", "warnings"}
    assert value["admission"]["allowed"] is (value["admission"]["errors"] == [])
    for problem in value["problems"]:
        assert problem.keys() == {"object", "path", "message"}


@pytest.mark.parametrize("name", ["chat", "fixed", "lost", "virtual"])
def test_json_keeps_its_promise(file: Path, name: str) -> None:
    check_contract(run_json("explain", "-f", file, "--isvc", f"ml/{name}"))


def test_json_of_a_selection(file: Path) -> None:
    value = run_json("explain", "-f", file, "--isvc", "ml/chat")
    assert value["subject"] == {"kind": "InferenceService", "namespace": "ml", "name": "chat"}
    assert value["outcome"] == "auto-selected"
    assert value["selected"] == {"kind": "ServingRuntime", "namespace": "ml", "name": "mine"}
    assert (value["message"], value["event"]) == (None, None)
    large, multi = (next(each for each in value["candidates"] if each["name"] == name) for name in ("large", "multi"))
    assert large | {"arithmetic": None} == {
        "kind": "ClusterServingRuntime", "namespace": None, "name": "large", "scope": "Cluster", "compatible": True,
        "rank": 2, "priority": 2, "weight": 2, "score": 2, "size_distance": 50e9, "code": None, "reason": None,
        "also": [], "arithmetic": None,
    }  # fmt: skip
    assert multi["code"] == "engine-deployment-mode"
    assert [each["code"] for each in multi["also"]] == ["model-format", "model-size"]
    assert value["modes"]["engine"] | {"workloads": []} == {
        "requested": {"mode": "OMENative", "source": "spec.deploymentMode"},
        "runtime": None,
        "running": {"mode": "OMENative", "source": "ServiceSpec"},
        "rendered": True,
        "conflict": None,
        "conflicts": [],
        "workloads": [],
        "migration": None,
    }
    assert value["problems"] == []


def test_json_of_a_named_runtime_that_does_not_fit(file: Path) -> None:
    value = run_json("explain", "-f", file, "--isvc", "ml/fixed")
    assert value["outcome"] == "named-with-advice"
    assert value["selected"]["name"] == "multi"
    assert value["event"] == (
        "Runtime multi does not declare support for model llama (runtime multi does not support model : runtime engine "
        "deployment mode MultiNode does not match requested engine deployment mode OMENative); proceeding because the "
        "runtime was named explicitly"
    )
    assert value["modes"]["engine"]["conflict"] == "overridden"
    assert value["admission"]["allowed"] is True


def test_json_of_a_service_whose_model_is_missing(file: Path) -> None:
    value = run_json("explain", "-f", file, "--isvc", "ml/lost")
    assert value["outcome"] == "invalid"
    assert value["message"].startswith('referenced model "nothing" not found in namespace "ml"')
    assert value["admission"]["allowed"] is False


def test_json_of_a_model(file: Path) -> None:
    value = run_json("explain", "-f", file, "--model", "llama", "-n", "ml")
    check_contract(value)
    assert value["subject"] == {"kind": "ClusterBaseModel", "namespace": None, "name": "llama"}
    assert (value["outcome"], value["selected"]["name"]) == ("auto-selected", "mine")
    elsewhere = run_json("explain", "-f", file, "--model", "llama")
    assert (elsewhere["outcome"], elsewhere["selected"]["name"]) == ("auto-selected", "large")


def test_a_model_without_a_format_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(as_yaml(model("raw", modelFormat=None), runtime("vllm"), service("chat", model={"name": "raw"})))
    for subject in (["--model", "raw"], ["--isvc", "ml/chat"]):
        value = run_json("explain", "-f", path, *subject)
        check_contract(value)
        assert value["outcome"] == "invalid"
        assert value["message"] == "invalid model specification: modelFormat.name: model format name is required"
        assert value["candidates"] == []


def test_yaml_is_the_same_value(file: Path) -> None:
    shown = run("explain", "-f", file, "--isvc", "ml/chat", "-o", "yaml")
    assert yaml.safe_load(shown) == run_json("explain", "-f", file, "--isvc", "ml/chat")


def test_the_release_decides(file: Path) -> None:
    value = run_json("explain", "-f", file, "--isvc", "ml/fixed", "--ome-version", "1.2")
    assert value["ome_version"] == "1.2"
    assert value["modes"]["engine"]["running"] == {"mode": "MultiNode", "source": "ComponentAnnotation"}


def test_manifests_that_hold_the_manager_are_judged_by_its_release(file: Path, tmp_path: Path) -> None:
    manager = tmp_path / "ome.yaml"
    container = {"name": "manager", "image": "example.com/ome-manager:v1.2.2"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "ome-controller-manager", "namespace": "ome"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    manager.write_text(json.dumps(deployment))
    asked = ("explain", "-f", file, "-f", manager, "--isvc", "ml/fixed")
    assert run_json(*asked)["ome_version"] == "1.2"
    assert run_json(*asked, "--ome-version", "1.3")["ome_version"] == "1.3"


@pytest.mark.parametrize("size", ["inf", "nan", "1e308T", "-7B", "", "x"])
def test_sizes_that_are_no_numbers_still_make_json(tmp_path: Path, size: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(
        as_yaml(
            model(modelParameterSize=size), runtime("a", modelSizeRange={"min": size, "max": "inf"}), service("chat")
        )
    )
    check_contract(run_json("explain", "-f", path, "--isvc", "ml/chat"))


# --- manifests ---------------------------------------------------------------------------------------


def test_several_files_and_folders_are_read_together(tmp_path: Path) -> None:
    folder = tmp_path / "more" / "below"
    folder.mkdir(parents=True)
    (tmp_path / "service.yml").write_text(as_yaml(FLEET[8]))
    (tmp_path / "model.json").write_text(json.dumps(FLEET[0]))
    (folder / "runtimes.yaml").write_text(as_yaml(*FLEET[1:8]))
    files: list[str | Path] = [
        "-f",
        tmp_path / "service.yml",
        "-f",
        tmp_path / "model.json",
        "--filename",
        tmp_path / "more",
    ]
    assert run_json("explain", *files, "--isvc", "ml/chat")["selected"]["name"] == "mine"


def test_the_defaults_that_an_api_server_writes_are_applied(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(as_yaml(model(), runtime("a", supportedModelFormats=[{**ENTRY, "priority": 3}]), service("chat")))
    [candidate] = run_json("explain", "-f", path, "--isvc", "ml/chat")["candidates"]
    assert (candidate["weight"], candidate["score"]) == (3, 3)


def test_what_cannot_be_read_is_listed_and_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        as_yaml(*FLEET, runtime("odd", supportedModelFormats="x"), service("bad", engine=5))
    )
    (tmp_path / "b.yaml").write_text("a: [")
    (tmp_path / "c.yaml").write_text("{{ .Values.x }}")
    value = run_json("explain", "-f", tmp_path, "--isvc", "ml/chat")
    check_contract(value)
    assert value["selected"]["name"] == "mine"
    found = [(each["object"]["kind"], Path(each["object"]["name"]).name, each["path"]) for each in value["problems"]]
    assert found == [
        ("ClusterServingRuntime", "odd", "spec.supportedModelFormats"),
        ("InferenceService", "bad", "spec.engine"),
        ("File", "b.yaml", "line 2"),
        ("File", "c.yaml", "line 1"),
    ]
    assert "Unreadable: ClusterServingRuntime odd: spec.supportedModelFormats" in run(
        "explain", "-f", tmp_path, "--isvc", "ml/chat"
    )


def test_a_service_that_cannot_be_read_is_invalid(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(as_yaml(service("bad", engine=5), model(), runtime("vllm")))
    value = run_json("explain", "-f", path, "--isvc", "ml/bad")
    check_contract(value)
    assert value["outcome"] == "invalid"
    assert value["problems"] == [
        {"object": value["subject"], "path": "spec.engine", "message": "expected an object, found the number 5"}
    ]


def test_no_secret_of_a_manifest_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    planted = "hunter2-planted"
    annotations = {"example.com/api-token": planted, MODE: f"password={planted}"}
    path.write_text(
        as_yaml(
            model(storage={"parameters": {"token": planted}}),
            runtime("vllm", engineConfig={"runner": {"name": "x", "env": [{"name": "HF_TOKEN", "value": planted}]}}),
            runtime("odd", engineConfig={"runner": {"env": f"HF_TOKEN={planted}"}}),
            service("chat", engine={"annotations": annotations, "runner": {"args": ["--api-key", planted]}}),
        )
    )
    for output in ("table", "wide", "json", "yaml"):
        assert planted not in run("explain", "-f", path, "--isvc", "ml/chat", "-o", output)
    for output in ("table", "json", "yaml"):
        shown = run("effective", "vllm", "-f", path, "-o", output)
        assert planted not in shown
        assert PLACEHOLDER in shown


# --- bad input ---------------------------------------------------------------------------------------


def test_a_service_that_is_not_there_is_said_with_names_that_look_alike(file: Path) -> None:
    assert refused("explain", "-f", file, "--isvc", "ml/chatt") == (
        "there is no InferenceService ml/chatt; did you mean ml/chat?"
    )
    assert refused("explain", "-f", file, "--isvc", "default/chat").endswith("; did you mean ml/chat?")
    assert refused("explain", "-f", file, "--isvc", "m1/chat2").endswith("; did you mean ml/chat?")
    assert refused("explain", "-f", file, "--isvc", "a/zzz") == "there is no InferenceService a/zzz"


def test_a_model_that_is_not_there_is_said_with_names_that_look_alike(file: Path) -> None:
    assert refused("explain", "-f", file, "--model", "lama", "-n", "ml").endswith("; did you mean llama?")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", ":2:1: not YAML"),
        ("kind: InferenceService\n\tx: 1\n", ":2:1: not YAML"),
        ("a: b: c\n", ":1:5: not YAML"),
        ("\x00", "not text"),
        ("a: &a [*a]", "contains itself"),
        ("&x a: *y", "has no anchor"),
        ("[" * 300, "nested deeper than"),
    ],
)
def test_a_file_that_is_not_yaml_is_named_with_line_and_column(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    said = refused("explain", "-f", path, "--isvc", "ml/chat")
    assert said.startswith(str(path))
    assert message in said


@pytest.mark.parametrize("text", ["", "\n---\n# nothing\n---\n", "a: 1\n", "[]\n", "kind: List\nitems: []\n"])
def test_a_file_without_the_service_does_not_have_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    said = refused("explain", "-f", path, "--isvc", "ml/chat")
    assert "there is no InferenceService ml/chat" in said or "not an object" in said


def test_a_path_that_is_not_there_is_named(tmp_path: Path, file: Path) -> None:
    missing = tmp_path / "missing.yaml"
    assert refused("explain", "-f", file, "-f", missing, "--isvc", "ml/chat") == f"{missing}: no such file or directory"


@pytest.mark.parametrize("name", ["chat", "/chat", "ml/", "a/b/c", "", "/"])
def test_a_service_is_asked_for_by_namespace_and_name(name: str) -> None:
    assert "is not NAMESPACE/NAME" in refused("explain", "--isvc", name)


# --- the database ------------------------------------------------------------------------------------


@pytest.fixture
def clusters(db: None) -> None:
    sync("east", *FLEET)
    sync("west", *FLEET[:2], FLEET[8], service("western"))


@pytest.mark.usefixtures("clusters")
def test_a_service_of_a_cluster_is_explained_as_its_manifests_are(file: Path) -> None:
    from_files = run_json("explain", "-f", file, "--isvc", "ml/chat")
    assert run_json("explain", "--cluster", "east", "--isvc", "ml/chat") == from_files
    assert "ml/chat in cluster east: auto-selected" in run("explain", "--cluster", "east", "--isvc", "ml/chat")


@pytest.mark.usefixtures("clusters")
def test_the_cluster_need_not_be_named_when_only_one_has_it() -> None:
    assert run_json("explain", "--isvc", "ml/western")["selected"]["name"] == "large"
    assert refused("explain", "--isvc", "ml/chat") == "it is in several clusters (east, west): say which with --cluster"


@pytest.mark.usefixtures("clusters")
def test_another_release_may_be_asked_for() -> None:
    assert run_json("explain", "--cluster", "east", "--isvc", "ml/chat", "--ome-version", "1.2")["ome_version"] == "1.2"
    assert Cluster.objects.get(name="east").ome_version == "1.3"
    assert run_json("explain", "--cluster", "east", "--isvc", "ml/chat")["ome_version"] == "1.3"


@pytest.mark.usefixtures("clusters")
def test_a_cluster_that_is_not_there_is_said_with_names_that_look_alike() -> None:
    said = refused("explain", "--cluster", "est", "--isvc", "a/b")
    assert said.startswith("there is no cluster 'est'; did you mean ")
    assert "east" in said


@pytest.mark.django_db
def test_an_empty_database_says_what_to_do() -> None:
    assert refused("explain", "--isvc", "a/b").startswith("the database has no cluster yet: run sync or demo first")


# --- at a shell --------------------------------------------------------------------------------------


def test_it_needs_no_database_and_reads_standard_input() -> None:
    done = manage("explain", "-f", "-", "--isvc", "ml/chat", "-o", "json", stdin=as_yaml(*FLEET))
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["selected"]["name"] == "mine"


def test_bad_input_ends_with_1_and_one_line() -> None:
    done = manage("explain", "-f", "-", "--isvc", "ml/chat", stdin="a: [")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("CommandError: -:2:1: not YAML")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--isvc", "chat"],
        ["--isvc", "ml/chat", "--model", "llama"],
        ["--isvc", "ml/chat", "-f", "-", "--cluster", "east"],
        ["--isvc", "ml/chat", "-f", "-", "-o", "xml"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    done = manage("explain", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err


def test_a_database_out_of_reach_is_said_in_one_line() -> None:
    done = manage("explain", "--isvc", "ml/chat")
    assert done.code == 1
    assert done.err.startswith("CommandError: the database can't be used (")
    assert done.err.count("\n") == 1


def test_a_standard_input_that_is_closed_is_said_in_one_line(file: Path) -> None:
    done = manage("explain", "-f", "-", "--isvc", "ml/chat", close=0)
    assert (done.code, done.err) == (1, "CommandError: - was given, but there is no standard input to read\n")
    assert manage("explain", "-f", file, "--isvc", "ml/chat", close=0).code == 0


def test_a_terminal_that_cannot_show_a_letter_gets_its_number() -> None:
    done = manage(
        "explain",
        "-f",
        "-",
        "--isvc",
        "ml/chat",
        stdin=as_yaml(service("chat", model={"name": "über"})),
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert done.code == 0
    assert "\\xfcber" in done.out
