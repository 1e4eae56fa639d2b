"""The tags that draw ``templates/components/``. Each component says its parameters at its top."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from django import template
from django.template import Context
from django.template.exceptions import TemplateDoesNotExist
from django.template.loader import get_template
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from selection.faces.ages import age_text
from selection.faces.explaining import arithmetic, parameters
from selection.faces.links import candidate_url, manifest_url, object_url
from selection.faces.nav import KEYS, NAVIGATION
from selection.faces.seen import seen_at_start
from selection.faces.strip import strip_values
from selection.faces.words import word
from selection.rules.objects import ObjectRef
from selection.rules.sizes import range_text

__all__ = ["register"]

register = template.Library()

LONG = 900
"""Exact text of more characters than this scrolls in its own box."""


def _drawn(name: str, values: dict[str, Any]) -> SafeString:
    """A component that stands inside a sentence: without the line break at the end of its file."""
    # Rendered by Django with autoescape on; only its outcome is passed through.
    return mark_safe(get_template(f"components/{name}.html").render(values).strip())  # noqa: S308


# A list draws the same few badges and names hundreds of times. Typed, because a text that is safe to write and one
# that isn't are equal.
_cached = lru_cache(maxsize=4096, typed=True)


@register.simple_tag
@_cached
def badge(family: str, code: str, url: str = "") -> SafeString:
    """A state as a badge: ``{% badge "outcome" service.outcome %}``; families are those of :func:`word`."""
    return _drawn("badge", {"word": word(family, code) if code else None, "code": code, "url": url})


_SIGNS = {"good": "check", "warn": "warn", "bad": "cross", "plain": "dash"}


@register.simple_tag
@_cached
def state(tone: str, text: object, title: str = "", url: str = "") -> SafeString:
    """A state without a code, as a badge: ``{% state "warn" "not ready" %}``; ``""`` is a tone without an icon."""
    return _drawn("state", {"tone": tone, "sign": _SIGNS.get(tone, ""), "text": text, "title": title, "url": url})


@register.simple_tag
@_cached
def ref(
    cluster: str, kind: str, namespace: str, name: str, *, show_kind: bool = False, show_namespace: bool = True
) -> SafeString:
    """An object's name as a link: ``{% ref cluster.name row.kind row.namespace row.name %}``."""
    url = object_url(cluster, kind, namespace, name) if cluster and name else ""
    shown = namespace if show_namespace else ""
    values = {"url": url, "kind": kind if show_kind else "", "namespace": shown, "name": name, "full_kind": kind}
    return _drawn("ref", values)


@register.simple_tag
def ref_of(cluster: str, value: Any, *, show_kind: bool = False, show_namespace: bool = True) -> SafeString:
    """The same for an ``ObjectRef`` or a mapping of it (``to_dict()``, a conflict's facts)."""
    if isinstance(value, Mapping):
        kind, namespace, name = value["kind"], value["namespace"] or "", value["name"]
    else:
        kind, namespace, name = value.kind, value.namespace, value.name
    return ref(cluster, kind, namespace, name, show_kind=show_kind, show_namespace=show_namespace)


@register.simple_tag
def manifest(cluster: str, kind: str, namespace: str, name: str, **query: str) -> str:
    """The address of an object's manifest; ``mark="a|b"`` marks lines, ``download="1"`` sends the file."""
    return manifest_url(cluster, kind, namespace, name, **query)


@register.simple_tag
def age(then: datetime | None, missing: str = "never") -> SafeString:
    """A moment as its age, with the moment itself in the title."""
    text = age_text(then, timezone.now()) if then else ""
    return _drawn("age", {"then": then, "text": text, "missing": missing})


@register.inclusion_tag("components/exact.html")
def exact(text: str, label: str = "", tone: str = "", scroll: bool = False) -> dict[str, Any]:
    """Text that is OME's or for a shell: exact, in monospace, copyable.

    ``scroll`` keeps long lines and limits the height. Very long text scrolls in its own box.
    """
    return {"text": text, "label": label, "tone": tone, "scroll": scroll, "long": len(text) > LONG}


@register.simple_tag
@_cached
def icon(name: str) -> SafeString:
    """A small icon; decoration only, words say the same beside it."""
    return _drawn("icon", {"name": name})


@register.filter
def label(code: str, family: str) -> str:
    """A code's label without its badge: ``{{ code|label:"check" }}``."""
    return word(family, code).label


@register.filter
def tone(code: str, family: str) -> str:
    """A code's tone, as a class: ``{{ code|tone:"conflict" }}``."""
    return word(family, code).tone


@register.filter
def title_of(code: str, family: str) -> str:
    """What a code means in a few words: ``{{ code|title_of:"check" }}``."""
    return word(family, code).title


