"""Only what differs is written."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from selection.store.models import Cluster, ModelResult, RuntimeResult, ServiceResult
from selection.store.rows import Written, having, write_rows

pytestmark = pytest.mark.django_db

EARLY, LATE = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(name="east")


def result(cluster: Cluster, name: str, *, outcome: str = "named", at: datetime = EARLY) -> ServiceResult:
    return ServiceResult(cluster=cluster, namespace="ml", name=name, outcome=outcome, computed_at=at)


def write(cluster: Cluster, *wanted: ServiceResult) -> Written:
    existing = ServiceResult.objects.filter(cluster=cluster)
    return write_rows(existing, wanted, ServiceResult, stamps=["computed_at"])


def stored(cluster: Cluster) -> dict[str, ServiceResult]:
    return {row.name: row for row in ServiceResult.objects.filter(cluster=cluster)}


def test_new_rows_are_created_changed_ones_updated_and_vanished_ones_deleted(cluster: Cluster) -> None:
    assert write(cluster, result(cluster, "a"), result(cluster, "b")) == Written(created=2)
    before = stored(cluster)
    written = write(cluster, result(cluster, "b", outcome="invalid"), result(cluster, "c"))
    assert written == Written(created=1, updated=1, deleted=1)
    after = stored(cluster)
    assert after.keys() == {"b", "c"}
    assert (after["b"].pk, after["b"].outcome) == (before["b"].pk, "invalid")


def test_an_equal_row_keeps_its_time_and_is_not_written(cluster: Cluster) -> None:
    write(cluster, result(cluster, "a"))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert write(cluster, result(cluster, "a", at=LATE)) == Written()
    assert [each["sql"].split()[0] for each in queries] == ["SELECT"]
    assert stored(cluster)["a"].computed_at == EARLY


def test_a_changed_row_gets_the_new_time(cluster: Cluster) -> None:
    write(cluster, result(cluster, "a"))
    write(cluster, result(cluster, "a", outcome="invalid", at=LATE))
    assert stored(cluster)["a"].computed_at == LATE


def test_the_rows_of_another_cluster_are_left_alone(cluster: Cluster) -> None:
    other = Cluster.objects.create(name="west")
    write(other, result(other, "a"))
    write(cluster, result(cluster, "a", outcome="invalid"))
    write(cluster)
    assert stored(other)["a"].outcome == "named"
    assert not stored(cluster)


def test_thousands_of_rows_are_written_in_few_statements(cluster: Cluster) -> None:
    names = [f"service-{number}" for number in range(2500)]
    with CaptureQueriesContext(connection) as queries:
        assert write(cluster, *(result(cluster, name) for name in names)) == Written(created=2500)
        assert write(cluster, *(result(cluster, name, outcome="invalid") for name in names)).updated == 2500
        assert write(cluster).deleted == 2500
    assert len(queries) < 250


def test_text_that_no_column_holds_is_cut(cluster: Cluster) -> None:
    row = ModelResult(cluster=cluster, kind="BaseModel", namespace="ml", name="llama", format="é" * 300)
    for _ in range(2):
        write_rows(ModelResult.objects.filter(cluster=cluster), [row], ModelResult)
    assert ModelResult.objects.get(cluster=cluster).format == "é" * 99 + "…"


def test_text_that_was_cut_before_is_no_difference(cluster: Cluster) -> None:
    def wanted() -> list[RuntimeResult]:
        return [RuntimeResult(cluster=cluster, kind="ServingRuntime", namespace="ml", name="x", formats="f" * 900)]

    assert write_rows(RuntimeResult.objects.all(), wanted(), RuntimeResult) == Written(created=1)
    assert write_rows(RuntimeResult.objects.all(), wanted(), RuntimeResult) == Written()


def test_a_score_may_use_all_of_64_bits(cluster: Cluster) -> None:
    rows = [result(cluster, "low"), result(cluster, "high")]
    rows[0].score, rows[1].score = -(2**63), 2**63 - 1
    write(cluster, *rows)
    assert [row.score for row in (stored(cluster)["low"], stored(cluster)["high"])] == [-(2**63), 2**63 - 1]


def test_rows_are_found_by_more_values_than_a_statement_takes(cluster: Cluster) -> None:
    write(cluster, result(cluster, "a"), result(cluster, "z"))
    names = [*(f"missing-{number}" for number in range(3000)), "z", "a", "a"]
    assert [row.name for row in having(ServiceResult.objects.all(), "name", names)] == ["a", "z"]
    assert list(having(ServiceResult.objects.all(), "name", [])) == []


def test_what_was_written_adds_up() -> None:
    assert Written(1, 2, 3) + Written(10, 20, 30) == Written(11, 22, 33)
    assert Written(1, 2, 3).total == 6
