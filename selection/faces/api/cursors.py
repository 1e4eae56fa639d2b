"""Pages that stay what they are while the rows change: each begins behind the last row of the one before.

A cursor holds the values that this row is sorted by, ending in what tells it from every other row: names, never a
primary key or a place. So a row that is there throughout, and isn't sorted elsewhere meanwhile, is met exactly once.
It is signed: a cursor that nobody was given is refused, and so is one of another list, another sort or other filters.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.signing import BadSignature, Signer
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import OrderBy

from selection.faces.api.problems import BadRequest
from selection.faces.listing import at_path

__all__ = ["Key", "after", "keys_of", "ordering", "read_cursor", "sealed", "values_of"]

_SIGNER = Signer(salt="selection.faces.api.cursors")
_LONGEST = 8000
_MOMENT = "@"


@dataclass(frozen=True, slots=True)
class Key:
    """A field that rows are sorted by. Rows without a value come first, or last when it is ``descending``."""

    field: str
    descending: bool = False

    def order(self) -> OrderBy:
        """The same on every database."""
        return F(self.field).desc(nulls_last=True) if self.descending else F(self.field).asc(nulls_first=True)

    def beyond(self, value: Any) -> Q:
        """Rows that come behind those with this value."""
        if value is None:
            return Q(pk__in=()) if self.descending else Q(**{f"{self.field}__isnull": False})
        if self.descending:
            return Q(**{f"{self.field}__lt": value}) | Q(**{f"{self.field}__isnull": True})
        return Q(**{f"{self.field}__gt": value})

    def same(self, value: Any) -> Q:
        """Rows with this value."""
        return Q(**{f"{self.field}__isnull": True}) if value is None else Q(**{self.field: value})


def keys_of(fields: Sequence[str], identity: Sequence[str], *, descending: bool = False) -> tuple[Key, ...]:
    """The fields of a sort, and then those that tell rows apart. A leading ``-`` means descending.

    >>> [(key.field, key.descending) for key in keys_of(["score"], ["cluster", "-at"], descending=True)]
    [('score', True), ('cluster', False), ('at', True)]
    """
    found: dict[str, Key] = {}
    for name in fields:
        field = name.removeprefix("-")
        found.setdefault(field, Key(field, name.startswith("-") != descending))
    for name in identity:
        field = name.removeprefix("-")
        found.setdefault(field, Key(field, name.startswith("-")))
    return tuple(found.values())


def ordering(keys: Sequence[Key]) -> list[OrderBy]:
    """What rows are ordered by."""
    return [key.order() for key in keys]


def values_of(row: Any, keys: Sequence[Key]) -> list[Any]:
    """What a row is sorted by."""
    return [at_path(row, key.field.replace("__", ".")) for key in keys]


def after(rows: QuerySet[Any], keys: Sequence[Key], values: Sequence[Any]) -> QuerySet[Any]:
    """The rows that come behind one with these values."""
    behind, same = Q(pk__in=()), Q()
    for key, value in zip(keys, values, strict=True):
        behind |= same & key.beyond(value)
        same &= key.same(value)
    # The first field alone leads a database to where to begin; the rest it can't use for that.
    first = keys[0].beyond(values[0]) | keys[0].same(values[0])
    return rows.filter(first, behind)


def sealed(values: Sequence[Any], about: Any) -> str:
    """The cursor of the row with these values, in the list, sort and filters that ``about`` stands for."""
    told = [_plain(value) for value in values]
    return str(_SIGNER.sign_object({"k": told, "of": _digest(about)}))


def read_cursor(text: str, about: Any) -> list[Any]:
    """The values of the row that a cursor stands for.

    Raises:
        BadRequest: it isn't one of ours, or one of another list, another sort or other filters.
    """
    try:
        if len(text) > _LONGEST:
            raise BadSignature
        found = _SIGNER.unsign_object(text)
        of, values = found["of"], found["k"]
    except (BadSignature, ValueError, TypeError, KeyError):
        raise _refused("It isn't one that this list has given out.") from None
    if of != _digest(about):
        raise _refused("It was given out for another list, another sort or other filters.")
    return [datetime.fromisoformat(each[_MOMENT]) if isinstance(each, dict) else each for each in values]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return {_MOMENT: value.isoformat()}
    return str(value) if isinstance(value, UUID) else value


def _refused(detail: str) -> BadRequest:
    error = {"parameter": "cursor", "code": "bad-cursor", "detail": detail}
    return BadRequest("The cursor can't be used. Begin anew without one.", "bad-cursor", [error])


def _digest(about: Any) -> str:
    return hashlib.sha256(json.dumps(about, default=str).encode()).hexdigest()[:16]
