"""Several processes share a database, and some of them die."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faces.cli import ROOT, as_yaml, manage
from tests.store.builders import MODE, Manifest, model, runtime, service
from tests.store.databases import OwnDatabase, copied

KILLED = -signal.SIGKILL

DYING = """
import os, signal, sys
import django
django.setup()
from django.core.management import call_command
from django.db.models import QuerySet
from selection.store import derive_runtimes, evaluate, sync
from selection.store.models import StoredObject

def die(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)

moment, path = sys.argv[1:]
if moment == "in a kind":
    write = QuerySet.bulk_create
    def bulk_create(rows, objects, *args, **options):
        written = write(rows, objects, *args, **options)
        if rows.model is StoredObject and objects and objects[0].kind == "InferenceService":
            die()
        return written
    QuerySet.bulk_create = bulk_create
elif moment == "between kinds":
    store = sync.store_kind
    def store_kind(cluster, listing, claim):
        return die() if listing.kind.kind == "InferenceService" else store(cluster, listing, claim)
    sync.store_kind = store_kind
elif moment == "in judging":
    evaluate.write_models = die
call_command("sync", paths=[path], cluster="east")
"""


def manifests(folder: Path, name: str, objects: Iterable[Manifest]) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(as_yaml(*objects))
    return path


def sync(database: OwnDatabase, path: Path) -> str:
    done = manage("sync", "--from", path, "--cluster", "east", env=database.env)
    assert done.code == 0, done.err
    return done.out


def objects(database: OwnDatabase, cluster: str = "east") -> dict[str, set[tuple[str, str]]]:
    """By kind, the name and digest of every object of a cluster."""
    found: dict[str, set[tuple[str, str]]] = {}
    query = "SELECT kind, o.name, digest FROM store_storedobject o JOIN store_cluster c ON o.cluster_id = c.id"
    for kind, name, digest in database.ask(f"{query} WHERE c.name = '{cluster}'"):
        found.setdefault(kind, set()).add((name, digest))
    return found


DERIVED = {
    "store_serviceresult": "namespace, name, outcome, selected_name, score, qualified, message, admitted",
    "store_componentresult": "component, running, running_source, conflict, migration",
    "store_conflictrow": "namespace, service, code, runtime_name",
    "store_runtimeresult": "kind, name, selected_by, named_by, formats",
    "store_modelresult": "kind, name, qualified, first_name, services, size",
    "store_finding WHERE gone_at IS NULL": "kind, name, component, code, about, path",
}


def answers(database: OwnDatabase) -> dict[str, list[tuple[object, ...]]]:
    """All that is derived, without keys and times."""
    return {
        table: sorted(database.ask(f"SELECT {columns} FROM {table}"), key=str) for table, columns in DERIVED.items()
    }


def settled(database: OwnDatabase) -> bool:
    """Whether the answers are those of the objects, as the database says itself and as a rebuild finds."""
    generations = database.ask("SELECT generation, evaluated_generation FROM store_cluster")
    done = manage("rebuild", env=database.env)
    unchanged = all(line.endswith(", 0 rows changed") for line in done.out.splitlines())
    return unchanged and all(generation == evaluated for generation, evaluated in generations)


@dataclass(frozen=True)
class Change:
    """Two states of a cluster; ``database`` holds the old one. ``objects`` are those of each."""

    old: Path
    new: Path
    database: OwnDatabase
    objects: dict[str, dict[str, set[tuple[str, str]]]]


@pytest.fixture(scope="module")
def change(template_database: OwnDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Change]:
    """Another runtime; half of the services gone, the others changed, as many new ones."""
    folder = tmp_path_factory.mktemp("change")
    services = [service(f"chat-{number}") for number in range(40)]
    old = manifests(folder, "old", [model(), runtime("vllm"), *services])
    services = [service(f"chat-{number}", deploymentMode="OMENative") for number in range(20, 60)]
    sglang = runtime("sglang", engineConfig={"annotations": {MODE: "OMENative"}})
    new = manifests(folder, "new", [model(modelParameterSize="7B"), sglang, *services])
    with copied(template_database, folder) as database:
        sync(database, new)
        after = objects(database)
        sync(database, old)
        yield Change(old, new, database, {"old": objects(database), "new": after})


@pytest.fixture
def database(change: Change, tmp_path: Path) -> Iterator[OwnDatabase]:
    """A database that holds the old state."""
    with copied(change.database, tmp_path) as own:
        yield own


@pytest.mark.parametrize("moment", ["in a kind", "between kinds", "in judging"])
def test_a_sync_that_is_killed_leaves_whole_kinds_and_whole_answers(
    moment: str, change: Change, database: OwnDatabase
) -> None:
    before = answers(database)
    done = subprocess.run(
        [sys.executable, "-c", DYING, moment, str(change.new)],
        cwd=ROOT,
        env={**os.environ, **database.env, "DJANGO_SETTINGS_MODULE": "ome_dashboard.settings"},
        check=False,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == KILLED, done.stderr
    found = objects(database)
    reached = "new" if moment == "in judging" else "old"
    assert found["InferenceService"] == change.objects[reached]["InferenceService"]
    assert found["ClusterServingRuntime"] == change.objects["new"]["ClusterServingRuntime"]
    assert answers(database) == before, "nobody sees half of the new answers"
    [(generation, evaluated)] = database.ask("SELECT generation, evaluated_generation FROM store_cluster")
    assert evaluated < generation, "and everybody can tell that they are old"

    sync(database, change.new)
    assert objects(database) == change.objects["new"]
    assert settled(database)


def test_a_sync_that_is_killed_at_any_moment_leaves_whole_kinds(change: Change, database: OwnDatabase) -> None:
    process = started(database, change.new)
    time.sleep(0.5 + random.random())
    process.kill()
    process.wait(timeout=60)
    for kind, found in objects(database).items():
        assert found in (change.objects["old"][kind], change.objects["new"][kind]), kind
    sync(database, change.old)
    assert objects(database) == change.objects["old"]
    assert settled(database)


def test_syncs_at_the_same_time_end_in_whole_states(change: Change, database: OwnDatabase) -> None:
    runs = [("east", change.new), ("east", change.old), ("east", change.new), ("west", change.new)]
    for process in [started(database, path, name) for name, path in runs]:
        output, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
        assert b"42 objects read" in output
    for kind, found in objects(database).items():
        assert found in (change.objects["old"][kind], change.objects["new"][kind]), kind
    assert objects(database, "west") == change.objects["new"]
    assert settled(database)


def started(database: OwnDatabase, path: Path, name: str = "east") -> subprocess.Popen[bytes]:
    """A sync that has just begun."""
    return subprocess.Popen(
        [sys.executable, "manage.py", "sync", "--from", str(path), "--cluster", name],
        cwd=ROOT,
        env={**os.environ, **database.env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
