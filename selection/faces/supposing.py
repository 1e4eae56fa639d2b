"""What pages, the REST interface and the command share of a what-if: its limits, and what is to be deleted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.conf import settings

from selection.cluster.deletions import deletion_of, read_deletion
from selection.cluster.identities import Unusable
from selection.cluster.pasted import PASTED, Refusal, Told
from selection.cluster.yamltext import Limits
from selection.rules.objects import ObjectRef

__all__ = ["MOST_DELETIONS", "Deletions", "deletions_in", "deletions_of", "limits"]

MOST_DELETIONS = 2_000
_NAMED = 10


@dataclass(frozen=True, slots=True)
class Deletions:
    """What is to be deleted, each once; or why that can't be read. ``places`` are those of the refusals, from 0."""

    refs: tuple[ObjectRef, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    places: tuple[int, ...] = ()
    told: tuple[Told, ...] = ()


def limits() -> Limits:
    """How much may be given at once: as the rules for pasted text say, and as many bytes as the settings say."""
    return replace(PASTED, file_bytes=settings.WHAT_IF_BYTES)


def deletions_in(text: str) -> Deletions:
    """What a text names, an object a line; blank lines and those that begin with ``#`` say nothing."""
    lines = [line.strip() for line in text.splitlines()]
    return deletions_of([[line] if line and not line.startswith("#") else [] for line in lines], of_lines=True)


def deletions_of(named: Iterable[Sequence[str]], *, of_lines: bool = False) -> Deletions:
    """What is named, each by one text or by its kind, namespace (``""`` for none) and name. No parts say nothing."""
    refs: dict[ObjectRef, None] = {}
    refusals: list[Refusal] = []
    places: list[int] = []
    defaulted: list[str] = []
    for place, parts in enumerate(named):
        if not parts:
            continue
        if len(refs) >= MOST_DELETIONS or len(refusals) >= 20:
            refusals.append(Refusal("delete", f"more than {MOST_DELETIONS:,} objects to delete: not read"))
            places.append(place)
            break
        try:
            kind, namespace, name, default = read_deletion(parts[0]) if len(parts) == 1 else deletion_of(*parts)
        except Unusable as unusable:
            line = place + 1 if of_lines else None
            refusals.append(Refusal("delete", f"to delete: {unusable}", line=line))
            places.append(place)
            continue
        refs[ObjectRef(kind, namespace, name)] = None
        if default:
            defaulted.append(f"{kind} {namespace}/{name}")
    told = (Told("default-namespace", len(defaulted), tuple(defaulted[:_NAMED])),) if defaulted else ()
    return Deletions(tuple(refs), tuple(refusals), tuple(places), told)
