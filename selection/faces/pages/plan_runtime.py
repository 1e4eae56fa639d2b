"""A runtime's plan: what keeps it from OMENative, its copy, and who waits on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.cli.output import as_json
from selection.faces.exports import export
from selection.faces.links import CLUSTER_SCOPE
from selection.faces.migrating import copy_diff, copy_text, manifest_yaml, runtime_copy
from selection.faces.pages.errors import missing_object
from selection.faces.pages.plan_parts import diff_lines, download, stored_manifests
from selection.faces.plan_markdown import copy_markdown
from selection.faces.tables import asked_table
from selection.faces.tables_plan import EDITS, edit_rows
from selection.faces.tables_runtime import REFERENCES, reference_rows
from selection.rules.candidates import Candidate, listed
from selection.rules.edits import Edit
from selection.rules.fleet import Fleet, evolved
from selection.rules.index import serves
from selection.rules.objects import ObjectRef, Runtime
from selection.rules.parent_copies import ParentCopy
from selection.rules.parsing import parse_runtime
from selection.rules.references import find_references
from selection.rules.runtime_copy import RuntimeCopy
from selection.rules.selection import judge, question_of
from selection.store.fleets import fleet_of
from selection.store.migration import references_of
from selection.store.models import RuntimeResult
from selection.store.runtimes import find_runtime_row
from selection.store.waiting import waiting_services

__all__ = ["SHOWN", "runtime_plan"]

SHOWN = 100
"""So many of the services that wait stand on the page."""

LONGEST = 160
"""A value of more characters than this is cut where a change is told; the difference has all of it."""


BEFORE = 40
"""So many characters before the first difference stand in such a part."""


@dataclass(frozen=True, slots=True)
class _Told:
    """An edit with its values in words; ``""`` for one that isn't there or is more than a value."""

    edit: Edit
    before: str
    after: str


@require_GET
def runtime_plan(request: HttpRequest, cluster: str, scope: str, name: str) -> HttpResponseBase:
    """The page, ``/migration/runtimes/<cluster>/<scope>/<name>/``.

    ``?format=yaml`` sends the copy, with ``&layers=2`` the parent's copy and a child that inherits from it;
    ``?format=markdown`` sends everything, ``?format=json`` what ``manage.py migrate-plan -o json`` prints of it.
    ``?table=references|edits&format=csv|json`` sends one of its tables.
    """
    namespace = "" if scope == CLUSTER_SCOPE else scope
    try:
        row = find_runtime_row(cluster, namespace, name)
    except RuntimeResult.DoesNotExist:
        kind = "ServingRuntime" if namespace else "ClusterServingRuntime"
        return missing_object(request, cluster, kind, namespace, name)
    table = asked_table(request, "references", "edits")
    if table and table[0] == "references":
        return export(table[1], "references", REFERENCES, reference_rows(references_of(row)))
    fleet = fleet_of(row.cluster)
    found = fleet.runtimes.get((row.namespace, row.name))
    waiting = waiting_services(row.cluster, ObjectRef(row.kind, row.namespace, row.name))
    context: dict[str, Any] = {
        "row": row,
        "cluster": row.cluster,
        "waiting": waiting[:SHOWN],
        "waiting_count": len(waiting),
        "references": references_of(row),
    }
    if found is None:
        return render(request, "plan/runtime.html", context)
    copy, layered = runtime_copy(fleet, stored_manifests(row.cluster), found)
    if table:
        return export(table[1], "edits", EDITS, edit_rows(copy))
    text = copy_text(copy)
    diff = copy_diff(copy, text=text)
    form = request.GET.get("format", "")
    if form == "yaml" and copy.need:
        layers = layered is not None and request.GET.get("layers") == "2"
        return download("yaml", copy.copy.name, _layers(layered) if layered and layers else text)
    if form == "markdown":
        told = copy_markdown(copy, {copy.runtime: (text, diff)}, row.cluster.name)
        return download("markdown", f"plan-{name}", told)
    if form == "json":
        return HttpResponse(as_json(_as_value(copy, layered)), content_type="application/json")
    there = fleet.runtimes.get((copy.copy.namespace, copy.copy.name)) if copy.exists else None
    context |= {
        "copy": copy,
        "text": text,
        "diff": diff_lines(diff),
        "edits": list(_told(copy)),
        "layered": layered,
        "layers": _layers(layered) if layered else "",
        "left": find_references(there.spec if there is not None else copy.manifest.get("spec") or {}),
        "passed_over": _passed_over(fleet, found, copy) if copy.need and copy.ready else None,
    }
    return render(request, "plan/runtime.html", context)


def _as_value(copy: RuntimeCopy, layered: ParentCopy | None) -> dict[str, Any]:
    return {**copy.to_dict(), "layers": layered.to_dict() if layered else None}


def _layers(layered: ParentCopy) -> str:
    """The parent's copy, unless it is there, and the child that inherits from it."""
    manifests = [layered.child] if layered.parent.exists else [layered.manifest, layered.child]
    return "\n---\n".join(manifest_yaml(manifest) for manifest in manifests)


def _told(copy: RuntimeCopy) -> Iterator[_Told]:
    for edit in copy.edits:
        before, after = _value(edit.before), _value(edit.after)
        pairs = enumerate(zip(before, after, strict=False))
        same = next((place for place, (old, new) in pairs if old != new), 0)
        yield _Told(edit, _part(before, same), _part(after, same))


def _value(value: Any) -> str:
    if value is None or isinstance(value, (dict, list)):
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _part(text: str, same: int) -> str:
    """The text, or of a long one the part in which it begins to differ.

    >>> _part("short", 3), len(_part("x" * 1000, 900))
    ('short', 141)
    """
    if len(text) <= LONGEST:
        return text
    begin = max(0, same - BEFORE)
    end = begin + LONGEST
    return f"{'…' * bool(begin)}{text[begin:end]}{'…' * (end < len(text))}"


def _passed_over(fleet: Fleet, runtime: Runtime, copy: RuntimeCopy) -> Candidate | None:
    """The copy as a candidate for a model that the original serves; only one that qualifies is ranked among others."""
    scope = copy.copy.namespace
    seen = (each for each in fleet.models.values() if not scope or each.ref.namespace in {"", scope})
    model = next((each for each in seen if not each.disabled and serves(runtime, each)), None)
    if model is None:
        return None
    question = question_of(None, model, fleet.semantics)
    there = fleet.runtimes.get((scope, copy.copy.name)) if copy.exists else None
    verdict = judge(question, there or parse_runtime(copy.manifest))
    if not verdict.qualified:
        return Candidate(verdict, None)
    changed = fleet if there else evolved(fleet, [copy.manifest], [])
    ranked = changed.judged(question, scope or model.ref.namespace, brief=True).ranked
    return next((each for each in listed(ranked, ranked) if each.verdict.runtime.ref == copy.copy), None)
