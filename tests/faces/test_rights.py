"""The page of rights, and what somebody without any is told."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from selection.people.models import Grant, Role
from selection.store.models import Cluster
from tests.faces.clusters import text_of
from tests.faces.small_fleet import HOSTILE, load
from tests.people.cast import somebody

pytestmark = pytest.mark.django_db

GIVE = {"whose": "user", "name": "bob", "role": "viewer", "cluster": "", "namespace": ""}


def as_(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


def places() -> set[tuple[str, str, str, str]]:
    """The grants of bob."""
    rows = Grant.objects.filter(user__username="bob")
    return set(rows.values_list("role", "cluster", "namespace", "created_by"))


@pytest.fixture
def admin(client: Client, server_mode: Settings) -> Client:
    somebody("bob", None)
    return as_(client, somebody("ann", Role.ADMIN))


# Who may


@pytest.mark.parametrize(
    ("role", "cluster", "status"),
    [
        (None, "", 403),
        (Role.VIEWER, "", 403),
        (Role.REVIEWER, "", 403),
        (Role.ADMIN, "east", 200),
        (Role.ADMIN, "", 200),
    ],
)
def test_only_an_admin_of_some_place_sees_it(
    client: Client, server_mode: Settings, role: Role | None, cluster: str, status: int
) -> None:
    as_(client, somebody("ann", role, cluster=cluster))
    assert client.get("/rights/").status_code == status
    somebody("bob", None)
    assert client.post("/rights/", {**GIVE, "cluster": cluster}).status_code == (302 if status == 200 else 403)
    assert bool(places()) is (status == 200)


def test_it_asks_who_has_not_signed_in_to_do_so(client: Client, server_mode: Settings) -> None:
    assert client.get("/rights/").status_code == 302


def test_a_form_of_another_site_is_refused() -> None:
    somebody("bob", None)
    assert Client(enforce_csrf_checks=True).post("/rights/", GIVE).status_code == 403
    assert not places()


# Giving and taking


def test_a_role_is_given_and_taken_back(admin: Client) -> None:
    given = admin.post("/rights/", {**GIVE, "cluster": "east", "namespace": "ml"}, follow=True)
    assert "bob is viewer in namespace ml of east." in text_of(given)
    assert places() == {("viewer", "east", "ml", "ann")}
    taken = admin.post("/rights/", {**GIVE, "cluster": "east", "namespace": "ml", "do": "take"}, follow=True)
    assert "bob isn't viewer there any more." in text_of(taken)
    assert not places()


def test_a_group_is_given_a_role(admin: Client) -> None:
    Group.objects.create(name="platform")
    page = admin.post("/rights/", {**GIVE, "whose": "group", "name": "platform"}, follow=True)
    assert "group platform is viewer everywhere." in text_of(page)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "nobody"}, "There is no user 'nobody'."),
        ({"name": ""}, "This field is required."),
        ({"role": "owner"}, "Select a valid choice."),
        ({"cluster": "a//b"}, "A cluster's name has no part that is empty"),
        ({"namespace": "Not one"}, "A namespace is at most 63 small letters"),
        ({"name": HOSTILE}, "There is no user"),
    ],
)
def test_what_cannot_be_given_is_told_beside_the_form(admin: Client, wrong: dict[str, str], words: str) -> None:
    page = admin.post("/rights/", {**GIVE, **wrong})
    assert page.status_code == 200
    assert words in text_of(page)
    assert HOSTILE not in page.content.decode()
    assert not places()


def test_an_admin_of_one_cluster_learns_and_gives_nothing_elsewhere(client: Client, server_mode: Settings) -> None:
    Cluster.objects.create(name="secret-west")
    somebody("mallory", cluster="secret-west")
    somebody("bob", None)
    as_(client, somebody("ann", Role.ADMIN, cluster="east"))
    page = client.get("/rights/").content.decode()
    assert "secret-west" not in page
    assert "mallory" not in page
    for elsewhere in ({}, {"cluster": "secret-west"}, {"namespace": "ml"}):
        assert "you are no admin there" in text_of(client.post("/rights/", {**GIVE, **elsewhere})).lower()
    assert not places()
    taking = {**GIVE, "name": "mallory", "cluster": "secret-west", "do": "take"}
    assert client.post("/rights/", taking).status_code == 200
    assert Grant.objects.filter(cluster="secret-west").exists()


def test_queries_do_not_grow_with_the_grants(admin: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    def count(number: int) -> None:
        for each in range(number):
            somebody(f"user-{each}", cluster="east", namespace=f"n{each}")

    count(2)
    with django_assert_num_queries(6):  # the session, the user, its grants, freshness, all grants, clusters
        admin.get("/rights/")
    count(40)
    with django_assert_num_queries(6):
        admin.get("/rights/")


# Nothing to see


@pytest.mark.parametrize("address", ["/", "/services/", "/services/lab/apps/chat/", "/no-such/", "/clusters/add/"])
def test_who_may_see_nothing_is_told_whom_to_ask_and_how(client: Client, server_mode: Settings, address: str) -> None:
    load()
    page = as_(client, somebody("o'neil", None)).get(address)
    assert page.status_code == (404 if address == "/no-such/" else 403)
    assert "lab" not in text_of(page).replace("label", "")
    if address != "/no-such/":
        assert "nobody has given you a right to see anything" in text_of(page)
        assert """python manage.py grant add 'o'"'"'neil' viewer --cluster CLUSTER""" in text_of(page)


def test_who_may_see_only_what_is_not_there_is_told_so(client: Client, server_mode: Settings) -> None:
    load()
    page = as_(client, somebody("ann", cluster="east", namespace="ml")).get("/services/")
    assert page.status_code == 403
    assert "You may see what is in namespace ml of east, and no such cluster is known here." in text_of(page)


def test_programs_get_nothing_rather_than_a_page(client: Client, server_mode: Settings) -> None:
    load()
    as_(client, somebody("ann", None))
    assert client.get("/live/").status_code == 200
    metrics = client.get("/metrics")
    assert metrics.status_code == 200
    assert "lab" not in metrics.content.decode().replace("label", "")


@pytest.mark.parametrize("address", ["/account/", "/account/tokens/", "/account/password/"])
def test_ones_own_account_is_there_all_the_same(client: Client, server_mode: Settings, address: str) -> None:
    assert as_(client, somebody("ann", None)).get(address).status_code == 200


def test_ones_own_account_says_what_one_may(client: Client, server_mode: Settings) -> None:
    somebody("ann", Role.REVIEWER, cluster="east")
    page: Any = as_(client, somebody("ann", cluster="west", namespace="ml")).get("/account/")
    assert "Reviewer in east; Viewer in namespace ml of west" in text_of(page)


def test_many_roles_stand_on_pages_and_are_found(admin: Client) -> None:
    for number in range(60):
        somebody(f"person-{number:02}", Role.VIEWER, cluster="west" if number % 2 else "east")
    first = text_of(admin.get("/rights/"))
    assert "61 roles given" in first
    assert "1 to 50 of 61" in first
    assert "person-59" not in first
    assert "person-59" in text_of(admin.get("/rights/?page=2"))
    found = text_of(admin.get("/rights/?q=WEST"))
    assert "30 roles given" in found
    assert "person-01" in found
    assert "person-02" not in found
    assert "No such role" in text_of(admin.get("/rights/?q=nobody-at-all%00"))
