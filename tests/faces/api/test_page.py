"""The page that describes the interface: drawn from its document, and with everything that is in it."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from selection.faces.api.document import document
from selection.faces.api.page import operations, shapes
from selection.faces.api.problems import CODES

pytestmark = pytest.mark.django_db


def page(client: Client) -> str:
    """The page as it was sent."""
    response = client.get("/api/")
    assert response.status_code == 200
    return response.content.decode()


def test_every_operation_stands_on_the_page_with_its_parameters(client: Client) -> None:
    sent = page(client)
    for path, methods in document()["paths"].items():
        for method, each in methods.items():
            assert f'id="{each["operationId"]}"' in sent
            assert html.escape(f"{method.upper()} {path}") in sent
            part = sent.partition(f'id="{each["operationId"]}"')[2].partition("</details>")[0]
            for parameter in each.get("parameters", ()):
                assert f"<code>{parameter['name']}</code>" in part, (path, parameter["name"])


def test_every_link_within_the_page_leads_somewhere(client: Client) -> None:
    sent = page(client)
    ids = set(re.findall(r'\bid="([^"]+)"', sent))
    links = set(re.findall(r'href="#([^"]+)"', sent))
    assert len(links) > 30
    assert links <= ids


def test_every_operation_leads_to_what_it_answers_with(client: Client) -> None:
    known = {name for name, _, _ in shapes()}
    for each in operations():
        assert (each.row or each.answer) in known, each.id
        assert each.example or each.sends or each.id in {"readSchema", "readPerson"}, each.id


def test_the_document_for_people_names_every_list_and_what_one_writes() -> None:
    told = (Path(__file__).parents[3] / "docs" / "api.md").read_text()
    for path, methods in document()["paths"].items():
        if "{" not in path or "post" in methods:
            assert f"`{path}`" in told or f"`POST {path}`" in told, path
    for parameter in ("sort", "fields", "limit", "cursor"):
        assert f"| `{parameter}` |" in told
    assert set(re.findall(r"\| (\d{3})", told)) <= {str(status) for status in CODES}


def test_the_page_needs_a_sign_in_in_server_mode(client: Client, server_mode: Settings) -> None:
    assert client.get("/api/").status_code == 302


def test_the_page_only_answers(client: Client) -> None:
    assert client.post("/api/").status_code == 405
