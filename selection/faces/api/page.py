"""The page that describes the interface to people: the OpenAPI document, drawn here, so that it needs no script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from selection.faces.api.document import document
from selection.faces.api.problems import CODES, ROOT

__all__ = ["Field", "Operation", "api_docs", "operations"]

_REF = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a value: what it is called, what it holds, and the shape that it leads to.

    ``where`` is ``path``, ``query``, ``header`` or ``""``; ``choices`` are the values that it may have.
    """

    name: str
    kind: str
    told: str
    shape: str = ""
    where: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """What can be asked: ``answer`` is the shape of the answer, ``row`` that of a list's rows.

    ``sends`` is an example of its body, ``example`` one of its answer.
    """

    id: str
    method: str
    path: str
    summary: str
    told: str
    tag: str
    parameters: tuple[Field, ...]
    body: str
    answer: str
    row: str
    sends: str
    example: str


@require_GET
def api_docs(request: HttpRequest) -> HttpResponse:
    """The page, ``/api/``."""
    tags: dict[str, list[Operation]] = {}
    for each in operations():
        tags.setdefault(each.tag, []).append(each)
    context = {
        "tags": [(tag, tag.replace("-", " ").capitalize(), found) for tag, found in tags.items()],
        "shapes": shapes(),
        "codes": sorted(CODES.items()),
        "host": f"{request.scheme}://{request.get_host()}",
        "root": ROOT,
        "schema": reverse("api-v1:schema"),
    }
    return render(request, "api/page.html", context)


@cache
def operations() -> tuple[Operation, ...]:
    """Every operation of the document, in its order."""
    found = [
        _operation(path, method, each)
        for path, methods in document()["paths"].items()
        for method, each in methods.items()
    ]
    return tuple(found)


@cache
def shapes() -> tuple[tuple[str, str, tuple[Field, ...]], ...]:
    """Every shape of the document but pages of lists: its name, what it is, and its fields."""
    schemas: Mapping[str, Any] = document()["components"]["schemas"]
    listed = (name for name in sorted(schemas) if "items" not in schemas[name].get("properties", {}).get("items", {}))
    return tuple((name, schemas[name].get("description", ""), tuple(_fields(schemas[name]))) for name in listed)


def _operation(path: str, method: str, each: Mapping[str, Any]) -> Operation:
    told = (each["responses"][status] for status in each["responses"] if status.startswith("2"))
    answer: Mapping[str, Any] = next((media for response in told for media in _media(response)), {})
    shape = _shape(answer.get("schema", {}))
    schema: Mapping[str, Any] = document()["components"]["schemas"].get(shape, {})
    row = _shape(schema.get("properties", {}).get("items", {}).get("items", {}))
    body: Mapping[str, Any] = next(_media(each.get("requestBody", {})), {})
    return Operation(
        id=each["operationId"],
        method=method.upper(),
        path=path,
        summary=each.get("summary", each["operationId"]),
        told=each.get("description", ""),
        tag=each["tags"][0],
        parameters=tuple(_parameter(told) for told in each.get("parameters", ())),
        body=_shape(body.get("schema", {})),
        answer=shape,
        row=row,
        sends=_example(body),
        example=_example(answer),
    )


def _example(media: Mapping[str, Any]) -> str:
    """The first example of a body or an answer, ``""`` without one."""
    examples: Mapping[str, Any] = media.get("examples", {})
    return next((json.dumps(told["value"], indent=2, ensure_ascii=False) for told in examples.values()), "")


def _media(told: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from told.get("content", {}).values()


def _parameter(told: Mapping[str, Any]) -> Field:
    schema = told.get("schema", {})
    choices = tuple(str(each) for each in schema.get("enum", ()))
    return Field(told["name"], _kind(schema), told.get("description", ""), where=told["in"], choices=choices)


def _fields(schema: Mapping[str, Any]) -> Iterator[Field]:
    for name, each in schema.get("properties", {}).items():
        yield Field(name, _kind(each), each.get("description", ""), _shape(_inner(each)))


def _inner(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a list or a map holds, or the one of several that isn't null."""
    if "items" in schema:
        return _inner(schema["items"])
    if isinstance(schema.get("additionalProperties"), Mapping) and schema["additionalProperties"]:
        return _inner(schema["additionalProperties"])
    for each in schema.get("allOf", ()) or schema.get("oneOf", ()) or schema.get("anyOf", ()):
        if each.get("type") != "null":
            return _inner(each)
    return schema


def _shape(schema: Mapping[str, Any]) -> str:
    """The name of the shape that a schema refers to."""
    inner = _inner(schema) if "$ref" not in schema else schema
    return str(inner.get("$ref", "")).removeprefix(_REF)


def _kind(schema: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    kinds = schema.get("type", "")
    null = " or null" if "null" in kinds or any(each.get("type") == "null" for each in schema.get("oneOf", ())) else ""
    names = [kinds] if isinstance(kinds, str) else [each for each in kinds if each != "null"]
    kind = next(iter(each for each in names if each), "")
    if kind == "array":
        return f"list{null}"
    if schema.get("format") == "date-time":
        return f"moment{null}"
    return (kind or ("object" if _shape(schema) else "any value")) + null
