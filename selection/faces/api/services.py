"""InferenceServices: what each gets, and the explanation."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from selection.faces.api.explanations import Explanation
from selection.faces.api.lists import ListView, More, list_shape, row_value
from selection.faces.api.paths import address
from selection.faces.api.problems import NotFound
from selection.faces.api.shapes import Shape, flag, moment, number, text, texts
from selection.faces.api.views import ReadView
from selection.faces.pages.services import SERVICES
from selection.rules.explain import explain_service
from selection.rules.explanation import OUTCOMES
from selection.store.fleets import fleet_of
from selection.store.lookup import find_cluster
from selection.store.models import ServiceResult

__all__ = ["ServiceDetail", "ServiceExplanation", "ServiceList", "ServiceRow", "address_of_service"]


class ServiceRow(Shape):
    """An InferenceService, and what it gets."""

    cluster = text("The cluster.")
    namespace = text("The namespace.")
    name = text("The name.")
    outcome = text(f"One of {', '.join(OUTCOMES)}.")
    runtime = text('The name of the runtime that it gets, `""` without one.')
    runtime_kind = text("That runtime's kind.")
    runtime_namespace = text('That runtime\'s namespace, `""` for a ClusterServingRuntime.')
    score = number("The runtime's score in automatic selection; null when it was named or there is none.", null=True)
    qualified = number("How many runtimes qualify.")
    model = text("The name of its model.")
    modes = texts("What its components run in, such as `engine=OMENative`.")
    conflicts = texts("The codes of its mode conflicts.")
    admitted = flag("Whether the webhook would let it pass.")
    message = text("OME's text when there is no runtime.")
    computed_at = moment("When this answer was first computed from these objects.")
    self = text('The path of this resource; `""` for what no path can say.')


def address_of_service(row: ServiceResult) -> str:
    """The path of a service's resource."""
    return address("service", {"cluster": row.cluster.name, "namespace": row.namespace, "name": row.name})


MORE: More = {"self": address_of_service}


class ServiceList(ListView):
    """List services.

    Every InferenceService of every cluster, with what it gets and how it runs.
    """

    operation, tag = "listServices", "services"
    row, shape = ServiceRow, list_shape(ServiceRow)
    listing, identity, by = SERVICES, ("cluster__name", "namespace", "name"), "cluster, namespace and name"
    more = MORE

    def rows(self, **names: str) -> QuerySet[ServiceResult]:
        """Every service that is seen."""
        return ServiceResult.objects.select_related("cluster")


class ServiceDetail(ReadView):
    """Read a service.

    The same as its row in the list.
    """

    operation, tag, shape = "readService", "services", ServiceRow

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The service's row."""
        rows = ServiceResult.objects.select_related("cluster")
        found = rows.filter(cluster__name=names["cluster"], namespace=names["namespace"], name=names["name"]).first()
        if found is None:
            raise NotFound(f"There is no InferenceService {names['namespace']}/{names['name']} in {names['cluster']}.")
        return row_value(found, SERVICES, wanted, MORE)


class ServiceExplanation(ReadView):
    """Explain a service.

    Which runtime OME gives it, why not the others, how its components run and what the webhook would say: what
    `manage.py explain -o json` prints.
    """

    operation, tag, shape = "explainService", "services", Explanation

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The explanation, computed now."""
        cluster = find_cluster(names["cluster"])
        try:
            if cluster is None:
                raise LookupError
            explanation = explain_service(fleet_of(cluster), names["namespace"], names["name"])
        except LookupError:
            told = f"There is no InferenceService {names['namespace']}/{names['name']} in {names['cluster']}."
            raise NotFound(told) from None
        return explanation.to_dict()
