"""How reading goes: of each kind of each cluster."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from django.db.models import QuerySet

from selection.faces.api.lists import ListView, More, list_shape, row_value
from selection.faces.api.missing import cluster_named
from selection.faces.api.paths import address
from selection.faces.api.problems import NotFound
from selection.faces.api.shapes import Shape, flag, moment, number, text
from selection.faces.api.states import of_reading
from selection.faces.api.views import ReadView
from selection.faces.pages.clusters import KINDS
from selection.store.health import kind_rows
from selection.store.models import KindSync

__all__ = ["KindDetail", "KindList"]


class KindRow(Shape):
    """How the last read of one kind went, and whether it is watched."""

    kind = text("The kind.")
    cluster = text("The cluster.")
    outcome = text("`complete`, `failed`, `forbidden` or `not-served`.")
    watched = flag("Whether a living process watches it: what is stored is what the cluster has.")
    objects = number("How many objects are stored.")
    listed_at = moment("When it was last read whole.", null=True)
    last_event_at = moment("When the last event came.", null=True)
    events = number("How many events were ever received.")
    attempted_at = moment("When reading was last tried.")
    confirmed_at = moment("When what is stored was last known to be what the cluster has.", null=True)
    reason = text("Why it couldn't be read.")
    watch_trouble = text("Why it isn't watched.")
    resource_version = text("The resourceVersion of the last list or event.")
    self = text("The path of this resource.")


def _address(row: KindSync) -> str:
    return address("kind", {"cluster": row.cluster.name, "kind": row.kind})


MORE: More = {"self": _address}


def _state() -> Hashable:
    return of_reading(), tuple(KindSync.objects.order_by("pk").values_list())


class KindList(ListView):
    """List how reading goes.

    One row for each kind of each cluster: whether it could be read, when, and whether it is watched.
    """

    operation, tag = "listKinds", "clusters"
    row, shape = KindRow, list_shape(KindRow)
    listing, more = KINDS, MORE
    identity, by = ("cluster__name", "kind"), "cluster and kind"

    def state(self, **names: str) -> Hashable:
        """How reading goes."""
        return _state()

    def rows(self, **names: str) -> QuerySet[KindSync]:
        """Every kind of every cluster that is seen."""
        return kind_rows()


class KindDetail(ReadView):
    """Read how reading one kind goes."""

    operation, tag, shape = "readKind", "clusters", KindRow

    def state(self, **names: str) -> Hashable:
        """How reading goes."""
        return _state()

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The kind's row."""
        cluster = cluster_named(names["cluster"])
        found = kind_rows().filter(cluster=cluster, kind=names["kind"]).first()
        if found is None:
            raise NotFound(f"Reading {names['kind']} of {cluster.name} was never tried.")
        return row_value(found, KINDS, wanted, MORE)
