"""What may stand in an address of the interface, and reading it: whatever isn't known there is refused by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import django_filters
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter

from selection.faces.api.paths import SEGMENT
from selection.faces.api.problems import BadRequest
from selection.faces.filterfields import LONGEST, Choice, Words
from selection.faces.moments import MomentField

__all__ = [
    "FIELDS",
    "IN_PATH",
    "LIMIT",
    "MOST_ROWS",
    "ROWS",
    "fields_parameter",
    "filter_parameters",
    "header",
    "query",
    "read_fields",
    "read_filters",
    "read_limit",
    "refuse_unknown",
    "refused",
]

ROWS = 100
"""Rows of a page when nobody says how many."""

MOST_ROWS = 500

WITHOUT_NUL = r"^[^\u0000]*$"
"""No database has such text."""


def query(name: str, description: str, schema: Mapping[str, Any] | None = None) -> OpenApiParameter:
    """A parameter of the query: its name, what it is, and its JSON schema (text unless told)."""
    return OpenApiParameter(name, dict(schema or {"type": "string"}), "query", description=description)


def header(name: str, description: str, *, response: Sequence[int] = ()) -> OpenApiParameter:
    """A header: of the request, or of the responses with these statuses."""
    told: Any = list(response) or False
    return OpenApiParameter(name, {"type": "string"}, "header", description=description, response=told)


def _in_path(name: str, description: str, example: str) -> OpenApiParameter:
    schema = {"type": "string", "pattern": SEGMENT, "examples": [example]}
    return OpenApiParameter(name, schema, "path", required=True, description=description)


def _uuid_in_path(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", "format": "uuid"}, "path", required=True, description=description)


IN_PATH: Mapping[str, OpenApiParameter] = {
    each.name: each
    for each in (
        _in_path("cluster", "The cluster's name; `/` in it is written `~1`, and `~` is written `~0`.", "eu-prod"),
        _in_path("namespace", "The namespace.", "frontier"),
        _in_path("name", "The name.", "research-chat"),
        _in_path("scope", "The namespace, or `-` for what is cluster-scoped.", "-"),
        _in_path("kind", "The kind, as Kubernetes spells it.", "InferenceService"),
        _in_path("key", "What a finding is known by: its `key`.", "no-runtime-0123456789abcdef0123456789abcdef"),
        _in_path("item", "Its place in the review, or its finding's key.", "1"),
        _in_path("person", "A name.", "ada"),
        _in_path("batch", "What the acts share that were done as one.", "0123456789abcdef0123456789abcdef"),
    )
} | {
    "review": _uuid_in_path("review", "The review's id."),
    "comment": _uuid_in_path("comment", "The comment's id."),
    "id": OpenApiParameter(
        "id", {"type": "integer", "minimum": 1, "maximum": 10**18 - 1}, "path", required=True, description="The id."
    ),
}
"""What stands in paths, by name."""

FIELDS = "fields"
LIMIT = query(
    "limit",
    "How many rows at most.",
    {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": ROWS},
)


def fields_parameter(known: Sequence[str]) -> OpenApiParameter:
    """The parameter that trims an answer: some of its fields, separated by commas."""
    schema = {"type": "array", "items": {"type": "string", "enum": list(known)}, "minItems": 1}
    told = "The fields to send, separated by commas; all of them without it."
    return OpenApiParameter(FIELDS, schema, "query", description=told, style="form", explode=False)


def refused(name: str, detail: str, code: str = "bad-parameter") -> BadRequest:
    """The refusal of one parameter of the query."""
    told = {"parameter": name, "code": code, "detail": detail}
    return BadRequest(f"The parameter {name} can't be read: {detail}", "bad-parameter", [told])


def refuse_unknown(asked: QueryDict, known: Iterable[str]) -> None:
    """Refuse parameters that nobody knows, and those that are given more than once.

    Raises:
        BadRequest: there is one; all of them are named.
    """
    names = set(known)
    unknown = [name for name in asked if name not in names]
    twice = [name for name in asked if name in names and len(asked.getlist(name)) > 1]
    if not unknown and not twice:
        return
    errors = [
        {"parameter": name, "code": "unknown-parameter", "detail": "There is no such parameter here."}
        for name in unknown
    ]
    errors += [{"parameter": name, "code": "repeated-parameter", "detail": "It is given twice."} for name in twice]
    told = []
    if unknown:
        told.append(f"There is no parameter {', '.join(unknown)} here.")
    if twice:
        told.append(f"Given more than once: {', '.join(twice)}.")
    raise BadRequest(" ".join(told), errors[0]["code"], errors)


def read_fields(asked: QueryDict, known: Sequence[str]) -> frozenset[str] | None:
    """The fields that are asked for; None for all.

    Raises:
        BadRequest: one of them isn't there.
    """
    if FIELDS not in asked:
        return None
    names = str(asked[FIELDS]).split(",")
    wrong = [name for name in names if name not in known]
    if wrong:
        raise refused("fields", f"There is no field {', '.join(wrong)}; there are {', '.join(known)}.")
    return frozenset(names)


def read_limit(asked: QueryDict) -> int:
    """How many rows are asked for.

    Raises:
        BadRequest: it isn't a number from 1 to :data:`MOST_ROWS`.
    """
    text = asked.get(LIMIT.name, str(ROWS))
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= MOST_ROWS):
        raise refused("limit", f"It is a whole number from 1 to {MOST_ROWS}.")
    return int(text)


def filter_parameters(filters: type[django_filters.FilterSet]) -> list[OpenApiParameter]:
    """The filters of a filter set, as the pages have them."""
    base: Mapping[str, Any] = filters.base_filters
    return [query(name, _told(each), _schema(each)) for name, each in base.items()]


def _told(each: Any) -> str:
    """What a filter leaves, in words."""
    if isinstance(each, Words):
        return "Every word of it, each in any of the texts of a row, whatever the case."
    if isinstance(each, Choice):
        return f"{each.label}."
    if each.field_class is MomentField:
        return f"{each.label} a moment: `24h`, `7d` or `30min` ago, `today`, a date, or a date with a time (UTC)."
    return f"{each.label}, exactly this."


def _schema(each: Any) -> dict[str, Any]:
    if isinstance(each, Choice):
        return {"type": "string", "enum": [value for value, _ in each.extra["choices"]]}
    if "min_value" in each.extra:
        return {"type": "integer", "minimum": each.extra["min_value"], "maximum": each.extra["max_value"]}
    longest = each.extra.get("max_length", LONGEST)
    return {"type": "string", "maxLength": longest, "pattern": WITHOUT_NUL}


def read_filters(filters: django_filters.FilterSet) -> Any:
    """The rows that the filters leave.

    Raises:
        BadRequest: a filter can't be read; all of those are named.
    """
    base: Mapping[str, Any] = filters.base_filters
    wrong = {name: each for name, each in base.items() if isinstance(each, Choice) and filters.data.get(name) == ""}
    errors = [{"parameter": name, "code": "bad-parameter", "detail": "It is empty."} for name in wrong]
    if not filters.form.is_valid():
        for name, texts in filters.form.errors.items():
            errors += [{"parameter": name, "code": "bad-parameter", "detail": str(text)} for text in texts]
    if errors:
        names = ", ".join(dict.fromkeys(each["parameter"] for each in errors))
        raise BadRequest(f"These parameters can't be read: {names}.", "bad-parameter", errors)
    return filters.qs
