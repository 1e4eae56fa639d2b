"""Everything that people wrote as one JSON value, and back: nothing is lost on the way, and twice is as once.

docs/keeping.md describes the format. Rows are known again by what names them in every database: a comment, a review
and an act by its number, a handling by the finding's key, a severity by its code. Of two versions of one the later is
kept, wherever it comes from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import IO, Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models, transaction

from selection.store.models import SeveritySetting
from selection.store.sight import EVERYTHING, seeing

from .models import (
    ActRecord,
    Comment,
    Handling,
    Mention,
    Participant,
    Review,
    ReviewInput,
    ReviewItem,
    ReviewPlace,
    Signature,
)

__all__ = ["FORMAT", "VERSION", "BadExport", "Imported", "export_reviews", "import_reviews"]

FORMAT = "ome-dashboard-reviews"
VERSION = 1
MOST_BYTES = 1024**3


class BadExport(ValueError):
    """What was given can't be read: ``str()`` names the place and says why. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Part:
    """A table, by the name of its list.

    Attributes:
        name: of the list in the JSON.
        model: the table.
        identity: the fields that name a row in every database.
        order: what the list is sorted by.
        later: the fields that tell which of two versions of a row is the later one; none where rows never change.
        parts: the tables whose rows belong to a row of this one.
        parent: the field by which this one's rows belong to a row of another.
    """

    name: str
    model: type[models.Model]
    identity: tuple[str, ...]
    order: tuple[str, ...]
    later: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    parent: str = ""

    @property
    def fields(self) -> list[models.Field[Any, Any]]:
        """The fields that are written, in the order of the table."""
        return [
            each for each in self.model._meta.concrete_fields
            if each.name != self.parent and not isinstance(each, models.AutoField)
        ]  # fmt: skip


PARTS = (
    Part("severities", SeveritySetting, ("code",), ("code",), ("at",)),
    Part("handlings", Handling, ("key",), ("key",), ("version", "changed_at")),
    Part(
        "comments", Comment, ("id",), ("created_at", "id"), ("version",),
        (Part("mentions", Mention, ("name",), ("name",), (), (), "comment"),),
    ),
    Part(
        "reviews", Review, ("id",), ("created_at", "id"), ("version", "frozen_at"),
        (
            Part("places", ReviewPlace, ("cluster", "namespace"), ("cluster", "namespace"), (), (), "review"),
            Part("participants", Participant, ("name",), ("name",), (), (), "review"),
            Part(
                "inputs", ReviewInput, ("cluster", "kind", "namespace", "name"),
                ("cluster", "kind", "namespace", "name"), (), (), "review",
            ),
            Part("items", ReviewItem, ("key",), ("place", "key"), ("version",), (), "review"),
            Part("signatures", Signature, ("name", "digest"), ("signed_at", "name"), (), (), "review"),
        ),
    ),
    Part("acts", ActRecord, ("number",), ("at", "pk")),
)  # fmt: skip
"""What is exported, in the order in which it is imported."""


@dataclass(slots=True)
class Imported:
    """What an import did, by list: how many rows were added, replaced by a later version, and left as they were."""

    added: dict[str, int] = field(default_factory=dict)
    replaced: dict[str, int] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)

    @property
    def changed(self) -> int:
        """How many rows were added or replaced."""
        return sum(self.added.values()) + sum(self.replaced.values())


def export_reviews(file: IO[str]) -> int:
    """Write everything that people wrote, and say how many rows. The same state gives the same text."""
    with seeing(EVERYTHING), transaction.atomic():
        lists = {part.name: list(_exported(part)) for part in PARTS}
    json.dump({"format": FORMAT, "version": VERSION, **lists}, file, indent=1, ensure_ascii=False, sort_keys=True)
    file.write("\n")
    return sum(map(len, lists.values()))


def import_reviews(text: str) -> Imported:
    """Bring what an export holds into the database, all of it or nothing.

    Raises:
        BadExport: it can't be read.
    """
    value = _parsed(text)
    done = Imported()
    with seeing(EVERYTHING), transaction.atomic():
        for part in PARTS:
            for place, told in enumerate(_list(value, part.name, "")):
                _import(part, told, f"{part.name}[{place}]", done)
    return done


