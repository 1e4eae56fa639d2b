"""``manage.py remedies``: what it would take to have a runtime selected."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.faces.clusters import store
from tests.rules.manifests import a_model, a_runtime, a_service, an_entry, moded

from .cli import as_yaml, manage, refused, run, run_json

FLEET = [
    a_model(),
    a_runtime(),
    a_runtime("off", disabled=True),
    a_runtime("multi", engineConfig=moded("MultiNode")),
    a_runtime("both", None, an_entry(priority=3)),
    a_runtime("both", "team", disabled=True),
    a_runtime("odd", disabled="yes"),
    a_service(engine=moded("OMENative")),
    a_service("user", model={"name": "llama"}),
    a_service("pinned", runtime={"name": "fast"}),
    a_service("lost", model={"name": "gone"}),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(as_yaml(*FLEET))
    return path


def asked(file: Path, runtime: str, *more: str, isvc: str = "team/chat") -> list[str]:
    return ["remedies", "-f", str(file), "--isvc", isvc, "--runtime", runtime, *more]


def test_it_tells_the_reason_and_each_change_as_a_command(file: Path) -> None:
    lines = run(*asked(file, "multi")).splitlines()

    assert lines[0] == "ClusterServingRuntime multi doesn't qualify for InferenceService team/chat, by OME 1.3:"
    assert lines[1].startswith("  engine-deployment-mode: runtime engine deployment mode MultiNode does not match")
    commands = [shlex.split(line) for line in lines if line.startswith("  kubectl")]
    assert [command[2] for command in commands] == [
        "inferenceservice.ome.io",
        "clusterservingruntime.ome.io",
        "inferenceservice.ome.io",
    ]
    assert all(command[:2] == ["kubectl", "patch"] for command in commands)
    assert "  reaches 0 services" in lines


def test_it_needs_no_database(file: Path) -> None:
    done = manage(*asked(file, "off"))

    assert done.code == 0
    assert "ClusterServingRuntime off: then it qualifies, and another comes first:" in done.out
    assert "  change spec.disabled: true -> false" in done.out


def test_json_is_what_the_page_answers(file: Path, client: Client, db: None) -> None:
    store(*FLEET)
    isvc = ["--isvc", "team/chat", "--runtime", "multi"]

    page = client.get("/services/prod/team/chat/candidates/-/multi/?format=json").json()

    assert run_json("remedies", *isvc) == page
    assert run_json("remedies", "-f", str(file), *isvc) == {**page, "cluster": None}


def test_one_that_qualifies_is_told_what_would_make_it_first(file: Path) -> None:
    found: Any = run_json(*asked(file, "fast"))

    assert found["candidate"]["rank"] == 2
    assert found["first"]["name"] == "both"
    assert [change["kind"] for change in found["changes"]] == ["priority", "weight"]
    assert [change["patch"][0]["value"] for change in found["changes"]] == [4, 4]
    assert "the first is ClusterServingRuntime both." in run(*asked(file, "fast"))


def test_whom_a_change_reaches_is_the_same_from_files_and_from_the_database(file: Path, db: None) -> None:
    store(*FLEET)
    isvc = ["--isvc", "team/chat", "--runtime", "fast"]

    [alone, _], [stored, _] = (run_json(*args)["changes"] for args in (asked(file, "fast"), ["remedies", *isvc]))

    assert alone["reaches"] == stored["reaches"] == {"selected": 0, "named": 1, "heirs": 0, "users": 0, "lost": []}


def test_a_name_in_both_scopes_is_the_clusters_unless_a_namespace_is_given(file: Path) -> None:
    assert run_json(*asked(file, "both"))["candidate"]["scope"] == "Cluster"
    assert run_json(*asked(file, "both", "--runtime-namespace", "team"))["candidate"]["scope"] == "Namespaced"


def test_the_first_needs_nothing(file: Path) -> None:
    text = run(*asked(file, "both"))

    assert text.rstrip().endswith("by OME 1.3: nothing is needed.")
    assert "kubectl" not in text


def test_a_service_that_names_another_is_told_so(file: Path) -> None:
    text = run(*asked(file, "off", isvc="team/pinned"))

    assert "The service names fast: if it named none, selection would say this." in text
    assert "Or let" not in text


def test_an_older_release_has_its_own_answer(file: Path) -> None:
    assert run_json(*asked(file, "multi", "--ome-version", "1.2"))["ome_version"] == "1.2"


@pytest.mark.parametrize(
    ("runtime", "isvc", "says"),
    [
        ("fats", "team/chat", "InferenceService team/chat has no candidate fats; did you mean fast?"),
        ("odd", "team/chat", "ClusterServingRuntime odd can't be read: spec.disabled: expected"),
        ("fast", "team/chart", "did you mean team/chat"),
        ("fast", "team/lost", "nothing can be selected for InferenceService team/lost as it stands: referenced model"),
    ],
)
def test_what_it_cannot_answer_is_one_line(file: Path, runtime: str, isvc: str, says: str) -> None:
    assert says in refused(*asked(file, runtime, isvc=isvc))


def test_a_runtime_of_another_namespace_is_no_candidate(file: Path) -> None:
    assert "has no candidate both in namespace other" in refused(*asked(file, "both", "--runtime-namespace", "other"))


def test_files_and_a_cluster_do_not_go_together(file: Path) -> None:
    assert "leave out --cluster" in refused(*asked(file, "fast", "--cluster", "prod"))


@pytest.mark.django_db
def test_a_service_in_several_clusters_has_to_be_told_apart() -> None:
    store(*FLEET, name="one")
    store(*FLEET, name="two")
    question = ["remedies", "--isvc", "team/chat", "--runtime", "off"]

    assert "say which with --cluster" in refused(*question)
    assert run_json(*question, "--cluster", "two")["cluster"] == "two"
