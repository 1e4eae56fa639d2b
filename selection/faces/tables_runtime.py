"""The small tables of a runtime's page as exports have them: what it serves, its modes, what it inherits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from selection.faces.readings import EntryReading, FormatReading, ModePlace
from selection.rules.inheritance import RuntimeKey
from selection.store.models import ReferenceRow, ServiceResult

__all__ = [
    "ENTRIES",
    "INHERITED",
    "PLACES",
    "REFERENCES",
    "REFUSED",
    "entry_rows",
    "inherited_rows",
    "place_rows",
    "reference_rows",
    "refused_rows",
]

_SIDES = ("version", "operator", "weight", "read_as")

ENTRIES = (
    "entry",
    "format",
    *(f"format_{name}" for name in _SIDES),
    "framework",
    *(f"framework_{name}" for name in _SIDES),
    "architecture",
    "quantization",
    "auto_select",
    "priority",
    "score",
    "matches",
)
INHERITED = ("kind", "namespace", "name", "path")
PLACES = ("component", "path", "says", "inherited", "in_selection", "when_it_runs")
REFERENCES = (
    "path",
    "line",
    "component",
    "container",
    "init_container",
    "found",
    "remedy",
    "replacement",
    "why",
    "from_kind",
    "from_namespace",
    "from",
)
REFUSED = ("namespace", "service", "outcome", "message")

Row = dict[str, object]


def entry_rows(entries: Iterable[EntryReading]) -> Iterator[Row]:
    """Each entry of ``supportedModelFormats`` as written and as OME reads it; None where nothing is written."""
    for each in entries:
        entry = each.entry
        yield {
            "entry": each.index,
            **_side("format", each.format),
            **_side("framework", each.framework),
            "architecture": entry.architecture,
            "quantization": entry.quantization,
            "auto_select": entry.auto_select,
            "priority": entry.priority,
            "score": each.score.score,
            "matches": not each.never,
        }


def _side(name: str, side: FormatReading | None) -> Row:
    told = (side.version, side.operator, side.weight, side.rule) if side else (None,) * len(_SIDES)
    values = {f"{name}_{key}": value for key, value in zip(_SIDES, told, strict=True)}
    return {name: side.name if side else None, **values}


def place_rows(places: Iterable[ModePlace]) -> Iterator[Row]:
    """Each place that declares a mode, with the codes of how OME's two readers take it (``counts``, or why not)."""
    for each in places:
        yield {
            "component": each.component,
            "path": each.path,
            "says": each.value,
            "inherited": each.inherited,
            "in_selection": each.matching,
            "when_it_runs": each.running,
        }


def reference_rows(references: Iterable[ReferenceRow]) -> Iterator[Row]:
    """Each LeaderWorkerSet reference, what to do with it, and whose it is."""
    for row in references:
        yield {
            "path": row.path,
            "line": row.line,
            "component": row.component,
            "container": row.container,
            "init_container": row.init_container,
            "found": row.token,
            "remedy": row.remedy,
            "replacement": row.replacement,
            "why": row.code,
            "from_kind": row.origin_kind,
            "from_namespace": row.origin_namespace,
            "from": row.origin_name,
        }


def refused_rows(refused: Iterable[ServiceResult]) -> Iterator[Row]:
    """Each service that names the runtime and doesn't get it, with OME's words for why."""
    for row in refused:
        yield {"namespace": row.namespace, "service": row.name, "outcome": row.outcome, "message": row.message}


def inherited_rows(told: Iterable[tuple[RuntimeKey, Sequence[str]]]) -> Iterator[Row]:
    """What each member of a chain set in the merged spec: a row for each path."""
    for member, paths in told:
        ref: Mapping[str, object] = {"kind": member.kind, "namespace": member.namespace or "", "name": member.name}
        yield from ({**ref, "path": path} for path in paths)
