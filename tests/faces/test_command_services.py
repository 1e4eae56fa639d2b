"""``manage.py services``: every service with what it gets."""

from __future__ import annotations

import csv
import io

import pytest

from tests.store.builders import MODE, model, runtime, service, sync

from .cli import manage, refused, run, run_json

pytestmark = pytest.mark.django_db

MULTI = {"annotations": {MODE: "MultiNode"}}


@pytest.fixture(autouse=True)
def clusters() -> None:
    sync("west", model(), service("chat"))
    sync("east", model(), runtime("vllm", engineConfig=MULTI), service("chat"), service("chat", "web", router={}))


def test_json_has_a_row_for_each_service_by_cluster_namespace_and_name() -> None:
    rows = run_json("services")
    assert [(row["cluster"], row["namespace"], row["name"]) for row in rows] == [
        ("east", "ml", "chat"),
        ("east", "web", "chat"),
        ("west", "ml", "chat"),
    ]
    first, _, last = rows
    assert first.keys() == {"cluster", "namespace", "name", "outcome", "selected", "score", "modes", "conflicts"}
    assert (first["outcome"], first["score"]) == ("auto-selected", 1)
    assert first["selected"] == {"kind": "ClusterServingRuntime", "namespace": None, "name": "vllm"}
    assert first["modes"]["engine"]["running"] == {"mode": "MultiNode", "source": "ComponentAnnotation"}
    assert first["conflicts"] == ["deprecated", "silent-takeover"]
    assert (last["outcome"], last["selected"], last["score"]) == ("no-runtime", None, None)


def test_a_row_says_what_explain_says() -> None:
    for row in run_json("services"):
        said = run_json("explain", "--cluster", row["cluster"], "--isvc", f"{row['namespace']}/{row['name']}")
        assert {key: said[key] for key in ("outcome", "selected", "modes")} == {
            key: row[key] for key in ("outcome", "selected", "modes")
        }


def test_the_table_is_for_people() -> None:
    selected = "auto-selected ClusterServingRuntime/vllm 1"
    conflicts = "deprecated silent-takeover"
    assert [" ".join(line.split()) for line in run("services").splitlines()] == [
        "CLUSTER NAMESPACE NAME OUTCOME SELECTED SCORE MODES CONFLICTS",
        f"east ml chat {selected} engine=MultiNode {conflicts}",
        f"east web chat {selected} engine=MultiNode router=RawDeployment {conflicts}",
        "west ml chat no-runtime - - engine=- -",
    ]


def test_csv_has_the_same_columns() -> None:
    first, *_ = list(csv.DictReader(io.StringIO(run("services", "-o", "csv"))))
    assert first == {
        "cluster": "east",
        "namespace": "ml",
        "name": "chat",
        "outcome": "auto-selected",
        "selected": "ClusterServingRuntime/vllm",
        "score": "1",
        "modes": "engine=MultiNode",
        "conflicts": "deprecated silent-takeover",
    }


def test_no_cell_of_csv_is_a_formula() -> None:
    sync("=cmd()", model(), service("-x"))
    cells = [cell for row in csv.reader(io.StringIO(run("services", "-o", "csv"))) for cell in row]
    assert "'=cmd()" in cells
    assert "'-x" in cells
    assert not [cell for cell in cells if cell[:1] in {"=", "+", "-", "@"}]


def test_one_cluster_or_namespace_may_be_asked_for() -> None:
    assert [row["cluster"] for row in run_json("services", "--cluster", "west")] == ["west"]
    assert [row["cluster"] for row in run_json("services", "-n", "web")] == ["east"]
    assert run_json("services", "-n", "nobody") == []


def test_a_cluster_that_is_not_there_is_said() -> None:
    assert refused("services", "--cluster", "wst") == "there is no cluster 'wst'; did you mean west, east?"
    assert refused("services", "--cluster", "") == "there is no cluster ''"


def test_a_database_out_of_reach_is_said_in_one_line() -> None:
    done = manage("services")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("CommandError: the database can't be used (")
    assert done.err.count("\n") == 1
