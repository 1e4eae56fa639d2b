"""As of what a page was drawn, so that the server can tell it later whether anything it shows has changed.

A page is sent with a :class:`Seen`. Once a second it asks ``/live/`` and sends it back. What a page shows follows from
its address alone: a list, or a page about everything, changes with the answers; a page about one object with that
object and its own answers; pages that tell how reading goes also with that.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.urls import ResolverMatch

from selection.faces.links import CLUSTER_SCOPE
from selection.faces.sharing import HEADER, SharedPages
from selection.rules.objects import ObjectRef
from selection.store.freshness import Freshness, freshness
from selection.store.models import Cluster
from selection.store.stamps import changed_since

__all__ = ["NOTHING", "Scope", "Seen", "SeenMiddleware", "page_changed", "scope_of", "seen_at_start", "seen_of"]

_TOKEN = re.compile(r"([0-9a-f]{12})\.([0-9a-f]{12}|x)\.((?:\d{1,18}-\d{1,18}-\d{1,18}(?:_(?!$)|$))*)")
PAGES = "selection.faces.pages."
PROGRAMS = frozenset({"live", "metrics"})
"""Addresses among the pages that answer programs."""
ANSWERS = frozenset({"what-if"})
"""Pages that answer what somebody gave: nothing in them may be changed while it is read."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a page shows.

    Attributes:
        cluster: the name of the only cluster it shows, ``""`` when it shows all of them.
        refs: the objects that it is about; none when it is about all that the answers say.
        health: whether it tells how reading goes: ``""`` no, ``"brief"`` what is wrong, ``"full"`` every event.
        objects: whether it shows more of objects than the answers tell.
        live: False for one that mustn't be fetched again: an error, or the answer to a form.
    """

    cluster: str = ""
    refs: tuple[ObjectRef, ...] = ()
    health: str = ""
    objects: bool = False
    live: bool = True


NOTHING = Scope(live=False)


def _service(of: Mapping[str, Any]) -> ObjectRef:
    return ObjectRef("InferenceService", of["namespace"], of["name"])


def _scoped(kind: str, scope: str, name: str) -> ObjectRef:
    """A runtime or a model: ``kind`` in a namespace, ``Cluster`` and ``kind`` outside of any."""
    return ObjectRef(f"Cluster{kind}", "", name) if scope == CLUSTER_SCOPE else ObjectRef(kind, scope, name)


_ABOUT: Mapping[str, Callable[[Mapping[str, Any]], tuple[ObjectRef, ...]]] = {
    "service": lambda of: (_service(of),),
    "candidate": lambda of: (_service(of), _scoped("ServingRuntime", of["scope"], of["runtime"])),
    "runtime": lambda of: (_scoped("ServingRuntime", of["scope"], of["name"]),),
    "model": lambda of: (_scoped("BaseModel", of["scope"], of["name"]),),
    "model-candidate": lambda of: (
        _scoped("BaseModel", of["scope"], of["name"]),
        _scoped("ServingRuntime", of["runtime_scope"], of["runtime"]),
    ),
    "object": lambda of: (ObjectRef(of["kind"], "" if of["scope"] == CLUSTER_SCOPE else of["scope"], of["name"]),),
}
_HEALTH = {"overview": "brief", "clusters": "full"}


def scope_of(match: ResolverMatch | None, query: QueryDict) -> Scope:
    """What the page at an address shows. One that isn't known here is about its cluster, or about all."""
    name = (match and match.url_name) or ""
    if match is None or name in PROGRAMS or not getattr(match.func, "__module__", "").startswith(PAGES):
        return NOTHING
    if name in ANSWERS:
        return NOTHING
    if hasattr(match.func, "without_sight"):  # it shows nothing of clusters, so nothing in it gets old
        return NOTHING
    cluster = match.kwargs.get("cluster", "") or query.get("cluster", "")
    if name in _ABOUT:
        return Scope(cluster, _ABOUT[name](match.kwargs))
    return Scope(cluster, health=_HEALTH.get(name, ""), objects="cluster" in match.kwargs)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a page was drawn from.

    Attributes:
        strip: stands for what the strip with the age of the data says.
        health: stands for how reading goes, as far as the page tells it; ``x`` on a page that stays as it is.
        clusters: by primary key, the generations whose objects and whose answers were seen.
    """

    strip: str
    health: str
    clusters: Mapping[int, tuple[int, int]]

    def __str__(self) -> str:
        """As it stands in an address.

        >>> str(Seen("0" * 12, "x", {1: (7, 6), 2: (3, 3)}))
        '000000000000.x.1-7-6_2-3-3'
        """
        return f"{self.strip}.{self.health}." + "_".join(f"{pk}-{a}-{b}" for pk, (a, b) in self.clusters.items())

    @classmethod
    def parse(cls, text: str) -> Seen | None:
        """What :meth:`__str__` wrote, or None when it is nothing of the kind.

        >>> Seen.parse("000000000000.x.1-7-6_2-3-3").clusters
        {1: (7, 6), 2: (3, 3)}
        >>> Seen.parse("anything")
        """
        found = _TOKEN.fullmatch(text)
        if found is None:
            return None
        parts = [part.split("-") for part in found.group(3).split("_") if part]
        return cls(found.group(1), found.group(2), {int(pk): (int(a), int(b)) for pk, a, b in parts})


def seen_of(state: Sequence[Freshness], scope: Scope) -> Seen:
    """What a page of this scope, drawn now, has seen."""
    shown = [each for each in state if each.cluster.name == scope.cluster] if scope.cluster else state
    health = _digest(_health(each, scope.health) for each in shown) if scope.live else "x"
    generations = {
        each.cluster.pk: (each.cluster.generation, each.cluster.evaluated_generation)
        for each in sorted(shown, key=lambda each: each.cluster.pk)
    }
    return Seen(_digest(map(_strip, state)), health, generations if scope.live else {})


def page_changed(state: Sequence[Freshness], scope: Scope, then: Seen) -> bool:
    """Whether what a page of this scope shows isn't what it was. No query while the cluster stands still."""
    if then.health == "x":
        return False
    now = seen_of(state, scope)
    if now.health != then.health or now.clusters.keys() != then.clusters.keys():
        return True
    clusters = {each.cluster.pk: each.cluster for each in state}
    return any(
        _cluster_changed(clusters[pk], scope, then.clusters[pk])
        for pk in now.clusters
        if now.clusters[pk] != then.clusters[pk]
    )


