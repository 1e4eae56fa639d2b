"""``manage.py migrate-plan``: a runtime's copy, a service's steps, a fleet's order, each in every form."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
import yaml

from selection.faces.plan_words import in_plain
from selection.rules.migration_order import WAVES
from selection.rules.plan_notes import Note
from selection.rules.plan_steps import EXPECTATIONS, OUTAGES, PURPOSES
from selection.rules.references import find_references
from selection.rules.runtime_copy import DIFFERENCES, NOTES
from selection.rules.service_plan import REASONS, RISKS
from selection.store.redaction import PLACEHOLDER
from tests.faces.clusters import store
from tests.rules.manifests import a_model, a_runtime, a_service, deployed, moded
from tests.rules.test_planning import CURRENT, OLD, counting, leaning, multi_node, pods

from .cli import as_yaml, manage, refused, run, run_json

COMMENTED = """\
# Two nodes of eight.
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata:
  name: fast
spec:
  supportedModelFormats:
  - modelFormat: {name: safetensors}   # any
    autoSelect: true
  engineConfig:
    leader: &pod
      runner: {name: main, args: ["$(LWS_GROUP_SIZE)", '--port=80']}
    worker: *pod
"""

OTHERS = [
    a_model(),
    leaning("odd", None, engineConfig=pods("$((LWS_GROUP_SIZE-1))", "--api-key=s3cr3tvalue99")),
    a_runtime("plain", engineConfig=pods("serve"), disabled=True),
    multi_node(),
    deployed(OLD),
    multi_node(name="stuck", runtime={"name": "odd"}),
    a_service("done", engine=moded("OMENative"), runtime={"name": "plain"}),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fast.yaml").write_text(COMMENTED)
    (tmp_path / "others.yaml").write_text(as_yaml(*OTHERS))
    return tmp_path


def asked(folder: Path, *more: str) -> list[str]:
    return ["migrate-plan", "-f", str(folder), *more]


def test_a_service_in_steps(folder: Path) -> None:
    lines = run(*asked(folder, "--isvc", "team/chat")).splitlines()
    assert lines[0] == "InferenceService team/chat: not-started, the plan is ready"
    assert [line[:2] for line in lines if line[:1].isdigit()] == ["1.", "2.", "3.", "4.", "5."]
    patch = next(shlex.split(line) for line in lines if line.startswith("     kubectl patch"))
    assert json.loads(patch[-1])["spec"]["runtime"] == {"name": "fast-omenative"}
    assert lines[-2].startswith("Before: named ClusterServingRuntime fast; engine MultiNode (ComponentAnnotation)")
    assert lines[-1] == (
        "After: named ClusterServingRuntime fast-omenative; engine OMENative (ComponentAnnotation); "
        "conflicts: none; admitted"
    )


def test_a_plan_that_is_not_ready_says_why_first(folder: Path) -> None:
    lines = run(*asked(folder, "--isvc", "team/stuck")).splitlines()
    assert lines[:2] == [
        "InferenceService team/stuck: not-started, the plan is not ready",
        "  2 places of the runtime need a person; the copy has them as they were.",
    ]
    assert lines[2].startswith("  Values were taken out of the runtime before it was stored")


def test_a_service_that_can_not_be_read(folder: Path) -> None:
    (folder / "broken.yaml").write_text(as_yaml(a_service("broken", engine={"minReplicas": "two"})))
    assert run(*asked(folder, "--isvc", "team/broken")).splitlines()[:2] == [
        "InferenceService team/broken: unknown, the plan is not ready",
        '  It can\'t be read at spec.engine.minReplicas: expected an integer, found text "two".',
    ]


def test_nothing_to_do(folder: Path) -> None:
    text = run(*asked(folder, "--isvc", "team/done"))
    assert text == "InferenceService team/done: has nothing to do with MultiNode. There is nothing to do.\n"
    assert run(*asked(folder, "--isvc", "team/done", "-o", "yaml")) == ""


def test_a_copy_keeps_what_the_file_says_beside(folder: Path) -> None:
    expected = COMMENTED.replace("name: fast", "name: fast-omenative").replace(
        "LWS_GROUP_SIZE", "OME_INSTANCE_POD_COUNT"
    )
    expected = expected.replace("autoSelect: true", "autoSelect: false")
    assert run(*asked(folder, "--runtime", "fast", "-o", "yaml")) == expected
    assert run(*asked(folder, "--isvc", "team/chat", "-o", "yaml")) == expected
    lines = run(*asked(folder, "--runtime", "fast", "-o", "diff")).splitlines()
    assert lines[:2] == ["--- fast.yaml", "+++ fast-omenative.yaml"]
    assert sum(line.startswith("+ ") for line in lines) == 3


def test_a_copy_without_the_file_has_its_keys_in_order(folder: Path) -> None:
    done = manage("migrate-plan", "-f", "-", "--runtime", "fast", "-o", "yaml", stdin=COMMENTED)
    assert done.code == 0
    value = yaml.safe_load(done.out)
    assert list(value["spec"]) == sorted(value["spec"])
    assert find_references(value["spec"]) == ()


def test_what_looks_secret_stands_in_a_copy_of_its_own_file_alone(folder: Path) -> None:
    assert "s3cr3tvalue99" in run(*asked(folder, "--runtime", "odd", "-o", "yaml"))
    for form in ("text", "json", "markdown"):
        text = run(*asked(folder, "--runtime", "odd", "-o", form))
        assert "s3cr3tvalue99" not in text
        assert form == "text" or PLACEHOLDER in text


def test_a_runtime_says_what_needs_a_person_and_why_each_thing_differs(folder: Path) -> None:
    lines = run(*asked(folder, "--runtime", "odd")).splitlines()
    assert lines[0].startswith("ClusterServingRuntime odd: It refers to LeaderWorkerSet's variables or labels")
    assert lines[1] == "Copy: odd-omenative, not ready"
    assert "  spec.engineConfig.leader.runner.args[0]: LWS_GROUP_SIZE" in lines
    assert "    The shell computes with it: check the result under the new name." in lines
    assert "  replace spec.supportedModelFormats[0].autoSelect: true -> false" in lines
    assert "    OME must not select the copy for services that haven't moved." in lines
    assert run(*asked(folder, "--runtime", "plain")).startswith(
        "ClusterServingRuntime plain: It works on OMENative as it is: it takes no copy"
    )


def test_the_fleets_order(folder: Path) -> None:
    text = run(*asked(folder, "--all"))
    lines = text.splitlines()
    assert lines[0].split() == ["RUNTIME", "WAITING", "REFERENCES", "NEED", "COPY"]
    assert lines[1].split() == ["fast", "1", "2", "references", "fast-omenative"]
    assert [line for line in lines if line[:1].isdigit()] == [
        "1. One of each runtime, to see that its copy works.",
        "2. Something has to be put right before.",
    ]
    assert lines[-1] == "In all: 16 nvidia.com/gpu needed, none held"
    copies = list(yaml.safe_load_all(run(*asked(folder, "--all", "-o", "yaml"))))
    assert [copy["metadata"]["name"] for copy in copies] == ["fast-omenative", "odd-omenative"]


def test_as_json(folder: Path) -> None:
    plan = run_json(*asked(folder, "--isvc", "team/chat"))
    assert (plan["cluster"], plan["ome_version"], plan["ready"]) == (None, "1.3", True)
    assert [step["purpose"] for step in plan["steps"]] == list(PURPOSES)
    assert plan["after"]["modes"]["engine"]["running"]["mode"] == "OMENative"
    assert plan["copies"][0]["manifest"]["metadata"] == {"name": "fast-omenative"}
    order = run_json(*asked(folder, "--all"))
    assert [wave["kind"] for wave in order["waves"]] == ["first", "not-ready"]
    assert [each["service"]["name"] for each in order["services"]] == ["chat", "stuck"]
    copy = run_json(*asked(folder, "--runtime", "odd"))
    assert (copy["ready"], copy["reasons"][0]["code"], copy["parent_copy"]) == (False, "rework", None)


def test_as_markdown_for_a_change_request(folder: Path) -> None:
    text = run(*asked(folder, "--all", "-o", "markdown"))
    assert text.startswith("# Off MultiNode\n\n2 services to move or clean up, 1 of them with a plan that is ready.\n")
    for heading in ("## Order", "## Runtimes", "## Services", "### `team/chat`", "#### Step 5"):
        assert f"\n{heading}\n" in text
    assert text.count("```") % 2 == 0
    assert "s3cr3tvalue99" not in text
    one = run(*asked(folder, "--isvc", "team/chat", "-o", "markdown"))
    assert one.startswith("# Move `team/chat` off MultiNode\n\nState: not-started. The plan is ready.\n")
    assert "**Outage:** From here engine serves nothing, until the new pods are ready." in one
    assert run(*asked(folder, "--runtime", "fast", "-o", "markdown")).startswith("# ClusterServingRuntime `fast`\n")


def test_what_an_object_says_is_no_markup(folder: Path) -> None:
    strange = leaning("odd", None, engineConfig=pods("$((LWS_GROUP_SIZE-1)) | ``` <b>"))
    (folder / "others.yaml").write_text(
        as_yaml(*[strange if each["metadata"]["name"] == "odd" else each for each in OTHERS])
    )
    text = run(*asked(folder, "--all", "-o", "markdown"))
    inside = False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        assert inside or "<b>" not in line
    assert not inside


def test_a_chain_says_which_parent_to_copy_once(folder: Path) -> None:
    inherits = {"ome.io/inherit-from": "base"}
    family = [a_runtime(name, annotations=inherits, disabled=False) for name in ("child", "sister")]
    (folder / "family.yaml").write_text(as_yaml(leaning("base"), *family))
    text = run(*asked(folder, "--runtime", "child"))
    assert "4 references come from ClusterServingRuntime base." in text
    assert "sister wait on the same parent: copy ClusterServingRuntime base as base-omenative instead," in text
    value = run_json(*asked(folder, "--runtime", "child"))
    assert [each["metadata"]["name"] for each in value["parent_copy"]["manifests"]] == [
        "base-omenative",
        "child-omenative",
    ]


@pytest.mark.django_db
def test_a_cluster_of_the_database() -> None:
    store(a_model(), leaning(), multi_node(), deployed(OLD), deployed(CURRENT, service="other"), name="east")
    text = run("migrate-plan", "--isvc", "team/chat", "--cluster", "east")
    assert text.startswith("InferenceService team/chat: not-started, the plan is ready\n")
    assert run_json("migrate-plan", "--all")["cluster"] == "east"
    store(a_model(), name="west")
    assert refused("migrate-plan", "--all") == "there are several clusters (east, west): say which with --cluster"
    assert (
        run("migrate-plan", "--all", "--cluster", "west")
        == "No service runs on MultiNode, and none left anything behind.\n"
    )


@pytest.mark.django_db
def test_values_that_were_taken_out_of_a_stored_runtime_are_a_reason() -> None:
    config = pods("$(LWS_GROUP_SIZE)")
    config["leader"]["runner"]["env"] = [{"name": "HF_TOKEN", "value": "abcdef"}]
    store(a_model(), leaning(engineConfig=config), multi_node())
    lines = run("migrate-plan", "--isvc", "team/chat").splitlines()
    assert lines[1].startswith(
        "  Values were taken out of the runtime before it was stored, at spec.engineConfig.leader"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--all"], 0, ""),
        (["--isvc", "team/nobody"], 1, "there is no InferenceService team/nobody"),
        (["--isvc", "nobody"], 2, "'nobody' is not NAMESPACE/NAME"),
        (["--runtime", "fas"], 1, "there is no runtime fas at cluster scope; did you mean fast?"),
        (["--runtime", "fast", "--all"], 2, "not allowed with argument"),
        (["--all", "--cluster", "east"], 2, "-f judges manifests alone"),
        ([], 2, "one of the arguments --isvc --runtime --all is required"),
    ],
)
def test_how_it_ends(folder: Path, arguments: list[str], code: int, said: str) -> None:
    done = manage(*asked(folder, *arguments))
    assert (done.code, said in done.err) == (code, True)


def test_a_variable_that_would_not_be_expanded_is_told_in_every_text(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(as_yaml(a_model(), counting(), multi_node()))
    said = "COUNT of the engine (spec.engineConfig.leader.runner.env[0].value) would hold the text"
    use = "Use $(OME_INSTANCE_POD_COUNT) directly in spec.engineConfig.leader.runner.args[0]."
    for subject in (["--isvc", "team/chat"], ["--runtime", "fast"]):
        text = run("migrate-plan", "-f", str(path), *subject)
        assert (said in text, use in text) == (True, True)
        text = run("migrate-plan", "-f", str(path), *subject, "-o", "markdown").replace("`", "")
        assert (said in text, use in text) == (True, True)


def test_what_the_way_back_can_not_bring_back_is_told(tmp_path: Path) -> None:
    status = {"pinnedRevisionName": "cr-fast-0123abcd"}
    pinned = multi_node(runtime={"name": "fast", "autoSync": False}, status=status)
    path = tmp_path / "fleet.yaml"
    path.write_text(as_yaml(a_model(), leaning(), pinned))
    said = "Back again it follows fast as it is by then, not the revision cr-fast-0123abcd that it follows now."
    for form in ("text", "markdown"):
        told = run("migrate-plan", "-f", str(path), "--isvc", "team/chat", "-o", form).replace("`", "")
        assert told.count(said) == 1


def test_conflicts_are_told_in_words() -> None:
    note = Note("conflict", {"component": "engine", "conflicts": ["deprecated", "silent-takeover"]})
    said = "After the move the modes of the engine would still conflict: deprecated mode, silent takeover."
    assert in_plain("reason-conflict", note=note) == said


def test_every_code_has_its_sentence_and_every_sentence_its_code() -> None:
    codes = [f"step-{code}" for code in PURPOSES] + [f"outage-{code}" for code in OUTAGES]
    codes += [f"expect-{code}" for code in EXPECTATIONS] + [f"reason-{code}" for code in REASONS]
    codes += [f"risk-{code}" for code in RISKS] + [f"wave-{code}" for code in WAVES]
    codes += [f"note-{code}" for code in NOTES] + [f"edit-{code}" for code in ("renamed", *DIFFERENCES)]
    codes += ["back-unpinned"]
    codes += [f"need-{code}" for code in ("references", "mode", "none")]
    folder = Path(__file__).resolve().parents[2] / "templates" / "sentences" / "plan"
    assert {path.stem for path in folder.iterdir()} == set(codes)


def test_it_is_listed_with_the_others() -> None:
    assert "migrate-plan" in manage("help").out
