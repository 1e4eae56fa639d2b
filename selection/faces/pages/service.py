"""One service explained: the verdict first, then everything that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.excluded import Exclusion, closest, excluded
from selection.faces.explaining import funnel, ladder, why_first
from selection.faces.exports import export
from selection.faces.manifests import annotated_lines, manifest_text, marks_of
from selection.faces.pages.errors import missing_object
from selection.faces.remedying import Change, first_fixes, needed
from selection.faces.tables import CANDIDATES, asked_table, candidate_rows
from selection.faces.tables_service import CHECKS, RULES, WORKLOADS, check_rows, rule_rows, workload_rows
from selection.faces.timelines import timeline_of
from selection.rules.accelerators import required_classes
from selection.rules.explain import explain_service
from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet
from selection.rules.modes import MODE_ANNOTATION, requested_mode
from selection.rules.objects import ObjectRef
from selection.rules.semantics import semantics_of
from selection.rules.workloads import expected_workload, standings
from selection.store.findings import findings_about
from selection.store.fleets import fleet_of
from selection.store.lookup import find_cluster, objects_of
from selection.store.models import Cluster, StoredObject
from selection.store.results import resource_versions, service_result

__all__ = ["service"]

RUNTIME_KINDS = ("ServingRuntime", "ClusterServingRuntime")
LINES_SHOWN = 2000
"""Lines of the manifest that stand on the page; the manifest's own page has more."""
RANKED_SHOWN = 10
"""Qualified runtimes that are shown before a reader asks for all of them."""

_TABLES: dict[str, tuple[tuple[str, ...], Callable[[Explanation], Iterable[dict[str, object]]]]] = {
    "candidates": (CANDIDATES, lambda explanation: candidate_rows(explanation.candidates)),
    "checks": (CHECKS, check_rows),
    "rules": (RULES, rule_rows),
    "workloads": (WORKLOADS, workload_rows),
}
"""The tables that can be exported, by what ``?table=`` calls them: their columns, and what gives the rows."""


@require_GET
def service(request: HttpRequest, cluster: str, namespace: str, name: str) -> HttpResponseBase:
    """The explanation; ``?check=`` and ``?q=`` narrow the excluded, ``?page=`` turns their pages.

    ``?format=json`` answers with the explanation's own JSON, as ``manage.py explain -o json`` prints it,
    ``?format=csv`` with its candidates; ``?table=candidates&format=json`` with these alone, and so the other tables
    (the keys of ``_TABLES``).
    """
    found = find_cluster(cluster)
    if found is None:
        return missing_object(request, cluster, "InferenceService", namespace, name)
    fleet = fleet_of(found)
    try:
        explanation = explain_service(fleet, namespace, name)
    except LookupError:
        return missing_object(request, cluster, "InferenceService", namespace, name)
    if table := asked_table(request, *_TABLES):
        columns, rows = _TABLES[table[0]]
        return export(table[1], table[0], columns, rows(explanation))
    if request.GET.get("format") == "json":
        return JsonResponse(explanation.to_dict(), json_dumps_params={"indent": 2, "ensure_ascii": False})
    case = _case(explanation)
    ranked = [candidate for candidate in explanation.candidates if candidate.rank is not None]
    shown = ranked if request.GET.get("ranked") == "all" else ranked[:RANKED_SHOWN]
    near = [] if ranked else closest(explanation.candidates)
    objects = _objects(found, explanation, near)
    context: dict[str, Any] = {
        "cluster": found,
        "explanation": explanation,
        "subject": explanation.subject,
        "case": case,
        "verdict": f"service/verdicts/{case}.html",
        "event_label": f"Event ({explanation.event_reason})",
        "revision_known": explanation.revision in fleet.revisions,
        "candidate_problems": [each for each in explanation.problems if each.object.kind in RUNTIME_KINDS],
        **_manifest(objects.get(explanation.subject)),
        "findings": findings_about(found, explanation.subject),
        "result": service_result(found, namespace, name),
        "versions": resource_versions(found, _deciding(explanation)),
        "funnel": funnel(explanation.candidates),
        **_asked(explanation),
        "ranked": shown,
        "ranked_hidden": len(ranked) - len(shown),
        "why_first": why_first(explanation.candidates),
        "closest": _closest(fleet, explanation, near, objects),
        "conflict_codes": list(dict.fromkeys(conflict.code for conflict in explanation.conflicts)),
        "excluded": excluded(explanation.candidates, request.GET),
        "timeline": timeline_of(found, explanation.subject),
        "components": [
            {
                "name": component,
                "modes": modes,
                "ladder": ladder(explanation, component),
                "expected": expected_workload(explanation, component),
                "standings": standings(explanation, component),
            }
            for component, modes in explanation.modes.items()
        ],
    }
    return render(request, "service/page.html", context)


