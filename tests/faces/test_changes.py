"""The page of changes."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.moments import moment
from selection.store.models import Change, Cluster, ObjectChange
from tests.faces.clusters import text_of
from tests.faces.history import edited, felt
from tests.faces.small_fleet import HOSTILE, load, small_fleet

pytestmark = pytest.mark.django_db

SMALL, WIDE = "ClusterServingRuntime//small", "ClusterServingRuntime//wide"
HOUR = timedelta(hours=1)


@pytest.fixture
def lab(db: None) -> Cluster:
    return load()


@pytest.fixture
def edit(lab: Cluster) -> ObjectChange:
    """``small`` was disabled an hour ago: one service got ``wide`` instead, another one lost its runtime."""
    cause = edited(lab, "ClusterServingRuntime", "small", ago=HOUR, old_version="4711", new_version="4723")
    felt(lab, "chat", "runtime", SMALL, WIDE, cause=cause)
    felt(lab, "lost", "runtime", SMALL, "", cause=cause)
    felt(lab, "lost", "outcome", "auto-selected", "no-runtime", cause=cause)
    return cause


def page(client: Client, query: str = "") -> str:
    response = client.get(f"/changes/{query}")
    assert response.status_code == 200
    return response.content.decode()


def shown(client: Client, query: str) -> set[tuple[str, str]]:
    """What the rows of the list are about: the services, and what changed."""
    response = client.get(f"/changes/{query}{'&' if '?' in query else '?'}format=json")
    assert isinstance(response, StreamingHttpResponse)
    return {(row["service"], row["what"]) for row in json.loads(response.getvalue())}


def rows(text: str) -> list[str]:
    found = re.findall(r'<tr id="change-\d+">.*?</tr>', text, re.S)
    return [" ".join(html.unescape(re.sub(r"<[^>]+>", "", each)).split()) for each in found]


def test_it_says_how_many_services_changed_and_how_many_lost_their_runtime(
    client: Client, lab: Cluster, edit: ObjectChange
) -> None:
    felt(lab, "heir-user", "service", "", "named", ago=HOUR)
    felt(lab, "old", "service", "auto-selected", "", ago=HOUR)
    felt(lab, "long-ago", "runtime", SMALL, "", ago=50 * HOUR)
    text = text_of(client.get("/changes/"))
    assert "4 services changed in the last 24 hours: 1 lost its runtime, 1 is new, 1 is gone." in text


def test_what_was_lost_and_found_again_is_not_lost(client: Client, lab: Cluster) -> None:
    felt(lab, "chat", "runtime", SMALL, "", ago=3 * HOUR)
    felt(lab, "chat", "runtime", "", WIDE, ago=2 * HOUR)
    felt(lab, "tried", "service", "", "auto-selected", ago=3 * HOUR)
    felt(lab, "tried", "service", "auto-selected", "", ago=2 * HOUR)
    assert "2 services changed in the last 24 hours: 1 is gone." in text_of(client.get("/changes/"))


def test_when_nothing_changed_lately_it_says_when_something_did(client: Client, lab: Cluster) -> None:
    felt(lab, "chat", "runtime", SMALL, WIDE, ago=72 * HOUR)
    assert "Nothing changed in the last 24 hours; the last change was 3 d ago." in text_of(client.get("/changes/"))


def test_without_a_change_it_teaches_how_there_will_be_one(client: Client, lab: Cluster) -> None:
    text = text_of(client.get("/changes/"))
    assert "No cluster is followed." in text
    assert "python manage.py sync --watch" in text
    Cluster.objects.update(followed=True)
    assert "When an object in a followed cluster changes" in text_of(client.get("/changes/"))


def test_a_row_says_from_what_to_what_and_why(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    text = page(client, "?what=runtime&service=chat")
    row = rows(text)[0]
    assert "apps/chat" in row
    assert "Runtime small → became wide" in row
    assert "ClusterServingRuntime small changed 4711 → to 4723" in row
    assert "spec.disabled false → to true" in row
    for link in ("/services/lab/apps/chat/", "/runtimes/lab/-/small/", "/runtimes/lab/-/wide/"):
        assert f'href="{link}"' in text


def test_every_kind_of_change_has_its_words(client: Client, lab: Cluster) -> None:
    felt(lab, "a", "service", "", "auto-selected")
    felt(lab, "b", "service", "no-runtime", "")
    felt(lab, "c", "mode", "MultiNode", "OMENative", component="engine")
    felt(lab, "d", "conflict", "", "drift", component="decoder")
    felt(lab, "e", "conflict", "rejected", "", component="engine")
    felt(lab, "f", "runtime", "", SMALL)
    text = " ".join(rows(page(client, "?sort=service")))
    for words in (
        "Service New: Selected",
        "Service Gone; was No runtime",
        "engine mode MultiNode → became OMENative",
        "decoder conflict New: Drift",
        "engine conflict Gone: Rejected",
        "Runtime none → became small",
    ):
        assert words in text


def test_what_no_object_caused_has_its_reason(client: Client, lab: Cluster) -> None:
    felt(lab, "chat", "mode", "MultiNode", "OMENative", component="engine", reason=f"OME v1.3 rules {HOSTILE}")
    text = page(client)
    assert "OME v1.3 rules &lt;script&gt;" in text
    assert HOSTILE not in text


def test_other_causes_of_the_same_moment_are_named(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    others = [{"kind": "ClusterBaseModel", "namespace": "", "name": "llama-7b", "act": "created"}]
    Change.objects.update(other_causes=others)
    text = page(client)
    assert "1 other object changed in the same moment" in text
    assert 'href="/models/lab/-/llama-7b/"' in text


def test_the_first_three_fields_are_shown_and_the_rest_fold(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    fields = [{"path": f"spec.field{number}", "before": None, "after": "1"} for number in range(5)]
    ObjectChange.objects.update(differences=fields, more_differences=4)
    row = rows(page(client, "?service=chat"))[0]
    assert "spec.field2 not there → to 1 6 more fields spec.field3" in row
    assert "4 more that aren't kept" in row


def test_the_fields_of_an_object_that_came_fold_all(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    ObjectChange.objects.update(act="created", old_version="")
    row = rows(page(client, "?service=chat"))[0]
    assert "ClusterServingRuntime small created 4723 1 field spec.disabled" in row


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?q=chat", {("chat", "runtime")}),
        ("?q=small+lost", {("lost", "runtime"), ("lost", "outcome")}),
        ("?service=chat", {("chat", "runtime")}),
        ("?namespace=team", {("far", "mode")}),
        ("?what=outcome", {("lost", "outcome")}),
        ("?outcome=no-runtime", {("lost", "outcome")}),
        ("?component=engine", {("far", "mode")}),
        ("?cluster=elsewhere", {("far", "mode")}),
        ("?cluster=nowhere", set()),
        ("?cause_kind=ClusterServingRuntime&what=outcome", {("lost", "outcome")}),
        ("?cause_kind=none", {("far", "mode")}),
        ("?cause_name=small&what=runtime", {("lost", "runtime"), ("chat", "runtime")}),
        ("?cause_namespace=team", set()),
        ("?runtime=wide", {("chat", "runtime")}),
        ("?runtime=small", {("lost", "runtime"), ("chat", "runtime")}),
        ("?runtime=mall", set()),
        (f"?runtime={WIDE}", {("chat", "runtime")}),
        ("?since=2h&what=outcome", {("lost", "outcome")}),
        ("?since=30m", set()),
        ("?until=2d", {("far", "mode")}),
        ("?since=4d&until=2d", {("far", "mode")}),
        ("?until=2020-01-01", set()),
    ],
)
def test_filters(client: Client, lab: Cluster, edit: ObjectChange, query: str, expected: set[tuple[str, str]]) -> None:
    elsewhere = Cluster.objects.create(name="elsewhere")
    felt(elsewhere, "far", "mode", "MultiNode", "", namespace="team", component="engine", ago=72 * HOUR)
    assert shown(client, query) == expected


def test_one_edit_has_all_that_it_caused_and_is_named_in_words(
    client: Client, lab: Cluster, edit: ObjectChange
) -> None:
    felt(lab, "other", "runtime", SMALL, WIDE)
    assert shown(client, f"?edit={edit.pk}") == {("chat", "runtime"), ("lost", "runtime"), ("lost", "outcome")}
    text = page(client, f"?edit={edit.pk}")
    assert f"One edit: ClusterServingRuntime small, {edit.at:%Y-%m-%d %H:%M:%S} UTC" in text
    assert "One edit" not in page(client)


def test_an_edit_that_is_not_known_any_more_has_no_row(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    assert "One edit: 987654, which isn&#x27;t known" in page(client, "?edit=987654")
    assert shown(client, "?edit=987654") == set()


@pytest.mark.parametrize(
    "query",
    ["?since=some+day", "?since=2026-02-31", "?until=9999-12-31", "?what=weather", "?edit=all", "?edit=0.5", "?edit=²"],
)
def test_a_filter_that_can_not_be_read_is_marked_and_shows_nothing(
    client: Client, lab: Cluster, edit: ObjectChange, query: str
) -> None:
    text = page(client, query)
    assert "A filter can&#x27;t be read" in text
    assert "form-errors" in text
    assert rows(text) == []
    refused = client.get(f"/changes/{query}&format=json")
    assert refused.status_code == 400
    assert list(json.loads(refused.content)["errors"]) == [query[1:].split("=")[0]]


NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("90s", datetime(2026, 5, 4, 12, 28, 30, tzinfo=UTC)),
        ("30m", datetime(2026, 5, 4, 12, 0, tzinfo=UTC)),
        ("30 min ago", datetime(2026, 5, 4, 12, 0, tzinfo=UTC)),
        (" 24H ", datetime(2026, 5, 3, 12, 30, tzinfo=UTC)),
        ("1w", datetime(2026, 4, 27, 12, 30, tzinfo=UTC)),
        ("today", datetime(2026, 5, 4, tzinfo=UTC)),
        ("yesterday", datetime(2026, 5, 3, tzinfo=UTC)),
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-05-01 08:15", datetime(2026, 5, 1, 8, 15, tzinfo=UTC)),
        ("2026-05-01T08:15:30Z", datetime(2026, 5, 1, 8, 15, 30, tzinfo=UTC)),
        ("2026-05-01T08:15+02:00", datetime(2026, 5, 1, 6, 15, tzinfo=UTC)),
    ],
)
def test_moments_as_people_type_them(text: str, meant: datetime) -> None:
    assert moment(text, NOW) == meant


def test_until_a_day_means_its_end() -> None:
    assert moment("2026-05-01", NOW, end=True) == datetime(2026, 5, 2, tzinfo=UTC)
    assert moment("today", NOW, end=True) == datetime(2026, 5, 5, tzinfo=UTC)
    assert moment("2h", NOW, end=True) == moment("2h", NOW)


@pytest.mark.parametrize(
    "text", ["", "soon", "24", "h", "-1h", "2026-13-01", "2026-02-30 10:00", "1e3h", "0001-01-01T00:00+14:00"]
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a moment"):
        moment(text, NOW)


def test_by_cause_one_edit_says_how_many_services_it_changed(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    felt(lab, "late", "mode", "", "OMENative", component="engine", reason="The rules changed")
    text = text_of(client.get("/changes/?group=cause"))
    edits = "2 services changed because ClusterServingRuntime small was changed 60 min ago in lab 3 changes"
    assert text.index(edits) < text.index("1 service changed in lab: The rules changed 1 change")


def test_by_service_and_by_day(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    felt(lab, "chat", "runtime", WIDE, SMALL, ago=72 * HOUR)
    assert "lab / apps / chat 2 changes" in text_of(client.get("/changes/?group=service"))
    text = text_of(client.get("/changes/?group=day"))
    days = [f"{edit.at:%Y-%m-%d} 3 changes", f"{datetime.now(UTC) - 72 * HOUR:%Y-%m-%d} 1 change"]
    assert text.index(days[0]) < text.index(days[1])


def test_the_counts_above_the_list_count_what_the_other_filters_leave(
    client: Client, lab: Cluster, edit: ObjectChange
) -> None:
    text = text_of(client.get("/changes/?what=outcome&service=lost"))
    assert "All 2" in text
    assert "Runtime 1" in text
    assert "Outcome 1" in text


def test_exports_hold_the_cause_with_what_differed(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    felt(lab, "alone", "outcome", "named", "invalid", reason="The release line was set to 1.2")
    response = client.get("/changes/?format=json&sort=service")
    assert isinstance(response, StreamingHttpResponse)
    alone, chat = json.loads(response.getvalue())[:2]
    assert list(chat) == [
        "at", "cluster", "namespace", "service", "what", "component", "before", "after", "cause_kind",
        "cause_namespace", "cause_name", "cause_act", "cause_at", "cause_old_version", "cause_new_version",
        "differences", "more_differences", "other_causes", "reason",
    ]  # fmt: skip
    assert (chat["before"], chat["after"]) == (SMALL, WIDE)
    assert (chat["cause_kind"], chat["cause_name"], chat["cause_act"]) == ("ClusterServingRuntime", "small", "changed")
    assert (chat["cause_old_version"], chat["cause_new_version"]) == ("4711", "4723")
    assert chat["differences"] == [{"path": "spec.disabled", "before": "false", "after": "true"}]
    assert (alone["cause_kind"], alone["differences"], alone["reason"]) == ("", "", "The release line was set to 1.2")


def test_csv_holds_the_differences_as_json(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    response = client.get("/changes/?format=csv&service=chat")
    assert isinstance(response, StreamingHttpResponse)
    (row,) = csv.DictReader(io.StringIO(response.getvalue().decode()))
    assert json.loads(row["differences"]) == edit.differences


def test_htmx_gets_the_list_and_the_counts_alone(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    response = client.get("/changes/?what=runtime", headers={"HX-Request": "true", "HX-Target": "list-changes"})
    text = response.content.decode()
    assert "<html" not in text
    assert 'id="list-changes-summary" hx-swap-oob="true"' in text
    assert response.headers["HX-Push-Url"] == "/changes/?what=runtime"


@pytest.mark.parametrize("query", ["", "?group=cause", "?group=service", "?group=day", "?sort=cause", "?edit=1"])
def test_the_number_of_queries_does_not_grow(
    client: Client, lab: Cluster, django_assert_max_num_queries: DjangoAssertNumQueries, query: str
) -> None:
    for number in range(70):
        cause = edited(lab, "ClusterServingRuntime", f"runtime-{number}")
        felt(lab, f"service-{number}", "runtime", SMALL, WIDE, cause=cause)
        felt(lab, f"service-{number}", "outcome", "named", "no-runtime", cause=cause)
    with django_assert_max_num_queries(13):
        page(client, query)


def test_names_that_no_address_can_say_are_shown_without_a_link(client: Client, lab: Cluster) -> None:
    felt(lab, "a/b", "runtime", "garbage", "ClusterServingRuntime//x/y")
    text = page(client)
    assert "a/b" in text
    assert "x/y" in text


def test_it_requires_signing_in_on_a_server(client: Client, lab: Cluster, server_mode: Settings) -> None:
    assert client.get("/changes/").status_code == 302


def test_a_cause_that_the_row_above_has_too_is_not_told_again(client: Client, lab: Cluster, edit: ObjectChange) -> None:
    found = rows(page(client))
    assert ["changed 4711" in row for row in found] == [True, False, False]
    assert all(row.endswith("the same") for row in found[1:])


def test_it_says_how_long_changes_are_kept(client: Client, lab: Cluster, settings: Settings) -> None:
    settings.KEEP_CHANGES_DAYS = 30
    assert "Changes are kept for 30 days." in text_of(client.get("/changes/"))


def test_what_two_syncs_find_is_on_the_page_with_its_cause(client: Client, lab: Cluster) -> None:
    def off(manifest: dict[str, Any]) -> dict[str, Any]:
        if (manifest["kind"], manifest["metadata"]["name"]) != ("ClusterServingRuntime", "small"):
            return manifest
        return {**manifest, "spec": {**manifest["spec"], "disabled": True}}

    load([off(each) for each in small_fleet()])
    assert shown(client, "?cause_name=small") == {("chat", "runtime")}
    row = rows(page(client))[0]
    assert "apps/chat" in row
    assert "Runtime small → became wide" in row
    assert "ClusterServingRuntime small changed" in row
    assert "spec.disabled not there → to true" in row
    timeline = text_of(client.get("/runtimes/lab/-/small/")).split(" Timeline", 1)[1]
    assert "apps/chat gets wide instead of small" in timeline
