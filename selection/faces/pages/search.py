"""Search across everything: objects by pieces of their names, clusters, namespaces, and the words that pages use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET

from selection.faces import words
from selection.faces.exports import EXPORTS, export
from selection.faces.links import object_url
from selection.faces.nav import NAVIGATION
from selection.store.search import Asked, Found, Hits, find_clusters, find_namespaces, find_objects, parse

__all__ = ["RESULTS", "search"]

RESULTS = "search-results"
"""The id of the panel under the field; htmx asks for what belongs into it."""

FEW, MANY = 6, 50
"""How many of each group the panel and the page show."""

EXPORTED = 10_000
"""How many of each group an export has."""

_KEYS = ("kind", "cluster", "namespace", "name")

_TITLES = {
    "services": "Services",
    "runtimes": "Runtimes",
    "models": "Models",
    "accelerators": "Accelerator classes",
    "workloads": "Workloads",
    "others": "Other objects",
}
_LISTS = {"services": "services", "runtimes": "runtimes", "models": "models"}
_WORDS = (
    (words.OUTCOMES, "outcome", "services", "outcome"),
    (words.MODES, "mode", "services", "mode"),
    (words.CONFLICTS, "conflict", "conflicts", "code"),
    (words.MIGRATION, "migration", "migration", "state"),
    (
        {
            code: word
            for code, word in words.FAMILIES["code"].items()
            if not any(code in family for family in (words.OUTCOMES, words.CONFLICTS, words.MIGRATION))
        },
        "finding",
        "findings",
        "code",
    ),
)
"""What codes mean, the family, the list that has their rows, and its filter."""


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that was found: where it is, its name, and what tells it from others of that name.

    ``kind`` and ``cluster`` say the same for an export; the kind of a page or a list is ``page``.
    """

    url: str
    name: str
    namespace: str = ""
    aside: str = ""
    kind: str = "page"
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Results of one sort. ``count`` is how many there are in all, ``more`` where the others are."""

    title: str
    results: list[Result]
    count: int
    more: str = ""


@require_GET
def search(request: HttpRequest) -> HttpResponseBase:
    """The page ``/search/?q=``, or for htmx the panel under the field; ``&format=csv|json`` sends what is found."""
    text = request.GET.get("q", "").strip()
    form = request.GET.get("format", "")
    if form in EXPORTS:
        return export(form, "search", _KEYS, _exported(_groups(parse(text), text, EXPORTED)))
    panel = request.headers.get("HX-Request") == "true" and request.headers.get("HX-Target") == RESULTS
    groups = list(_groups(parse(text), text, FEW if panel else MANY))
    context = {"asked": text, "groups": groups, "count": sum(group.count for group in groups)}
    response = render(request, "search/panel.html" if panel else "search/page.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _exported(groups: Iterable[Group]) -> Iterator[dict[str, object]]:
    for group in groups:
        for each in group.results:
            yield {key: getattr(each, key) for key in _KEYS}


def _groups(asked: Asked, text: str, limit: int) -> Iterator[Group]:
    """Every sort of which something was found, the one with the exact name first."""
    found = find_objects(asked, limit)
    first = asked.words[0].rpartition("/")[2].lower() if asked.words else ""
    for name, hits in sorted(found.items(), key=lambda each: each[1].rows[0].ref.name.lower() != first):
        yield _objects(name, hits, text)
    yield from _places(asked, limit)
    yield from _pages(asked)


def _objects(name: str, hits: Hits, text: str) -> Group:
    more = ""
    if hits.count > len(hits.rows):
        query = f"{reverse('search')}?{urlencode({'q': f'kind:{name} {text}' if 'kind:' not in text else text})}"
        plain = ":" not in text and "/" not in text
        more = f"{reverse(_LISTS[name])}?{urlencode({'q': text})}" if name in _LISTS and plain else query
    return Group(_TITLES[name], [_result(each) for each in hits.rows], hits.count, more)


def _result(found: Found) -> Result:
    ref = found.ref
    aside = found.cluster if ref.kind == "InferenceService" else f"{ref.kind}, {found.cluster}"
    url = object_url(found.cluster, ref.kind, ref.namespace, ref.name)
    return Result(url, ref.name, ref.namespace, aside, ref.kind, found.cluster)


def _places(asked: Asked, limit: int) -> Iterator[Group]:
    clusters = find_clusters(asked, limit)
    if clusters:
        results = [
            Result(f"{reverse('overview')}?{urlencode({'cluster': name})}", name, kind="Cluster", cluster=name)
            for name in clusters
        ]
        yield Group("Clusters", results, len(results))
    namespaces = find_namespaces(asked, limit)
    if namespaces:
        results = [
            Result(
                f"{reverse('services')}?{urlencode({'cluster': cluster, 'namespace': namespace})}",
                namespace,
                aside=f"{cluster}, {services} service{'' if services == 1 else 's'}",
                kind="Namespace",
                cluster=cluster,
            )
            for cluster, namespace, services in namespaces
        ]
        yield Group("Namespaces", results, len(results))


def _pages(asked: Asked) -> Iterator[Group]:
    """Pages, and the lists of one code each, whose words hold all that was typed."""
    if not asked.words or asked.namespace or asked.cluster or not asked.wants("words"):
        return
    results = [Result(url, label, aside=aside) for text, url, label, aside in _known() if _holds(text, asked.words)]
    if results:
        yield Group("Pages and lists", results, len(results))


def _holds(text: str, asked: tuple[str, ...]) -> bool:
    return all(word.lower() in text for word in asked)


def _known() -> Iterator[tuple[str, str, str, str]]:
    for _, entries in NAVIGATION:
        for entry in entries:
            try:
                yield entry.label.lower(), reverse(entry.url_name), entry.label, "page"
            except NoReverseMatch:
                continue
    for family, kind, page, parameter in _WORDS:
        for code, word in family.items():
            url = f"{reverse(page)}?{urlencode({parameter: code})}"
            yield f"{code} {word.label}".lower(), url, word.label, f"{kind}, {code}" if code != word.label else kind