@register.filter
def number(count: int | None) -> str:
    """A count with its thousands set apart, ``""`` for none: ``{{ counts.services|number }}``.

    >>> number(10000)
    '10,000'
    """
    return "" if count is None else f"{count:,}"


@register.filter
def last_word(path: str) -> str:
    """The last part of an address, as somebody may have meant it for a name: ``{{ request.path|last_word }}``.

    >>> last_word("/services/prod/team/chat/"), last_word("/")
    ('chat', '')
    """
    return path.rstrip("/").rpartition("/")[2]


@register.filter
def sum_of(counts: Mapping[str, int]) -> int:
    """All counts together: ``{{ counts|sum_of }}``."""
    return sum(counts.values())


register.filter("arithmetic", arithmetic)
register.filter("parameters", parameters)
register.filter("size_range", range_text)


@register.simple_tag
def object_link(cluster: str, value: ObjectRef) -> str:
    """The address of an object's page, for a link with words of its own."""
    return object_url(cluster, value.kind, value.namespace, value.name)


@register.simple_tag
def candidate_link(cluster: str, subject: ObjectRef, runtime: ObjectRef, namespace: str = "") -> str:
    """The address of what it would take for a candidate; ``namespace`` is where a ClusterBaseModel is judged."""
    return candidate_url(cluster, subject, runtime, namespace)


@register.inclusion_tag("components/crumb.html")
def crumb(label: str, url_name: str = "", *args: Any) -> dict[str, Any]:
    """One step of the breadcrumb, for ``{% block crumbs %}``: a link when it names a page."""
    return {"label": label, "url": reverse(url_name, args=args) if url_name else ""}


@register.inclusion_tag("components/bar.html")
def bar(value: int, total: int, tone: str = "") -> dict[str, Any]:
    """A length for a number; put the words and the number beside it, inside ``<ul class="bars">``."""
    return {"width": f"{100 * value / total:.2f}" if total else "0", "tone": tone}


@register.simple_tag
@_cached
def swatch(code: str) -> SafeString:
    """The colour of a code in a picture, for its legend: ``{% swatch "OMENative" %}``."""
    return _drawn("swatch", {"code": code})


@register.simple_tag(takes_context=True)
def sentence(context: Context, family: str, code: str, part: str = "what", **values: Any) -> SafeString:
    """The sentence for a code, from ``templates/sentences/<family>/<code>.html``.

    Args:
        context: the page's.
        family: ``outcome``, ``check``, ``conflict``, ``migration``, ``note`` or ``admission``.
        code: the code. One that has no sentence says nothing.
        part: ``what`` (what it is), or ``next`` (what to do next, from ``<code>.next.html``).
        values: what the sentence's comment asks for.
    """
    if not code.replace("-", "").isalnum():
        return mark_safe("")
    name = f"sentences/{family}/{code}.html" if part == "what" else f"sentences/{family}/{code}.{part}.html"
    try:
        found = get_template(name)
    except TemplateDoesNotExist:
        return mark_safe("")
    # Rendered by Django with autoescape on; only its outcome is passed through.
    scope: dict[str, Any] = {str(key): value for key, value in context.flatten().items()}
    return mark_safe(found.render({**scope, **values}).strip())  # noqa: S308


@register.inclusion_tag("components/nav.html", takes_context=True)
def navigation(context: Context) -> dict[str, Any]:
    """The rail of pages, with the current one marked."""
    request = context.get("request")
    match = request.resolver_match if request is not None else None
    current = match.url_name if match else ""
    groups = []
    for title, entries in NAVIGATION:
        links = []
        for entry in entries:
            try:
                url = reverse(entry.url_name)
            except NoReverseMatch:
                continue
            links.append(
                {
                    "label": entry.label,
                    "url": url,
                    "current": current == entry.url_name,
                    "within": current in entry.within,
                }
            )
        groups.append({"title": title, "links": links})
    return {"groups": groups}


@register.inclusion_tag("components/keys.html")
def key_help() -> dict[str, Any]:
    """The dialog that tells the keys, and the links that ``g`` and a letter follow."""
    labels = {entry.url_name: entry.label for _, entries in NAVIGATION for entry in entries}
    known = [(name, key) for name, key in KEYS.items() if name in labels]
    return {"links": [{"key": key, "label": labels[name], "url": reverse(name)} for name, key in known]}


@register.inclusion_tag("components/freshness.html", takes_context=True)
def freshness_strip(context: Context) -> dict[str, Any]:
    """How fresh the data is: the clusters, those with problems and the oldest data first."""
    return strip_values(*seen_at_start(context.get("request")))