def _parsed(text: str) -> Mapping[str, Any]:
    if len(text) > MOST_BYTES:
        raise BadExport(f"larger than {MOST_BYTES:,} characters")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadExport(f"line {error.lineno}: not JSON: {error.msg.lower()}") from None
    except RecursionError:
        raise BadExport("nested too deep") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise BadExport(f"not an export: it doesn't say that its format is {FORMAT!r}")
    if value.get("version") != VERSION:
        told = str(value.get("version"))[:20]
        raise BadExport(f"an export of format {told}, and this release reads format {VERSION}")
    return value


def _exported(part: Part, parent: models.Model | None = None) -> Iterator[dict[str, Any]]:
    rows = part.model._base_manager.order_by(*part.order)
    if parent is not None:
        rows = rows.filter(**{part.parent: parent})
    for row in rows.iterator(chunk_size=2000):
        told = {each.name: _told(each.value_from_object(row)) for each in part.fields}
        yield {**told, **{child.name: list(_exported(child, row)) for child in part.parts}}


def _told(value: Any) -> Any:
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def _list(value: Mapping[str, Any], name: str, place: str) -> Sequence[Mapping[str, Any]]:
    found = value.get(name, [])
    where = f"{place}.{name}" if place else name
    if not isinstance(found, list):
        raise BadExport(f"{where} is not a list")
    for number, each in enumerate(found):
        if not isinstance(each, dict):
            raise BadExport(f"{where}[{number}] is not an object")
    return found


def _import(
    part: Part, told: Mapping[str, Any], place: str, done: Imported, parent: models.Model | None = None
) -> None:
    row = _read(part, told, place, parent)
    same: dict[str, Any] = {name: getattr(row, name) for name in part.identity}
    if parent is not None:
        same[part.parent] = parent
    there = part.model._base_manager.filter(**same).first()
    if there is None:
        _save(row)
        _count(done.added, part)
    elif part.later and _age(part, row) > _age(part, there):
        row.pk = there.pk
        _save(row, replacing=True)
        _forget_frozen(part, there, row)
        _count(done.replaced, part)
    else:
        row = there
        _count(done.kept, part)
    for child in part.parts:
        for number, each in enumerate(_list(told, child.name, place)):
            _import(child, each, f"{place}.{child.name}[{number}]", done, row)


def _forget_frozen(part: Part, there: models.Model, row: models.Model) -> None:
    """Drop the items and inputs that a review had before it was brought up to date elsewhere."""
    if isinstance(there, Review) and isinstance(row, Review) and there.state_digest != row.state_digest:
        ReviewItem._base_manager.filter(review=row).delete()
        ReviewInput._base_manager.filter(review=row).delete()
    if isinstance(row, Comment):
        Mention._base_manager.filter(comment=row).delete()


def _age(part: Part, row: models.Model) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in part.later)


def _count(counts: dict[str, int], part: Part) -> None:
    counts[part.name] = counts.get(part.name, 0) + 1


def _save(row: models.Model, *, replacing: bool = False) -> None:
    if isinstance(row, Review) and row.previous_id is not None:
        known = Review._base_manager.filter(pk=row.previous_id).exists()
        row.previous_id = row.previous_id if known else None
    row.save(force_insert=not replacing, force_update=replacing)


def _read(part: Part, told: Mapping[str, Any], place: str, parent: models.Model | None) -> models.Model:
    """An unsaved row.

    Raises:
        BadExport: a field is missing, unknown, or not what it should be.
    """
    fields = {each.name: each for each in part.fields}
    children = {child.name for child in part.parts}
    for name in told.keys() - fields.keys() - children:
        raise BadExport(f"{place} has {str(name)[:80]!r}, which isn't known")
    row = part.model()
    for name, each in fields.items():
        if name not in told:
            raise BadExport(f"{place} has no {name!r}")
        try:
            setattr(row, each.attname, _clean(each, told[name], row))
        except ValidationError as error:
            if not _empty_is_meant(each, told[name]):
                raise BadExport(f"{place}.{name}: {' '.join(error.messages)}") from None
            setattr(row, each.attname, told[name])
    if parent is not None:
        setattr(row, part.parent, parent)
    return row


def _clean(each: models.Field[Any, Any], value: Any, row: models.Model) -> Any:
    """A field's value, checked; a row that another one names may come later, or never."""
    return each.target_field.to_python(value) if isinstance(each, models.ForeignKey) else each.clean(value, row)


def _empty_is_meant(each: models.Field[Any, Any], value: Any) -> bool:
    """Whether a value is one that a form would want filled in, and the table takes: an empty list, say."""
    if value is None:
        return each.null
    return isinstance(each, models.JSONField) and value in ([], {}, "", 0, False)
