"""Judging what a change can reach gives the rows that judging everything gives, in every derived table.

One cluster lives: kinds come in one at a time, it is judged by what changed, by one process or another. A second one
is brought the same objects and judged anew each time.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest
from django.db import transaction
from django.db.models import Model
from hypothesis import given
from hypothesis import strategies as st

from selection.rules import fleet as rules
from selection.store import evaluate as evaluation
from selection.store import fleets as loading
from selection.store.evaluate import Evaluation, evaluate
from selection.store.fleets import Loaded
from selection.store.models import (
    Cluster,
    ComponentResult,
    ConflictRow,
    Finding,
    ModelResult,
    ReferenceRow,
    RuntimeResult,
    ServiceResult,
    StoredObject,
)
from selection.store.sync import store_kind
from selection.store.versions import set_version
from tests.rules.fleets_more import Edit, edits, holds, put_into, rich_fleets

from .builders import Manifest, brought, model, runtime, service

pytestmark = pytest.mark.django_db

# --- what is compared --------------------------------------------------------------------------------

_TABLES: dict[type[Model], tuple[str, ...]] = {
    ServiceResult: (),
    ComponentResult: ("result__namespace", "result__name"),
    ConflictRow: (),
    RuntimeResult: (),
    ReferenceRow: ("runtime__kind", "runtime__namespace", "runtime__name"),
    ModelResult: (),
    Finding: (),
}
"""Every derived table, with what says whose a row is where that is a key of another row."""

_OWN = {"id", "cluster_id", "result_id", "runtime_id", "computed_at", "generation"}
_SEEN = {"key", "first_seen", "changed_at", "gone_at", "came_back", "came_back_at"}
"""What a finding has of its cluster's name, and of when who judges looked."""


def derived(cluster: Cluster) -> dict[str, list[str]]:
    """All derived rows of a cluster, and what is said of objects that can't be read.

    Left out are primary keys, times, and the generations that changed rows.
    """
    found = {}
    for table, parents in _TABLES.items():
        owner = f"{parents[0].partition('__')[0]}__cluster" if parents else "cluster"
        fields = [field.attname for field in table._meta.concrete_fields if field.attname not in _OWN | _SEEN]
        rows = table._default_manager.filter(**{owner: cluster}).values(*fields, *parents)
        if table is Finding:
            rows = rows.filter(gone_at=None)
        found[table.__name__] = sorted(repr(sorted(row.items())) for row in rows)
    problems = ("kind", "namespace", "name", "problem_path", "problem_message")
    stored = StoredObject.objects.filter(cluster=cluster).values_list(*problems)
    found["problems"] = sorted(map(repr, stored))
    return found


class Life:
    """A cluster that is judged by what changes, beside one that is judged anew."""

    def __init__(self, objects: Iterable[Manifest], version: str = "1.3") -> None:
        self.objects = list(objects)
        self.versions = 0
        self.quick = Cluster.objects.create(name="quick", ome_version=version)
        self.plain = Cluster.objects.create(name="plain", ome_version=version)
        self.store({each["kind"] for each in self.objects})

    def store(self, kinds: Iterable[str]) -> None:
        """Bring some kinds as they stand now."""
        for kind in sorted(kinds):
            for cluster in (self.quick, self.plain):
                store_kind(cluster, brought(kind, *(each for each in self.objects if each["kind"] == kind)))

    def change(self, edit: Edit) -> None:
        """Change some objects and bring their kinds. What changed has another resourceVersion."""
        self.versions += 1
        put = copy.deepcopy(edit.put)
        for each in put:
            each["metadata"]["resourceVersion"] = str(self.versions)
        self.objects = put_into(self.objects, Edit(put, edit.dropped))
        self.store({ref.kind for ref in edit.refs})

    def release(self, version: str) -> None:
        """Another release of OME."""
        for cluster in (self.quick, self.plain):
            set_version(cluster, version, Cluster.VersionSource.SET)

    def judge(self) -> Evaluation:
        """Judge the one by what changed, and nothing else if possible."""
        self.quick.refresh_from_db()
        return evaluate(self.quick)

    def check(self) -> None:
        """Both have the same rows, and have been judged as they are."""
        self.plain.refresh_from_db()
        evaluate(self.plain, anew=True)
        assert derived(self.quick) == derived(self.plain)
        self.quick.refresh_from_db()
        assert self.quick.evaluated_generation == self.quick.generation


