"""Whatever the OpenAPI document allows, and what it doesn't, is asked: nothing fails, and every answer fits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core import signals
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode, checks

from tests.faces.api.contract import operations
from tests.faces.api.written import names

pytestmark = pytest.mark.django_db

#: Questions for each operation and way to ask; ``QUESTIONS=500`` asks longer, and others at each run.
QUESTIONS = int(os.environ.get("QUESTIONS", "6"))

#: Local mode needs no sign-in, and a cursor that nobody was given is refused although the document allows it.
LEFT_OUT = [checks.ignored_auth, checks.positive_data_acceptance]

METHODS = ("get", "post", "put", "patch", "delete")
OPERATIONS = [(method, path) for method in METHODS for _, path, _ in operations(method)]


@pytest.fixture(scope="module")
def schema(demo: None, django_db_blocker: Any) -> Iterator[Any]:
    """The document as the interface itself sends it. Requests keep the connection that the tests' transaction has."""
    ends = (signals.request_started, signals.request_finished)
    for each in ends:
        each.disconnect(close_old_connections)
    try:
        with django_db_blocker.unblock():
            found = schemathesis.openapi.from_wsgi("/api/v1/schema", get_wsgi_application())
        yield found
    finally:
        for each in ends:
            each.connect(close_old_connections)


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_no_question_is_too_odd(schema: Any, method: str, path: str, mode: GenerationMode) -> None:
    operation = schema[path][method]
    asked, here = 0, names()

    @settings(
        max_examples=QUESTIONS,
        derandomize=QUESTIONS < 100,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def ask(data: Any) -> None:
        nonlocal asked
        case = data.draw(operation.as_strategy(generation_mode=mode))
        if mode is GenerationMode.POSITIVE and data.draw(st.booleans()):  # what is there, else hardly any would be met
            case.path_parameters.update({name: here[name] for name in case.path_parameters if name in here})
        case.call_and_validate(excluded_checks=LEFT_OUT, headers={"Accept-Encoding": "identity"})
        asked += 1

    ask()
    assert asked
