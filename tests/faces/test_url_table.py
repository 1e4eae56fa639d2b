"""Every address × method × role × place: who is let in, who is refused, and how."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from pytest_django import DjangoDbBlocker, Settings

from selection.people.comments import say
from selection.people.freezing import Scope as About
from selection.people.handlings import Wish, handle_many
from selection.people.models import Role, Token
from selection.people.reviews import open_review
from selection.people.scopes import Scope
from selection.people.subjects import object_subject
from selection.people.tokens import create_token
from selection.people.writing import Writer
from selection.rules.objects import ObjectRef
from selection.store.models import Finding
from tests.faces.small_fleet import load, model, runtime, service
from tests.faces.url_table import OWNER, ROWS, TOKEN, Row, names_of_urls
from tests.people.cast import somebody
from tests.people.writers import by

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("server_mode")]

PLACES = (("lab", "apps"), ("lab", "team"), ("far", "apps"))

#: Who asks: the role, its cluster and namespace. ``root`` is a superuser, ``stranger`` hasn't signed in.
PEOPLE: dict[str, tuple[Role | None, str, str]] = {
    "nobody": (None, "", ""),
    "viewer": (Role.VIEWER, "lab", "apps"),
    "reviewer": (Role.REVIEWER, "lab", "apps"),
    "other-viewer": (Role.VIEWER, "lab", "team"),
    "all-viewer": (Role.VIEWER, "", ""),
    "namespace-admin": (Role.ADMIN, "lab", "apps"),
    "cluster-admin": (Role.ADMIN, "lab", ""),
    "admin": (Role.ADMIN, "", ""),
}
ASKING = ("stranger", *PEOPLE, "root")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

MULTI_NODE: dict[str, Any] = {
    "entry": {"autoSelect": False},
    "engineConfig": {"annotations": {"ome.io/deploymentMode": "MultiNode"}, "leader": {}, "worker": {}},
}


def _objects(*, small_is_off: bool) -> list[dict[str, object]]:
    """The same names in both namespaces, so that only the place tells who sees one."""
    found = [runtime("small", disabled=small_is_off), runtime("multi-node", **MULTI_NODE), model("llama-7b")]
    for namespace in ("apps", "team"):
        for name in ("own", "own-too"):
            found += [runtime(name, namespace, entry={"autoSelect": False}), model(name, namespace)]
        found += [service("chat", namespace, "llama-7b"), service("long", namespace, "llama-7b", "multi-node")]
    return found


Sessions = dict[str, str]
"""By who asks: the session, ``""`` for a stranger."""


def _session(who: str) -> str:
    if who == "stranger":
        return ""
    client = Client()
    client.force_login(User.objects.get(username=who))
    return client.cookies[django_settings.SESSION_COOKIE_NAME].value


def _written(writer: Writer, cluster: str, namespace: str) -> None:
    """What people write of a place: a review, a comment, and an act of several."""
    open_review(writer, "before the upgrade", About(((cluster, namespace),)))
    say(writer, object_subject(cluster, ObjectRef("InferenceService", namespace, "chat")), "Is it so?")
    found = Finding.objects.select_related("cluster").filter(cluster__name=cluster, namespace=namespace)[:1]
    handle_many(writer, list(found), Wish(state="in-progress"), {})


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Sessions]:
    """Two clusters with a past, and everybody who asks; each test's own writes are rolled back."""
    with django_db_blocker.unblock():
        named = str(connection.settings_dict["NAME"])
        assert "memory" in named or named.startswith("test_"), "this would flush a real database"
        try:
            for cluster in ("lab", "far"):
                load(_objects(small_is_off=True), cluster)
                load(_objects(small_is_off=False), cluster)
            for name, (role, cluster, namespace) in PEOPLE.items():
                somebody(name, role, cluster=cluster, namespace=namespace)
            for cluster, namespace in PLACES:
                _written(by("a test"), cluster, namespace)
            create_token(somebody(OWNER, None), "one", days=1, by=by("a test"))
            Token.objects.update(id=TOKEN)
            User.objects.create_superuser("root")
            yield {who: _session(who) for who in ASKING}
        finally:
            call_command("flush", interactive=False, verbosity=0)


def sees(name: str, cluster: str, namespace: str) -> bool:
    """Whether somebody sees a namespace, with ``""`` the cluster's own objects."""
    if name in ("stranger", "nobody"):
        return False
    _, of_cluster, of_namespace = PEOPLE.get(name, (Role.ADMIN, "", ""))
    return of_cluster in ("", cluster) and (not namespace or of_namespace in ("", namespace))


def administers(name: str, cluster: str) -> bool:
    """Whether somebody is an admin of a whole cluster, with ``""`` of all."""
    role, of_cluster, of_namespace = PEOPLE.get(name, (Role.ADMIN if name == "root" else None, "", ""))
    return role == Role.ADMIN and of_cluster in ("", cluster) and not of_namespace


def reviews(name: str, cluster: str, namespace: str) -> bool:
    """Whether somebody is a reviewer of a namespace, or more."""
    role = PEOPLE.get(name, (Role.ADMIN, "", ""))[0]
    return sees(name, cluster, namespace) and role is not None and role.holds(Role.REVIEWER)