def _asked(explanation: Explanation) -> dict[str, Any]:
    """What of the service selection compares besides its model: the classes, and the modes with their fields."""
    service = explanation.service
    if service is None:
        return {}
    semantics = semantics_of(explanation.ome_version)
    asked = [(name, requested_mode(service, name, semantics)) for name in ("engine", "decoder")]
    return {
        "classes": sorted(required_classes(service)),
        "modes_asked": [
            {"component": name, "asked": mode, "path": _field(mode.source) if mode else ""} for name, mode in asked
        ],
    }


def _field(source: str) -> str:
    """The field in which a declared mode stands; the rules name an annotation by the map that it is in."""
    return f'{source}["{MODE_ANNOTATION}"]' if source.endswith(".annotations") else source


def _objects(cluster: Cluster, explanation: Explanation, near: Sequence[Exclusion]) -> dict[ObjectRef, StoredObject]:
    """The service as it was read, and what the fixes of the closest candidates are made from. One query."""
    refs = [explanation.subject, *(ref for each in near for ref in needed(explanation, each.runtime.ref))]
    return objects_of(cluster, dict.fromkeys(refs))


def _manifest(stored: StoredObject | None) -> dict[str, Any]:
    """The service's manifest line by line with what decides, and on which line each of it begins."""
    if stored is None:
        return {"object": None, "lines": [], "at": {}}
    text = manifest_text(stored.manifest)
    marks = marks_of(stored.kind, text, (), stored.problem_path)
    return {
        "object": stored,
        "marks": marks,
        "lines": list(annotated_lines(text, marks))[:LINES_SHOWN],
        "at": {mark.path: mark.first for mark in marks if mark.first <= LINES_SHOWN},
    }


def _closest(
    fleet: Fleet, explanation: Explanation, near: Sequence[Exclusion], objects: Mapping[ObjectRef, StoredObject]
) -> list[tuple[Exclusion, Change | None]]:
    """The candidates that lack least, each with the change that would make it qualify."""
    manifests = {ref: each.manifest for ref, each in objects.items()}
    refs = [each.runtime.ref for each in near]
    fixes = first_fixes(fleet, explanation, refs, explanation.subject.namespace, manifests)
    return [(each, fixes.get(each.runtime.ref)) for each in near]


def _case(explanation: Explanation) -> str:
    """Which sentence says the verdict: a template in ``templates/service/verdicts/``."""
    outcome, named = explanation.outcome, explanation.named
    if outcome == "no-runtime" and named is not None:
        return "named-missing"
    if outcome == "not-applicable":
        return "virtual" if "virtual" in explanation.notes else "replica-refs"
    if outcome != "invalid":
        return outcome
    return _invalid_case(explanation)


def _invalid_case(explanation: Explanation) -> str:
    model, named = explanation.model, explanation.named
    if explanation.service is None:
        return "unreadable"
    if "modelMissing" in explanation.notes:
        return "model-missing"
    if model is not None and model.disabled:
        return "model-disabled"
    if model is not None and not model.format.name:
        return "model-unmatched"
    if named is not None:
        return "runtime-unreadable" if named.problem else "runtime-refused"
    return "model-unreadable" if explanation.problems else "nothing-asked"


def _deciding(explanation: Explanation) -> list[ObjectRef]:
    """The objects that the answer rests on."""
    refs = [explanation.subject]
    if explanation.model is not None:
        refs.append(explanation.model.ref)
    if explanation.selected is not None:
        refs.append(explanation.selected.ref)
    return refs
