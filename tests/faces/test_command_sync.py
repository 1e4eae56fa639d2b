"""``manage.py sync``: what it says and how it ends. ``tests/store/test_real_cluster.py`` runs it on a real cluster."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from selection.cluster.files import read_paths
from selection.cluster.kinds import KINDS, KindListing
from selection.faces.management.commands import sync as module
from selection.store.models import Cluster, KindSync, ServiceResult, StoredObject
from tests.store.builders import BY_KIND, brought, listed, manager, model, runtime, service
from tests.store.databases import OwnDatabase, own_database, template_database

from .cli import ROOT, as_yaml, manage, refused, run

__all__ = ["own_database", "template_database"]

pytestmark = pytest.mark.django_db

FLEET = [model(), runtime("vllm"), service("chat"), service("search"), manager("ome-manager:v1.2.2")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "east.d"
    path.mkdir()
    (path / "fleet.yaml").write_text(as_yaml(*FLEET))
    return path


def names(cluster: str) -> set[str]:
    return set(StoredObject.objects.filter(cluster__name=cluster).values_list("name", flat=True))


# --- files -------------------------------------------------------------------------------------------


def test_a_folder_stands_for_a_cluster(folder: Path) -> None:
    assert run("sync", "--from", folder) == "east: 5 objects read, 5 changed, 2 services judged by OME 1.2\n"
    assert run("sync", "--from", folder) == "east: 5 objects read, 0 changed, 2 services judged by OME 1.2\n"
    cluster = Cluster.objects.get()
    assert (cluster.name, cluster.source) == ("east", f"files: {folder}")
    assert set(KindSync.objects.values_list("kind", "outcome")) == {(kind.kind, "complete") for kind in KINDS}


def test_the_name_and_the_release_may_be_given(folder: Path) -> None:
    said = run(
        "sync", "--from", folder, "--cluster", "what if", "--ome-version", "1.3", "--ome-namespace", "ome-system"
    )
    assert said == "what if: 5 objects read, 5 changed, 2 services judged by OME 1.3\n"
    cluster = Cluster.objects.get()
    assert (cluster.name, cluster.ome_version_source, cluster.ome_namespace) == ("what if", "set", "ome-system")
    run("sync", "--from", folder, "--cluster", "what if", "--ome-version", "auto", "--ome-namespace", "ome")
    cluster.refresh_from_db()
    assert (cluster.ome_version, cluster.ome_version_source) == ("1.2", "detected")


def test_several_sources_are_one_cluster(folder: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.json"
    more.write_text(json.dumps(service("more")))
    assert "6 objects read" in run("sync", "--from", folder, "--from", more)
    assert Cluster.objects.get().name == "east"


def test_what_is_not_in_the_files_any_more_goes(folder: Path) -> None:
    run("sync", "--from", folder)
    (folder / "fleet.yaml").write_text(as_yaml(*FLEET[:3]))
    assert run("sync", "--from", folder) == "east: 3 objects read, 2 changed, 1 services judged by OME 1.3\n"
    assert names("east") == {"llama", "vllm", "chat"}


def test_what_cannot_be_used_is_said_and_the_rest_is_stored(folder: Path) -> None:
    broken = folder / "broken.yaml"
    broken.write_text("a: [\n---\n" + as_yaml(service("late"), {**service("x"), "metadata": {}}))
    errors = io.StringIO()
    call_command("sync", "--from", str(folder), stdout=io.StringIO(), stderr=errors)
    assert names("east") == {"llama", "vllm", "chat", "search", "ome-controller-manager", "late"}
    first, second = errors.getvalue().splitlines()
    assert first.startswith(f"not used: {broken}:2:1: not YAML")
    assert second.startswith(f"not used: {broken}:")
    assert second.endswith(": InferenceService without metadata.name")


@pytest.mark.parametrize("text", ["", "# nothing\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "a: ["])
def test_files_without_any_object_change_nothing(folder: Path, text: str) -> None:
    run("sync", "--from", folder)
    (folder / "fleet.yaml").write_text(text)
    assert refused("sync", "--from", folder) == (f"{folder}: no object of a kind that OME knows; nothing was changed")
    assert len(names("east")) == 5


def test_a_path_that_is_not_there_is_named(folder: Path) -> None:
    missing = folder / "missing"
    assert refused("sync", "--from", folder, "--from", missing) == f"{missing}: no such file or directory"
    assert not Cluster.objects.exists()


def test_the_root_of_the_file_system_has_no_name_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    text = as_yaml(*FLEET).encode()
    monkeypatch.setattr(module, "read_paths", lambda paths, stdin: read_paths(["-"], io.BytesIO(text)))
    assert run("sync", "--from", "/").startswith("files: 5 objects read")


# --- wrong settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--cluster", "n" * 254, "--cluster: at most 253 printable characters, please"),
        ("--cluster", "a\nb", "--cluster: at most 253 printable characters, please"),
        ("--cluster", "a\udc80", "--cluster: at most 253 printable characters, please"),
        ("--ome-namespace", "n" * 64, "--ome-namespace: at most 63 printable characters, please"),
    ],
)
def test_names_that_cannot_be_stored_are_refused(folder: Path, option: str, text: str, message: str) -> None:
    assert refused("sync", "--from", folder, option, text) == message
    assert not Cluster.objects.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--from", "x", "--context", "y"],
        ["--in-cluster", "--context", "y"],
        ["--in-cluster", "--kubeconfig", "y"],
        ["--from", "x", "--kubeconfig", "y"],
        ["--from", "x", "--ome-version", "1.1"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    assert manage("sync", *arguments).code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kubeconfig", "/nowhere/config"], "no kubeconfig: /nowhere/config not found"),
        (["--in-cluster"], "not in a cluster, or without a service account"),
    ],
    ids=["kubeconfig", "in-cluster"],
)
def test_a_cluster_that_is_not_configured_is_said(arguments: list[str], message: str, monkeypatch: Any) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert refused("sync", *arguments).startswith(message)


def test_a_context_that_is_not_there_is_said_with_those_that_are(tmp_path: Path) -> None:
    path = tmp_path / "config"
    cluster = {"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}
    path.write_text(json.dumps({"clusters": [cluster], "contexts": [{"name": "east", "context": {"cluster": "c"}}]}))
    said = refused("sync", "--kubeconfig", path, "--context", "eats")
    assert said == f"{path}: no context 'eats'; did you mean east?"


# --- a cluster that answers for some kinds ------------------------------------------------------------


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[KindListing]]:
    """A kubeconfig, and the listings that its cluster answers with."""
    path = tmp_path / "config"
    cluster = {"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}
    context = {"name": "east", "context": {"cluster": "c"}}
    path.write_text(json.dumps({"current-context": "east", "clusters": [cluster], "contexts": [context]}))
    listings = listed(FLEET)
    monkeypatch.setattr(
        "selection.faces.management.commands.sync.read_cluster", lambda connection, ome_namespace: iter(listings)
    )
    return path, listings


def replace(listings: list[KindListing], kind: str, outcome: Any, reason: str) -> None:
    at = [each.kind for each in listings].index(BY_KIND[kind])
    listings[at] = KindListing(BY_KIND[kind], outcome, reason)


def ended(path: Path) -> tuple[str, str, str]:
    """What a sync prints, what it complains about, and the line it ends with."""
    output, errors, last = io.StringIO(), io.StringIO(), ""
    try:
        call_command("sync", "--kubeconfig", str(path), stdout=output, stderr=errors)
    except CommandError as error:
        last = str(error)
    return output.getvalue(), errors.getvalue(), last


def test_a_context_names_the_cluster(answers: tuple[Path, list[KindListing]]) -> None:
    path, _ = answers
    assert ended(path) == ("east: 5 objects read, 5 changed, 2 services judged by OME 1.2\n", "", "")
    assert Cluster.objects.get().source == "east at https://127.0.0.1:1"


def test_a_kind_that_is_forbidden_or_not_served_is_said_and_is_no_failure(
    answers: tuple[Path, list[KindListing]],
) -> None:
    path, listings = answers
    replace(listings, "InferenceReplica", "forbidden", "may not list")
    replace(listings, "LeaderWorkerSet", "not-served", "no such group")
    output, errors, last = ended(path)
    assert output.startswith("east: 5 objects read")
    assert errors.splitlines() == [
        "east: InferenceReplica: forbidden: may not list",
        "east: LeaderWorkerSet: not-served: no such group",
    ]
    assert last == ""


def test_a_kind_that_fails_is_a_failure_and_the_rest_is_stored(answers: tuple[Path, list[KindListing]]) -> None:
    path, listings = answers
    replace(listings, "BaseModel", "failed", "cut off")
    replace(listings, "Deployment", "failed", "cut off")
    output, errors, last = ended(path)
    assert output.startswith("east: 4 objects read")
    assert len(errors.splitlines()) == 2
    assert last == "east: BaseModel, Deployment could not be read; what was stored of them stays"
    assert ServiceResult.objects.count() == 2


def test_when_nothing_could_be_read_one_line_says_why(answers: tuple[Path, list[KindListing]]) -> None:
    path, listings = answers
    ended(path)
    for kind in BY_KIND:
        replace(listings, kind, "failed", "connection refused")
    assert ended(path) == ("", "", "east: connection refused; what was stored before stays")
    assert len(names("east")) == 5


def test_a_cluster_that_is_forgotten_meanwhile_is_said(
    answers: tuple[Path, list[KindListing]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(connection: Any, ome_namespace: str) -> Iterator[KindListing]:
        yield from listed(FLEET)[:3]
        Cluster.objects.all().delete()
        yield from listed(FLEET)[3:]

    monkeypatch.setattr(module, "read_cluster", read)
    assert ended(answers[0]) == ("", "", "east: it was forgotten while it was read")
    assert not StoredObject.objects.exists()


def test_ome_is_looked_for_where_it_is_said_to_be(
    answers: tuple[Path, list[KindListing]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def read(connection: Any, ome_namespace: str) -> list[KindListing]:
        asked.append(ome_namespace)
        return [brought("BaseModel")]

    monkeypatch.setattr("selection.faces.management.commands.sync.read_cluster", read)
    for arguments in ([], ["--ome-namespace", "ome-system"], []):
        run("sync", "--kubeconfig", answers[0], *arguments)
    assert asked == ["ome", "ome-system", "ome-system"]


# --- at a shell --------------------------------------------------------------------------------------


def test_it_reads_standard_input_and_shows_no_bar_to_a_pipe(own_database: OwnDatabase) -> None:
    done = manage("sync", "--from", "-", env=own_database.env, stdin=as_yaml(*FLEET))
    assert (done.code, done.err) == (0, "")
    assert done.out == "files: 5 objects read, 5 changed, 2 services judged by OME 1.2\n"


def test_it_shows_a_bar_on_a_terminal(own_database: OwnDatabase, folder: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "sync", "--from", str(folder)],
        cwd=ROOT,
        env={**os.environ, **own_database.env},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    output, _ = process.communicate(timeout=120)
    os.set_blocking(ours, False)
    shown = os.read(ours, 100_000).decode()
    os.close(theirs)
    os.close(ours)
    assert process.returncode == 0, shown
    assert output.decode() == "east: 5 objects read, 5 changed, 2 services judged by OME 1.2\n"
    assert "/10 [" in shown


def test_a_database_that_is_not_migrated_is_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    env = {"DATABASE_URL": f"sqlite:///{tmp_path / 'new.sqlite3'}"}
    for arguments in (["sync", "--from", folder], ["demo"]):
        done = manage(*arguments, env=env)
        assert (done.code, done.out) == (1, "")
        assert done.err == (
            "CommandError: the database can't be used (no such table: store_cluster): run `manage.py migrate` first\n"
        )


def test_a_reader_that_goes_away_is_no_failure_to_tell_of(folder: Path) -> None:
    command = f"{sys.executable} manage.py explain -f {folder} --isvc ml/chat -o json | true"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, check=False, timeout=120)
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr
