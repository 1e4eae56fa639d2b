"""Lists of what isn't in a table: values that the rules compute, page by page behind a cursor as well."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter
from rest_framework.response import Response

from selection.faces.api.cursors import read_cursor, sealed
from selection.faces.api.lists import Listed
from selection.faces.api.parameters import FIELDS, LIMIT, read_limit

__all__ = ["Entry", "SequenceView"]

Entry = tuple[tuple[Any, ...], Callable[[], dict[str, Any]]]
"""A row: what it is sorted by, which tells it from every other, and what makes its value when it is shown."""


class SequenceView(Listed):
    """A list of computed values in one order."""

    by: ClassVar[str] = ""

    def parameters(self) -> Sequence[OpenApiParameter]:
        """How the list is trimmed and parted."""
        return [*self.takes, *self.paging()]

    def entries(self, **names: str) -> list[Entry] | Response:
        """Every row, or an answer of another kind.

        Raises:
            NotFound: there is nothing of these names.
        """
        raise NotImplementedError

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """One page of the rows."""
        asked = self.request.query_params
        limit = read_limit(asked)
        others = sorted((name, asked[name]) for name in asked if name not in {"cursor", LIMIT.name, FIELDS})
        about = [self.operation, sorted(names.items()), others]
        behind = tuple(read_cursor(asked["cursor"], about)) if "cursor" in asked else None
        found = self.entries(**names)
        if isinstance(found, Response):
            return found
        found = _told_apart(sorted(found, key=_key))
        begin = bisect_right(found, behind, key=_key) if behind is not None else 0

        def told(entry: Entry) -> Any:
            value = entry[1]()
            return value if wanted is None else {name: each for name, each in value.items() if name in wanted}

        return self.page(found[begin : begin + limit + 1], limit, lambda entry: sealed(entry[0], about), told)


def _told_apart(entries: list[Entry]) -> list[Entry]:
    """The rows, those of one key numbered."""
    numbered: list[Entry] = []
    for entry in entries:
        again = bool(numbered) and numbered[-1][0][:-1] == entry[0]
        numbered.append(((*entry[0], numbered[-1][0][-1] + 1 if again else 0), entry[1]))
    return numbered


def _key(entry: Entry) -> tuple[Any, ...]:
    return entry[0]
