"""``manage.py sync --watch``: what it takes and refuses. ``test_real_following.py`` follows a real cluster."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from selection.cluster.kinds import KindListing
from selection.faces.management.commands import sync as module
from selection.store.declarations import Declaration
from selection.store.declared import declare
from selection.store.keeper import Keeper
from selection.store.models import Cluster, StoredObject
from tests.cluster.kubeconfigs import kubeconfig
from tests.store.builders import listed, model, service

from .cli import as_yaml, manage, refused, run

pytestmark = pytest.mark.django_db

BY = Cluster.DeclaredBy


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return kubeconfig(tmp_path / "config")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> list[Keeper]:
    """The keepers that were to run: none of them does."""
    settings.CLUSTERS = settings.CLUSTERS_FILE = ""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    keepers: list[Keeper] = []
    monkeypatch.setattr(Keeper, "run", lambda keeper: keepers.append(keeper))
    return keepers


def own(keepers: list[Keeper]) -> tuple[Declaration, ...]:
    [keeper] = keepers
    return keeper.own


def declared() -> dict[str, str]:
    return dict(Cluster.objects.filter(followed=True).values_list("name", "declared_by"))


def test_a_context_is_declared_by_the_command(path: Path, kept: list[Keeper]) -> None:
    run("sync", "--watch", "--kubeconfig", path, "--cluster", "prod", "--ome-version", "1.2", "--ome-namespace", "sys")
    assert own(kept) == (
        Declaration("prod", context="east", kubeconfig=str(path), ome_namespace="sys", ome_version="1.2"),
    )
    assert declared() == {"prod": "command"}
    cluster = Cluster.objects.get()
    assert (cluster.ome_version, cluster.ome_version_source, cluster.ome_namespace) == ("1.2", "set", "sys")


def test_the_current_context_is_followed_when_nothing_is_declared(
    path: Path, kept: list[Keeper], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(path))
    run("sync", "--watch")
    assert own(kept) == (Declaration("east", context="east"),)


def test_without_anything_it_waits(kept: list[Keeper]) -> None:
    run("sync", "--watch")
    assert own(kept) == ()
    assert declared() == {}


def test_what_is_declared_is_followed_instead_of_the_current_context(
    path: Path, kept: list[Keeper], monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(path))
    settings.CLUSTERS = "lab=in-cluster"
    run("sync", "--watch")
    assert own(kept) == ()
    assert declared() == {"lab": "environment"}


def test_a_cluster_of_the_command_comes_on_top(path: Path, kept: list[Keeper], settings: Settings) -> None:
    settings.CLUSTERS = "lab=in-cluster"
    run("sync", "--watch", "--kubeconfig", path)
    assert [each.name for each in own(kept)] == ["east"]
    assert declared() == {"lab": "environment", "east": "command"}


def test_files_are_not_followed(kept: list[Keeper]) -> None:
    with pytest.raises(CommandError, match="--watch follows a cluster, and files are none") as error:
        call_command("sync", "--watch", "--from", "manifests")
    assert error.value.returncode == 2
    assert not kept


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--context", "nowhere"], "nowhere"),
        (["--cluster", "a\nb"], "--cluster: a cluster's name is 1 to 253 printable characters"),
        (["--ome-namespace", "OME"], "--ome-namespace: a namespace is at most 63 small letters"),
    ],
)
def test_a_wrong_word_is_refused_at_once(arguments: list[str], said: str, path: Path, kept: list[Keeper]) -> None:
    assert said in refused("sync", "--watch", "--kubeconfig", path, *arguments)
    assert not kept
    assert not Cluster.objects.exists()


def test_outside_of_a_cluster_there_is_none_to_follow(kept: list[Keeper]) -> None:
    assert refused("sync", "--watch", "--in-cluster").startswith("not in a cluster, or without a service account")


def test_a_name_that_is_taken_is_refused(path: Path, kept: list[Keeper]) -> None:
    declare(Declaration("east", context="another"), BY.PAGE)
    said = refused("sync", "--watch", "--kubeconfig", path)
    assert said == "east is declared already, by the page, and otherwise"
    assert Cluster.objects.get().context == "another"


def test_it_does_not_start_with_a_mistake_in_the_file(kept: list[Keeper], settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text("- name: east\n")
    settings.CLUSTERS_FILE = str(file)
    assert refused("sync", "--watch").startswith(f"{file}:1: a cluster needs either a context")
    assert not kept


def test_a_mistake_in_the_settings_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text("- name: east\n  contxt: a\n")
    env = {"DATABASE_URL": "", "OME_DASHBOARD_DATA": str(tmp_path), "OME_DASHBOARD_CLUSTERS": "prod="}
    done = manage("check", env={**env, "OME_DASHBOARD_CLUSTERS_FILE": str(file)})
    assert done.code == 1
    assert "(ome_dashboard.E007) OME_DASHBOARD_CLUSTERS: entry 1: a context's name is" in done.err
    assert f"(ome_dashboard.E008) OME_DASHBOARD_CLUSTERS_FILE: {file}:2: contxt is no key of a cluster" in done.err


def test_signals_ask_it_to_end_and_are_given_back(kept: list[Keeper], monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGTERM)
    asked: list[bool] = []

    def step(keeper: Keeper) -> None:
        signal.raise_signal(signal.SIGTERM)
        asked.append(keeper.stopping)

    monkeypatch.setattr(Keeper, "run", step)
    run("sync", "--watch")
    assert asked == [True]
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_database_that_cannot_be_reached_is_said_in_one_line() -> None:
    done = manage("sync", "--watch")
    assert done.code == 1
    assert done.err.startswith("CommandError: the database can't be used")


# --- beside a plain sync -----------------------------------------------------------------------------


def followed(name: str) -> None:
    """Somebody else follows it just now."""
    declare(Declaration(name, context=name), BY.PAGE)
    Cluster.objects.filter(name=name).update(holder="other:1", claim=3, heartbeat_at=timezone.now())


def test_files_do_not_replace_a_cluster_that_is_followed(tmp_path: Path) -> None:
    followed("east")
    file = tmp_path / "east.yaml"
    file.write_text(as_yaml(model()))
    said = refused("sync", "--from", file)
    assert said == "east: other:1 follows a cluster of this name; give --cluster another one"
    assert not StoredObject.objects.exists()


def test_a_plain_sync_gives_way_to_a_process_that_begins_to_follow(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(connection: object, ome_namespace: str) -> Iterator[KindListing]:
        listings = listed([model(), service("old")])
        yield from listings[:5]
        followed("east")
        yield from listings[5:]

    monkeypatch.setattr(module, "read_cluster", read)
    said = refused("sync", "--kubeconfig", path)
    assert said == "east: other:1 follows it now: what was read here is older than that"
    assert not StoredObject.objects.filter(name="old").exists()
