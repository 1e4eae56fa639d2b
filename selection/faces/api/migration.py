"""The way off MultiNode: components and runtimes on it, the plan of each, and the order of a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework.response import Response

from selection.faces.api.lists import ListView, More, list_shape
from selection.faces.api.missing import cluster_named, missing, runtime_named
from selection.faces.api.paths import address, scope_of
from selection.faces.api.plans import Order, RuntimePlan, ServicePlan, TurnRow, WaveRow
from selection.faces.api.problems import NotFound
from selection.faces.api.sequences import Entry, SequenceView
from selection.faces.api.shapes import Shape, Whole, listed, number, text
from selection.faces.api.views import ReadView
from selection.faces.api.waiting import COMPUTING, computing
from selection.faces.migrating import runtime_copy, service_plans
from selection.faces.orders import Ordered, order_of
from selection.faces.pages.migration import COMPONENTS, RUNTIMES
from selection.faces.pages.plan_parts import stored_manifests
from selection.faces.tables import turn_rows, wave_rows
from selection.rules.migration import STATES
from selection.rules.objects import ObjectRef
from selection.store.fleets import fleet_of
from selection.store.migration import components_on_the_way, runtimes_to_move
from selection.store.models import ComponentResult, RuntimeResult

__all__ = [
    "MigrationComponentList",
    "MigrationOrder",
    "MigrationOrderRuntimes",
    "MigrationOrderServices",
    "MigrationRuntimeList",
    "RuntimePlanDetail",
    "ServicePlanDetail",
]


class MigrationComponentRow(Shape):
    """A component that runs MultiNode, or did."""

    state = text(f"One of {', '.join(STATES)}.")
    cluster = text("The cluster.")
    service = text("The service.")
    namespace = text("The service's namespace.")
    component = text("The component.")
    running = text("The mode it runs in.")
    running_source = text("The rule that decided.")
    workloads = text("The kinds of the workloads that were seen, separated by commas.")
    runtime = text('The runtime that the service gets, `""` without one.')
    runtime_kind = text("That runtime's kind.")
    runtime_namespace = text('That runtime\'s namespace, `""` for a ClusterServingRuntime.')
    plan = text('The path of the service\'s plan; `""` for what no path can say.')


def _service_plan(cluster: str, namespace: str, name: str) -> str:
    return address("service-plan", {"cluster": cluster, "namespace": namespace, "name": name})


def _runtime_plan(cluster: str, namespace: str, name: str) -> str:
    return address("runtime-plan", {"cluster": cluster, "scope": scope_of(namespace), "name": name})


class MigrationComponentList(ListView):
    """List components on the way off MultiNode.

    Every component that runs MultiNode, or did, and where it stands.
    """

    operation, tag = "listMigrationComponents", "migration"
    row, shape = MigrationComponentRow, list_shape(MigrationComponentRow)
    listing = COMPONENTS
    more: ClassVar[More] = {
        "plan": lambda row: _service_plan(row.result.cluster.name, row.result.namespace, row.result.name),
    }
    identity = ("result__cluster__name", "result__namespace", "result__name", "component")
    by = "cluster, namespace, service and component"

    def rows(self, **names: str) -> QuerySet[ComponentResult]:
        """Every such component that is seen."""
        return components_on_the_way()


class FoundReference(Whole):
    """A reference to LeaderWorkerSet."""

    path = text("The place.")
    container = text("The container.")
    token = text("The text that refers.")
    remedy = text("`replace`, `remove` or `rework`.")
    replacement = text("What stands for it on OMENative.")
    why = text("Why, as a code.")

    def get_fields(self) -> dict[str, Any]:
        """The fields, and one whose name is a word of Python."""
        return {**super().get_fields(), "from": text("The runtime that wrote it.")}


class MigrationRuntimeRow(Shape):
    """A runtime that declares MultiNode or refers to LeaderWorkerSet."""

    runtime = text("The name.")
    namespace = text('The namespace, `""` for a ClusterServingRuntime.')
    kind = text("The kind.")
    cluster = text("The cluster.")
    engine = text("The mode that it declares for the engine.")
    decoder = text("The mode that it declares for the decoder.")
    router = text("The mode that it declares for the router.")
    references = number("References to LeaderWorkerSet in what it renders.")
    selected = number("How many services get it by automatic selection.")
    named = number("How many services name it and get it.")
    found = listed(FoundReference, "The references.")
    plan = text('The path of its plan; `""` for what no path can say.')


class MigrationRuntimeList(ListView):
    """List runtimes to move.

    Every runtime that declares MultiNode or refers to LeaderWorkerSet, with its references.
    """

    operation, tag = "listMigrationRuntimes", "migration"
    row, shape = MigrationRuntimeRow, list_shape(MigrationRuntimeRow)
    listing = RUNTIMES
    more: ClassVar[More] = {"plan": lambda row: _runtime_plan(row.cluster.name, row.namespace, row.name)}
    identity, by = ("cluster__name", "kind", "namespace", "name"), "cluster, kind, namespace and name"

    def rows(self, **names: str) -> QuerySet[RuntimeResult]:
        """Every such runtime that is seen."""
        return runtimes_to_move()


class ServicePlanDetail(ReadView):
    """Plan a service's move.

    What to do, in which order, with which commands, and what comes of it by the rules.
    """

    operation, tag, shape = "planService", "migration", ServicePlan

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The plan, made now."""
        cluster = cluster_named(names["cluster"])
        ref = ObjectRef("InferenceService", names["namespace"], names["name"])
        try:
            (plan,) = service_plans(fleet_of(cluster), stored_manifests(cluster), [ref])
        except LookupError:
            raise missing(ref.kind, cluster.name, ref.namespace, ref.name) from None
        return plan.to_dict()


