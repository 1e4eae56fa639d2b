"""``manage.py demo``: the demo fleet comes out as it was reasoned by hand."""

from __future__ import annotations

from typing import Any

import pytest

from selection.faces.management.commands.demo import FLEET
from selection.rules.explain import explain_service
from selection.store.fleets import fleet_of
from selection.store.models import Change, Cluster, ConflictRow, RuntimeResult, ServiceResult, StoredObject
from tests.store.builders import model, rows, sync

from .cli import manage, refused, run, run_json
from .demo_expectations import RUNTIMES, SERVICES, UNREADABLE, ExpectedRuntime, ExpectedService


@pytest.fixture(scope="module")
def demo(django_db_setup: None, django_db_blocker: Any) -> Any:
    """The fleet, loaded once for the module and taken away afterwards."""
    with django_db_blocker.unblock():
        run("demo")
        yield
        Cluster.objects.all().delete()


pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("demo")]


def name_of(expected: ExpectedService | ExpectedRuntime) -> str:
    return "/".join(part for part in (expected.cluster, expected.namespace, expected.name) if part)


def row_of(expected: ExpectedService) -> ServiceResult:
    return ServiceResult.objects.get(cluster__name=expected.cluster, namespace=expected.namespace, name=expected.name)


def test_every_service_of_the_fleet_is_expected_and_no_other() -> None:
    stored = ServiceResult.objects.values_list("cluster__name", "namespace", "name")
    assert set(stored) == {(each.cluster, each.namespace, each.name) for each in SERVICES}


@pytest.mark.parametrize("expected", SERVICES, ids=name_of)
def test_a_service_gets_what_was_reasoned(expected: ExpectedService) -> None:
    row = row_of(expected)
    scope = {"": None, "ServingRuntime": "Namespaced", "ClusterServingRuntime": "Cluster"}[row.selected_kind]
    assert (row.outcome, row.selected_name or None, scope) == (expected.outcome, expected.runtime, expected.scope)
    assert row.admitted is not expected.refused


@pytest.mark.parametrize("expected", SERVICES, ids=name_of)
def test_its_components_run_as_was_reasoned(expected: ExpectedService) -> None:
    components = {row.component: row for row in row_of(expected).components.all()}
    assert components.keys() == {each.name for each in expected.components}
    for each in expected.components:
        row = components[each.name]
        assert (row.running or None, row.running_source or None, row.migration or None) == (
            each.mode,
            each.source,
            each.migration,
        ), each.name


@pytest.mark.parametrize("expected", SERVICES, ids=name_of)
def test_its_conflicts_are_those_that_were_reasoned(expected: ExpectedService) -> None:
    rows = ConflictRow.objects.filter(
        cluster__name=expected.cluster, namespace=expected.namespace, service=expected.name
    )
    for each in expected.components:
        found = set(rows.filter(component=each.name).values_list("code", flat=True))
        assert each.conflicts <= found <= each.conflicts | expected.may, each.name
    assert set(row_of(expected).conflicts) == set(rows.values_list("code", flat=True))


@pytest.mark.parametrize("expected", [each for each in SERVICES if each.text], ids=name_of)
def test_its_explanation_says_what_ome_says(expected: ExpectedService) -> None:
    cluster = Cluster.objects.get(name=expected.cluster)
    said = explain_service(fleet_of(cluster), expected.namespace, expected.name)
    texts = [said.message or "", said.event or "", *said.admission.errors, *said.admission.warnings]
    assert any(str(expected.text) in text for text in texts), texts


def test_every_service_is_explained_as_it_is_listed() -> None:
    listed = {(row["cluster"], row["namespace"], row["name"]): row for row in run_json("services")}
    assert len(listed) == len(SERVICES)
    for cluster in Cluster.objects.all():
        fleet = fleet_of(cluster)
        for (name, namespace, service), row in listed.items():
            if name == cluster.name:
                said = explain_service(fleet, namespace, service).to_dict()
                for key in ("outcome", "selected", "modes"):
                    assert said[key] == row[key], (namespace, service, key)


@pytest.mark.parametrize("expected", RUNTIMES, ids=name_of)
def test_a_runtime_shows_what_was_reasoned(expected: ExpectedRuntime) -> None:
    row = RuntimeResult.objects.get(
        cluster__name=expected.cluster, namespace=expected.namespace or "", name=expected.name
    )
    own = ConflictRow.objects.filter(
        cluster=row.cluster, service="", runtime_namespace=row.namespace, runtime_name=row.name
    )
    codes = set(own.values_list("code", flat=True))
    assert expected.conflicts <= codes <= expected.conflicts | expected.may
    assert (row.chain_problem or None) == expected.chain_problem
    if expected.chain:
        arguments = ["effective", expected.name, "--cluster", expected.cluster]
        assert run_json(*arguments)["chain"] == [*reversed(expected.chain)]
    assert (row.references > 0) is expected.lws_references
    assert row.reference_rows.count() == row.references
    assert row.reference_rows.filter(init_container=True).exists() is expected.init_container_reference


