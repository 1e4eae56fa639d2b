"""The tags that put a migration plan into words, and lead to it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import template
from django.template.loader import select_template
from django.urls import NoReverseMatch, reverse
from django.utils.safestring import SafeString, mark_safe

from selection.faces.links import CLUSTER_SCOPE
from selection.faces.plan_words import accelerators
from selection.rules.edits import Edit
from selection.rules.explanation import Explanation
from selection.rules.migration import STATES
from selection.rules.modes import MULTI_NODE
from selection.rules.objects import ObjectRef
from selection.store.models import Cluster, ModelResult, RuntimeResult
from selection.store.waiting import services_of_model_left

__all__ = ["register"]

register = template.Library()
register.filter("accelerators", accelerators)


@register.simple_tag
def plan_words(part: str, code: str, **values: Any) -> SafeString:
    """A sentence of ``templates/sentences/plan/``: ``{% plan_words "step" step.purpose step=step %}``.

    Args:
        part: ``step``, ``back``, ``outage``, ``expect``, ``reason``, ``risk``, ``note``, ``need``, ``wave`` or
            ``edit``.
        code: the code.
        values: what the sentence's comment asks for.
    """
    return _rendered(values, f"plan/{part}-{code}")


@register.simple_tag
def edit_words(edit: Edit) -> list[SafeString]:
    """Why something differs in a copy, a sentence for each reason: the copy's own or a reference's."""
    return [_rendered({}, f"plan/edit-{code}", f"reference/{code}") for code in edit.why]


def _rendered(values: dict[str, Any], *names: str) -> SafeString:
    """The first of these sentences that there is."""
    told: str = select_template([f"sentences/{name}.html" for name in names]).render(values)
    # Rendered by Django with autoescape on; only its outcome is passed through.
    return mark_safe(told.strip())  # noqa: S308


@register.simple_tag
def plan_link(cluster: str, of: ObjectRef, **query: str) -> str:
    """The address of a service's or a runtime's plan; ``""`` for what no address can say, such as a slash."""
    page = "service-plan" if of.kind == "InferenceService" else "runtime-plan"
    try:
        url = reverse(page, args=[cluster, of.namespace or CLUSTER_SCOPE, of.name])
    except NoReverseMatch:
        return ""
    return f"{url}?{urlencode(query)}" if query else url


@register.simple_tag
def plan_link_to(cluster: str, kind: str, namespace: str, name: str) -> str:
    """The same for an object that is told by its parts."""
    return plan_link(cluster, ObjectRef(kind, namespace, name))


@register.inclusion_tag("plan/next_service.html")
def next_move_of_service(cluster: Cluster, explanation: Explanation) -> dict[str, Any]:
    """The next step of a service's migration in one line, with the way to its plan; nothing when there is none."""
    states = {each.migration for each in explanation.modes.values()}
    state = next((each for each in STATES if each in states and each != "done"), "")
    return {"cluster": cluster, "subject": explanation.subject, "state": state}


@register.inclusion_tag("plan/next_runtime.html")
def next_move_of_runtime(row: RuntimeResult) -> dict[str, Any]:
    """The same for a runtime that refers to LeaderWorkerSet or says MultiNode."""
    says = MULTI_NODE in {row.engine_mode, row.decoder_mode}
    return {"row": row, "ref": ObjectRef(row.kind, row.namespace, row.name), "says": says}


@register.inclusion_tag("plan/next_model.html")
def next_move_of_model(row: ModelResult) -> dict[str, Any]:
    """The same for the services that use a model. One query."""
    return {"row": row, "waiting": services_of_model_left(row)}
