"""The examples of the OpenAPI document are what the demo fleet answers.

``UPDATE=1`` writes them anew, where an answer was changed on purpose.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from selection.faces.api.examples import BAD_REQUEST, FILE, examples
from selection.faces.api.shapes import Problem
from selection.store.models import Change
from tests.faces.api.contract import ADDRESSES, answer_schema, complaints, operations, parameters
from tests.faces.api.written import filled

pytestmark = pytest.mark.django_db

#: Operations with examples of their own, and the document itself.
ELSEWHERE = frozenset({"readSchema", "readPerson"})
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
NUMBER = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def plain(value: Any, name: str = "") -> Any:
    """A value as examples have it: lists cut short, and what is another thing each time as it might be."""
    if isinstance(value, dict):
        return {key: plain(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value[:2]]
    if name == "next_cursor":
        return value and "eyJrIjpbImV1LXByb2QiLCJmcm9udGllciJdfQ:k3J9"
    if name == "next" and str(value).startswith("/api/"):
        return "/api/v1/services?limit=2&cursor=eyJrIjpbImV1LXByb2QiLCJmcm9udGllciJdfQ%3Ak3J9"
    if name in {"id", "generation", "evaluated_generation"} and isinstance(value, int):
        return 7
    if name == "expires_on":
        return value and "2026-12-31"
    if isinstance(value, str):
        value = MOMENT.sub("2026-05-01T12:00:00.000Z", value)
        value = NUMBER.sub("018f3a52-7c1e-4d6b-9a35-0c2f6f6b1e77", value)
        return re.sub(r"^/api/v1/changes/\d+$", "/api/v1/changes/7", value)
    return value


def request_of(operation: Any, path: str) -> str:
    """What an example asks for; of a change the last one."""
    if operation["operationId"] == "readChange":
        return str(reverse("api-v1:change", kwargs={"id": Change.objects.order_by("-at", "-pk")[0].pk}))
    if operation["operationId"] == "planRuntime":
        # The others follow the order of the manifest, of which PostgreSQL keeps none.
        return f"{ADDRESSES['planRuntime']}?fields=runtime,copy,need,ready,reasons,notes,references,admission,layers"
    limited = "?limit=1" if "limit" in parameters(operation, "query") else ""
    return (ADDRESSES.get(operation["operationId"]) or filled(path)) + limited


def test_the_examples_are_what_the_demo_fleet_answers(client: Client, demo: None) -> None:
    found = {}
    for name, path, operation in operations():
        if name in ELSEWHERE:
            continue
        request = request_of(operation, path)
        response = client.get(request)
        assert response.status_code == 200, request
        found[name] = {"request": plain(request), "value": plain(json.loads(response.content))}
    if os.environ.get("UPDATE"):
        FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        examples.cache_clear()
    assert examples() == found


def test_the_examples_fit_the_document() -> None:
    for name, _, operation in operations():
        if name in examples():
            assert complaints(answer_schema(operation, "200", "application/json"), examples()[name]["value"]) == []
    told = {"$ref": "#/components/schemas/Problem"}
    assert complaints(told, BAD_REQUEST.value) == []
    assert Problem().fields.keys() == BAD_REQUEST.value.keys()
