"""Writes a set of derived rows so that only what differs is touched.

Derived tables are compared with what the rules say now: equal rows keep their primary key and their
time, changed ones are updated, new ones created, vanished ones deleted, all in bulk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import CharField, Model, QuerySet

__all__ = ["Written", "write_rows"]

Row = TypeVar("Row", bound=Model)
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Written:
    """How many rows were created, updated and deleted."""

    created: int = 0
    updated: int = 0
    deleted: int = 0


def write_rows(
    existing: QuerySet[Row],
    wanted: Iterable[Row],
    key: Sequence[str],
    *,
    stamps: Sequence[str] = (),
) -> Written:
    """Make ``existing`` equal to ``wanted``.

    Args:
        existing: the rows that stand for the same thing now.
        wanted: unsaved rows; each gets its primary key when it is already there.
        key: the fields that identify a row.
        stamps: fields that don't count as a difference and are written only with one (such as a time).
    """
    known = {tuple(getattr(row, name) for name in key): row for row in existing}
    fields = [field for field in existing.model._meta.concrete_fields if not field.primary_key]
    names = [field.attname for field in fields]
    compared = [name for name in names if name not in stamps]
    created: list[Row] = []
    updated: list[Row] = []
    limits = {field.attname: field.max_length for field in fields if isinstance(field, CharField) and field.max_length}
    for row in wanted:
        _clip(row, limits)
        old = known.pop(tuple(getattr(row, name) for name in key), None)
        if old is None:
            created.append(row)
            continue
        row.pk = old.pk
        row._state.adding = False
        if any(getattr(old, name) != getattr(row, name) for name in compared):
            updated.append(row)
    manager = existing.model._default_manager
    gone = [row.pk for row in known.values()]
    for start in range(0, len(gone), _BATCH):
        manager.filter(pk__in=gone[start : start + _BATCH]).delete()
    manager.bulk_create(created, batch_size=_BATCH)
    if updated:
        manager.bulk_update(updated, [field.name for field in fields], batch_size=_BATCH)
    return Written(len(created), len(updated), len(gone))


def _clip(row: Model, limits: dict[str, int]) -> None:
    """Cut text that no column holds; a manifest may hold text of any length where OME expects a short name."""
    for name, limit in limits.items():
        value = getattr(row, name)
        if len(value) > limit:
            setattr(row, name, value[: limit - 1] + "…")