def is_let_in(who: str, row: Row, rule: str, cluster: str, namespace: str) -> bool:
    """Whether somebody is let in, by the rule of a row."""
    if rule in ("", "anybody"):
        return bool(rule)
    return {
        "signed-in": who != "stranger",
        "seer": sees(who, cluster, "" if row.clustered else namespace)
        if row.of or row.query
        else who not in ("stranger", "nobody"),
        "reviewer": reviews(who, cluster, namespace),
        "reviewing": any(reviews(who, *place) for place in PLACES),
        "author": False,
        "place-admin": reviews(who, cluster, namespace) and PEOPLE.get(who, (Role.ADMIN,))[0] == Role.ADMIN,
        "admin": administers(who, cluster),
        "granter": PEOPLE.get(who, (Role.ADMIN if who == "root" else None,))[0] == Role.ADMIN,
        "root": administers(who, ""),
    }[rule]


def allowed(row: Row, method: str) -> str | None:
    """The rule for a method; None when the address takes no such method."""
    rule: str = getattr(row, method.lower())
    return rule or None


def expected(name: str, row: Row, method: str, who: str, cluster: str, namespace: str) -> set[int]:
    """The statuses that are right."""
    api, rule = name.startswith("api-v1:"), allowed(row, method)
    open_to_all = "anybody" in (row.get, row.post)
    if who == "stranger" and not open_to_all:
        return {row.stranger or (401 if api else 302), *([405] if row.stranger and rule is None else [])}
    if rule is None:
        if open_to_all:  # Django's own take whatever comes for a form, with its token
            return {200, 302, 405}
        return {403, 404, 405} if name == "gallery" else {405, 403} if who == "nobody" and not api else {405}
    if is_let_in(who, row, rule, cluster, namespace):
        return {200, 201, 204, 302, 400, 409, 422}
    if who == "nobody" and not api:
        return {403, 404}
    if rule in ("admin", "reviewer", "place-admin", "author"):
        return {403} if sees(who, cluster, "" if rule == "admin" else namespace) else {404}
    return {404} if rule == "seer" else {403}


def test_every_address_has_a_row() -> None:
    assert sorted(ROWS) == names_of_urls()


@pytest.mark.parametrize("name", ROWS)
def test_who_may_is_let_in_and_who_may_not_is_refused(name: str, world: Sessions, settings: Settings) -> None:
    settings.API_LIMITS = dict.fromkeys(settings.API_LIMITS, 0)
    row = ROWS[name]
    wrong = []
    for who, method, cluster, namespace in asked(row):
        address, body = row.address(name, cluster, namespace), row.sent(cluster, namespace)
        status, right = (
            ask(world[who], name, address, method, body),
            expected(name, row, method, who, cluster, namespace),
        )
        if status not in right:
            wrong.append(f"{who}: {method} {address}: {status}, not {sorted(right)}")
    assert not wrong, "\n".join(wrong)


def asked(row: Row) -> Iterator[tuple[str, str, str, str]]:
    """What is asked: by everybody of every place; by few what no place and no role matters for, or isn't taken."""
    places = PLACES if row.of or row.query or callable(row.body) else PLACES[:1]
    for method in METHODS:
        rule = allowed(row, method)
        everybody = rule is not None and (len(places) > 1 or rule not in ("anybody", "signed-in", "seer"))
        few = ("stranger", "root") if rule is None else ("stranger", "nobody", "viewer", "root")
        for who in ASKING if everybody else few:
            # These see as the viewer and the admin do; it takes one place to know that their role is let in.
            alike = rule == "seer" and who in ("reviewer", "namespace-admin", "root")
            for cluster, namespace in places[:1] if alike or rule is None else places:
                yield who, method, cluster, namespace


def ask(session: str, name: str, address: str, method: str, body: Mapping[str, Any]) -> int:
    """The status of the answer; what it wrote is undone."""
    as_json = name.startswith("api-v1:")
    text = json.dumps(body) if as_json else urlencode(body)
    form = "application/json" if as_json else "application/x-www-form-urlencoded"
    client = Client()
    client.cookies[django_settings.SESSION_COOKIE_NAME] = session
    point = transaction.savepoint()
    try:
        return client.generic(method, address, "" if method == "GET" else text, form).status_code
    finally:
        transaction.savepoint_rollback(point)


@pytest.mark.parametrize("scope", [Scope.READ, Scope.ADMIN])
def test_a_token_opens_what_its_user_may_see_and_no_more(scope: Scope, world: Sessions, settings: Settings) -> None:
    settings.API_LIMITS = dict.fromkeys(settings.API_LIMITS, 0)
    _, secret = create_token(User.objects.get(username="viewer"), f"for {scope}", scope=scope, days=1, by=by("a test"))
    wrong = []
    for name, row in ROWS.items():
        if name.startswith("api-v1:") and row.get and row.of:
            for cluster, namespace in PLACES:
                address = row.address(name, cluster, namespace)
                status = Client().get(address, headers={"authorization": f"Bearer {secret}"}).status_code
                right = 200 if sees("viewer", cluster, "" if row.clustered else namespace) else 404
                if status != right:
                    wrong.append(f"{address}: {status}, not {right}")
    assert not wrong, "\n".join(wrong)