def _cluster_changed(cluster: Cluster, scope: Scope, then: tuple[int, int]) -> bool:
    generation, evaluated = then
    if scope.refs:
        return changed_since(cluster, scope.refs, generation=generation, evaluated=evaluated)
    return cluster.answers_generation > evaluated or (scope.objects and cluster.generation > generation)


def _strip(each: Freshness) -> object:
    """What the strip says of a cluster. Of one that is live the exact last event may be ten seconds late."""
    moment = each.last_event_at and int(each.last_event_at.timestamp()) // 10
    known = moment if each.live else each.listed_at
    return (
        each.cluster.name,
        each.live,
        each.failed,
        bool(each.cluster.sync_error),
        each.stale,
        each.left,
        each.unwatched,
        known,
    )


def _health(each: Freshness, detail: str) -> object:
    if not detail:
        return None
    cluster = each.cluster
    told = (cluster.name, each.failed, cluster.sync_error, each.live, each.left, cluster.source, cluster.ome_version)
    if detail == "brief":
        return told
    moment = each.last_event_at and int(each.last_event_at.timestamp()) // 10
    return *told, cluster.generation, each.unwatched, moment, cluster.sync_finished_at


def _digest(values: Any) -> str:
    return hashlib.sha256(repr(list(values)).encode("utf-8", "surrogatepass")).hexdigest()[:12]


class SeenMiddleware:
    """Look how fresh the data is before a page reads any: what changes while it is drawn is then told afterwards.

    A page that fetches itself again is drawn once for all who look at it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.shared = SharedPages()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponseBase], args: Any, kwargs: Any
    ) -> HttpResponseBase | None:
        """Only for whole pages: parts of one, exports and what programs ask for have no strip."""
        part = "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers
        whole = request.method == "GET" and not part and "format" not in request.GET
        if not (whole and scope_of(request.resolver_match, request.GET).live):
            return None
        state = vars(request)["freshness_at_start"] = freshness()
        if HEADER not in request.headers:
            return None
        return self.shared.answer(request, state, lambda: view(request, *args, **kwargs))


def seen_at_start(request: HttpRequest | None) -> tuple[list[Freshness], Seen]:
    """How fresh the data was when the request began, and what the page is thus sure to have seen."""
    found = getattr(request, "freshness_at_start", None)
    state: list[Freshness] = freshness() if found is None else found
    asked = request is not None and request.method == "GET"
    scope = scope_of(request.resolver_match, request.GET) if request is not None and asked else NOTHING
    return state, seen_of(state, scope)
