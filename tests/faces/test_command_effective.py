"""``manage.py effective``: a runtime with what it inherits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.store.builders import runtime, sync

from .cli import as_yaml, manage, refused, run, run_json

INHERIT = "ome.io/inherit-from"


def child(name: str, parent: str, namespace: str = "", **spec: Any) -> dict[str, Any]:
    return runtime(name, namespace, annotations={INHERIT: parent}, supportedModelFormats=None, **spec)


FLEET = [
    runtime(
        "base", disabled=True, modelSizeRange={"min": "1B"}, engineConfig={"runner": {"name": "x", "image": "a:1"}}
    ),
    child("middle", "base", disabled=False, engineConfig={"runner": {"name": "x", "args": ["--verbose"]}}),
    child("leaf", "middle", modelSizeRange={"max": "9B"}),
    child("mine", "leaf", "ml"),
    child("mine", "base"),
    child("orphan", "nobody"),
    child("loop", "loop"),
    child("odd", "base", engineConfig=5),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(as_yaml(*FLEET))
    return path


def test_json_has_the_chain_root_first_and_the_merged_spec(file: Path) -> None:
    value = run_json("effective", "leaf", "-f", file)
    assert value.keys() == {"runtime", "chain", "problem", "spec"}
    assert value["runtime"] == {"kind": "ClusterServingRuntime", "namespace": None, "name": "leaf"}
    assert value["chain"] == ["base", "middle", "leaf"]
    assert value["problem"] is None
    spec = value["spec"]
    assert spec["disabled"] is False
    assert spec["modelSizeRange"] == {"min": "1B", "max": "9B"}
    assert spec["engineConfig"]["runner"] | {"resources": {}} == {
        "name": "x", "image": "a:1", "args": ["--verbose"], "resources": {},
    }  # fmt: skip


def test_a_namespace_comes_before_the_cluster(file: Path) -> None:
    assert run_json("effective", "mine", "-n", "ml", "-f", file)["chain"] == ["base", "middle", "leaf", "mine"]
    assert run_json("effective", "mine", "-n", "other", "-f", file)["chain"] == ["base", "mine"]
    assert run_json("effective", "mine", "-f", file)["runtime"]["kind"] == "ClusterServingRuntime"


def test_a_runtime_without_a_parent_is_its_own_chain(file: Path) -> None:
    value = run_json("effective", "base", "-f", file)
    assert (value["chain"], value["spec"]["disabled"]) == (["base"], True)


def test_v12_inherits_nothing(file: Path) -> None:
    assert run_json("effective", "leaf", "-f", file, "--ome-version", "1.2")["chain"] == ["leaf"]


@pytest.mark.parametrize(
    ("name", "reason", "message"),
    [
        ("orphan", "ParentNotFound", 'inherit-from parent "nobody" not found (chain so far: [orphan])'),
        ("loop", "InheritanceCycle", "inheritance cycle detected: [loop loop]"),
    ],
)
def test_a_broken_chain_has_a_problem_and_no_spec(file: Path, name: str, reason: str, message: str) -> None:
    value = run_json("effective", name, "-f", file)
    assert value["problem"] == {"reason": reason, "message": message}
    assert value["spec"] is None
    assert f"{reason}: {message}" in run("effective", name, "-f", file)


def test_the_table_shows_the_chain_and_the_spec(file: Path) -> None:
    chain, spec = run("effective", "mine", "-n", "ml", "-f", file).split("\n\n", 1)
    assert [line.split() for line in chain.splitlines()[1:]] == [
        ["base", "Cluster", "-", "Yes"],
        ["middle", "Cluster", "-", "No"],
        ["leaf", "Cluster", "-", "No"],
        ["mine", "Namespaced", "ml", "No"],
    ]
    assert yaml.safe_load(spec)["spec"] == run_json("effective", "mine", "-n", "ml", "-f", file)["spec"]


def test_yaml_is_the_same_value(file: Path) -> None:
    assert yaml.safe_load(run("effective", "leaf", "-f", file, "-o", "yaml")) == run_json(
        "effective", "leaf", "-f", file
    )


def test_a_runtime_that_is_not_there_is_said_with_where_to_look(file: Path, tmp_path: Path) -> None:
    assert refused("effective", "leef", "-f", file) == "there is no runtime leef at cluster scope; did you mean leaf?"
    path = tmp_path / "mine.yaml"
    path.write_text(as_yaml(runtime("mine", "ml")))
    assert refused("effective", "mine", "-f", path) == (
        "there is no runtime mine at cluster scope; there is one in namespace ml: say which with -n"
    )
    assert refused("effective", "zzz", "-n", "ml", "-f", path) == (
        "there is no runtime zzz in namespace ml or at cluster scope"
    )


def test_a_runtime_that_cannot_be_read_says_where(file: Path) -> None:
    assert refused("effective", "odd", "-f", file) == (
        "ClusterServingRuntime odd can't be read: spec.engineConfig: expected an object, found the number 5"
    )


@pytest.mark.django_db
def test_it_looks_into_the_clusters() -> None:
    sync("east", *FLEET)
    sync("west", FLEET[0], runtime("western"))
    assert run_json("effective", "leaf")["chain"] == ["base", "middle", "leaf"]
    assert run_json("effective", "base", "--cluster", "west")["chain"] == ["base"]
    assert refused("effective", "base") == "it is in several clusters (east, west): say which with --cluster"


def test_at_a_shell_it_needs_no_database(file: Path) -> None:
    done = manage("effective", "leaf", "-f", "-", "-o", "json", stdin=file.read_text())
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["chain"] == ["base", "middle", "leaf"]
    assert manage("effective").code == 2
