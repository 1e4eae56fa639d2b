"""A service's plan: what to do, in which order, with which commands, and what comes of it by the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.cli.output import as_json
from selection.faces.comparing import NOTHING, Fact, Value, spec_diff
from selection.faces.exports import export
from selection.faces.migrating import copy_diff, copy_text, service_plans
from selection.faces.pages.errors import missing_object
from selection.faces.pages.plan_parts import download, stored_manifests
from selection.faces.plan_markdown import service_markdown
from selection.faces.tables import asked_table
from selection.faces.tables_plan import NEEDS, OUTCOME, need_rows, outcome_rows
from selection.faces.words import word
from selection.rules.explanation import Explanation
from selection.rules.objects import ObjectRef
from selection.rules.plan_steps import Step
from selection.rules.service_plan import ServicePlan
from selection.store.fleets import fleet_of
from selection.store.lookup import find_cluster
from selection.store.waiting import waiting_counts

__all__ = ["outcome_facts", "service_plan"]


@dataclass(frozen=True, slots=True)
class _Told:
    """A step as the page shows it: its patch as JSON, ``""`` without one."""

    step: Step
    patch: str


@require_GET
def service_plan(request: HttpRequest, cluster: str, namespace: str, name: str) -> HttpResponseBase:
    """The page, ``/migration/services/<cluster>/<namespace>/<name>/``.

    ``?format=markdown`` sends the plan for a change request, ``?format=yaml`` the copy of the runtime that it names,
    ``?format=json`` what ``manage.py migrate-plan -o json`` prints of it.
    ``?table=outcome|accelerators&format=csv|json`` sends one of its tables.
    """
    found = find_cluster(cluster)
    if found is None:
        return missing_object(request, cluster, "InferenceService", namespace, name)
    manifests = stored_manifests(found)
    ref = ObjectRef("InferenceService", namespace, name)
    try:
        (plan,) = service_plans(fleet_of(found), manifests, [ref], waiting=partial(waiting_counts, found))
    except LookupError:
        return missing_object(request, cluster, "InferenceService", namespace, name)
    if table := asked_table(request, "outcome", "accelerators"):
        if table[0] == "outcome":
            return export(table[1], "outcome", OUTCOME, outcome_rows(outcome_facts(plan)))
        return export(table[1], "accelerators", NEEDS, need_rows(plan.components))
    form = request.GET.get("format", "")
    if form == "markdown":
        texts = {plan.copy.runtime: (copy_text(plan.copy), copy_diff(plan.copy))} if plan.copy else {}
        return download("markdown", f"plan-{namespace}-{name}", service_markdown(plan, texts, found.name))
    if form == "yaml" and plan.copy is not None:
        return download("yaml", plan.copy.copy.name, copy_text(plan.copy))
    if form == "json":
        return HttpResponse(as_json(plan.to_dict()), content_type="application/json")
    original = manifests([ref]).get(ref) if plan.patch else None
    context = {
        "cluster": found,
        "plan": plan,
        "case": _case(plan),
        "steps": [_Told(step, json.dumps(step.patch, indent=2) if step.patch else "") for step in plan.steps],
        "facts": list(outcome_facts(plan)),
        "files": spec_diff(original, plan.patched) if original else [],
        "sharing": _sharing(plan),
    }
    return render(request, "plan/service.html", context)


def _case(plan: ServicePlan) -> str:
    """Which sentence is the verdict."""
    if plan.before.service is None:
        return "unreadable"
    if plan.state is None:
        return "no-runtime" if plan.before.selected is None else "nothing"
    if not plan.ready:
        return "not-ready"
    if plan.state == "done" or not plan.steps:
        return "done"
    return "ready" if plan.patch else "cleanup"


def _sharing(plan: ServicePlan) -> int:
    """How many other services wait on the runtime that this one is moved from."""
    told = next((note for note in plan.risks if note.code == "shared-runtime"), None)
    return told.facts["services"] - 1 if told is not None else 0


def outcome_facts(plan: ServicePlan) -> Iterator[Fact]:
    """What the rules say before the plan and after it, a row for each thing."""
    before, after = plan.before, plan.after
    yield Fact("Selection", *(Value(each.outcome, family="outcome") for each in (before, after)))
    yield Fact("Runtime", _runtime(before), _copy(plan) or _runtime(after))
    for component in plan.components:
        name = component.name
        yield Fact(f"{name.capitalize()} runs in", *(_mode(each, name) for each in (before, after)))
        yield Fact(f"{name.capitalize()} in the cluster", *(_workloads(each, name) for each in (before, after)))
    yield Fact("Admission", *(_admission(each) for each in (before, after)))
    yield Fact("Mode conflicts", *(_conflicts(each) for each in (before, after)))
    yield Fact("State of the move", *(_states(each) for each in (before, after)))


def _runtime(explanation: Explanation) -> Value:
    return Value(ref=explanation.selected.ref) if explanation.selected else Value("none")


def _copy(plan: ServicePlan) -> Value | None:
    """The runtime afterwards when it is a copy that isn't there yet and so has no page."""
    copy, after = plan.copy, plan.after.selected
    if copy is None or copy.exists or after is None or after.ref != copy.copy:
        return None
    return Value(copy.copy.name, note="the copy")


def _mode(explanation: Explanation, component: str) -> Value:
    modes = explanation.modes.get(component)
    if modes is None or not modes.rendered:
        return Value("nothing is rendered")
    return Value(modes.running.mode, family="mode", note=word("source", modes.running.source).label)


def _workloads(explanation: Explanation, component: str) -> Value:
    modes = explanation.modes.get(component)
    kinds = sorted({each.ref.kind for each in modes.workloads}) if modes else []
    return Value(", ".join(kinds) or "nothing seen")


def _admission(explanation: Explanation) -> Value:
    errors, warnings = explanation.admission.errors, explanation.admission.warnings
    if errors:
        return Value("would be refused", note=errors[0])
    return Value("admitted", note=f"{len(warnings)} warning{'s' * (len(warnings) != 1)}" if warnings else "")


def _conflicts(explanation: Explanation) -> Value:
    codes = dict.fromkeys(conflict.code for conflict in explanation.conflicts)
    return Value(", ".join(word("conflict", code).label for code in codes) or "none")


def _states(explanation: Explanation) -> Value:
    states: dict[str, Any] = dict.fromkeys(each.migration for each in explanation.modes.values() if each.migration)
    return Value(", ".join(word("migration", state).label for state in states)) if states else NOTHING
