"""``manage.py diff`` says what changed for services between two states."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from selection.store.models import Cluster
from tests.rules.manifests import Manifest, a_model, a_runtime, a_service, an_entry, moded

from .cli import NOWHERE, manage, refused, run, run_json

BEFORE = [a_model(), a_runtime("fast"), a_service()]
SLOW = a_runtime("slow", None, an_entry(priority=3))


def kept(path: Path, *objects: Manifest) -> Path:
    path.write_text(yaml.safe_dump_all(objects))
    return path


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return kept(tmp_path / "before.yaml", *BEFORE)


def test_it_tells_the_service_the_change_and_the_object_that_reaches_it(before: Path, tmp_path: Path) -> None:
    after = kept(tmp_path / "after.yaml", *BEFORE, SLOW)
    lines = run("diff", before, after).splitlines()
    assert lines[0] == f"before: {before}"
    assert "1 service differs (1 different), of 1 before and 1 after" in lines
    [row] = [line.split("   ") for line in lines if "another-runtime" in line]
    assert [part.strip() for part in row if part.strip()] == [
        "different",
        "team/chat",
        "another-runtime",
        "ClusterServingRuntime fast",
        "ClusterServingRuntime slow",
        "ClusterServingRuntime slow (added)",
    ]
    assert any(line.split() == ["ClusterServingRuntime", "slow", "added", "-"] for line in lines)


def test_a_field_that_differs_is_named_with_both_values(before: Path, tmp_path: Path) -> None:
    other = a_runtime("fast", engineConfig=moded("OMENative"))
    told = run("diff", before, kept(tmp_path / "after.yaml", a_model(), other, a_service()))
    assert 'spec.engineConfig: not there → {"annotations":' in told
    assert "mode-changes (engine)" in told


def test_json_has_all_of_it(before: Path, tmp_path: Path) -> None:
    told = run_json("diff", before, kept(tmp_path / "after.yaml", a_model(), a_service()))
    assert (told["before"], told["services_changed"], told["tendencies"]["worse"]) == (str(before), 1, 1)
    [changed] = told["services"]
    assert changed["changes"][0]["code"] == "loses-runtime"
    assert [(each["object"]["name"], each["act"]) for each in told["objects"]] == [("fast", "deleted")]


def test_the_same_state_differs_in_nothing(before: Path) -> None:
    assert "nothing differs that could decide something (1 service)" in run("diff", before, before)


def test_it_needs_no_database(before: Path, tmp_path: Path) -> None:
    after = kept(tmp_path / "after.yaml", *BEFORE, SLOW)
    environment = {"DATABASE_URL": NOWHERE}
    assert manage("diff", before, after, "--exit-code", env=environment).code == 1
    assert manage("diff", before, before, "--exit-code", env=environment).code == 0
    assert manage("diff", before, after, env=environment).code == 0


@pytest.mark.django_db
def test_a_snapshot_beside_its_cluster_as_it_is_now(tmp_path: Path) -> None:
    run("demo")
    path = tmp_path / "lab.gz"
    run("snapshot", "--cluster", "us-lab", "-o", path)
    assert "nothing differs" in run("diff", path, "--cluster", "us-lab")
    Cluster.objects.filter(name="us-lab").update(ome_version="1.3")
    told = run("diff", path, "--cluster", "us-lab")
    assert "(us-lab as of 20" in told
    assert "judged by OME 1.2 before and by OME 1.3 after" in told
    assert "judged by" not in run("diff", path, "--cluster", "us-lab", "--ome-version", "1.3")


def test_what_is_wrong_is_one_line(before: Path, tmp_path: Path) -> None:
    nothing = kept(tmp_path / "nothing.yaml", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    assert "two states are needed" in refused("diff", before)
    assert "two states are needed" in refused("diff", before, before, before)
    assert "two states are needed" in refused("diff", before, before, "--cluster", "a")
    assert refused("diff", before, nothing) == f"{nothing}: no object of a kind that OME knows"
    assert "no such file" in refused("diff", before, tmp_path / "missing.yaml")
