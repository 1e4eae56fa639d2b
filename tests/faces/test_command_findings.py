"""``manage.py findings``: the findings of clusters in the database, or of manifests alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from selection.rules.findings import SEVERITIES
from tests.faces.clusters import store
from tests.rules.manifests import a_model, a_runtime, a_service, an_entry

from .cli import as_yaml, manage, refused, run, run_json

FLEET = [
    a_model(),
    a_runtime("fast", None, an_entry(priority=2)),
    a_runtime("slow"),
    a_runtime("tiny", None, an_entry(modelFormat={"name": "onnx", "weight": 0}), modelSizeRange={"max": "7b"}),
    a_service(model={"name": "llama", "kind": "BaseModel"}),
]
CODES = ["size-unparsable", "model-kind-elsewhere", "shadowed", "zero-weight"]
KEPT = ("cluster", "key", "state", "first_seen", "gone_at")
"""What only the database knows."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(as_yaml(*FLEET))
    return path


def test_it_judges_manifests_alone_without_a_database(file: Path) -> None:
    done = manage("findings", "-f", file, "-o", "json")

    assert done.code == 0
    for code in CODES:
        assert f'"code": "{code}"' in done.out


def test_json_has_the_facts_and_what_to_do_errors_first(file: Path) -> None:
    found = run_json("findings", "-f", file)

    assert [each["code"] for each in found] == CODES
    for each in found:
        told = {"code", "severity", "object", "component", "path", "about", "facts", "what", "next"}
        assert each.keys() == told | set(KEPT)
        assert each["severity"] == SEVERITIES[each["code"]]
        assert each["what"].endswith(".")
        assert each["next"].endswith(".")
    assert found[0]["object"] == {"kind": "ClusterServingRuntime", "namespace": None, "name": "tiny"}
    assert (found[0]["path"], found[0]["facts"]) == ("spec.modelSizeRange.max", {"value": "7b"})
    assert found[0]["what"].startswith("7b is no size that OME can read")
    assert found[0]["cluster"] is None


def test_the_table_has_a_line_for_each(file: Path) -> None:
    lines = run("findings", "-f", file).splitlines()

    assert lines[0].split() == ["SEVERITY", "CODE", "CLUSTER", "OBJECT", "PATH", "WHAT"]
    assert [line.split()[1] for line in lines[1:]] == CODES
    assert "fast comes before it." in lines[3]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["error"], CODES[:2]),
        (["info"], ["zero-weight"]),
        (["warning", "info"], ["shadowed", "zero-weight"]),
    ],
)
def test_it_narrows_to_severities(file: Path, asked: list[str], expected: list[str]) -> None:
    options = [option for severity in asked for option in ("--severity", severity)]

    assert [each["code"] for each in run_json("findings", "-f", file, *options)] == expected


@pytest.mark.django_db
def test_the_database_says_the_same_as_the_manifests(file: Path) -> None:
    store(*FLEET)

    stored, alone = run_json("findings"), run_json("findings", "-f", file)

    assert {each["cluster"] for each in stored} == {"prod"}
    assert [{**each, **dict.fromkeys(KEPT)} for each in stored] == alone
    assert {each["state"] for each in stored} == {"present"}
    assert all(each["key"].startswith(each["code"]) and each["first_seen"] for each in stored)


@pytest.mark.django_db
def test_one_cluster_can_be_asked_for(file: Path) -> None:
    store(*FLEET, name="one")
    store(a_model(modelParameterSize="inf"), name="two")

    assert [each["cluster"] for each in run_json("findings", "--cluster", "two")] == ["two"]
    assert len(run_json("findings")) == len(CODES) + 1


@pytest.mark.django_db
def test_another_release_is_judged_anew() -> None:
    heir = a_runtime("heir", annotations={"ome.io/inherit-from": "base"})
    store(a_runtime("base", disabled=True), heir)

    assert [each["code"] for each in run_json("findings")] == ["auto-select-inherits"]
    assert run_json("findings", "--ome-version", "1.2") == [], "v1.2 knows no inheritance"


def test_nothing_found_is_said(tmp_path: Path) -> None:
    path = tmp_path / "fine.yaml"
    path.write_text(as_yaml(a_model(), a_runtime()))

    assert run("findings", "-f", path) == "no findings\n"
    assert run_json("findings", "-f", path) == []


def test_files_and_a_cluster_do_not_go_together(file: Path) -> None:
    assert "leave out --cluster" in refused("findings", "-f", file, "--cluster", "prod")


@pytest.mark.django_db
def test_a_database_without_a_cluster_and_a_wrong_name_are_said() -> None:
    assert "the database has no cluster yet" in refused("findings")
    store(a_model())
    assert "did you mean prod?" in refused("findings", "--cluster", "prob")
