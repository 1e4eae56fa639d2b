"""However a cluster lives, its changes lead from each state to the next, and each has a cause."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.cluster.kinds import KINDS
from selection.store import causes as choosing
from selection.store import evaluate as evaluation
from selection.store.evaluate import evaluate
from selection.store.models import (
    Change,
    Cluster,
    ComponentResult,
    ConflictRow,
    ObjectChange,
    ServiceResult,
)
from tests.rules.fleets_more import edits, holds, rich_fleets

from .builders import Manifest
from .test_incremental import Memory, lived, process

pytestmark = pytest.mark.django_db

State = dict[tuple[str, str], dict[tuple[str, str, str], str]]


def state(cluster: Cluster) -> State:
    """What the rows say of each service, from the tables that lists show."""
    found: State = {}
    for row in ServiceResult.objects.filter(cluster=cluster):
        ref = f"{row.selected_kind}/{row.selected_namespace}/{row.selected_name}" if row.selected_name else ""
        found[(row.namespace, row.name)] = {("outcome", "", ""): row.outcome, ("runtime", "", ""): ref}
    for part in ComponentResult.objects.filter(result__cluster=cluster).select_related("result"):
        found[(part.result.namespace, part.result.name)][("mode", part.component, "")] = part.running
    for conflict in ConflictRow.objects.filter(cluster=cluster).exclude(service=""):
        found[(conflict.namespace, conflict.service)][("conflict", conflict.component, conflict.code)] = conflict.code
    return found


def expected(before: State, after: State) -> list[tuple[str, ...]]:
    """The changes that lead from one state to the other."""
    found: list[tuple[str, ...]] = []
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            outcome = ("outcome", "", "")
            found.append((*key, "service", "", (old or {}).get(outcome, ""), (new or {}).get(outcome, "")))
            continue
        for aspect in old.keys() | new.keys():
            values = old.get(aspect, ""), new.get(aspect, "")
            if values[0] != values[1]:
                found.append((*key, *aspect[:2], *values))
    return sorted(found)


EVENTS = ["edit", "edit", "edit", "two", "release", "forget", "anew"]


@pytest.mark.parametrize("many", [choosing.MANY, 0])
@holds(40)
@given(rich_fleets(), st.data())
def test_the_changes_lead_from_each_state_to_the_next_and_each_has_a_cause(
    many: int, manifests: list[Manifest], data: st.DataObject
) -> None:
    processes: list[Memory] = [({}, {}), ({}, {})]
    with lived(manifests) as life, pytest.MonkeyPatch.context() as patched:
        patched.setattr(choosing, "MANY", many)
        cluster = life.quick
        life.store({kind.kind for kind in KINDS})  # each was listed once, so that all that comes later is a change
        life.judge()
        seen, version = state(cluster), "1.3"
        for _ in range(data.draw(st.integers(1, 5))):
            since, last = cluster.evaluated_generation, Change.objects.order_by("pk").last()
            with process(data.draw(st.sampled_from(processes))):
                event = data.draw(st.sampled_from(EVENTS))
                if event in {"edit", "two"}:
                    for _ in range(2 if event == "two" else 1):
                        life.change(data.draw(edits(life.objects)))
                elif event == "release":
                    life.release(data.draw(st.sampled_from(["1.2", "1.3"])))
                elif event == "forget":
                    evaluation._seen.clear()
                    life.change(data.draw(edits(life.objects)))
                if event == "anew":
                    cluster.refresh_from_db()
                    evaluate(cluster, anew=True)
                else:
                    life.judge()
            now = state(cluster)
            fresh = list(Change.objects.filter(cluster=cluster, pk__gt=last.pk if last else 0).select_related("cause"))
            assert sorted(
                (row.namespace, row.service, row.what, row.component, row.before, row.after) for row in fresh
            ) == expected(seen, now)
            moved = version != cluster.ome_version
            noted = ObjectChange.objects.filter(cluster=cluster, generation__gt=since)
            itself = {(row.namespace, row.name) for row in noted if row.kind == "InferenceService"}
            for row in fresh:
                if moved:
                    assert row.reason
                    continue
                assert row.cause is not None
                assert row.reason == ""
                assert since < row.cause.generation <= cluster.evaluated_generation
                own = (row.cause.kind, row.cause.namespace, row.cause.name)
                assert (own == ("InferenceService", row.namespace, row.service)) == (
                    (row.namespace, row.service) in itself
                )
            seen, version = now, cluster.ome_version
