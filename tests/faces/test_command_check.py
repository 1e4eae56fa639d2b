"""``manage.py check PATH...``: what is reported and where, levels, exit codes; and Django's own check without paths."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from selection.faces.cli.check_rules import RULES
from tests.rules.manifests import MODE, a_model, a_runtime, a_service, an_entry, deployed, moded

from .cli import ROOT, as_yaml, manage

DEMO = ROOT / "selection" / "faces" / "demo_fleet"
BROKEN = [
    a_model(),
    a_runtime("fast", None, an_entry(modelFormat={"name": "onnx", "version": "V1"})),
    a_service(engine=moded("omenative")),
]


def checked(*arguments: str | Path) -> tuple[int, str]:
    """The exit code, and what is printed."""
    output = io.StringIO()
    try:
        call_command("check", *(str(each) for each in arguments), stdout=output, stderr=output)
    except SystemExit as ended:
        return int(ended.code or 0), output.getvalue()
    return 0, output.getvalue()


def problems(*arguments: str | Path) -> list[dict[str, Any]]:
    """The problems as JSON has them."""
    found: list[dict[str, Any]] = json.loads(checked(*arguments, "-o", "json")[1])["problems"]
    return found


def codes(*arguments: str | Path) -> list[str]:
    return [each["code"] for each in problems(*arguments)]


def refused(*arguments: str | Path) -> str:
    """The one line that it ends with, with exit code 2."""
    with pytest.raises(CommandError) as error:
        checked(*arguments)
    assert error.value.returncode == 2
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three broken manifests, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "team").mkdir()
    for name, manifest in zip(("model", "runtime", "team/chat"), BROKEN, strict=True):
        (tmp_path / f"{name}.yaml").write_text(as_yaml(manifest))
    return tmp_path


def test_people_get_a_line_for_each_problem_and_below_it_what_to_do(folder: Path) -> None:
    code, text = checked(".")

    assert code == 1
    lines = text.splitlines()
    assert [line.split(" ", 4)[:3] for line in lines if line and not line.startswith(" ")][:-1] == [
        ["runtime.yaml:9:7:", "error", "version-unparsable"],
        ["team/chat.yaml:8:5:", "error", "no-runtime"],
        ["team/chat.yaml:11:7:", "info", "ignored"],
    ]
    assert lines[0].endswith("such a version equals nothing: the entry matches no model.")
    assert lines[1].startswith("    Write one to three numbers")
    assert lines[2] == ""
    assert lines[-1] == "3 problems: 2 errors, 1 info; 3 objects in 3 files, by OME 1.3"


def test_nothing_wrong_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(as_yaml(a_model(), a_runtime(), a_service()))

    assert checked(tmp_path) == (0, "no problems; 3 objects in 1 file, by OME 1.3\n")


def test_a_position_is_that_of_the_field_in_its_own_text(tmp_path: Path) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [a_model(), a_service(engine=moded("x"))]}
    (tmp_path / "list.json").write_text(json.dumps(listed, indent=2))
    text = (tmp_path / "list.json").read_text().splitlines()

    [ignored] = [each for each in problems(tmp_path) if each["code"] == "ignored"]

    assert text[ignored["line"] - 1][ignored["column"] - 1 :].startswith(f'"{MODE}"')
    assert ignored["field"] == f'spec.engine.annotations["{MODE}"]'
    assert ignored["object"] == {"kind": "InferenceService", "namespace": "team", "name": "chat"}


def test_standard_input_is_read_and_its_places_are_known() -> None:
    done = manage("check", "-", stdin=as_yaml(*BROKEN))

    assert done.code == 1
    assert "<stdin>:17:7: error version-unparsable" in done.out
    assert done.err == ""


def test_it_needs_no_database_and_no_folder_to_write_in(folder: Path, tmp_path: Path) -> None:
    nowhere = folder / "file" / "data"
    (folder / "file").write_text("not a folder")

    done = manage("check", folder / "model.yaml", env={"OME_DASHBOARD_DATA": str(nowhere)})

    assert (done.code, done.out, done.err) == (0, "no problems; 1 object in 1 file, by OME 1.3\n", "")


@pytest.mark.parametrize("arguments", [[], ["store"], ["--deploy", "--tag", "models"], ["--fail-level", "WARNING"]])
def test_without_a_path_it_is_djangos_own_check(arguments: list[str], folder: Path) -> None:
    code, text = checked(*arguments)

    assert code == 0
    assert text.startswith("System check identified ")


def test_djangos_tags_are_listed() -> None:
    assert "models" in checked("--list-tags")[1].splitlines()


def test_a_path_that_is_named_like_an_app_is_a_path(folder: Path) -> None:
    (folder / "store").mkdir()

    assert checked("store")[1] == "no problems; 0 objects in 0 files, by OME 1.3\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], "nope: no such file or directory"),
        (["nope\0"], "is not a path"),
        ([".", "store"], "store is an app's label: check it, or manifests, one after the other"),
        ([".", "--deploy"], "--deploy is for Django's own check: leave out the paths"),
        (["--all"], "--all is for judging manifests: name a path, or - for standard input"),
        ([".", "-o", "xml"], "--output: 'xml' is none of text, json, sarif, junit, gitlab, github"),
        ([".", "-o", "json="], "--output json=: name a file"),
        ([".", "-o", "json", "-o", "sarif"], "--output: json and sarif can't both go to standard output"),
        ([".", "-o", "json=x", "-o", "sarif=x"], "--output: two formats can't go to one file"),
        ([".", "-o", "json=none/x"], "none/x: no such file or directory"),
        ([".", "--rule", "deprecated"], "'deprecated' is not CODE=LEVEL"),
        ([".", "--rule", "depricated=off"], "there is no rule 'depricated'; did you mean deprecated?"),
        ([".", "--rule", "deprecated=never"], "deprecated: the level is one of error, warning, info, off, not 'never'"),
        ([".", "--config", "none.yaml"], "none.yaml: no such file or directory"),
        ([".", "--config", "x", "--no-config"], "--config names a file and --no-config wants none: leave one out"),
        ([".", "--kubeconfig", "x"], "--kubeconfig is for --on-cluster and --context: give one of them"),
        ([".", "--context", "x", "--kubeconfig", "none"], "none"),
    ],
)
def test_bad_usage_is_told_in_one_line_and_ends_with_2(arguments: list[str], words: str, folder: Path) -> None:
    assert words in refused(*arguments)


def test_a_folder_that_is_closed_is_told_and_the_rest_judged(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")

    assert "unreadable-file" in codes(".")


INPUT: dict[str, tuple[str, list[tuple[str, int | None]]]] = {
    "no YAML": ("a: [\n", [("unreadable-document", 2)]),
    "a NUL byte": ("a: 1\nb: \0\n", [("unreadable-document", 2)]),
    "a name that no API server takes": (
        "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: Chat_1}\n",
        [("unusable-object", 1)],
    ),
    "a kind that is misspelt": (
        "# first\napiVersion: ome.io/v1beta1\nkind: InferenceServices\nmetadata: {name: chat}\n",
        [("unusable-object", 2)],
    ),
    "the same object twice": (as_yaml(a_model(), a_model()), [("given-twice", 9)]),
    "another product's object": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", []),
}


@pytest.mark.parametrize("case", INPUT)
def test_input_that_cant_be_used_is_told_at_its_place(case: str, tmp_path: Path) -> None:
    text, expected = INPUT[case]
    (tmp_path / "x.yaml").write_text(text)

    assert [(each["code"], each["line"]) for each in problems(tmp_path)] == expected


def test_files_for_other_tools_are_noted_and_no_problem(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [chat.yaml]\n")
    (tmp_path / "values.yaml").write_text("model: llama\n")
    (tmp_path / "playbook.yaml").write_text("- hosts: all\n")
    (tmp_path / "loop.yaml").write_text("{{- range .Values.services }}\nkind: InferenceService\n{{- end }}\n")
    name = "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: '{{ .Release.Name }}'}\n"
    (tmp_path / "name.yaml").write_text(name)

    code, text = checked(tmp_path)

    template = "a template: render it first, and judge what helm template prints"
    assert code == 0
    assert text.splitlines() == [
        f"{tmp_path}/loop.yaml: not judged: {template}",
        f"{tmp_path}/name.yaml: not judged: {template}",
        f"{tmp_path}/playbook.yaml: not judged: no manifest of Kubernetes: not an object but a list",
        f"{tmp_path}/kustomization.yaml: not judged: a kustomization: build it first, and judge what kubectl kustomize "
        "prints",
        f"{tmp_path}/values.yaml: not judged: of a Helm chart: render it first, and judge what helm template prints",
        "",
        "no problems; 0 objects in 5 files, by OME 1.3",
    ]


def test_a_secret_in_a_manifest_is_never_printed(tmp_path: Path) -> None:
    secret = "hf_" + "a1B2c3D4" * 5
    runtime = a_runtime(
        engineConfig={"runner": {"env": [{"name": "HF_TOKEN", "value": f"{secret} $(LWS_GROUP_SIZE)"}]}}
    )
    (tmp_path / "x.yaml").write_text(as_yaml(runtime, a_service(engine={"annotations": secret})))

    for form in ("text", "json", "sarif", "junit", "gitlab", "github"):
        assert secret not in checked(tmp_path, "-o", form)[1]


def test_advice_on_a_named_runtime_is_omes_own(tmp_path: Path) -> None:
    service = a_service(runtime={"name": "fast"})
    (tmp_path / "x.yaml").write_text(as_yaml(a_model(modelFormat={"name": "onnx"}), a_runtime(), service))

    [advice] = problems(tmp_path)

    assert (advice["code"], advice["level"], advice["field"]) == ("named-with-advice", "warning", "spec.runtime.name")
    assert advice["message"] == (
        "InferenceService team/chat: OME only advises against the runtime that it names: runtime fast does not support "
        "model onnx: model format 'mt:onnx' not in supported formats: format name mismatch (model=onnx, "
        "runtime=safetensors)"
    )
    assert "manage.py explain --isvc team/chat" in advice["next"]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    heir = a_runtime("heir", annotations={"ome.io/inherit-from": "base"}, disabled=True)
    manifests = [
        a_model("bare", modelFormat=None),
        heir,
        a_service("a"),
        a_service("b", model={"name": "bare"}),
        a_service("c", model=None, runtime={"name": "gone"}),
    ]
    (tmp_path / "x.yaml").write_text(as_yaml(*manifests))

    told = [each["message"] for each in problems(tmp_path, "--rule", "finding=off", "--rule", "outcome=off")]
    assert told == [
        "ClusterServingRuntime heir: A parent of ClusterServingRuntime heir is not among what is judged.",
        "InferenceService team/a: The model llama is not among what is judged.",
        "InferenceService team/b: ClusterBaseModel bare has no modelFormat.name, which OME's model agent may write in "
        "a cluster.",
        "InferenceService team/c: The runtime gone is not among what is judged.",
    ]


def test_places_that_name_leader_worker_set_are_told_field_by_field(tmp_path: Path) -> None:
    runner = {"name": "main", "args": ["--a=$(LWS_GROUP_SIZE) $(LWS_WORKER_INDEX) $(LWS_GROUP_SIZE)", "$(LWS_X)"]}
    (tmp_path / "x.yaml").write_text(as_yaml(a_runtime(engineConfig={"leader": {"runner": runner}})))

    assert [each["message"] for each in problems(tmp_path)] == [
        "ClusterServingRuntime fast: Container main names LeaderWorkerSet, which OMENative's pods know nothing of: "
        "$(LWS_GROUP_SIZE) (there $(OME_INSTANCE_POD_COUNT)), $(LWS_WORKER_INDEX) (there $(OME_INSTANCE_POD_RANK)).",
        "ClusterServingRuntime fast: Container main names LeaderWorkerSet, which OMENative's pods know nothing of: "
        "$(LWS_X) (by hand). LeaderWorkerSet documents no such variable: find out who sets it.",
    ]


def test_workloads_among_the_manifests_are_set_beside_what_should_run(tmp_path: Path) -> None:
    workloads = [deployed("Deployment"), deployed("LeaderWorkerSet")]
    (tmp_path / "x.yaml").write_text(as_yaml(a_model(), a_runtime(), a_service(), *workloads))

    [cleanup] = problems(tmp_path)

    assert (cleanup["code"], cleanup["field"]) == ("cleanup-due", "spec.engine")
    (tmp_path / "x.yaml").write_text(
        as_yaml(
            a_model(), a_runtime(), a_service(engine=moded("OMENative")), deployed("InferenceReplica"), workloads[0]
        )
    )
    [left_over] = problems(tmp_path)
    assert left_over["message"].startswith(
        "InferenceService team/chat: The engine runs in OMENative, and Deployment team/chat-engine is there"
    )


# Levels.


def test_a_rule_or_a_family_can_be_set_to_another_level(folder: Path) -> None:
    assert codes(".", "--rule", "ignored=off", "--rule", "finding=off") == ["no-runtime"]
    assert {each["level"] for each in problems(".", "--rule", "outcome=info", "--rule", "finding=info")} == {"info"}
    assert checked(".", "--rule", "outcome=warning", "--rule", "finding=warning")[0] == 0


@pytest.mark.parametrize(("level", "code"), [("error", 0), ("warning", 0), ("info", 1)])
def test_the_level_that_fails_can_be_chosen(level: str, code: int, folder: Path) -> None:
    rules = ["--rule", "outcome=off", "--rule", "finding=off"]

    assert checked(".", *rules, "--fail-on", level)[0] == code


CONFIG = """\
fail-on: warning
ome-version: 1.2
rules:
  finding: off
  no-runtime: warning