class RuntimePlanDetail(ReadView):
    """Plan a runtime's copy.

    What keeps a runtime from OMENative, and the copy of it that works there, change by change.
    """

    operation, tag, shape = "planRuntime", "migration", RuntimePlan

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The copy, made now."""
        row = runtime_named(**names)
        fleet = fleet_of(row.cluster)
        found = fleet.runtimes.get((row.namespace, row.name))
        if found is None:
            raise NotFound(f"{row.kind} {row.name} can't be read, so there is no plan for it.")
        copy, layered = runtime_copy(fleet, stored_manifests(row.cluster), found)
        return {**copy.to_dict(), "layers": layered.to_dict() if layered else None}


def _order(cluster: str) -> Ordered | Response:
    found = order_of(cluster_named(cluster))
    return computing() if found is None else found


class MigrationOrder(ReadView):
    """Read a cluster's order.

    What goes first, what together, and what it takes. The services and runtimes of it have lists of their own.
    """

    operation, tag, shape = "readMigrationOrder", "migration", Order
    tagged, further = False, COMPUTING

    def state(self, **names: str) -> Hashable:
        """It may be of a moment before, so that nothing says when it changes."""
        return None

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The newest order that is known."""
        found = _order(names["cluster"])
        if isinstance(found, Response):
            return found
        order = found.order
        return {
            "cluster": names["cluster"],
            "generation": found.generation,
            "fresh": found.fresh,
            "at": found.at,
            "waves": [wave.to_dict() for wave in order.waves],
            "accelerators": {"needs": dict(order.needs), "holds": dict(order.holds)},
        }


class _OfOrder(SequenceView):
    """A list out of a cluster's order."""

    tag, by = "migration", "the order itself"
    tagged, further = False, COMPUTING

    def state(self, **names: str) -> Hashable:
        """As of :class:`MigrationOrder`."""
        return None


def _told(value: Mapping[str, Any], **more: str | int) -> dict[str, Any]:
    return {**value, **more}


class MigrationOrderServices(_OfOrder):
    """List the services of a cluster's order.

    Wave by wave, and by name in each; `place` says when each should go.
    """

    operation: ClassVar[str] = "listServicesOfMigrationOrder"
    row, shape = WaveRow, list_shape(WaveRow)

    def entries(self, **names: str) -> list[Entry] | Response:
        """Every service of the order."""
        found = _order(names["cluster"])
        return found if isinstance(found, Response) else list(self._entries(names["cluster"], found))

    def _entries(self, cluster: str, found: Ordered) -> Iterator[Entry]:
        waves = {wave.kind: place for place, wave in enumerate(found.order.waves)}
        for place, row in enumerate(wave_rows(found.order), start=1):
            names = str(row["namespace"]), str(row["service"])
            plan = _service_plan(cluster, *names)
            yield (waves[str(row["wave"])], *names), partial(_told, row, place=place, self=plan)


class MigrationOrderRuntimes(_OfOrder):
    """List the runtimes of a cluster's order.

    Those that hold services back, by kind, namespace and name.
    """

    operation: ClassVar[str] = "listRuntimesOfMigrationOrder"
    row, shape = TurnRow, list_shape(TurnRow)

    def entries(self, **names: str) -> list[Entry] | Response:
        """Every runtime of the order."""
        found = _order(names["cluster"])
        return found if isinstance(found, Response) else list(self._entries(names["cluster"], found))

    def _entries(self, cluster: str, found: Ordered) -> Iterator[Entry]:
        for row in turn_rows(found.order.runtimes):
            namespace, name = str(row["namespace"] or ""), str(row["name"])
            plan = _runtime_plan(cluster, namespace, name)
            yield (str(row["kind"]), namespace, name), partial(_told, row, self=plan)
