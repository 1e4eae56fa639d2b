"""The frame of the pages: words for every code, errors, and nothing that the content policy would stop."""

from __future__ import annotations

import re

import pytest
from django.core.management import call_command
from django.template.loader import get_template
from django.test import Client, RequestFactory
from django.views.defaults import bad_request, permission_denied, server_error
from pytest_django import Settings

from selection.faces.explaining import CHECK_ORDER
from selection.faces.words import CHECKS, CONFLICTS, MIGRATION, MODES, OUTCOMES
from selection.rules import selection as rules
from selection.rules.conflicts import CODES
from selection.rules.explanation import OUTCOMES as RULES_OUTCOMES
from selection.rules.migration import STATES
from selection.rules.semantics import VERSIONS
from selection.store.models import ServiceResult, StoredObject
from tests.faces.clusters import text_of

#: What the content policy forbids, and htmx's ways around it.
FORBIDDEN = (
    r"\sstyle\s*=",
    r"<style\b",
    r"<script(?![^>]*\bsrc=)",
    r"\son[a-z]+\s*=\s*[\"']",
    r"\shx-on",
    r"javascript:",
)


@pytest.mark.parametrize(
    ("words", "codes"),
    [(OUTCOMES, RULES_OUTCOMES), (CONFLICTS, CODES), (MIGRATION, STATES), (CHECKS, CHECK_ORDER)],
)
def test_every_code_of_the_rules_has_a_word(words: dict[str, object], codes: tuple[str, ...]) -> None:
    assert set(words) == set(codes)


def test_every_mode_has_a_word() -> None:
    known = {mode for semantics in VERSIONS.values() for mode in semantics.modes}

    assert set(MODES) == known


def test_the_checks_are_all_of_the_rules() -> None:
    codes = [rules.DISABLED, rules.ACCELERATOR, rules.ENGINE_MODE, rules.DECODER_MODE, rules.FORMAT, rules.SIZE]
    codes += [rules.AUTO_SELECT, rules.ENTRY_AUTO_SELECT, rules.SCORE]

    assert list(CHECK_ORDER) == codes


@pytest.mark.parametrize(
    "name",
    [
        *(f"conflict/{code}{part}" for code in CODES for part in ("", ".next")),
        *(f"check/{code}{part}" for code in CHECK_ORDER for part in ("", ".next")),
        *(f"migration/{code}" for code in STATES),
        *(f"migration/{code}.next" for code in STATES if code != "done"),
    ],
)
def test_every_code_has_its_sentences(name: str) -> None:
    get_template(f"sentences/{name}.html")  # raises when there is none


def test_a_wrong_address_is_answered_in_the_frame(client: Client, db: None) -> None:
    response = client.get("/nowhere/")

    assert response.status_code == 404
    assert "The address leads nowhere." in text_of(response)


@pytest.mark.parametrize(
    ("view", "status", "words"),
    [
        (lambda request: server_error(request), 500, "Something went wrong here"),
        (lambda request: bad_request(request, ValueError()), 400, "The request can't be read"),
        (lambda request: permission_denied(request, ValueError()), 403, "You may not see this"),
    ],
)
def test_errors_are_answered_in_the_frame(view: object, status: int, words: str, db: None) -> None:
    assert callable(view)
    response = view(RequestFactory().get("/"))

    assert response.status_code == status
    assert words in text_of(response)


def test_an_error_page_asks_the_database_for_nothing() -> None:
    assert "Something went wrong here" in text_of(server_error(RequestFactory().get("/")))  # without the db fixture


def test_signing_in_is_drawn_in_the_frame(client: Client, server_mode: Settings, db: None) -> None:
    response = client.get("/login/")

    assert "Sign in" in text_of(response)
    assert 'id="freshness"' not in response.content.decode()


@pytest.mark.django_db
def test_no_page_of_the_demo_fleet_has_what_the_content_policy_stops(client: Client) -> None:
    call_command("demo", verbosity=0)
    paths = ["/", "/services/", "/conflicts/", "/migration/", "/runtimes/", "/models/", "/clusters/", "/nowhere/"]
    paths += ["/matrix/?cluster=eu-prod&namespace=frontier", "/compare/services/?a=eu-prod/frontier/research-chat"]
    paths.append("/compare/services/?a=eu-prod/frontier/research-chat&b=eu-prod/frontier/disagg-chat")
    paths.append("/services/eu-prod/frontier/research-chat/compare/?a=-/sgl-fathom-multinode&b=-/sgl-fathom-pd")
    rows = ServiceResult.objects.values_list("cluster__name", "namespace", "name")
    paths += [f"/services/{cluster}/{namespace}/{name}/" for cluster, namespace, name in rows]
    kinds = StoredObject.objects.order_by("kind", "name").values_list("cluster__name", "kind", "namespace", "name")
    seen = {kind: f"/objects/{cluster}/{kind}/{namespace or '-'}/{name}/" for cluster, kind, namespace, name in kinds}
    paths += seen.values()

    for path in paths:
        page = client.get(path).content.decode()
        for pattern in FORBIDDEN:
            found = re.search(pattern, page, re.IGNORECASE)
            assert not found, f"{path}: {page[found.start() - 80 : found.end() + 80]}"


@pytest.mark.django_db
def test_a_wrong_address_may_have_been_a_name(client: Client) -> None:
    page = client.get("/service/my%20chat/").content.decode()

    assert '<a href="/search/?q=my%20chat">' in page


@pytest.mark.django_db
def test_a_wrong_name_is_answered_with_the_one_that_may_be_meant(client: Client) -> None:
    call_command("demo", verbosity=0)

    page = client.get("/services/eu-prod/assistants/copilto/")

    assert page.status_code == 404
    assert "Cluster eu-prod has no InferenceService assistants/copilto, or hadn't" in text_of(page)
    assert "Did you mean assistants/copilot?" in text_of(page)
    assert 'href="/services/eu-prod/assistants/copilot/"' in page.content.decode()
    assert "Did you mean assistants/copilot in eu-prod?" in text_of(client.get("/services/moon/x/copilot/"))


@pytest.mark.django_db
def test_the_rail_marks_the_page_or_the_one_it_lies_below(client: Client) -> None:
    call_command("demo", verbosity=0)
    service, plan = "eu-prod/frontier/research-chat/", "/migration/services/eu-prod/frontier/research-chat/"
    pages = {"/services/": "page", f"/services/{service}": "true", "/compare/services/": "true"}
    for path, current in pages.items():
        assert f'<a href="/services/" aria-current="{current}">' in client.get(path).content.decode()
    assert '<a href="/migration/" aria-current="true">' in client.get(plan).content.decode()
