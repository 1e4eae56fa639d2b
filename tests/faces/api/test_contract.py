"""Every answer fits the OpenAPI document to the last field, and the document says everything that can be asked."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from jsonschema import Draft202012Validator

from selection.faces.api import urls
from selection.faces.api.document import document
from selection.faces.api.lists import ListView
from selection.store.models import Change
from tests.faces.api.contract import ADDRESSES, answer_schema, complaints, operations, parameters
from tests.faces.api.written import filled

pytestmark = pytest.mark.django_db

READ = [pytest.param(path, operation, id=name) for name, path, operation in operations()]


def pages(client: Client, path: str, most: int = 40) -> Iterator[dict[str, Any]]:
    """The answer at an address, and those that follow it when it is a list."""
    following: str | None = path
    while following and most:
        response = client.get(following)
        assert response.status_code == 200, (following, response.content)
        value: dict[str, Any] = json.loads(response.content)
        yield value
        following, most = value.get("next") if "items" in value else None, most - 1


def address(operation: Mapping[str, Any], path: str) -> str:
    """Where the demo fleet answers an operation."""
    if operation["operationId"] == "readChange":
        return str(
            reverse("api-v1:change", kwargs={"id": Change.objects.order_by("-pk").values_list("pk", flat=True)[0]})
        )
    return ADDRESSES.get(operation["operationId"]) or filled(path)


def test_the_document_is_made_without_a_warning() -> None:
    told = io.StringIO()
    with redirect_stderr(told):
        call_command(
            "spectacular", fail_on_warn=True, validate=True, urlconf="selection.faces.api.served", file="/dev/null"
        )
    assert told.getvalue() == ""


def test_the_document_is_openapi_3_1_with_schemas_that_are_sound() -> None:
    made = document()
    assert made["openapi"] == "3.1.0"
    for name, schema in made["components"]["schemas"].items():
        Draft202012Validator.check_schema(schema)
        assert schema.get("description"), name
        for field, each in schema.get("properties", {}).items():
            assert each.get("description") or "$ref" in each, f"{name}.{field}"


def test_every_operation_has_an_id_of_its_own_a_tag_and_a_summary() -> None:
    found = [each for methods in document()["paths"].values() for each in methods.values()]
    ids = [each["operationId"] for each in found]
    assert len(ids) == len(set(ids))
    assert all(each["summary"] and len(each["tags"]) == 1 for each in found)


@pytest.mark.parametrize(("path", "operation"), READ)
def test_every_answer_fits_the_document_to_the_last_field(
    client: Client, demo: None, path: str, operation: Mapping[str, Any]
) -> None:
    schema = answer_schema(operation, "200", "application/json")
    limited = "?limit=20" if "limit" in parameters(operation, "query") else ""
    for value in pages(client, address(operation, path) + limited):
        assert complaints(schema, value) == []
        assert "items" not in value or value["items"], "there is nothing that shows what a row looks like"


@pytest.mark.parametrize(("path", "operation"), READ)
def test_every_parameter_and_problem_is_in_the_document(
    client: Client, demo: None, path: str, operation: Mapping[str, Any]
) -> None:
    asked = address(operation, path)
    response = client.get(f"{asked}?no-such-parameter=1")
    assert response.status_code == 400
    assert complaints(answer_schema(operation, "400", "application/problem+json"), json.loads(response.content)) == []
    for name in ("q", "cluster", "namespace", "sort", "fields", "limit", "cursor", "page", "format"):
        told = client.get(f"{asked}?{name}=%00")
        unknown = told.status_code == 400 and json.loads(told.content)["code"] == "unknown-parameter"
        assert unknown is (name not in parameters(operation, "query")), name


def test_a_row_has_the_columns_of_the_pages_export_and_what_is_more() -> None:
    views: list[Any] = [getattr(each.callback, "view_class", object) for each in urls.urlpatterns]
    lists = [each for each in views if issubclass(each, ListView)]
    assert len(lists) >= 15
    for each in lists:
        exported = [column.key for column in each.listing.columns if column.value is not None]
        assert sorted(each.row().fields) == sorted([*exported, *each.more]), each
