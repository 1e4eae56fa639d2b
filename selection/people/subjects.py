"""What people act on, named by a text that outlasts every row: a finding, object, review, a review's item, or account.

The name of a thing that isn't there any more stays what it was, and whatever was written of it stays with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from selection.cluster.identities import BY_KIND, LABEL, SUBDOMAIN
from selection.rules.objects import ObjectRef
from selection.store.models import Finding

from .models import Handling

__all__ = [
    "BadSubject",
    "Subject",
    "account_subject",
    "finding_subject",
    "item_subject",
    "object_subject",
    "parse",
    "review_subject",
]

Sort = Literal["finding", "object", "review", "item", "account"]

_KEY = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*-[0-9a-f]{32}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
LONGEST = 700


class BadSubject(ValueError):
    """A text that names no subject; says why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that people write about.

    Attributes:
        text: its name, as it is kept.
        sort: what it is.
        cluster: the name of its cluster; ``""`` for a review, which may span several.
        namespace: its namespace, ``""`` for none.
        key: a finding's key, the review's number, or the user name of an account.
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


def review_subject(number: str) -> Subject:
    """A review as a whole."""
    return Subject(f"review:{number}", "review", key=number)


def item_subject(number: str, finding: Subject) -> Subject:
    """One item of a review: a finding, as the review froze it."""
    return Subject(f"item:{number}/{finding.key}", "item", finding.cluster, finding.namespace, finding.key)


def account_subject(name: str) -> Subject:
    """An account, with its tokens. It belongs to no cluster, so only who sees all of them sees what was done to it."""
    return Subject(f"account:{name}", "account", key=name)


def parse(text: str) -> Subject:
    """Read a subject's name. Where a finding is, what is stored of it says.

    Raises:
        BadSubject: it names none, or a finding that was never seen here.
    """
    sort, _, rest = text.partition(":")
    if len(text) > LONGEST or not text.isprintable():
        raise BadSubject("a subject is at most 700 printable characters")
    if sort == "finding":
        return _finding(rest)
    if sort == "object":
        return _object(rest)
    if sort == "review" and _UUID.fullmatch(rest):
        return review_subject(rest)
    if sort == "account" and rest:
        return account_subject(rest)
    number, _, key = rest.partition("/")
    if sort == "item" and _UUID.fullmatch(number):
        return item_subject(number, _finding(key))
    raise BadSubject(f"{text[:80]!r} names no finding, object, review, item or account")


def _finding(key: str) -> Subject:
    if not _KEY.fullmatch(key):
        raise BadSubject(f"{key[:80]!r} is not the key of a finding")
    row = Finding.objects.select_related("cluster").filter(key=key).first() or Handling.objects.filter(key=key).first()
    if row is None:
        raise BadSubject(f"there is no finding {key!r}, and there was none")
    return finding_subject(row)


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
