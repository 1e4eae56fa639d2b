"""The preview of an upgrade as people get it: one line for each change, and a document for a change request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from selection.faces.plain import plain_sentence
from selection.faces.plan_words import in_markdown
from selection.faces.words import word
from selection.rules.objects import ObjectRef
from selection.rules.upgrade import UPGRADES, Change, ObjectUpgrade, ServiceUpgrade, Side, UpgradePreview

__all__ = [
    "KEYS",
    "WITH_NEXT",
    "lines",
    "markdown",
    "object_line",
    "service_line",
    "side_text",
    "verdict_text",
]

KEYS = (
    "cluster", "severity", "code", "kind", "namespace", "name", "component", "path",
    "before", "after", "what", "next", "held", "services", "pin",
)  # fmt: skip
"""The columns of an export."""

WITH_NEXT = frozenset(UPGRADES) - {"admitted-now", "advice-differs", "warns-now", "outcome-differs", "admission-words"}
"""The codes after which there is something to do."""

SHOWN = 500
"""Lines of a section of the document; a change request with more than that is read by nobody."""


def side_text(side: Side) -> str:
    """What one release makes of a service, in a few words.

    >>> side_text(Side("named", ObjectRef("ServingRuntime", "team", "fast"), {"engine": "MultiNode"}, True))
    'team/fast, engine MultiNode'
    >>> side_text(Side("no-runtime", None, {"engine": None}, False))
    'no runtime, refused'
    """
    parts = ["no runtime"]
    if side.runtime is not None:
        parts = [f"{side.runtime.namespace}/{side.runtime.name}" if side.runtime.namespace else side.runtime.name]
    parts += [f"{name} {mode}" for name, mode in side.modes.items() if mode]
    return ", ".join(parts) + ("" if side.allowed else ", refused")


def verdict_text(preview: UpgradePreview) -> str:
    """The answer in one sentence."""
    found, total = preview.severities, preview.total
    held = sum(held for code, (_, held) in preview.counts.items() if UPGRADES[code] == "blocks")
    changed = len(preview.services)
    about = f"{changed:,} of {total:,} service{'' if total == 1 else 's'} would change"
    if preview.verdict == "no-go":
        pins = f", of which pins hold {held:,} back" if held else ""
        return f"No-go: {_times(found['blocks'], 'thing')} would block{pins}; {about}."
    if preview.verdict == "decide":
        return f"Go after {_times(found['decide'], 'decision')}; nothing blocks; {about}."
    return f"Go: nothing that runs would change; {about}." if changed else "Go: nothing would change."


def _times(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def lines(cluster: str, preview: UpgradePreview) -> Iterator[dict[str, object]]:
    """Each change as a line with :data:`KEYS`, services first, the worst of each first."""
    for row in preview.services:
        for change in row.changes:
            yield service_line(cluster, row, change)
    for each in preview.objects:
        yield object_line(cluster, each)


def service_line(cluster: str, row: ServiceUpgrade, change: Change) -> dict[str, object]:
    """One change of a service as a line with :data:`KEYS`."""
    held = row.held(change)
    sides = {"before": side_text(row.before), "after": side_text(row.after)}
    told = {"held": held, "services": None, "pin": row.command if held else ""}
    return {**_line(cluster, row.service, change.to_dict(), change), **sides, **told}


def object_line(cluster: str, each: ObjectUpgrade) -> dict[str, object]:
    """What changes in an object as a line with :data:`KEYS`."""
    line = _line(cluster, each.object, {**each.change.to_dict(), "path": each.path}, each.change)
    return {**line, "before": "", "after": "", "held": False, "services": each.services, "pin": ""}


def _line(cluster: str, ref: ObjectRef, told: dict[str, Any], change: Any) -> dict[str, object]:
    code = told["code"]
    return {
        "cluster": cluster,
        "severity": told["severity"],
        "code": code,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "component": told["component"] or "",
        "path": told.get("path", ""),
        "what": plain_sentence("upgrade", code, change=change),
        "next": plain_sentence("upgrade", code, "next", change=change) if code in WITH_NEXT else "",
    }


def markdown(cluster: str, preview: UpgradePreview) -> str:
    """The whole preview as a document: the verdict, what to look at first, go or no-go by code, and each change."""
    return "\n".join(_document(cluster, preview)) + "\n"


def _document(cluster: str, preview: UpgradePreview) -> Iterator[str]:
    where = f": {_code(cluster)}" if cluster else ""
    yield f"# Upgrade from OME v1.2 to v1.3{where}\n"
    yield f"**{verdict_text(preview)}**\n"
    if preview.runs != "1.2":
        yield f"The cluster already runs v{preview.runs}: this is what the upgrade would have changed.\n"
    if preview.checks:
        yield "## Before the upgrade\n"
        for check in preview.checks:
            yield f"- [ ] {in_markdown(f'check-{check.code}', 'upgrade', check=check)}"
            if "command" in check.facts:
                yield f"\n      {check.facts['command']}\n"
        yield ""
    yield "## Go or no-go\n"
    yield "| | code | changes | a pin holds |\n|---|---|---:|---:|"
    for code, (count, held) in preview.counts.items():
        yield f"| {word('upgrade', UPGRADES[code]).label} | {word('upgrade', code).label} | {count} | {held} |"
    yield ""
    yield from _runtimes(preview)
    if preview.services:
        yield "## Services\n"
    for row in preview.services[:SHOWN]:
        yield from _service(row)
    yield from _rest(len(preview.services), "services")
    if preview.objects:
        yield "## Fields and annotations\n"
    for each in preview.objects[:SHOWN]:
        yield _object(each)
    yield from _rest(len(preview.objects), "lines")


def _runtimes(preview: UpgradePreview) -> Iterator[str]:
    if not preview.runtimes:
        return
    yield "## Runtimes whose services move\n"
    for each in preview.runtimes[:SHOWN]:
        breaks = f", {each.breaks} of them break" if each.breaks else ""
        yield f"- {_code(str(each.runtime))}: {each.moves} move{breaks}"
        if each.pin is not None:
            yield f"\n      # holds {each.pin.holds}, doesn't reach {each.pin.missed}\n      {each.command}\n"
    yield from _rest(len(preview.runtimes), "runtimes")
    yield ""


def _service(row: ServiceUpgrade) -> Iterator[str]:
    yield f"### {_code(f'{row.service.namespace}/{row.service.name}')}\n"
    yield f"{_code(side_text(row.before))} → {_code(side_text(row.after))}\n"
    for change in row.changes:
        held = " (the pin holds it back)" if row.held(change) else ""
        what = in_markdown(change.code, "upgrade", change=change)
        yield f"- **{word('upgrade', change.code).label}**{held}: {what}"
    yield f"\n      {row.command}\n" if row.pin else ""


def _object(each: ObjectUpgrade) -> str:
    place = f", {_code(each.path)}" if each.path else ""
    return f"- {_code(str(each.object))}{place}: {in_markdown(each.change.code, 'upgrade', change=each.change)}"


def _code(text: str) -> str:
    """Names as code, so that nothing in them is taken for markup."""
    return f"`{text.replace('`', '’')}`"


def _rest(count: int, noun: str) -> Iterator[str]:
    if count > SHOWN:
        yield f"\nAnd {count - SHOWN} more {noun}; the JSON and CSV have all.\n"
