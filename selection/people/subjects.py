"""What people act on, named by a text that outlasts every row: a finding, object, review or a review's item; and what
administrators act on: an account, a group, a cluster, or the code of findings.

The name of a thing that isn't there any more stays what it was, and whatever was written of it stays with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from selection.cluster.identities import BY_KIND, LABEL, SUBDOMAIN
from selection.rules.objects import ObjectRef
from selection.store.models import Finding

from .models import Handling, Review

__all__ = [
    "ALL",
    "BadSubject",
    "Subject",
    "account_subject",
    "cluster_subject",
    "code_subject",
    "finding_subject",
    "group_subject",
    "item_subject",
    "object_subject",
    "parse",
    "review_subject",
]

Sort = Literal["finding", "object", "review", "item", "account", "group", "cluster", "code"]

_KEY = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*-[0-9a-f]{32}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
LONGEST = 700
ALL = "*"
"""Stands for all namespaces of a cluster: who has a role in some of them has none there."""


class BadSubject(ValueError):
    """A text that names no subject; says why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that people write about.

    Attributes:
        text: its name, as it is kept.
        sort: what it is.
        cluster: the name of its cluster; ``""`` for a review that spans several, and for an account.
        namespace: its namespace, ``""`` for none, :data:`ALL` for a review of more than one.
        key: a finding's key, the review's number, or the name of an account, group or code.
        ref: the object, of ``object`` alone.
    """

    text: str
    sort: Sort
    cluster: str = ""
    namespace: str = ""
    key: str = ""
    ref: ObjectRef | None = None

    def __str__(self) -> str:
        return self.text


def finding_subject(finding: Finding | Handling) -> Subject:
    """A finding, by what is there of it: its row, or what somebody wrote of it. Ask for the row with its cluster."""
    cluster = finding.cluster if isinstance(finding, Handling) else finding.cluster.name
    return Subject(f"finding:{finding.key}", "finding", cluster, finding.namespace, finding.key)


def object_subject(cluster: str, ref: ObjectRef) -> Subject:
    """An object of a cluster. The cluster's name comes last: it may hold slashes.

    >>> object_subject("arn:aws/prod", ObjectRef("InferenceService", "team", "chat")).text
    'object:InferenceService/team/chat/arn:aws/prod'
    """
    text = f"object:{ref.kind}/{ref.namespace or '-'}/{ref.name}/{cluster}"
    return Subject(text, "object", cluster, ref.namespace, "", ref)


def review_subject(number: str, places: Iterable[tuple[str, str]] = ()) -> Subject:
    """A review as a whole, of the clusters and namespaces that it is about; what is written of it belongs there.

    >>> review_subject("1", [("lab", "ml")]).namespace, review_subject("1", [("lab", "ml"), ("lab", "hr")]).namespace
    ('ml', '*')
    >>> review_subject("1", [("lab", "ml"), ("far", "ml")]).cluster
    ''
    """
    found = set(places)
    clusters = {cluster for cluster, _ in found}
    if len(clusters) != 1:
        return Subject(f"review:{number}", "review", key=number)
    namespace = next(iter(found))[1] if len(found) == 1 else ""
    return Subject(f"review:{number}", "review", clusters.pop(), namespace or ALL, number)


def item_subject(number: str, finding: Subject) -> Subject:
    """One item of a review: a finding, as the review froze it."""
    return Subject(f"item:{number}/{finding.key}", "item", finding.cluster, finding.namespace, finding.key)


def account_subject(name: str) -> Subject:
    """An account, with its tokens. It belongs to no cluster, so only who sees all of them sees what was done to it."""
    return Subject(f"account:{name}", "account", key=name)


def group_subject(name: str) -> Subject:
    """A group of accounts; like them it belongs to no cluster."""
    return Subject(f"group:{name}", "group", key=name)


def cluster_subject(name: str) -> Subject:
    """A cluster as a whole."""
    return Subject(f"cluster:{name}", "cluster", name)


def code_subject(code: str) -> Subject:
    """A code of findings: how much it matters in this installation."""
    return Subject(f"code:{code}", "code", key=code)


_NAMED = {"account": account_subject, "group": group_subject, "cluster": cluster_subject, "code": code_subject}


def parse(text: str) -> Subject:
    """Read a subject's name. Where a finding is, what is stored of it says.

    Raises:
        BadSubject: it names none, a finding that was never seen here, or a review that isn't there.
    """
    sort, _, rest = text.partition(":")
    if len(text) > LONGEST or not text.isprintable():
        raise BadSubject("a subject is at most 700 printable characters")
    if sort == "finding":
        return _finding(rest)
    if sort == "object":
        return _object(rest)
    if sort == "review" and _UUID.fullmatch(rest):
        return _review(rest)
    if sort in _NAMED and rest:
        return _NAMED[sort](rest)
    number, _, key = rest.partition("/")
    if sort == "item" and _UUID.fullmatch(number):
        return item_subject(number, _finding(key))
    raise BadSubject(f"{text[:80]!r} names nothing that people act on")


def _finding(key: str) -> Subject:
    if not _KEY.fullmatch(key):
        raise BadSubject(f"{key[:80]!r} is not the key of a finding")
    row = Finding.objects.select_related("cluster").filter(key=key).first() or Handling.objects.filter(key=key).first()
    if row is None:
        raise BadSubject(f"there is no finding {key!r}, and there was none")
    return finding_subject(row)


def _review(number: str) -> Subject:
    row = Review.objects.filter(pk=number).first()
    if row is None:
        raise BadSubject(f"there is no review {number}")
    return review_subject(number, row.places.values_list("cluster", "namespace"))


def _object(rest: str) -> Subject:
    kind, _, rest = rest.partition("/")
    namespace, _, rest = rest.partition("/")
    name, _, cluster = rest.partition("/")
    known = BY_KIND.get(kind)
    if known is None:
        raise BadSubject(f"{kind[:80]!r} is not a kind that is read")
    if not cluster or not SUBDOMAIN.fullmatch(name):
        raise BadSubject("an object is named KIND/NAMESPACE/NAME/CLUSTER, with - for no namespace")
    if known.namespaced != (namespace != "-") or (known.namespaced and not LABEL.fullmatch(namespace)):
        wanted = "a namespace" if known.namespaced else "- for its namespace, as it has none"
        raise BadSubject(f"{kind} needs {wanted}")
    return object_subject(cluster, ObjectRef(kind, "" if namespace == "-" else namespace, name))
