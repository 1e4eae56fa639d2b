"""``manage.py snapshot`` writes a file that every command which reads manifests takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from selection.cluster.snapshots import read_snapshot
from selection.store.models import Cluster, KindSync, ServiceResult

from .cli import refused, run, run_json

pytestmark = pytest.mark.django_db


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The demo's older cluster, as a file."""
    run("demo")
    path = tmp_path / "lab.ome-snapshot.gz"
    told = run("snapshot", "--cluster", "us-lab", "-o", path)
    assert told.startswith(f"{path}: ")
    assert " objects of us-lab, " in told
    return path


def test_reading_it_gives_the_cluster_again_under_the_name_of_the_file(kept: Path) -> None:
    told = run("sync", "--from", kept)
    lab, again = Cluster.objects.get(name="us-lab"), Cluster.objects.get(name="lab")
    assert told.startswith("lab: ")
    assert (again.ome_version, again.ome_version_source) == (lab.ome_version, "set") == ("1.2", "set")
    assert again.source.startswith("a snapshot of us-lab as of 20")
    fields = ("namespace", "name", "outcome", "selected_name", "modes", "conflicts")
    services = ServiceResult.objects.order_by("namespace", "name")
    assert list(services.filter(cluster=again).values_list(*fields)) == list(
        services.filter(cluster=lab).values_list(*fields)
    )
    then = KindSync.objects.get(cluster=lab, kind="InferenceService").confirmed_at
    assert KindSync.objects.get(cluster=again, kind="InferenceService").listed_at == then


def test_the_release_that_somebody_says_goes_before_the_snapshots(kept: Path) -> None:
    run("sync", "--from", kept, "--cluster", "new", "--ome-version", "1.3")
    assert Cluster.objects.get(name="new").ome_version == "1.3"


def test_commands_judge_it_as_the_cluster_by_its_release(kept: Path) -> None:
    for namespace, name in ServiceResult.objects.filter(cluster__name="us-lab").values_list("namespace", "name")[:5]:
        of_file, of_cluster = (
            run_json("explain", "--isvc", f"{namespace}/{name}", "-f", kept),
            run_json("explain", "--isvc", f"{namespace}/{name}", "--cluster", "us-lab"),
        )
        # Of a file, everything in it that can't be read is told.
        differing: dict[str, object] = {"cluster": None, "problems": []}
        assert {**of_file, **differing} == {**of_cluster, **differing}
    [preview] = run_json("upgrade-preview", "-f", kept)
    [stored] = run_json("upgrade-preview", "--cluster", "us-lab")
    assert {**preview, "cluster": None} == {**stored, "cluster": None}


def test_several_clusters_need_a_name(kept: Path) -> None:
    assert "say --cluster and one of eu-prod, us-lab" in refused("snapshot")
    assert "did you mean us-lab" in refused("snapshot", "--cluster", "us-lap")


def test_a_file_that_is_there_is_replaced_only_when_told(kept: Path) -> None:
    before = kept.read_bytes()
    assert refused("snapshot", "--cluster", "us-lab", "-o", kept) == (
        f"{kept}: it is there already; give --force to replace it"
    )
    assert kept.read_bytes() == before
    run("snapshot", "--cluster", "eu-prod", "-o", kept, "--force")
    assert read_snapshot(kept).head.cluster == "eu-prod"


def test_a_folder_that_is_not_there_is_told_and_nothing_is_left(kept: Path) -> None:
    told = refused("snapshot", "--cluster", "us-lab", "-o", kept.parent / "no" / "lab.gz")
    assert told.endswith("no such file or directory")
    assert [each.name for each in kept.parent.iterdir()] == [kept.name]


def test_a_file_that_was_cut_off_changes_nothing(kept: Path) -> None:
    kept.write_bytes(kept.read_bytes()[:-20])
    assert "cut off" in refused("sync", "--from", kept)
    assert "cut off" in refused("upgrade-preview", "-f", kept)
    assert not Cluster.objects.filter(name="lab").exists()
