"""Writes a set of derived rows so that only what differs is touched.

Derived tables are compared with what the rules say now: equal rows keep their primary key and their
time, changed ones are updated, new ones created, vanished ones deleted, all in bulk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from django.db.models import CharField, Field, Model, QuerySet, UniqueConstraint

__all__ = ["Delta", "Written", "compare_rows", "having", "write_delta", "write_rows"]

Row = TypeVar("Row", bound=Model)
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Written:
    """How many rows were created, updated and deleted."""

    created: int = 0
    updated: int = 0
    deleted: int = 0

    @property
    def total(self) -> int:
        """How many rows were touched."""
        return self.created + self.updated + self.deleted

    def __add__(self, other: Written) -> Written:
        return Written(self.created + other.created, self.updated + other.updated, self.deleted + other.deleted)


@dataclass(frozen=True, slots=True)
class Delta(Generic[Row]):
    """What has to be written: new rows, rows as they were with what they become, and rows that go."""

    created: list[Row]
    updated: list[tuple[Row, Row]]
    deleted: list[Row]


def write_rows(
    existing: QuerySet[Row] | Iterable[Row],
    wanted: Iterable[Row],
    model: type[Row],
    *,
    stamps: Sequence[str] = (),
) -> Written:
    """Make ``existing`` equal to ``wanted``: :func:`compare_rows`, then :func:`write_delta`."""
    return write_delta(compare_rows(existing, wanted, model, stamps=stamps), model)


def compare_rows(
    existing: QuerySet[Row] | Iterable[Row],
    wanted: Iterable[Row],
    model: type[Row],
    *,
    stamps: Sequence[str] = (),
) -> Delta[Row]:
    """What makes ``existing`` equal to ``wanted``. Rows are told apart by the model's unique constraint.

    Args:
        existing: the rows that stand for the same things now.
        wanted: unsaved rows.
        model: their model; its first constraint says what identifies a row.
        stamps: fields that don't count as a difference and are written only with one (such as a time).
    """
    fields = _fields(model)
    identity = _identity(model)
    keys = [field.attname for field in fields if field.name in identity]
    compared = [field.attname for field in fields if field.attname not in stamps and field.attname not in keys]
    limits = _limits(fields)
    known = {tuple(getattr(row, name) for name in keys): row for row in existing}
    created: list[Row] = []
    updated: list[tuple[Row, Row]] = []
    for row in wanted:
        _clip(row, limits)
        old = known.pop(tuple(getattr(row, name) for name in keys), None)
        if old is None:
            created.append(row)
        elif any(getattr(old, name) != getattr(row, name) for name in compared):
            updated.append((old, row))
    return Delta(created, updated, list(known.values()))


def write_delta(delta: Delta[Row], model: type[Row]) -> Written:
    """Write what differs, in bulk."""
    manager = model._default_manager
    for pks in _batches([row.pk for row in delta.deleted]):
        manager.filter(pk__in=pks).delete()
    manager.bulk_create(delta.created, batch_size=_BATCH)
    if delta.updated:
        identity = _identity(model)
        manager.bulk_create(
            [new for _, new in delta.updated],
            batch_size=_BATCH,
            update_conflicts=True,
            unique_fields=identity,
            update_fields=[field.name for field in _fields(model) if field.name not in identity],
        )
    return Written(len(delta.created), len(delta.updated), len(delta.deleted))


def having(rows: QuerySet[Row], field: str, values: Iterable[Any]) -> Iterator[Row]:
    """The rows whose field has one of many values, asked for in pieces that every database takes."""
    for some in _batches(sorted(set(values))):
        yield from rows.filter(**{f"{field}__in": some})


def _batches(values: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(values)
    while batch := list(islice(iterator, _BATCH)):
        yield batch


def _fields(model: type[Model]) -> list[Field[Any, Any]]:
    return [field for field in model._meta.concrete_fields if not field.primary_key]


def _identity(model: type[Model]) -> list[str]:
    constraint = next(each for each in model._meta.constraints if isinstance(each, UniqueConstraint))
    return list(constraint.fields)


def _limits(fields: Sequence[Field[Any, Any]]) -> dict[str, int]:
    return {field.attname: field.max_length for field in fields if isinstance(field, CharField) and field.max_length}


def _clip(row: Model, limits: dict[str, int]) -> None:
    """Cut text that no column holds; a manifest may hold text of any length where OME expects a short name."""
    for name, limit in limits.items():
        value = getattr(row, name)
        if len(value) > limit:
            setattr(row, name, value[: limit - 1] + "…")
