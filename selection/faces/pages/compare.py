"""Two objects side by side: services, models or runtimes, of one cluster or of two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.comparing import spec_diff
from selection.faces.contrasts import contrast, service_parts
from selection.faces.exports import export
from selection.faces.likenesses import model_contrast, model_parts, runtime_contrast, runtime_parts
from selection.faces.links import CLUSTER_SCOPE
from selection.faces.pages.errors import missing_object
from selection.faces.tables import FACTS, asked_table, fact_rows
from selection.rules.explain import explain_model, explain_service
from selection.rules.fleet import Fleet
from selection.rules.objects import ObjectRef
from selection.store.fleets import fleet_of
from selection.store.lookup import Near, elsewhere, find_object, named_like
from selection.store.models import StoredObject
from selection.store.results import sharing_model

__all__ = ["compare_models", "compare_runtimes", "compare_services"]

Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: what was asked for, the object as it was read, and the fleet that it is in."""

    address: str
    stored: StoredObject
    fleet: Fleet

    @property
    def ref(self) -> ObjectRef:
        """Which object."""
        return ObjectRef(self.stored.kind, self.stored.namespace, self.stored.name)

    @property
    def cluster(self) -> str:
        """Its cluster's name."""
        return self.stored.cluster.name


@require_GET
def compare_services(request: HttpRequest) -> HttpResponseBase:
    """``/compare/services/?a=<cluster>/<namespace>/<name>&b=…``; without ``b`` it offers what to compare with."""
    return _compare(request, "services", ("InferenceService", "InferenceService"), _services)


@require_GET
def compare_models(request: HttpRequest) -> HttpResponseBase:
    """``/compare/models/?a=<cluster>/<namespace>/<name>&b=…``; ``-`` stands for no namespace."""
    return _compare(request, "models", ("BaseModel", "ClusterBaseModel"), _models)


@require_GET
def compare_runtimes(request: HttpRequest) -> HttpResponseBase:
    """``/compare/runtimes/?a=<cluster>/<namespace>/<name>&b=…``; ``-`` stands for no namespace."""
    return _compare(request, "runtimes", ("ServingRuntime", "ClusterServingRuntime"), _runtimes)


def _compare(
    request: HttpRequest, what: str, kinds: tuple[str, str], told: Callable[[Side, Side], Told]
) -> HttpResponseBase:
    """The page. ``kinds`` are the kind in a namespace and the one outside of any.

    ``&table=facts&format=csv|json`` sends what the page says of both, without the manifests; ``&format=csv`` does, too.
    """
    asked = request.GET.get("a", "").strip(), request.GET.get("b", "").strip()
    sides: list[Side] = []
    for address in filter(None, asked):
        cluster, scope, name = _parsed(address)
        namespace = "" if scope == CLUSTER_SCOPE else scope
        kind = kinds[0] if namespace else kinds[1]
        stored = find_object(cluster, kind, namespace, name)
        if stored is None:
            return missing_object(request, cluster, kind, namespace, name)
        sides.append(Side(address, stored, fleet_of(stored.cluster)))
    context: dict[str, Any] = {"what": what, "noun": what.removesuffix("s"), "a": sides[0] if sides else None}
    if len(sides) == 2:
        a, b = sides
        try:
            answers = told(a, b)
        except LookupError:  # one of them went while this page was made
            return missing_object(request, a.cluster, a.ref.kind, a.ref.namespace, a.ref.name)
        if table := asked_table(request, "facts"):
            return export(table[1], f"compared-{what}", FACTS, fact_rows(answers["parts"]))
        heads = dict(zip(("head_a", "head_b"), _heads(a, b), strict=True))
        shown = {**context, "b": b, "diff": spec_diff(a.stored.manifest, b.stored.manifest), **heads, **answers}
        return render(request, f"compare/{what}.html", shown)
    return render(request, "compare/choose.html", {**context, **_choices(request, kinds, sides)})


def _heads(a: Side, b: Side) -> tuple[str, str]:
    """What tells the two sides apart in the fewest words: their names, else namespaces, else clusters."""
    if a.ref.name != b.ref.name:
        return a.ref.name, b.ref.name
    if a.ref.namespace != b.ref.namespace and a.cluster == b.cluster:
        return f"{a.ref.namespace or 'cluster'}/{a.ref.name}", f"{b.ref.namespace or 'cluster'}/{b.ref.name}"
    return f"{a.ref.name} in {a.cluster}", f"{b.ref.name} in {b.cluster}"


def _parsed(address: str) -> tuple[str, str, str]:
    """Cluster, scope and name; a cluster's name may have slashes."""
    cluster, _, rest = address.rpartition("/")[0].rpartition("/")
    return cluster, rest, address.rpartition("/")[2]


def _choices(request: HttpRequest, kinds: tuple[str, str], sides: list[Side]) -> dict[str, Any]:
    """What can be compared: first what has the same name elsewhere, then what a search finds."""
    text = request.GET.get("q", "").strip()
    a = sides[0] if sides else None
    found = named_like(kinds, text) if text else []
    alike = kinds[0] == "InferenceService" and a is not None
    return {
        "text": text,
        "alike": [Near(a.cluster, ref) for ref in sharing_model(a.stored.cluster, *_key(a))] if a and alike else [],
        "same": elsewhere(a.stored) if a else [],
        "found": [each for each in found if a is None or (each.cluster, each.ref) != (a.cluster, a.ref)],
    }


def _key(side: Side) -> tuple[str, str]:
    return side.ref.namespace, side.ref.name


def _services(a: Side, b: Side) -> Told:
    mine, theirs = (explain_service(each.fleet, each.ref.namespace, each.ref.name) for each in (a, b))
    return {
        "mine": mine,
        "theirs": theirs,
        "contrast": contrast(mine, theirs),
        "parts": list(service_parts(mine, theirs)),
    }


def _models(a: Side, b: Side) -> Told:
    mine, theirs = (explain_model(each.fleet, each.ref.namespace, each.ref.name) for each in (a, b))
    return {
        "mine": mine,
        "theirs": theirs,
        "contrast": model_contrast(mine, theirs),
        "parts": list(model_parts(mine, theirs)),
    }


def _runtimes(a: Side, b: Side) -> Told:
    parts = list(runtime_parts((a.fleet, a.ref), (b.fleet, b.ref)))
    return {"contrast": runtime_contrast(parts), "parts": parts}
