"""A discussion as a page shows it: what was said of a thing, who may change that, and what was last done with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from selection.faces.drafts import draft_of
from selection.people.comments import comments_on, may_edit, may_remove
from selection.people.models import ActRecord, Comment
from selection.people.persons import Person, person_of
from selection.people.record import Reader, acts_about
from selection.people.rights import Act, may
from selection.people.subjects import Subject
from selection.people.writing import Writer

__all__ = ["Discussion", "Said", "discussion_of", "say_address"]

SHOWN = 50
"""So many comments stand on a page, the newest ones; the others on demand."""

MOST = 1000
"""So many are shown on demand."""

ACTS = 5
"""So many of the last acts are told where they aren't the page's subject."""


@dataclass(frozen=True, slots=True)
class Said:
    """A comment, and what the one who looks may do with it."""

    comment: Comment
    may_edit: bool
    may_remove: bool


@dataclass(frozen=True, slots=True)
class Discussion:
    """What ``templates/people/discussion.html`` needs.

    Attributes:
        subject: what it is about.
        person: who looks.
        said: the comments that are shown, the oldest first.
        more: whether there are earlier ones that aren't shown.
        allowed: whether the one who looks may say something.
        address: where the form is sent to.
        draft: what was to be sent when the session had ended.
        acts: what was last done, the newest first.
        reader: the one who looks, as who reads the record.
    """

    subject: Subject
    person: Person
    said: Sequence[Said]
    more: bool
    allowed: bool
    address: str
    draft: str
    acts: Sequence[ActRecord]
    reader: Reader

    @property
    def key(self) -> str:
        """What a browser keeps a draft by: the form and the writer."""
        return f"{self.person.name} {self.address}"


def say_address(subject: Subject) -> str:
    """Where a new comment on something is sent to."""
    return f"{reverse('say')}?{urlencode({'subject': subject.text})}"


def discussion_of(request: HttpRequest, subject: Subject, acts: int = ACTS) -> Discussion:
    """What was said of something and done with it. Two queries, however much that is."""
    person = person_of(request)
    most = MOST if request.GET.get("comments") == "all" else SHOWN
    rows = list(comments_on(subject).reverse()[: most + 1])
    writer = Writer(person, "page")
    said = [
        Said(row, row.removed_at is None and may_edit(writer, row), row.removed_at is None and may_remove(writer, row))
        for row in reversed(rows[:most])
    ]
    done = list(acts_about(subject)[:acts])
    address = say_address(subject)
    return Discussion(
        subject,
        person,
        said,
        len(rows) > most,
        may(person, Act.COMMENT, subject.cluster, subject.namespace),
        address,
        draft_of(request, address).get("text", ""),
        done,
        Reader(person, done),
    )