@contextmanager
def lived(objects: Iterable[Manifest], version: str = "1.3") -> Iterator[Life]:
    """A life, and afterwards it is as if it had never been."""
    _remember(({}, {}))
    try:
        with transaction.atomic():
            yield Life(objects, version)
            transaction.set_rollback(True)
    finally:
        _remember(({}, {}))


Memory = tuple[dict[int, Loaded], dict[int, Loaded]]


@contextmanager
def process(memory: Memory) -> Iterator[None]:
    """Remember what another process does, and nothing else."""
    mine = dict(evaluation._seen), dict(loading._loaded)
    _remember(memory)
    try:
        yield
    finally:
        for kept, told in zip(memory, (evaluation._seen, loading._loaded), strict=True):
            kept.clear()
            kept.update(told)
        _remember(mine)


def _remember(memory: Memory) -> None:
    for kept, new in zip((evaluation._seen, loading._loaded), memory, strict=True):
        kept.clear()
        kept.update(new)


# --- random lives ------------------------------------------------------------------------------------


@holds(40)
@given(rich_fleets(), st.data())
def test_the_rows_are_those_of_judging_anew(manifests: list[Manifest], data: st.DataObject) -> None:
    with lived(manifests, data.draw(st.sampled_from(["1.3", "1.3", "1.2"]))) as life:
        life.judge()
        life.check()
        for _ in range(data.draw(st.integers(1, 4))):
            for _ in range(data.draw(st.sampled_from([1, 1, 2]))):  # several syncs may come before the next evaluation
                life.change(data.draw(edits(life.objects)))
            assert not life.judge().complete
            life.check()


EVENTS = ["edit", "edit", "release", "forget", "nothing"]


@holds(80)
@given(rich_fleets(), st.data())
def test_the_rows_are_those_of_judging_anew_whoever_judges(manifests: list[Manifest], data: st.DataObject) -> None:
    processes: list[Memory] = [({}, {}), ({}, {})]
    with lived(manifests) as life:
        for _ in range(data.draw(st.integers(2, 6))):
            with process(data.draw(st.sampled_from(processes))):
                event = data.draw(st.sampled_from(EVENTS))
                if event == "edit":
                    life.change(data.draw(edits(life.objects)))
                elif event == "release":
                    life.release(data.draw(st.sampled_from(["1.2", "1.3"])))
                elif event == "forget":
                    _remember(({}, {}))
                if data.draw(st.sampled_from([True, True, False])):
                    life.judge()
        with process(data.draw(st.sampled_from(processes))):
            life.judge()
        life.check()


LIMITS = [(loading, "MANY", 2), (evaluation, "MOST", 0), (evaluation, "MOST", 1), (rules, "_FEW", 1)]
"""From when on everything is read, judged or remembered anew; in tests that comes sooner."""


@holds(80)
@given(rich_fleets(most=8), st.sampled_from(LIMITS), st.data())
def test_the_rows_are_those_of_judging_anew_when_much_changes_at_once(
    manifests: list[Manifest], limit: tuple[ModuleType, str, int], data: st.DataObject
) -> None:
    with lived(manifests) as life, pytest.MonkeyPatch.context() as patched:
        life.judge()
        patched.setattr(*limit)
        for _ in range(2):
            life.change(data.draw(edits(life.objects, most=12)))
            life.judge()
            life.check()


# --- what lives have shown ---------------------------------------------------------------------------


def test_a_release_that_another_process_judged_by_is_seen_when_it_is_set_back() -> None:
    native = runtime("native", engineConfig={"leader": {}, "worker": {"size": 1}})
    mine: Memory = ({}, {})
    other: Memory = ({}, {})
    with lived([model(), native, service("chat")]) as life:
        for memory, version in ((mine, "1.3"), (other, "1.2")):
            with process(memory):
                life.release(version)
                life.judge()
        life.release("1.3")
        with process(mine):
            life.judge()
        life.check()
