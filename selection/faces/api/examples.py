"""The examples of the OpenAPI document: what the demo fleet answers, kept in a file that a test holds against it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from drf_spectacular.utils import OpenApiExample

__all__ = ["BAD_REQUEST", "FILE", "example_like", "example_of", "examples"]

FILE = Path(__file__).with_name("examples.json")

BAD_REQUEST = OpenApiExample(
    "A parameter that can't be read",
    {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "code": "bad-parameter",
        "detail": "The parameter limit can't be read: It is a whole number from 1 to 500.",
        "instance": "/api/v1/services",
        "errors": [
            {"parameter": "limit", "code": "bad-parameter", "detail": "It is a whole number from 1 to 500."},
        ],
    },
)
"""A problem, as it is told."""


@cache
def examples() -> Mapping[str, Mapping[str, Any]]:
    """By operation: the ``request``, and the ``value`` that it is answered with."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def example_of(operation: str) -> list[OpenApiExample]:
    """The example of an operation's answer; none for one that has none here."""
    told = examples().get(operation)
    return [OpenApiExample(f"GET {told['request']}", told["value"], response_only=True)] if told else []


def example_like(operation: str, told: str) -> list[OpenApiExample]:
    """The example of another operation's answer, for one that answers alike; ``told`` says what was asked."""
    return [OpenApiExample(told, examples()[operation]["value"], response_only=True)] if operation in examples() else []
