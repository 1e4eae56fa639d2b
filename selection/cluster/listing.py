"""All objects of a kind, or of every kind, as an API server lists them.

Kubernetes API conventions: retrieving large results sets in chunks. A list comes in pages that belong to one
moment; a page token that has grown too old (HTTP 410) means starting that list again, which is done a few times.
A kind is whole or not there at all: whatever goes wrong between its pages, no half of it is handed on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from selection.cluster.config import Connection
from selection.cluster.errors import ApiError
from selection.cluster.kinds import KINDS, OME_NAMESPACE, Kind, KindListing
from selection.cluster.objects import strip_noise
from selection.cluster.retry import Retry
from selection.cluster.transport import get_json

__all__ = ["PAGE_SIZE", "Page", "list_kind", "read_cluster", "read_kind"]

PAGE_SIZE = 500
"""What kubectl asks for."""
MOST_STARTS = 4
"""A list that takes longer than etcd keeps its history this often in a row won't get through at all."""


@dataclass(frozen=True, slots=True)
class Page:
    """How far the reading of one kind has come. ``remaining`` is the API server's estimate, None when it has none."""

    kind: Kind
    pages: int
    objects: int
    remaining: int | None


OnPage = Callable[[Page], None]


def read_cluster(
    connection: Connection,
    *,
    kinds: Sequence[Kind] = KINDS,
    ome_namespace: str = OME_NAMESPACE,
    page_size: int = PAGE_SIZE,
    on_page: OnPage | None = None,
    retry: Retry | None = None,
) -> Iterator[KindListing]:
    """Yield the listing of each kind, reading it only when it is asked for. A kind's failure is its outcome.

    While the cluster is out of reach, each kind after the first is tried once, without waiting.

    Raises:
        Unauthorized: the API server doesn't know us; nothing more can be read.
    """
    patient = retry or Retry()
    reached = True
    for kind in kinds:
        current = patient if reached else patient.hurried()
        listing, reached = _read_kind(connection, kind, ome_namespace, page_size, on_page, current)
        yield listing


def read_kind(
    connection: Connection,
    kind: Kind,
    *,
    ome_namespace: str = OME_NAMESPACE,
    page_size: int = PAGE_SIZE,
    on_page: OnPage | None = None,
    retry: Retry | None = None,
) -> KindListing:
    """Return all objects of one kind, or why they can't be had.

    ``ome_namespace`` is where OME itself is installed; ``page_size`` the number of objects asked for at a time;
    ``on_page`` is called after each page.

    Raises:
        Unauthorized: the API server doesn't know us.
    """
    listing, _ = _read_kind(connection, kind, ome_namespace, page_size, on_page, retry or Retry())
    return listing


def list_kind(
    connection: Connection,
    kind: Kind,
    *,
    ome_namespace: str = OME_NAMESPACE,
    page_size: int = PAGE_SIZE,
    on_page: OnPage | None = None,
    retry: Retry | None = None,
) -> KindListing:
    """Return all objects of one kind, or that it isn't served or is forbidden; the rest is as for ``read_kind``.

    Raises:
        Unauthorized: the API server doesn't know us.
        ApiError: it can't be read for now, with what to do about that.
    """
    retry = retry or Retry()
    reading = _Reading(connection, kind, page_size, on_page, retry)
    try:
        objects, version = reading.whole(ome_namespace)
    except ApiError as error:
        if error.status == 403:
            return KindListing(kind, "forbidden", str(error))
        if error.status == 404:
            return KindListing(kind, "not-served", _not_served(connection, kind, retry))
        raise
    return KindListing(kind, "complete", None, objects, version, reading.pages)


def _read_kind(
    connection: Connection, kind: Kind, ome_namespace: str, page_size: int, on_page: OnPage | None, retry: Retry
) -> tuple[KindListing, bool]:
    """Return the listing, and whether the cluster could be reached."""
    try:
        listing = list_kind(
            connection, kind, ome_namespace=ome_namespace, page_size=page_size, on_page=on_page, retry=retry
        )
    except ApiError as error:
        return KindListing(kind, "failed", str(error)), error.trouble != "connection"
    return listing, True


