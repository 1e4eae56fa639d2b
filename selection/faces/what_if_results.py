"""The answer to a what-if arranged for its page: what is shown first, and how much of it at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator

from selection.cluster.identities import Unusable, check_name
from selection.faces.links import CLUSTER_SCOPE
from selection.faces.manifests import manifest_text
from selection.faces.words import word
from selection.rules.explanation import Explanation
from selection.rules.objects import ObjectRef
from selection.rules.what_if_answer import CODES, Given, ServiceChange, Standing, WhatIf
from selection.store.lookup import manifests_of
from selection.store.models import Cluster

__all__ = ["echo", "editable", "prefilled", "result_values", "side_text", "verdict_text"]

ROWS = 25
OBJECTS = 10
CANDIDATES = 10
"""How many services, objects and candidates are shown at once."""

_PRETTY = 200_000
"""Characters up to which manifests are written as YAML; beyond it that would take seconds, and JSON is YAML, too."""


def verdict_text(answer: WhatIf) -> str:
    """The answer in a sentence.

    >>> from selection.rules.fleet import read_fleet
    >>> from selection.rules.what_if import what_if
    >>> verdict_text(what_if(read_fleet([]), []))
    'Nothing was given, so nothing differs.'
    """
    if not answer.given:
        return "Nothing was given, so nothing differs."
    counts = answer.tendencies
    refused = len(answer.refused)
    told = []
    if refused:
        told.append(f"{_many(refused, 'object')} of the input wouldn't get into the cluster.")
    if not answer.services:
        told.append("No service's answer differs.")
        return " ".join(told)
    parts = [
        f"{counts[tendency]:,} {words}"
        for tendency, words in (("worse", "worse off"), ("different", "otherwise"), ("better", "better off"))
        if counts[tendency]
    ]
    count = len(answer.services)
    told.append(f"{_many(count, 'service')} {'differ' if count > 1 else 'differs'}: {', '.join(parts)}.")
    return " ".join(told)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


def result_values(cluster: Cluster | None, answer: WhatIf, asked: Mapping[str, str]) -> dict[str, Any]:
    """What the page shows of an answer. ``asked`` may hold ``page``, ``objects`` and ``code``."""
    code = asked.get("code", "")
    code = code if code in answer.counts else ""
    rows = [row for row in answer.services if not code or code in {change.code for change in row.changes}]
    page = Paginator(rows, ROWS).get_page(asked.get("page"))
    objects = Paginator(answer.given, OBJECTS).get_page(asked.get("objects"))
    return {
        "cluster": cluster,
        "answer": answer,
        "verdict": verdict_text(answer),
        "tone": "bad" if answer.worse else "warn" if answer.services else "good",
        "codes": [(each, word("what-if", CODES[each]), count) for each, count in answer.counts.items()],
        "code": code,
        "page": page,
        "rows": [_row(cluster, row) for row in page.object_list],
        "objects": objects,
        "given": [_given(cluster, answer, each) for each in objects.object_list],
    }


def _row(cluster: Cluster | None, row: ServiceChange) -> dict[str, Any]:
    linked = cluster.name if cluster is not None and row.before is not None else ""
    sides = [side_text(each) for each in (row.before, row.after)]
    return {"row": row, "cluster": linked, "before": sides[0], "after": sides[1], "more": row.reaching - 3}


def side_text(standing: Standing | None) -> str:
    """What a service comes to, in a line."""
    if standing is None:
        return "not there"
    runtime = standing.runtime.name if standing.runtime else word("outcome", standing.outcome).label.lower()
    modes = ", ".join(f"{name} {mode}" for name, mode in standing.modes.items() if mode is not None)
    return f"{runtime} ({modes})" if modes else runtime


def _given(cluster: Cluster | None, answer: WhatIf, each: Given) -> dict[str, Any]:
    there = each.act in {"changed", "unchanged", "deleted"}
    explanation = answer.explain(each.object) if each.explained else None
    return {
        "given": each,
        "cluster": cluster.name if cluster is not None and there else "",
        "effects": [(code, count) for code, count in sorted(each.effects.items(), key=_place)],
        "explanation": explanation,
        **(_explained(explanation) if explanation is not None else {}),
    }


def _place(effect: tuple[str, int]) -> int:
    return list(CODES).index(effect[0])


def _explained(explanation: Explanation) -> dict[str, Any]:
    ranked = [each for each in explanation.candidates if each.rank is not None]
    excluded = [each for each in explanation.candidates if each.rank is None]
    return {
        "ranked": ranked[:CANDIDATES],
        "excluded": excluded[:CANDIDATES],
        "more": (len(ranked) - CANDIDATES, len(excluded) - CANDIDATES),
        "admission": explanation.admission,
    }


def echo(manifests: Sequence[Mapping[str, Any]]) -> str:
    """The manifests as they were judged, for the field of a page that is drawn anew: without what looks secret."""
    plain = [json.dumps(each, ensure_ascii=False) for each in manifests]
    if sum(map(len, plain)) > _PRETTY:
        return "\n---\n".join(plain)
    return "\n---\n".join(manifest_text(each) for each in manifests)


def prefilled(cluster: Cluster, named: Iterable[str]) -> tuple[str, list[str]]:
    """The manifests of stored objects, each named as ``Kind/scope/name``, and the names of those that aren't there."""
    refs: dict[ObjectRef, str] = {}
    missing = []
    for text in named:
        kind, _, rest = text.partition("/")
        scope, _, name = rest.partition("/")
        try:
            check_name(name)
            if "\0" in text:
                raise Unusable("no name holds NUL")
        except Unusable:
            missing.append(text[:300])
            continue
        refs[ObjectRef(kind, "" if scope == CLUSTER_SCOPE else scope, name)] = text
    found = manifests_of(cluster, refs)
    missing += [text for ref, text in refs.items() if ref not in found]
    return echo([editable(found[ref]) for ref in refs if ref in found]), missing


def editable(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a person would edit of an object: not its status, nor what the API server counts."""
    metadata = manifest.get("metadata")
    kept = {
        key: value
        for key, value in (metadata.items() if isinstance(metadata, Mapping) else ())
        if key not in {"uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "ownerReferences"}
    }
    return {key: kept if key == "metadata" else value for key, value in manifest.items() if key != "status"}
