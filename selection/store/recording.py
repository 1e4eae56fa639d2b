"""Keeps what became different for services, found by comparing the rows that stand with those that replace them.

It is written in the transaction that writes the rows, so a change is kept once, whoever judges and whenever: a process
that was killed after it stored objects leaves the old rows, and the next one finds the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils import timezone

from selection.rules.objects import ObjectRef

from .causes import MOST_OTHERS, Causes
from .models import Change, Cluster, ObjectChange, ServiceResult
from .rows import Delta
from .timeline import runtime_key

__all__ = ["record_changes"]

What = Change.What
OTHER_RULES = "the dashboard's own rules are others"
"""Why an answer is another one that no object's change and no release explains: it was upgraded since."""

_BATCH = 500


def record_changes(
    cluster: Cluster, delta: Delta[ServiceResult], causes: Causes, *, generation: int, judged_by: tuple[str, str]
) -> int:
    """Keep what became different, and return how many changes that are. Call it in the transaction that writes.

    A service that comes or goes is one change, whatever it brings or takes with it. One whose kind was read for the
    first time was there before, so it hasn't come.

    Args:
        cluster: the cluster.
        delta: its services' rows as they were and as they become.
        causes: what changed since the last evaluation.
        generation: the cluster's generation that is judged.
        judged_by: the release lines whose rules gave the old answers and give the new ones; ``""`` is unknown.
    """
    pairs: list[tuple[ServiceResult | None, ServiceResult | None]] = [
        *((None, row) for row in delta.created),
        *delta.updated,
        *((row, None) for row in delta.deleted),
    ]
    now = timezone.now()
    release = _release(judged_by)
    kept: list[Change] = []
    for before, after in sorted(pairs, key=lambda pair: _key(*pair)):
        told = list(_differences(before, after))
        if not told:
            continue
        namespace, name = _key(before, after)
        found = causes.of((namespace, name), before, after)
        cause, others, reason = _explained(found, causes, release)
        if before is None and cause is None and "InferenceService" in causes.first_read:
            continue
        kept += [
            Change(
                cluster=cluster,
                generation=generation,
                at=now,
                namespace=namespace,
                service=name,
                what=what,
                component=component,
                before=old,
                after=new,
                cause=cause,
                reason=reason,
                other_causes=others,
            )
            for what, component, old, new in told
        ]
    Change.objects.bulk_create(kept, batch_size=_BATCH)
    return len(kept)


def _key(before: ServiceResult | None, after: ServiceResult | None) -> tuple[str, str]:
    row = after or before
    assert row is not None  # noqa: S101 - a pair has a side
    return row.namespace, row.name


def _release(judged_by: tuple[str, str]) -> str:
    old, new = judged_by
    return f"the rules of OME {new} instead of those of {old}" if old and old != new else ""


def _explained(
    found: list[ObjectChange], causes: Causes, release: str
) -> tuple[ObjectChange | None, list[dict[str, Any]], str]:
    """The cause, what else can be one, and the cause in words. Another release comes before any object."""
    reason = release
    if release:
        manager = causes.manager()
        found = [each for each in found if each is not manager]
        cause = manager
    elif found:
        cause, *found = found
    else:
        cause = None
        kinds = causes.first_read
        reason = f"{', '.join(kinds)} read for the first time" if kinds else OTHER_RULES
    others = [
        {"kind": each.kind, "namespace": each.namespace, "name": each.name, "act": each.act}
        for each in found[:MOST_OTHERS]
    ]
    return cause, others, reason


def _differences(before: ServiceResult | None, after: ServiceResult | None) -> Iterator[tuple[str, str, str, str]]:
    """What is different: what, of which component, before and after."""
    if before is None or after is None:
        yield What.SERVICE, "", before.outcome if before else "", after.outcome if after else ""
        return
    if before.outcome != after.outcome:
        yield What.OUTCOME, "", before.outcome, after.outcome
    runtimes = runtime_key(_selected(before)), runtime_key(_selected(after))
    if runtimes[0] != runtimes[1]:
        yield What.RUNTIME, "", *runtimes
    components = list(dict.fromkeys((*before.modes, *after.modes)))
    for component in components:
        old, new = _running(before, component), _running(after, component)
        if old != new:
            yield What.MODE, component, old, new
    for component in components:
        gone, come = _conflicts(before, component), _conflicts(after, component)
        for code in [code for code in gone if code not in come]:
            yield What.CONFLICT, component, code, ""
        for code in [code for code in come if code not in gone]:
            yield What.CONFLICT, component, "", code


def _selected(row: ServiceResult) -> ObjectRef:
    return ObjectRef(row.selected_kind, row.selected_namespace, row.selected_name)


def _running(row: ServiceResult, component: str) -> str:
    modes = row.modes.get(component)
    return modes["running"]["mode"] if modes and modes["rendered"] else ""


def _conflicts(row: ServiceResult, component: str) -> list[str]:
    """The codes of a component's conflicts, each once, the one that matters most first."""
    modes = row.modes.get(component)
    return list(dict.fromkeys(each["code"] for each in modes["conflicts"])) if modes else []
