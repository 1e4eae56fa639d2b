"""What the pages of reviews share: finding one, saying what an item is, and who may do what with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest

from selection.faces.telling import plainly_told
from selection.people.models import Review, ReviewItem
from selection.people.persons import Person, person_of
from selection.people.reviews import may_review
from selection.people.rights import Act
from selection.people.writing import Writer
from selection.rules.codes import CODES
from selection.store.models import Cluster, Finding

__all__ = ["Allowed", "allowed", "find_review", "frozen", "item_sentence", "place_text", "scope_text", "writer_of"]


@dataclass(frozen=True, slots=True)
class Allowed:
    """What somebody may do with a review: answer, bring it up to date and close it; and sign it."""

    review: bool
    sign: bool


def find_review(number: UUID) -> Review:
    """The review with its places.

    Raises:
        Http404: there is none, or it is about something that whoever asks doesn't see.
    """
    found = Review.objects.prefetch_related("places").filter(pk=number).first()
    if found is None:
        raise Http404("There is no such review, or you don't see all that it is about.")
    return found


def allowed(person: Person, review: Review) -> Allowed:
    """What somebody may do with it."""
    return Allowed(may_review(person, review), may_review(person, review, Act.SIGN))


def writer_of(request: HttpRequest) -> Writer:
    """Who writes on a page."""
    return Writer(person_of(request), "page")


def frozen(item: ReviewItem) -> Finding:
    """An item as the finding that it was when it was frozen; not to be saved."""
    return Finding(
        cluster=Cluster(name=item.cluster),
        key=item.key,
        kind=item.kind,
        namespace=item.namespace,
        name=item.name,
        component=item.component,
        code=item.code,
        about=item.about,
        path=item.path,
        severity=item.severity,
        evidence=item.evidence,
        facts=item.facts,
    )


def item_sentence(item: ReviewItem, part: str = "") -> str:
    """What an item is, or with ``next`` what to do, as one line of plain text."""
    return plainly_told(frozen(item), item.cluster, part)


def place_text(cluster: str, namespace: str) -> str:
    """A place in words.

    >>> place_text("lab", ""), place_text("lab", "ml")
    ('all of lab', 'namespace ml of lab')
    """
    return f"namespace {namespace} of {cluster}" if namespace else f"all of {cluster}"


def scope_text(places: Iterable[tuple[str, str]], codes: Sequence[str], severities: Sequence[str]) -> str:
    """A scope in words.

    >>> scope_text([("lab", "ml"), ("far", "")], [], ["error", "warning"])
    'namespace ml of lab and all of far; severities error and warning'
    """
    parts = [_listed([place_text(*place) for place in places])]
    if codes:
        family = {CODES[code].family for code in codes if code in CODES}
        known = [code for code, each in CODES.items() if each.family in family]
        whole = len(family) == 1 and set(codes) == set(known)
        parts.append(f"the findings of the family {family.pop()}" if whole else f"codes {_listed(codes)}")
    if severities:
        parts.append(f"severities {_listed(severities)}" if len(severities) > 1 else f"severity {severities[0]}")
    return "; ".join(parts)


def _listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)
