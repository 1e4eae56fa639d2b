"""One service explained: the verdict first, then everything that it rests on."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.excluded import closest, excluded
from selection.faces.explaining import expected_kind, funnel, ladder, observed, why_first
from selection.faces.pages.errors import missing_object
from selection.rules.explain import explain_service
from selection.rules.explanation import Explanation
from selection.rules.objects import ObjectRef
from selection.store.findings import findings_about
from selection.store.fleets import fleet_of
from selection.store.lookup import find_cluster, find_object
from selection.store.results import resource_versions, service_result

__all__ = ["service"]

RUNTIME_KINDS = ("ServingRuntime", "ClusterServingRuntime")
RANKED_SHOWN = 10
"""Qualified runtimes that are shown before a reader asks for all of them."""


@require_GET
def service(request: HttpRequest, cluster: str, namespace: str, name: str) -> HttpResponse:
    """The explanation; ``?check=`` and ``?q=`` narrow the excluded, ``?page=`` turns their pages.

    ``?format=json`` answers with the explanation's own JSON, as ``manage.py explain -o json`` prints it.
    """
    found = find_cluster(cluster)
    if found is None:
        return missing_object(request, cluster, "InferenceService", namespace, name)
    fleet = fleet_of(found)
    try:
        explanation = explain_service(fleet, namespace, name)
    except LookupError:
        return missing_object(request, cluster, "InferenceService", namespace, name)
    if request.GET.get("format") == "json":
        return JsonResponse(explanation.to_dict(), json_dumps_params={"indent": 2, "ensure_ascii": False})
    case = _case(explanation)
    ranked = [candidate for candidate in explanation.candidates if candidate.rank is not None]
    shown = ranked if request.GET.get("ranked") == "all" else ranked[:RANKED_SHOWN]
    context: dict[str, Any] = {
        "cluster": found,
        "explanation": explanation,
        "subject": explanation.subject,
        "case": case,
        "verdict": f"service/verdicts/{case}.html",
        "event_label": f"Event ({explanation.event_reason})",
        "revision_known": explanation.revision in fleet.revisions,
        "candidate_problems": [each for each in explanation.problems if each.object.kind in RUNTIME_KINDS],
        "object": find_object(cluster, "InferenceService", namespace, name),
        "findings": findings_about(found, explanation.subject),
        "result": service_result(found, namespace, name),
        "versions": resource_versions(found, _deciding(explanation)),
        "funnel": funnel(explanation.candidates),
        "ranked": shown,
        "ranked_hidden": len(ranked) - len(shown),
        "why_first": why_first(explanation.candidates),
        "closest": [] if ranked else closest(explanation.candidates),
        "conflict_codes": list(dict.fromkeys(conflict.code for conflict in explanation.conflicts)),
        "excluded": excluded(explanation.candidates, request.GET),
        "components": [
            {
                "name": component,
                "modes": modes,
                "ladder": ladder(explanation, component),
                "expected": expected_kind(modes),
                "observed": observed(explanation, component),
            }
            for component, modes in explanation.modes.items()
        ],
    }
    return render(request, "service/page.html", context)


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
