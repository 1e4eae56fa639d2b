"""Findings as rows: known again whatever becomes of the object, and when each was seen, went and came back."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any, Literal

import pytest
from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from selection.cluster.kinds import KindListing
from selection.rules.codes import CODES, OFF, urgency_of
from selection.rules.objects import ObjectRef
from selection.rules.streams import service_stream
from selection.store.changes import prune_changes
from selection.store.clusters import forget
from selection.store.evaluate import evaluate
from selection.store.findings import find_finding, findings_about, seen_of, severity_counts
from selection.store.models import Cluster, Finding, FindingEvent, SeveritySetting
from selection.store.severities import SeverityError, grades, set_severity, severities
from selection.store.sight import Place, Sight, seeing
from selection.store.sync import note_failure, store_kind, sync_cluster
from tests.rules.fleets_more import edits, holds, rich_fleets

from .builders import BY_KIND, Manifest, brought, model, runtime, service, sync
from .test_incremental import lived

pytestmark = pytest.mark.django_db


def one(code: str, **narrower: Any) -> Finding:
    """The only finding of a code."""
    return Finding.objects.get(code=code, **narrower)


def acts(finding: Finding) -> list[str]:
    """What became of a finding, in order."""
    return list(finding.events.order_by("pk").values_list("act", flat=True))


def everything() -> list[tuple[Any, ...]]:
    """Every column of every row, also when each was seen."""
    return sorted(Finding.objects.values_list())


SMALL = [model(), service("chat")]
"""A service that no runtime serves."""


# --- seen, gone, back --------------------------------------------------------------------------------


def test_a_sync_that_finds_the_same_writes_nothing() -> None:
    sync("east", *SMALL)
    before = everything()

    again = [model(), service("chat")]  # with other uids and resourceVersions
    sync("east", *again)

    assert [row[:1] + row[2:] for row in everything()] == [row[:1] + row[2:] for row in before]
    assert not FindingEvent.objects.exists()


def test_it_goes_and_comes_back_as_the_same_one() -> None:
    sync("east", *SMALL)
    first = one("no-runtime")

    sync("east", *SMALL, runtime("fast"))
    gone = one("no-runtime")
    assert gone.gone_at is not None
    assert (gone.pk, gone.key, gone.first_seen, gone.state) == (first.pk, first.key, first.first_seen, "gone")

    sync("east", *SMALL)
    back = one("no-runtime")
    assert (back.pk, back.first_seen, back.gone_at, back.came_back, back.state) == (
        *(first.pk, first.first_seen, None, 1, "back"),
    )
    assert back.came_back_at is not None
    assert acts(back) == ["gone", "back"]
    assert seen_of(back).last >= back.came_back_at


def test_an_object_that_is_deleted_and_made_again_has_the_finding_that_it_had() -> None:
    sync("east", *SMALL)
    key = one("no-runtime").key

    sync("east", model())
    assert one("no-runtime").state == "gone"
    sync("east", model(), service("chat"))

    assert (one("no-runtime").key, one("no-runtime").state) == (key, "back")


def test_one_that_is_made_again_between_two_reads_was_never_gone() -> None:
    sync("east", *SMALL)
    sync("east", model(), service("chat"))

    assert one("no-runtime").state == "present"


def test_a_kind_that_is_no_longer_served_takes_its_findings_and_brings_them_back() -> None:
    cluster, _ = sync("east", *SMALL)
    kind = BY_KIND["InferenceService"]

    sync_cluster(cluster, [KindListing(kind, "not-served")])
    assert one("no-runtime").state == "gone"
    sync_cluster(cluster, [brought(kind, service("chat"))])
    assert one("no-runtime").state == "back"


@pytest.mark.parametrize("outcome", ["failed", "forbidden"])
def test_a_kind_that_cannot_be_read_leaves_its_findings(outcome: Literal["failed", "forbidden"]) -> None:
    cluster, _ = sync("east", *SMALL)
    before = everything()

    sync_cluster(cluster, [KindListing(kind, outcome, "the server is on fire") for kind in BY_KIND.values()])
    note_failure("east", "no route to host")

    assert everything() == before


def test_other_evidence_makes_another_case_of_the_same_finding() -> None:
    sync("east", model(), runtime("tiny", modelSizeRange={"max": "7b"}))
    before = one("size-unparsable")
    sync("east", model(), runtime("tiny", modelSizeRange={"max": "8b"}))
    after = one("size-unparsable")

    assert (after.key, after.first_seen) == (before.key, before.first_seen)
    assert after.evidence != before.evidence
    assert after.changed_at is not None
    event = after.events.get()
    assert (event.act, event.facts) == ("changed", {"value": "7b"})


def test_an_edit_of_something_else_is_no_other_evidence() -> None:
    sync("east", model(), runtime("tiny", modelSizeRange={"max": "7b"}))
    before = everything()
    sync("east", model(), runtime("tiny", modelSizeRange={"max": "7b"}, disabled=False, annotations={"note": "new"}))

    assert everything() == before


def test_an_entry_that_moves_keeps_its_finding_and_its_row_says_where_it_is_now() -> None:
    good = {"modelFormat": {"name": "safetensors"}, "autoSelect": True}
    odd = {"modelFormat": {"name": "onnx", "version": "V1"}}
    sync("east", runtime("two", supportedModelFormats=[good, odd]))
    before = one("version-unparsable")
    sync("east", runtime("two", supportedModelFormats=[odd, good]))
    after = one("version-unparsable")

    assert (after.pk, after.evidence, acts(after)) == (before.pk, before.evidence, [])
    assert before.path == "spec.supportedModelFormats[1].modelFormat.version"
    assert after.path == "spec.supportedModelFormats[0].modelFormat.version"


def test_a_rebuild_gives_the_same_rows_with_their_times() -> None:
    cluster, _ = sync("east", *SMALL, runtime("tiny", modelSizeRange={"max": "7b"}))
    sync("east", *SMALL)
    before = everything()

    cluster.refresh_from_db()
    evaluate(cluster, anew=True)

    assert everything() == before


def test_a_rebuild_finds_what_is_missing_and_drops_what_is_too_much() -> None:
    cluster, _ = sync("east", *SMALL)
    first = one("no-runtime")
    Finding.objects.filter(pk=first.pk).update(code="invalid", key="invalid-0", name="somebody")
    cluster.refresh_from_db()
    evaluate(cluster, anew=True)

    assert one("no-runtime").state == "present"
    assert one("invalid").state == "gone"


def test_what_fails_in_the_middle_leaves_the_stream_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, _ = sync("east", *SMALL)
    before = everything()

    def _break(*args: Any, **options: Any) -> None:
        raise RuntimeError("killed")

    store_kind(cluster, brought("ClusterServingRuntime", runtime("fast")))
    cluster.refresh_from_db()
    monkeypatch.setattr(FindingEvent.objects, "bulk_create", _break)  # the last thing that is written
    with pytest.raises(RuntimeError, match="killed"), transaction.atomic():
        evaluate(cluster)
    assert everything() == before

    monkeypatch.undo()
    cluster.refresh_from_db()
    evaluate(cluster)
    assert one("no-runtime").state == "gone"


def test_two_clusters_have_findings_of_their_own() -> None:
    sync("east", *SMALL)
    sync("west", *SMALL)
    sync("west", *SMALL, runtime("fast"))

    assert len(set(Finding.objects.filter(code="no-runtime").values_list("key", flat=True))) == 2
    assert one("no-runtime", cluster__name="east").state == "present"
    assert one("no-runtime", cluster__name="west").state == "gone"


def test_a_forgotten_cluster_takes_its_findings_and_one_of_its_name_has_the_same_keys() -> None:
    cluster, _ = sync("east", *SMALL)
    key = one("no-runtime").key
    forget(cluster)
    assert not Finding.objects.exists()

    sync("east", *SMALL)
    assert one("no-runtime").key == key


def test_retention_takes_what_is_gone_for_long_and_leaves_what_is_there() -> None:
    sync("east", *SMALL, runtime("tiny", "other", modelSizeRange={"max": "7b"}))
    long_ago = timezone.now() - timedelta(days=settings.KEEP_CHANGES_DAYS + 1)
    sync("east", *SMALL)
    Finding.objects.update(first_seen=long_ago)
    FindingEvent.objects.create(finding=one("no-runtime"), at=long_ago, act="changed", generation=1)
    prune_changes()
    assert one("size-unparsable").state == "gone", "not for long enough"

    Finding.objects.filter(gone_at__isnull=False).update(gone_at=long_ago)
    assert prune_changes() == 1
    assert [row.code for row in Finding.objects.all()] == ["no-runtime"]
    assert acts(one("no-runtime")) == []


# --- incremental -------------------------------------------------------------------------------------


@holds(40)
@given(rich_fleets(), st.data())
def test_times_follow_from_what_was_told_and_when(manifests: list[Manifest], data: st.DataObject) -> None:
    """Beside each evaluation a plain account is kept of who was there; the rows must say the same."""
    with lived(manifests, data.draw(st.sampled_from(["1.3", "1.2"]))) as life:
        account: dict[str, tuple[int, bool]] = {}
        for _ in range(data.draw(st.integers(2, 5))):
            life.judge()
            life.check()
            there = set(life.plain.stream.filter(gone_at=None).values_list("key", flat=True))
            mine = {each.key: each for each in life.quick.stream.all()}
            plain = {each.key: each for each in life.plain.stream.all()}
            for key in account.keys() | there:
                back, was_there = account.get(key, (0, True))
                account[key] = (back + (key in there and not was_there), key in there)
            assert {key: (each.came_back, each.gone_at is None) for key, each in plain.items()} == account
            for each in mine.values():
                events = acts(each)
                assert events.count("back") == each.came_back
                assert events.count("gone") == each.came_back + (each.gone_at is not None)
                assert ("changed" in events or "back" in events) >= (each.changed_at is not None)
            twins = {(e.kind, e.namespace, e.name, e.component, e.code, e.about): e for e in plain.values()}
            for each in mine.values():
                twin = twins[(each.kind, each.namespace, each.name, each.component, each.code, each.about)]
                assert (each.came_back, each.state, each.evidence) == (twin.came_back, twin.state, twin.evidence)
            life.change(data.draw(edits(life.objects)))


def test_after_a_change_only_what_it_reaches_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    onnx = runtime("onnx", supportedModelFormats=[{"modelFormat": {"name": "onnx"}, "autoSelect": True}])
    cluster, _ = sync("east", model(), onnx, *(service(f"s{number}") for number in range(5)))
    judged: list[str] = []

    def _noted(fleet: Any, explanation: Any) -> Any:
        judged.append(explanation.subject.name)
        return service_stream(fleet, explanation)

    monkeypatch.setattr("selection.store.derive_stream.service_stream", _noted)
    services = [service(f"s{number}") for number in range(1, 5)]
    store_kind(cluster, brought("InferenceService", service("s0", runtime={"name": "onnx"}), *services))
    cluster.refresh_from_db()
    evaluate(cluster)

    assert "s0" in judged
    assert one("named-with-advice").name == "s0"
    assert one("no-runtime", name="s0").state == "gone"
    assert Finding.objects.filter(code="no-runtime", gone_at=None).count() == 4


# --- severities --------------------------------------------------------------------------------------


def test_a_severity_that_is_set_grades_what_is_kept_and_what_comes() -> None:
    sync("east", *SMALL)
    first = one("no-runtime")

    assert set_severity("no-runtime", "info", by="ada", reason="a lab") == 1
    graded = one("no-runtime")
    assert (graded.severity, graded.urgency) == ("info", urgency_of("no-runtime", "info"))
    assert (graded.pk, graded.first_seen, acts(graded)) == (first.pk, first.first_seen, [])

    sync("west", *SMALL)
    assert one("no-runtime", cluster__name="west").severity == "info"
    assert set_severity("no-runtime", "") == 2
    assert {each.severity for each in Finding.objects.filter(code="no-runtime")} == {"error"}
    assert not SeveritySetting.objects.exists()


def test_a_code_that_is_off_is_kept_and_hidden() -> None:
    cluster, _ = sync("east", *SMALL)
    set_severity("no-runtime", OFF)
    ref = ObjectRef("InferenceService", "ml", "chat")

    assert one("no-runtime").hidden
    assert severity_counts() == {}
    assert findings_about(cluster, ref) == []
    sync("east", *SMALL, runtime("fast"))
    sync("east", *SMALL)
    assert one("no-runtime").came_back == 1
    set_severity("no-runtime", "")
    assert [each.code for each in findings_about(cluster, ref)] == ["no-runtime"]


def test_a_severity_that_is_set_outlasts_a_rebuild() -> None:
    cluster, _ = sync("east", *SMALL)
    set_severity("no-runtime", "warning")
    cluster.refresh_from_db()
    evaluate(cluster, anew=True)

    assert one("no-runtime").severity == "warning"
    assert severities()["no-runtime"] == "warning"
    assert [each.code.code for each in grades() if each.changed] == ["no-runtime"]


@pytest.mark.parametrize(("code", "severity"), [("no-such-code", "info"), ("no-runtime", "fatal")])
def test_what_does_not_exist_is_refused(code: str, severity: str) -> None:
    with pytest.raises(SeverityError, match=r"no-such-code|fatal"):
        set_severity(code, severity)
    assert not SeveritySetting.objects.exists()


def test_a_setting_of_a_code_that_is_no_more_does_no_harm() -> None:
    SeveritySetting.objects.create(code="old-code", severity="off", at=timezone.now())
    sync("east", *SMALL)

    assert set(severities()) == set(CODES)


# --- who sees them -----------------------------------------------------------------------------------


def test_a_finding_is_seen_where_its_namespace_is() -> None:
    cluster, _ = sync(
        "east", *SMALL, service("chat", "other"), runtime("odd", supportedModelFormats=[], modelSizeRange={"max": "7b"})
    )
    keys = {each.namespace: each.key for each in Finding.objects.all()}

    with seeing(Sight((Place(cluster.pk, "east", frozenset({"ml"})),))):
        assert {each.namespace for each in Finding.objects.all()} == {"ml", ""}
        assert find_finding(keys["other"]) is None
        assert find_finding(keys["ml"]) is not None
    with seeing(Sight(())):
        assert not Finding.objects.exists()
        assert not FindingEvent.objects.exists()


def test_what_a_clusters_runtime_has_of_models_is_seen_by_who_sees_all_of_them() -> None:
    cluster, _ = sync("east", model("secret", "other"), runtime("a"), runtime("b"))
    assert Finding.objects.filter(code="overlap").exists()

    with seeing(Sight((Place(cluster.pk, "east", frozenset({"ml"})),))):
        assert not Finding.objects.filter(code="overlap").exists()


def test_deriving_sees_everything_whoever_asks() -> None:
    cluster, _ = sync("east", *SMALL)
    with seeing(Sight(())):
        evaluate(Cluster.objects.model._base_manager.get(pk=cluster.pk), anew=True)

    assert one("no-runtime").state == "present"


# --- an upgrade of the dashboard ---------------------------------------------------------------------


def test_a_database_from_before_the_stream_has_its_clusters_judged_again() -> None:
    cluster, _ = sync("east", *SMALL)
    empty = Cluster.objects.create(name="west")
    Finding.objects.all().delete()

    import_module("selection.store.migrations.0010_judge_again").judge_again(apps, None)

    cluster.refresh_from_db()
    empty.refresh_from_db()
    assert (cluster.evaluated_generation < cluster.generation, empty.evaluated_generation) == (True, 0)
    evaluate(cluster)
    assert one("no-runtime").state == "present"
