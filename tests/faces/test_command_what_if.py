"""The command ``what-if``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faces.cli import as_yaml, manage, run
from tests.faces.clusters import store
from tests.rules.manifests import a_model, a_runtime, a_service


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A model, a runtime and a service as files."""
    path = tmp_path / "cluster.yaml"
    path.write_text(as_yaml(a_model(), a_runtime(), a_service()))
    return path


def test_on_nothing_it_needs_no_database(files: Path) -> None:
    result = manage("what-if", files, "--on-nothing")
    assert result.code == 0
    assert "1 service differs: 1 otherwise. Judged on nothing by OME v1.3." in result.out
    assert "fast (engine RawDeployment)" in result.out


def test_something_worse_is_an_exit_code_of_one(tmp_path: Path) -> None:
    path = tmp_path / "service.yaml"
    path.write_text(as_yaml(a_service()))
    result = manage("what-if", path, "--on-nothing", "-o", "json")
    assert result.code == 1
    told = json.loads(result.out)
    assert (told["cluster"], told["worse"], told["objects"][0]["admission"]["allowed"]) == (None, True, False)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "nothing is given: name manifests, or what to --delete"),
        (["nowhere.yaml"], "nowhere.yaml: no such file or directory"),
        (["--delete", "x"], "to delete: 'x' is not KIND NAMESPACE/NAME or KIND NAME"),
        (["--delete", "BaseModel/a/b", "--ome-version", "1.2"], "--ome-version is for --on-nothing"),
        (["--delete", "BaseModel/a/b"], "the database can't be used"),
    ],
)
def test_what_is_refused_is_an_exit_code_of_two(arguments: list[str], told: str) -> None:
    result = manage("what-if", *arguments)
    assert result.code == 2
    assert told in result.err
    assert "Traceback" not in result.err


def test_every_place_that_is_wrong_is_printed(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(as_yaml(a_service(), a_service()))
    (tmp_path / "b.yaml").write_text("a: [\n")
    result = manage("what-if", tmp_path, "--on-nothing")
    assert result.code == 2
    assert "InferenceService team/chat is already in" in result.err
    assert "b.yaml:2:1: not YAML" in result.err


@pytest.mark.django_db
def test_the_only_cluster_need_not_be_named() -> None:
    store(a_model(), a_runtime(), a_service(), name="lab")
    with pytest.raises(SystemExit) as ended:
        run("what-if", "--delete", "ClusterServingRuntime/fast", "--delete", "BaseModel/none")
    assert ended.value.code == 1


@pytest.mark.django_db
def test_it_prints_both_sides(tmp_path: Path) -> None:
    store(a_model(), a_service(), name="lab")
    path = tmp_path / "runtime.yaml"
    path.write_text(as_yaml(a_runtime()) + "---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n")
    text = run("what-if", path, "--cluster", "lab", "--delete", "BaseModel/none")
    assert "1 service differs: 1 better off. Judged on top of lab by OME v1.3." in text
    assert "Note: 1 object of kinds that aren't read. It plays no part." in text
    assert "Note: 1 object to delete isn't there: BaseModel default/none." in text
    assert "gets-runtime, admitted-now" in text
