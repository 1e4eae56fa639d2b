"""The overview: counts, what needs a person, and how old the data is."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.http import StreamingHttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from selection.faces.pages.overview import LATEST
from selection.store.models import Change, DailyCount, ObjectChange
from tests.faces.clusters import store, text_of
from tests.rules.manifests import a_model, a_runtime, a_service, deployed, moded

pytestmark = pytest.mark.django_db

MULTI_NODE = a_runtime("multi", engineConfig=moded("MultiNode", leader={}, worker={}))


def test_it_teaches_what_to_do_when_nothing_was_read(client: Client) -> None:
    page = text_of(client.get("/"))

    assert "No cluster has been read yet" in page
    assert "python manage.py sync" in page


def test_it_says_so_when_a_cluster_has_no_services(client: Client) -> None:
    store(a_model())

    assert "There are no InferenceServices" in text_of(client.get("/"))


def test_it_answers_first_how_many_services_have_no_runtime(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), a_service("lost", model={"name": "gone"}))

    assert "Not all right: 1 of 2 services get no runtime" in text_of(client.get("/"))


def test_what_needs_a_person_is_counted_when_every_service_has_a_runtime(client: Client) -> None:
    store(a_model(), MULTI_NODE, a_service("taken-over"))

    assert "Every service that needs a runtime has one, but 1 thing needs a person" in text_of(client.get("/"))


def test_it_is_unsure_about_a_cluster_that_was_not_read_whole(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), name="fine")
    store(a_model(), name="sick", failed="ServingRuntime")

    assert "What is known of sick is old or not whole" in text_of(client.get("/"))
    assert "old or not whole" not in text_of(client.get("/?cluster=fine"))


def test_it_says_that_all_is_well_when_it_is(client: Client) -> None:
    store(a_model(), a_runtime(), a_service())

    page = text_of(client.get("/"))

    assert "All right: every service that needs a runtime has one, and nothing needs a person." in page
    assert "Nothing. Every service has a runtime" in page


def test_it_counts_components_by_the_mode_that_they_run_in(client: Client) -> None:
    store(a_model(), a_runtime(), MULTI_NODE, a_service("a", engine=moded("OMENative"), router={}))

    page = client.get("/").content.decode()

    assert 'href="/services/?mode=OMENative"' in page
    assert 'title="1 engine"' in page
    assert 'title="1 router"' in page


def test_it_leaves_out_of_the_modes_what_has_no_runtime_to_run_from(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), a_service("lost", model={"name": "gone"}))

    assert "1 component; 1 more has no runtime to run from" in text_of(client.get("/"))


def test_it_tells_how_many_components_are_off_multi_node(client: Client) -> None:
    store(
        a_model(),
        a_runtime(),
        MULTI_NODE,
        a_service(runtime={"name": "multi"}),
        a_service("moved", engine=moded("OMENative", leader={}, worker={})),
        deployed("InferenceReplica", service="moved"),
    )

    assert "1 of 2 multi-node components is off MultiNode, with nothing left to do" in text_of(client.get("/"))


def test_it_lists_what_needs_a_person_the_worst_first_with_what_to_do_next(client: Client) -> None:
    store(
        a_model(),
        MULTI_NODE,
        a_service("taken-over"),
        a_service("lost", model={"name": "gone"}),
        {**a_runtime("odd"), "spec": {"supportedModelFormats": "none"}},
    )

    page = client.get("/").content.decode()
    places = [page.index(f">{code}<") for code in ("Can't be judged".replace("'", "&#x27;"), "Unreadable")]

    assert places == sorted(places)
    assert '/services/prod/team/taken-over/"' in page
    assert '/runtimes/prod/-/odd/"' in page
    assert "expected a list, found text" in text_of(client.get("/"))
    assert "If MultiNode is meant, write it on spec.engine.annotations" in text_of(client.get("/"))


def test_it_shows_two_of_a_kind_and_links_to_the_rest(client: Client) -> None:
    store(*(a_service(f"lost-{number}", model={"name": "gone"}) for number in range(5)))

    page = client.get("/").content.decode()

    assert page.count('class="ref" href="/services/prod/team/lost-') == 2
    assert '<a class="small" href="/services/?outcome=invalid">all 5</a>' in page


def test_each_row_leads_to_where_the_next_step_begins(client: Client) -> None:
    store(
        a_model(),
        MULTI_NODE,
        a_service("taken-over"),
        a_service("lost", model={"name": "gone"}),
        {**a_runtime("odd"), "spec": {"supportedModelFormats": "none"}},
    )

    page = client.get("/").content.decode()

    assert '<a class="go" href="/services/prod/team/taken-over/#engine">' in page
    assert '<a class="go" href="/services/prod/team/lost/#words">' in page
    assert '<a class="go" href="/objects/prod/ClusterServingRuntime/-/odd/">' in page


def test_each_cluster_has_a_bar_of_its_modes_with_the_numbers_in_words(client: Client) -> None:
    store(a_model(), a_runtime(), MULTI_NODE, a_service("a"), a_service("b", engine=moded("OMENative")), name="one")
    store(a_model(), a_runtime(), a_service(), name="two")

    page = client.get("/").content.decode()

    assert re.search(r'aria-label="one: 1 \w+, 1 \w+"', page)
    assert 'aria-label="two: 1 RawDeployment"' in page
    assert 'aria-label="one: ' not in client.get("/?cluster=one").content.decode()


def test_progress_is_drawn_from_the_second_day_on_with_its_numbers(client: Client) -> None:
    cluster = store(a_model(), MULTI_NODE, a_service(runtime={"name": "multi"}))
    first = client.get("/")
    assert "from the second day on, what moved is drawn here" in text_of(first)
    assert 'aria-label="Components by state, those off MultiNode first: 1 not-started"' in first.content.decode()
    today = timezone.now().date()
    DailyCount.objects.create(cluster=cluster, day=today - timedelta(days=3), multi_node=4, off=1)

    page = client.get("/").content.decode()

    then = today - timedelta(days=3)
    assert f'aria-label="From {then} to today: 1 of 4 off MultiNode, now 0 of 1"' in page
    assert f'<th scope="row">{then}</th><td class="num">1</td><td class="num">4</td>' in page
    assert f">{then + timedelta(days=1)}<" not in page, "a day like the one before says nothing"


def test_it_tells_the_newest_changes_with_their_causes_and_counts_the_days(client: Client) -> None:
    cluster = store(a_model(), a_runtime(), a_service())
    now = timezone.now()
    cause = ObjectChange.objects.create(
        cluster=cluster, generation=1, at=now, kind="ClusterServingRuntime", name="gone", act="deleted"
    )
    for number in range(5):
        at = now - timedelta(minutes=number)
        told = {"what": "outcome", "before": "auto-selected", "after": "no-runtime", "cause": cause}
        Change.objects.create(cluster=cluster, generation=1, at=at, namespace="team", service=f"s-{number}", **told)

    others = [
        ObjectChange.objects.create(
            cluster=cluster, generation=1, at=now, kind="ClusterServingRuntime", name=f"other-{number}", act="changed"
        )
        for number in range(LATEST + 1)
    ]
    for other in others:
        at = now - timedelta(hours=1)
        Change.objects.create(
            cluster=cluster, generation=1, at=at, namespace="team", service="s-0", what="mode", cause=other
        )

    page = client.get("/")

    assert page.content.decode().count("because of") == LATEST
    assert "because of ClusterServingRuntime gone deleted and 4 more" in text_of(page)
    assert f'href="/changes/?edit={cause.pk}"' in page.content.decode()
    counted = [int(count) for count in re.findall(r"<title>\d{4}-\d\d-\d\d: (\d+)</title>", page.content.decode())]
    assert sum(counted) == 5 + len(others)
    assert client.get("/?cluster=prod").content.decode().count("because of") == LATEST


def test_without_changes_it_says_what_would_be_told(client: Client) -> None:
    store(a_model(), a_runtime(), a_service())

    assert "None was noticed yet." in text_of(client.get("/"))


def test_what_needs_a_person_is_exported_whole(client: Client) -> None:
    store(
        a_model(), MULTI_NODE, a_service("taken-over"), *(a_service(f"l-{n}", model={"name": "gone"}) for n in range(5))
    )

    response = client.get("/?format=json&cluster=prod")
    assert isinstance(response, StreamingHttpResponse)
    rows = json.loads(response.getvalue())

    assert [row["name"] for row in rows] == [*(f"l-{n}" for n in range(5)), "taken-over"]
    assert rows[-1]["code"] == "silent-takeover"
    assert rows[-1]["next"].startswith("If MultiNode is meant, write it on spec.engine.annotations")
    told = client.get("/?format=csv")
    assert isinstance(told, StreamingHttpResponse)
    assert told.getvalue().decode().splitlines()[0] == "state,code,cluster,kind,namespace,name,component,what,next"


def test_one_cluster_can_be_looked_at_alone(client: Client) -> None:
    store(a_model(), a_runtime(), a_service(), name="one")
    store(a_service("lost", model={"name": "gone"}), name="two")

    page = client.get("/?cluster=one").content.decode()

    assert "/services/two/" not in page
    assert "?outcome=auto-selected&amp;cluster=one" in page


def test_an_unknown_cluster_is_not_found(client: Client) -> None:
    response = client.get("/?cluster=moon")

    assert response.status_code == 404
    assert "No cluster is named moon." in text_of(response)


def test_every_page_says_how_old_the_data_is_and_what_was_not_read(client: Client) -> None:
    store(a_model(), name="fine")
    store(a_model(), name="sick", failed="ServingRuntime")

    strip = text_of(client.get("/")).rpartition("Data as of")[2]

    assert "sick: just now, 1 kind not read" in strip
    assert strip.index("sick") < strip.index("fine"), "what has a problem comes first"


def test_hostile_names_are_only_text(client: Client) -> None:
    store(a_model(), a_service(model={"name": "<img src=x>"}), name="<b>bold</b>")

    page = client.get("/").content.decode()

    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "<img" not in page


def test_the_number_of_queries_does_not_grow_with_the_fleet(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    services = [a_service(f"s-{number}", f"team-{number % 5}") for number in range(40)]
    lost = [a_service(f"lost-{number}", model={"name": "gone"}) for number in range(40)]
    store(a_model(), a_runtime(), MULTI_NODE, *services, *lost)

    with django_assert_max_num_queries(32):
        client.get("/")


def test_it_requires_sign_in_in_server_mode(client: Client, server_mode: Settings) -> None:
    response = client.get("/")

    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login/")


def test_it_only_reads(client: Client) -> None:
    assert client.post("/").status_code == 405
