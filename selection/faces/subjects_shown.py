"""What people act on, as a page shows it: what it is, what it is called, and where it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from selection.faces.links import object_url
from selection.faces.words import word
from selection.people.models import Handling, Review, ReviewItem
from selection.store.models import Finding

__all__ = ["Shown", "address_of", "shown_subjects"]


@dataclass(frozen=True, slots=True)
class Shown:
    """A subject for a reader.

    Attributes:
        sort: what it is: ``finding``, ``object``, …; of an object its kind.
        name: what it is called.
        url: its page, ``""`` for none.
        about: a finding's object; ``""`` for anything else.
    """

    sort: str
    name: str
    url: str = ""
    about: str = ""


def address_of(subject: str, anchor: str = "") -> str:
    """The page on which a subject is discussed, ``""`` for none. No query but for a review's item."""
    sort, _, rest = subject.partition(":")
    url = ""
    if sort == "finding":
        url = _reverse("finding", rest)
    elif sort == "object":
        kind, namespace, name, cluster = _parts(rest)
        url = object_url(cluster, kind, "" if namespace == "-" else namespace, name)
    elif sort == "review":
        url = _reverse("review", rest)
    elif sort == "item":
        number, _, key = rest.partition("/")
        url = _item(number, key) or _reverse("review", number)
    elif sort == "account":
        url = _reverse("account-of", rest)
    elif sort == "cluster":
        url = f"{reverse('clusters')}?{urlencode({'cluster': rest})}"
    elif sort == "code":
        url = reverse("severities")
    return f"{url}#{anchor}" if url and anchor else url


def shown_subjects(texts: Iterable[str]) -> Mapping[str, Shown]:
    """Subjects by their text. At most three queries, however many there are."""
    asked = dict.fromkeys(texts)
    keys = {_key(text) for text in asked} - {""}
    findings = _findings(keys) if keys else {}
    numbers = {text.partition(":")[2].partition("/")[0] for text in asked if text.startswith(("review:", "item:"))}
    reviews = {str(pk): name for pk, name in Review.objects.filter(pk__in=numbers).values_list("pk", "name")} \
        if numbers else {}  # fmt: skip
    return {text: _shown(text, findings, reviews) for text in asked}


def _findings(keys: set[str]) -> Mapping[str, tuple[str, str, str]]:
    """Code, namespace and name by key; of those that aren't kept any more, what was written down with the first act."""
    fields = ("key", "code", "namespace", "name")
    rows = list(Finding.objects.filter(key__in=keys).order_by().values_list(*fields))
    if missing := keys - {row[0] for row in rows}:
        rows += Handling.objects.filter(key__in=missing).order_by().values_list(*fields)
    return {key: (code, namespace, name) for key, code, namespace, name in rows}


def _shown(text: str, findings: Mapping[str, tuple[str, str, str]], reviews: Mapping[str, str]) -> Shown:
    sort, _, rest = text.partition(":")
    url = address_of(text)
    if sort == "object":
        kind, namespace, name, _ = _parts(rest)
        return Shown(kind, name if namespace == "-" else f"{namespace}/{name}", url)
    if sort in ("finding", "item"):
        code, namespace, name = findings.get(_key(text), (_key(text).rpartition("-")[0], "", ""))
        about = f"{namespace}/{name}" if namespace else name
        where = f"item of the review {reviews.get(rest.partition('/')[0], '')}".rstrip() if sort == "item" else sort
        return Shown(where, word("code", code).label, url, about)
    if sort == "review":
        return Shown(sort, reviews.get(rest, rest), url if rest in reviews else "")
    return Shown(sort, word("code", rest).label if sort == "code" else rest, url)


def _key(text: str) -> str:
    sort, _, rest = text.partition(":")
    return rest if sort == "finding" else rest.partition("/")[2] if sort == "item" else ""


def _parts(rest: str) -> tuple[str, str, str, str]:
    kind, _, rest = rest.partition("/")
    namespace, _, rest = rest.partition("/")
    name, _, cluster = rest.partition("/")
    return kind, namespace, name, cluster


def _item(number: str, key: str) -> str:
    place = ReviewItem.objects.filter(review__pk=number, key=key).values_list("place", flat=True).first()
    return _reverse("review-item", number, place) if place is not None else ""


def _reverse(page: str, *names: str | int) -> str:
    try:
        return reverse(page, args=names)
    except NoReverseMatch:
        return ""