@dataclass(slots=True)
class _Reading:
    """One kind being read."""

    connection: Connection
    kind: Kind
    page_size: int
    on_page: OnPage | None
    retry: Retry
    pages: int = 0

    def whole(self, ome_namespace: str) -> tuple[list[dict[str, Any]], str | None]:
        """Return the kind's objects that matter, and the version of the list they come from."""
        kind = self.kind
        query = [("labelSelector", kind.selector)] if kind.selector else []
        path = kind.path(ome_namespace if kind.namespace_scope == "ome" else None)
        objects, version = self._list(path, query)
        known = {_identity(each) for each in objects}
        for name in kind.also_named:
            named, _ = self._list(kind.path(ome_namespace), [("fieldSelector", f"metadata.name={name}")])
            objects += [each for each in named if _identity(each) not in known]
        return objects, version

    def _list(self, path: str, query: list[tuple[str, str]]) -> tuple[list[dict[str, Any]], str | None]:
        before = self.pages
        for _ in range(MOST_STARTS):
            self.pages = before
            try:
                return self._pages(path, query)
            except ApiError as error:
                if error.status != 410:
                    raise
        raise ApiError(
            f"the list changed faster than it could be read: its page token expired {MOST_STARTS} times (HTTP 410)"
        )

    def _pages(self, path: str, query: list[tuple[str, str]]) -> tuple[list[dict[str, Any]], str | None]:
        objects: list[dict[str, Any]] = []
        token = ""
        while True:
            paging = [("limit", str(self.page_size))] + ([("continue", token)] if token else [])
            answer = get_json(self.connection, path, [*query, *paging], retry=self.retry)
            items, metadata = _list_parts(answer)
            if items is None:
                raise ApiError(f"{self.connection.server}: the answer is not a list of objects")
            objects += [self._finished(item) for item in items if self.kind.wants(item)]
            self.pages += 1
            if self.on_page is not None:
                self.on_page(Page(self.kind, self.pages, len(objects), metadata.get("remainingItemCount")))
            following = metadata.get("continue") or ""
            if not following:
                return objects, metadata.get("resourceVersion")
            if following == token:
                raise ApiError(f"{self.connection.server}: the list does not end: it repeats its page token")
            token = following

    def _finished(self, item: dict[str, Any]) -> dict[str, Any]:
        """Items of a list don't say what they are: the list does."""
        return strip_noise({"apiVersion": self.kind.api_version, "kind": self.kind.kind, **item})


def _list_parts(answer: dict[str, Any]) -> tuple[list[dict[str, Any]] | None, dict[str, Any]]:
    """Return the items of a list, None when it isn't one, and its metadata. Go writes an empty list as null."""
    metadata = answer.get("metadata")
    items = answer.get("items", ())
    if items is None:
        items = []
    if not isinstance(items, list) or not isinstance(metadata, dict):
        return None, {}
    named = all(isinstance(item, dict) and isinstance(item.get("metadata"), dict) for item in items)
    return (items if named else None), metadata


def _identity(manifest: dict[str, Any]) -> tuple[Any, Any]:
    metadata = manifest["metadata"]
    return metadata.get("namespace"), metadata.get("name")


def _not_served(connection: Connection, kind: Kind, retry: Retry) -> str:
    """Return why a list was not found, after asking what the API server does serve.

    A wrong address answers 404 to everything too, and must not look like a cluster without OME.

    Raises:
        ApiError: it serves the kind after all, or isn't an API server.
    """
    version = _discovery(connection, f"/apis/{kind.group}/{kind.version}", retry)
    if version is not None:
        names = {each.get("name") for each in version.get("resources") or [] if isinstance(each, dict)}
        if kind.plural in names:
            raise ApiError(f"{connection.server} says that it serves {kind.kind}, and then that it doesn't (HTTP 404)")
        return f"the cluster serves {kind.api_version}, but not {kind.kind}"
    group = _discovery(connection, f"/apis/{kind.group}", retry)
    if group is not None:
        versions = [str(each.get("version")) for each in group.get("versions") or [] if isinstance(each, dict)]
        return f"the cluster serves {kind.group} in {', '.join(versions) or 'no version'}, not in {kind.version}"
    groups = _discovery(connection, "/apis", retry)
    if groups is None or groups.get("kind") != "APIGroupList":
        raise ApiError(f"{connection.server} does not answer as a Kubernetes API server (HTTP 404)")
    return f"the cluster does not serve the API group {kind.group}"


def _discovery(connection: Connection, path: str, retry: Retry) -> dict[str, Any] | None:
    try:
        return get_json(connection, path, retry=retry)
    except ApiError as error:
        if error.status == 404:
            return None
        raise
