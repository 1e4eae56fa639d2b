"""Objects as they were read, secrets replaced, and those that can't be judged."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from selection.faces.api.lists import ListView, More, list_shape, row_value
from selection.faces.api.missing import missing
from selection.faces.api.paths import address, namespace_of, scope_of
from selection.faces.api.shapes import Shape, mapped, text
from selection.faces.api.views import ReadView
from selection.faces.filterfields import Name, yes_no
from selection.faces.filters import UnreadableFilter
from selection.faces.listing import Column, Listing
from selection.faces.pages.clusters import UNREADABLE
from selection.store.lookup import find_object
from selection.store.models import StoredObject

__all__ = ["OBJECTS", "ObjectDetail", "ObjectList"]


class ObjectFilter(UnreadableFilter):
    """Objects by kind, place and whether they can be judged."""

    name = Name("name", "Name")
    readable = yes_no("Can be judged", Q(problem_message=""))

    class Meta:
        model = StoredObject
        fields: list[str] = []


OBJECTS = Listing(
    name="objects",
    noun="object",
    filters=ObjectFilter,
    columns=(
        *UNREADABLE.columns,
        Column("uid", "", value="uid"),
        Column("resource_version", "", value="resource_version"),
    ),
    row=UNREADABLE.row,
    empty=UNREADABLE.empty,
    sort="kind",
)


class ObjectRow(Shape):
    """An object."""

    kind = text("The kind.")
    cluster = text("The cluster.")
    namespace = text('The namespace, `""` for a cluster-scoped one.')
    name = text("The name.")
    path = text("The field for which it can't be judged.")
    reason = text('Why it can\'t be judged; `""` when it can.')
    uid = text("The uid.")
    resource_version = text("The resourceVersion that was read.")
    self = text('The path of this resource; `""` for what no path can say.')


class ObjectWhole(ObjectRow):
    """An object with its manifest."""

    manifest = mapped("The manifest as it was read; values that look secret are replaced.")


def _address(row: StoredObject) -> str:
    names = {"cluster": row.cluster.name, "kind": row.kind, "scope": scope_of(row.namespace), "name": row.name}
    return address("object", names)


MORE: More = {"self": _address}


class ObjectList(ListView):
    """List objects.

    Every object that was read, of every kind. `readable=false` are those that can't be judged, and why.
    """

    operation, tag = "listObjects", "objects"
    row, shape = ObjectRow, list_shape(ObjectRow)
    listing, more = OBJECTS, MORE
    identity, by = ("cluster__name", "kind", "namespace", "name"), "cluster, kind, namespace and name"

    def rows(self, **names: str) -> QuerySet[StoredObject]:
        """Every object that is seen, without its manifest."""
        return StoredObject.objects.select_related("cluster").defer("manifest")


class ObjectDetail(ReadView):
    """Read an object with its manifest."""

    operation, tag, shape = "readObject", "objects", ObjectWhole

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The object's row, and its manifest."""
        namespace = namespace_of(names["scope"])
        found = find_object(names["cluster"], names["kind"], namespace, names["name"])
        if found is None:
            raise missing(names["kind"], names["cluster"], namespace, names["name"])
        return {**row_value(found, OBJECTS, wanted, MORE), "manifest": found.manifest}