def test_no_other_runtime_shows_anything() -> None:
    expected = {(each.cluster, each.namespace or "", each.name) for each in RUNTIMES}
    for row in RuntimeResult.objects.exclude(references=0, chain_problem="", parent="").select_related("cluster"):
        assert (row.cluster.name, row.namespace, row.name) in expected
    for conflict in ConflictRow.objects.filter(service="").select_related("cluster"):
        assert (conflict.cluster.name, conflict.runtime_namespace, conflict.runtime_name) in expected


def test_what_cannot_be_read_is_listed_with_the_reason() -> None:
    found = StoredObject.objects.exclude(problem_message="").select_related("cluster")
    assert {(row.cluster.name, row.kind, row.namespace or None, row.name) for row in found} == UNREADABLE
    assert all(row.problem_path for row in found)


def test_each_folder_is_a_cluster_with_the_release_of_its_manager() -> None:
    assert dict(Cluster.objects.values_list("name", "ome_version")) == {"eu-prod": "1.3", "us-lab": "1.2"}
    assert {path.name for path in FLEET.iterdir() if path.is_dir()} == {"eu-prod", "us-lab"}


def test_running_it_again_changes_nothing() -> None:
    clusters = list(Cluster.objects.all())
    before = [rows(cluster) for cluster in clusters]
    generations = [cluster.generation for cluster in clusters]
    counts = [(each.name, each.objects_read.count(), each.services.count()) for each in clusters]
    assert run("demo").splitlines() == [
        f"{name}: {objects} objects, {services} services judged" for name, objects, services in counts
    ]
    assert [rows(cluster) for cluster in clusters] == before
    assert [cluster.generation for cluster in Cluster.objects.all()] == generations
    assert run("rebuild").splitlines() == [
        f"{name}: {services} services judged, 0 rows changed" for name, _, services in counts
    ]
    assert [rows(cluster) for cluster in clusters] == before


def test_a_real_cluster_of_the_same_name_stays_as_it_is() -> None:
    Cluster.objects.filter(name="us-lab").delete()
    real, _ = sync("us-lab", model(), source="us-lab at https://10.0.0.1:6443")
    before = rows(real)
    assert refused("demo") == "there is a cluster us-lab already, and it isn't the demo's; it stays as it is"
    assert rows(real) == before


def test_a_database_out_of_reach_is_said_in_one_line() -> None:
    done = manage("demo")
    assert done.code == 1
    assert done.err.startswith("CommandError: the database can't be used (")
    assert done.err.count("\n") == 1


def answers() -> set[tuple[Any, ...]]:
    """What is stored of every object, and what each service gets."""
    objects = StoredObject.objects.values_list("cluster__name", "kind", "namespace", "name", "digest")
    services = ServiceResult.objects.values_list("cluster__name", "namespace", "name", "outcome", "selected_name")
    conflicts = ConflictRow.objects.values_list("cluster__name", "namespace", "service", "component", "code")
    return {*objects, *services, *conflicts}


def test_with_its_past_it_shows_what_changed_and_why_and_ends_as_without() -> None:
    run("demo")
    without = answers()
    Cluster.objects.all().delete()
    run("demo", "--with-past")
    assert answers() == without
    told = Change.objects.values_list("service", "what", "before", "after", "cause__kind", "cause__name")
    runtime, mistral = "ClusterServingRuntime", "ClusterServingRuntime//sgl-mistral"
    moved = ("InferenceService", "research-chat-next")
    assert {each for each in told if each[1] != "conflict"} == {
        ("copywriter", "outcome", "no-runtime", "auto-selected", runtime, "sgl-mistral"),
        ("copywriter", "runtime", "", mistral, runtime, "sgl-mistral"),
        ("copywriter", "mode", "", "RawDeployment", runtime, "sgl-mistral"),
        (
            "copilot",
            "runtime",
            "ClusterServingRuntime//sgl-qwen3",
            "ServingRuntime/assistants/team-borealis",
            "ServingRuntime",
            "team-borealis",
        ),
        ("copilot-canary", "service", "", "auto-selected", "InferenceService", "copilot-canary"),
        ("research-chat-next", "mode", "MultiNode", "OMENative", *moved),
        (
            "research-chat-next",
            "runtime",
            "ClusterServingRuntime//sgl-fathom-multinode",
            "ClusterServingRuntime//sgl-fathom-multinode-omenative",
            *moved,
        ),
    }
    run("demo", "--with-past")
    assert len(told.all()) == len(told)