paths:
- path: team/
  rules: {ignored: off}
- path: "**/deep/*.yaml"
  rules: {no-runtime: error}
"""


def levels(*arguments: str | Path) -> list[tuple[str, str]]:
    return [(each["code"], each["level"]) for each in problems(*arguments)]


def test_a_file_above_the_paths_sets_levels_also_for_some_paths_only(folder: Path) -> None:
    (folder / ".ome-dashboard.yaml").write_text(CONFIG)
    (folder / "team" / "deep").mkdir()
    (folder / "team" / "deep" / "other.yaml").write_text(as_yaml(a_service("other")))

    assert levels("team", "model.yaml", "runtime.yaml") == [("no-runtime", "warning"), ("no-runtime", "error")]
    code, text = checked("team/chat.yaml", "model.yaml", "runtime.yaml")
    assert (code, text.splitlines()[-1]) == (1, "1 problem: 1 warning; 3 objects in 3 files, by OME 1.2")


def test_the_command_line_wins_over_the_file_and_the_file_can_be_left_out(folder: Path) -> None:
    (folder / ".ome-dashboard.yaml").write_text("rules: {outcome: off, ignored: off, finding: off}\n")

    assert codes(".") == []
    assert codes(".", "--rule", "ignored=error") == ["ignored"]
    assert codes(".", "--no-config") == ["version-unparsable", "no-runtime", "ignored"]


def test_the_file_is_not_looked_for_beyond_the_repository(folder: Path) -> None:
    (folder / "team" / ".git").mkdir()
    (folder / ".ome-dashboard.yaml").write_text("rules: {input: off, ignored: off}\n")

    assert codes("team") == ["incomplete", "ignored"]
    assert codes("team", "model.yaml", "--rule", "input=off") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rules: {nope: off}", "rules: there is no rule 'nope'"),
        ("rules: {ignored: maybe}", "rules: ignored: the level is one of error, warning, info, off, not 'maybe'"),
        ("rules: [ignored]", "rules: expected an object of codes and levels"),
        ("rule: {}", "'rule' has no meaning here; known are fail-on, ome-version, rules, paths"),
        ("paths: {}", "paths is not a list"),
        ("paths: [{rules: {}}]", "paths[0]: path is missing, or no text"),
        ("paths: [{path: x, rules: {nope: off}}]", "paths[0]: rules: there is no rule 'nope'"),
        ("fail-on: never", "fail-on is one of error, warning, info, not 'never'"),
        ("ome-version: 2", "ome-version is one of 1.2, 1.3, not 2"),
        ("- a", "expected an object with fail-on, ome-version, rules, paths"),
        ("a: [", ":2: not YAML"),
        ("{}\n---\n{}", "holds more than one document"),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_its_name(text: str, words: str, folder: Path) -> None:
    (folder / ".ome-dashboard.yaml").write_text(text)

    told = refused(".")
    assert told.startswith(f"{folder}/.ome-dashboard.yaml")
    assert words in told


# Comments that silence.


def silenced(text: str, folder: Path) -> list[str]:
    (folder / "team" / "chat.yaml").write_text(f"# {text}\n" + as_yaml(BROKEN[2]))
    return codes("team", "model.yaml", "runtime.yaml", "--rule", "finding=off")


def test_a_comment_with_a_reason_silences_a_rule_for_its_document(folder: Path) -> None:
    assert silenced("ome-dashboard: ignore ignored -- the runtime is renamed next week", folder) == ["no-runtime"]
    assert silenced("ome-dashboard: ignore ignored, no-runtime -- not yet", folder) == []
    found = json.loads(checked("team", "model.yaml", "runtime.yaml", "-o", "json")[1])
    assert [(each["code"], each["reason"]) for each in found["silenced"]] == [
        ("no-runtime", "not yet"),
        ("ignored", "not yet"),
    ]
    assert checked(".", "--rule", "finding=off")[1].startswith("no problems (2 silenced); ")


def test_a_comment_silences_nothing_in_the_next_document(folder: Path) -> None:
    (folder / "team" / "two.yaml").write_text(
        "# ome-dashboard: ignore ignored -- meant\n"
        + as_yaml(a_service("one", engine=moded("x")), a_service("two", engine=moded("x")))
    )

    found = problems("team/two.yaml", "--rule", "input=off")
    assert [(each["code"], each["object"]["name"]) for each in found] == [("ignored", "two")]


@pytest.mark.parametrize(
    ("comment", "why"),
    [
        ("ignore ignored", "it gives no reason"),
        ("ignore ignored --", "it gives no reason"),
        ("ignore nope -- x", "there is no rule nope"),
        ("disable ignored -- x", "it isn't of the form"),
    ],
)
def test_a_comment_without_effect_is_told(comment: str, why: str, folder: Path) -> None:
    assert silenced(f"ome-dashboard: {comment}", folder) == ["bad-silence", "no-runtime", "ignored"]
    [bad] = [each for each in problems("team") if each["code"] == "bad-silence"]
    assert why in bad["message"]
    assert (bad["file"], bad["line"]) == ("team/chat.yaml", 1)


# The demo fleet.


@pytest.mark.parametrize(
    ("cluster", "version", "expected"),
    [
        (
            "eu-prod",
            "1.3",
            {"no-runtime", "at-risk", "refused", "impossible", "broken-chain", "incomplete", "shadowed"},
        ),
        ("us-lab", "1.2", {"breaks-lws", "moves-by-shape", "ray-becomes", "open-range", "another-runtime"}),
    ],
)
def test_the_demo_fleet_is_judged(cluster: str, version: str, expected: set[str]) -> None:
    found = json.loads(checked(DEMO / cluster, "-o", "json")[1])

    assert found["ome_version"] == version
    assert {each["code"] for each in found["problems"]} >= expected
    assert {each["code"] for each in found["problems"]} <= RULES.keys()
    for each in found["problems"]:
        text = Path(each["file"]).read_text().splitlines()
        assert text[each["line"] - 1].strip(), "no problem stands on an empty line"
        assert each["message"].isprintable()
    assert len({each["fingerprint"] for each in found["problems"]}) == len(found["problems"])


US_LAB = """\
runtimes-mistakes.yaml:37:3 error empty-range
runtimes-mistakes.yaml:38:5 error size-unparsable
runtimes-mistakes.yaml:43:5 warning entry-architecture-missing
runtimes-mistakes.yaml:51:7 warning operator-unknown
runtimes-mistakes.yaml:79:3 error open-range
runtimes-single-node.yaml:262:7 error unreadable
services-evals.yaml:26:5 warning another-runtime
services-evals.yaml:54:3 error breaks-lws
services-evals.yaml:127:3 warning ray-becomes
services-evals.yaml:127:3 warning silent-takeover
services-sandbox.yaml:82:3 error leader-without-worker
services-sandbox.yaml:82:3 warning moves-by-shape
services-sandbox.yaml:157:5 error no-runtime
"""


def test_of_the_lab_on_v1_2_each_problem_stands_at_its_field() -> None:
    found = problems(
        DEMO / "us-lab", "--rule", "lws-reference=off", "--rule", "deprecated=off", "--rule", "ignored=off"
    )
    lines = [
        f"{Path(each['file']).name}:{each['line']}:{each['column']} {each['level']} {each['code']}" for each in found
    ]

    assert lines == US_LAB.splitlines()


def test_a_fingerprint_outlasts_moving_and_renaming(folder: Path) -> None:
    before = {each["code"]: each["fingerprint"] for each in problems(".")}
    (folder / "team" / "chat.yaml").rename(folder / "team" / "renamed.yaml")
    text = (folder / "runtime.yaml").read_text()
    (folder / "runtime.yaml").write_text("# a comment\n\n" + text)

    assert {each["code"]: each["fingerprint"] for each in problems(".")} == before


def test_a_thousand_files_take_seconds(tmp_path: Path) -> None:
    for number in range(1000):
        service: Mapping[str, Any] = a_service(f"chat-{number}", engine=moded("x"))
        (tmp_path / f"{number}.yaml").write_text(as_yaml(service))
    (tmp_path / "model.yaml").write_text(as_yaml(a_model(), a_runtime()))

    assert len(codes(tmp_path)) == 1000
