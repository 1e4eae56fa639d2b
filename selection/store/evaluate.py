"""Computes everything derived of a cluster from its objects. Running it again gives the same rows."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from selection.rules.explain import explain_services
from selection.rules.fleet import Fleet

from .derive_runtimes import write_models, write_runtimes
from .derive_services import write_conflicts, write_services
from .fleets import fleet_of
from .models import Cluster, StoredObject

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How many services were judged and how many derived rows changed."""

    services: int
    changed: int


def evaluate(cluster: Cluster) -> Evaluation:
    """Judge every service of the cluster and write what changed, in one transaction."""
    fleet = fleet_of(cluster)
    explanations = explain_services(fleet, brief=True)
    with transaction.atomic():
        _write_problems(cluster, fleet)
        changes = [
            write_services(cluster, explanations),
            write_conflicts(cluster, fleet, explanations),
            write_runtimes(cluster, fleet, explanations),
            write_models(cluster, fleet, explanations),
        ]
        cluster.evaluated_generation = cluster.generation
        cluster.save(update_fields=["evaluated_generation"])
    return Evaluation(len(explanations), sum(change.created + change.updated + change.deleted for change in changes))


def _write_problems(cluster: Cluster, fleet: Fleet) -> None:
    """Mark the objects that can't be judged, with the path and the reason."""
    marked = {
        (row.kind, row.namespace, row.name): row
        for row in StoredObject.objects.filter(cluster=cluster).exclude(problem_message="").defer("manifest")
    }
    for ref, problem in fleet.problems.items():
        row = marked.pop((ref.kind, ref.namespace, ref.name), None)
        if row is None or (row.problem_path, row.problem_message) != (problem.path[:500], problem.message):
            StoredObject.objects.filter(cluster=cluster, kind=ref.kind, namespace=ref.namespace, name=ref.name).update(
                problem_path=problem.path[:500], problem_message=problem.message
            )
    StoredObject.objects.filter(pk__in=[row.pk for row in marked.values()]).update(problem_path="", problem_message="")
