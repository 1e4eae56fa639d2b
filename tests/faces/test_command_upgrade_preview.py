"""The command ``upgrade-preview``."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.faces.cli import as_yaml, manage, refused, run, run_json
from tests.faces.clusters import store
from tests.rules.manifests import Manifest, a_model, a_runtime, a_service, moded

SHAPED: Manifest = {"leader": {}, "worker": {}}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A cluster that nobody may connect to, as files."""
    path = tmp_path / "cluster.yaml"
    service = a_service(kedaConfig={"enableKeda": True})
    path.write_text(as_yaml(a_model(), a_runtime(engineConfig=SHAPED), service))
    return path


def test_files_are_judged_without_a_database(files: Path) -> None:
    result = manage("upgrade-preview", "-f", files, "--ome-version", "1.2")

    assert result.code == 0
    assert "Go after 2 decisions; nothing blocks; 1 of 1 service would change." in result.out
    assert "kubectl get crd podmonitors.monitoring.coreos.com" not in result.out, "OMENative needs no PodMonitor"
    assert "moves-by-shape engine" in result.out
    assert "spec.kedaConfig" in result.out
    assert "already runs" not in result.out


def test_the_same_comes_as_json_csv_and_markdown(files: Path) -> None:
    (value,) = run_json("upgrade-preview", "-f", files)
    lines = list(csv.DictReader(io.StringIO(run("upgrade-preview", "-f", files, "-o", "csv"))))
    document = run("upgrade-preview", "-f", files, "-o", "markdown")

    assert (value["cluster"], value["from"], value["to"], value["verdict"]) == (None, "1.2", "1.3", "decide")
    assert value["services"][0]["pin"]["holds"] == [{"code": "moves-by-shape", "component": "engine"}]
    assert [line["code"] for line in lines] == ["moves-by-shape", "field-dropped"]
    assert document.startswith("# Upgrade from OME v1.2 to v1.3\n")
    assert "The cluster already runs v1.3: this is what the upgrade would have changed." in document


@pytest.mark.django_db
def test_a_stored_cluster_is_judged_whichever_release_it_runs() -> None:
    several = (a_service(f"held-{number}", engine=moded("MultiNode", scaleTarget=5)) for number in range(3))
    store(a_model(), a_runtime(engineConfig=SHAPED), a_service(), *several, name="lab", version="1.2")

    (value,) = run_json("upgrade-preview", "--cluster", "lab")

    assert (value["cluster"], value["runs"], value["services_changed"]) == ("lab", "1.2", 1)
    assert [each["path"] for each in value["objects"]] == ["spec.engine.scaleTarget"] * 3
    assert run("upgrade-preview").startswith("lab: Go after 4 decisions; ")


@pytest.mark.django_db
def test_what_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    store(a_model(), name="lab")

    assert "there is no cluster 'lob'; did you mean lab?" in refused("upgrade-preview", "--cluster", "lob")
    assert "nowhere" in refused("upgrade-preview", "-f", tmp_path / "nowhere")


def test_both_sources_at_once_are_a_wrong_use(files: Path) -> None:
    assert manage("upgrade-preview", "-f", files, "--cluster", "lab").code == 2
    assert manage("upgrade-preview", "-f", files.parent / "nowhere.yaml").code == 1
