"""ServingRuntimes and ClusterServingRuntimes: what each is for, what it declares, and who gets it."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from selection.faces.api.lists import ListView, More, list_shape, row_value
from selection.faces.api.missing import runtime_named
from selection.faces.api.paths import address, scope_of
from selection.faces.api.services import MORE as MORE_OF_SERVICE
from selection.faces.api.shapes import Shape, flag, number, text, texts
from selection.faces.api.views import ReadView
from selection.faces.pages.runtime import USERS
from selection.faces.pages.runtimes import RUNTIMES
from selection.rules.explanation import OUTCOMES
from selection.store.models import RuntimeResult, ServiceResult
from selection.store.runtimes import runtime_rows, services_of_runtime

__all__ = ["RuntimeDetail", "RuntimeList", "RuntimeServices", "address_of_runtime"]


class RuntimeRow(Shape):
    """A runtime."""

    cluster = text("The cluster.")
    kind = text("`ServingRuntime` or `ClusterServingRuntime`.")
    namespace = text('The namespace, `""` for a ClusterServingRuntime.')
    name = text("The name.")
    disabled = flag("Whether it is disabled.")
    profile = flag("Whether it is a profile that others inherit from.")
    auto_select = flag("Whether any of its formats has `autoSelect: true`.")
    formats = text("The formats it is for.")
    size_range = text("The sizes of models it is for.")
    engine_mode = text("The mode that it declares for the engine.")
    decoder_mode = text("The mode that it declares for the decoder.")
    router_mode = text("The mode that it declares for the router.")
    parent = text("What it inherits from.")
    chain_problem = text("Why its inheritance is broken.")
    services = number("How many services get it.")
    selected_by = number("How many of them by automatic selection.")
    named_by = number("How many of them because they name it.")
    references = number("References to LeaderWorkerSet in what it renders.")
    problem = text("Why it can't be read.")
    self = text('The path of this resource; `""` for what no path can say.')


def address_of_runtime(row: RuntimeResult) -> str:
    """The path of a runtime's resource."""
    return address("runtime", {"cluster": row.cluster.name, "scope": scope_of(row.namespace), "name": row.name})


MORE: More = {"self": address_of_runtime}


class RuntimeList(ListView):
    """List runtimes.

    Every ServingRuntime and ClusterServingRuntime of every cluster.
    """

    operation, tag = "listRuntimes", "runtimes"
    row, shape = RuntimeRow, list_shape(RuntimeRow)
    listing, more = RUNTIMES, MORE
    identity, by = ("cluster__name", "kind", "namespace", "name"), "cluster, kind, namespace and name"

    def rows(self, **names: str) -> QuerySet[RuntimeResult]:
        """Every runtime that is seen."""
        return runtime_rows()


class RuntimeDetail(ReadView):
    """Read a runtime.

    The same as its row in the list.
    """

    operation, tag, shape = "readRuntime", "runtimes", RuntimeRow

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The runtime's row."""
        return row_value(runtime_named(**names), RUNTIMES, wanted, MORE)


class RuntimeUser(Shape):
    """A service that gets the runtime."""

    cluster = text("The cluster.")
    namespace = text("The namespace.")
    name = text("The name.")
    named = flag("Whether it names the runtime; else it is selected.")
    outcome = text(f"One of {', '.join(OUTCOMES)}.")
    score = number("The runtime's score in automatic selection; null when it is named.", null=True)
    model = text("The name of its model.")
    conflicts = texts("The codes of its mode conflicts.")
    self = text('The path of the service; `""` for what no path can say.')


class RuntimeServices(ListView):
    """List the services that get a runtime.

    By automatic selection, or because they name it.
    """

    operation, tag = "listServicesOfRuntime", "runtimes"
    row, shape = RuntimeUser, list_shape(RuntimeUser)
    listing, more = USERS, MORE_OF_SERVICE
    identity, by = ("namespace", "name"), "namespace and name"

    def rows(self, **names: str) -> QuerySet[ServiceResult]:
        """Every service that gets it, and is seen."""
        return services_of_runtime(runtime_named(**names))
