"""The candidates that a service can't get: narrowed, grouped by the first check that they fail, and paged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator

from selection.faces.explaining import CHECK_ORDER
from selection.rules.candidates import Candidate
from selection.rules.objects import Runtime
from selection.rules.selection import FORMAT, Failure, Verdict

__all__ = ["PAGE_SIZE", "Excluded", "Exclusion", "Group", "closest", "excluded", "exclusion_of", "first_check"]

PAGE_SIZE = 50
FEW = 8
"""So many excluded candidates are shown at once; more wait behind the name of their check."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One excluded candidate: OME's reason, and what else it would fail."""

    runtime: Runtime
    reason: Failure
    also: tuple[Failure, ...]

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Every check that it fails."""
        return (self.reason, *self.also)


@dataclass(frozen=True, slots=True)
class Group:
    """Excluded candidates of one check on this page; ``count`` is how many there are on all pages."""

    code: str
    count: int
    rows: list[Exclusion]


@dataclass(frozen=True, slots=True)
class Excluded:
    """The excluded candidates as a request asks for them.

    Attributes:
        total: how many there are without filters.
        count: how many the filters leave.
        check: the check to narrow to, or ``""``.
        text: the text to look for, or ``""``.
        page: the page of candidates.
        groups: the page's candidates by the first check that they fail.
        query: the filters as a query string, for links to other pages.
    """

    total: int
    count: int
    check: str
    text: str
    page: Page[Verdict]
    groups: list[Group]
    query: str

    @property
    def open(self) -> bool:
        """Whether the groups are shown opened: someone asked for these, or they are few."""
        return bool(self.check or self.text or self.page.number > 1 or self.total <= FEW)


def excluded(candidates: Iterable[Candidate], query: Mapping[str, str]) -> Excluded:
    """Narrow the excluded by ``check`` (a code) and ``q`` (words in the name or the reason), and take ``page``."""
    check, text = query.get("check", ""), query.get("q", "").strip()
    every = _excluded(candidates)
    words = text.lower().split()
    found = [each for each in every if (not check or first_check(each) == check) and _holds(each, words)]
    found.sort(key=lambda each: CHECK_ORDER.index(first_check(each)))  # stable: within a check as the rules list them
    page = Paginator(found, PAGE_SIZE).get_page(query.get("page"))
    counts = Counter(map(first_check, found))
    groups: list[Group] = []
    for each in page.object_list:
        code = first_check(each)
        if not groups or groups[-1].code != code:
            groups.append(Group(code, counts[code], []))
        groups[-1].rows.append(exclusion_of(each))
    kept = urlencode({key: value for key, value in (("check", check), ("q", text)) if value})
    return Excluded(len(every), len(found), check, text, page, groups, kept)


def closest(candidates: Iterable[Candidate], limit: int = 4) -> list[Exclusion]:
    """The candidates that lack least, when nothing qualifies: where a small change helps.

    Those whose formats match the model come first, then those that fail fewer checks, then those whose best
    entry differs in fewer ways. One that is disabled was taken out on purpose, so it comes after its equals.
    """
    every = _excluded(candidates)
    matching = [each for each in every if all(failure.code != FORMAT for failure in each.failures)]
    if matching:
        ranked = sorted(matching, key=lambda each: (len(each.failures), each.runtime.disabled))
    else:
        ranked = sorted(every, key=lambda each: (_differences(each), len(each.failures), each.runtime.disabled))
    return [exclusion_of(each) for each in ranked[:limit]]


_NEXT = re.compile(r", (?![^(]*\))")
_NO_ENTRIES = 1000
"""More than any entry differs in: without one nothing is nearly right."""


def _differences(each: Verdict) -> int:
    """In how many ways its best entry differs from the model, as OME's reason tells; 0 when an entry matches."""
    reason = next((failure.reason for failure in each.failures if failure.code == FORMAT), None)
    if reason is None:
        return 0
    if not each.runtime.entries:
        return _NO_ENTRIES
    _, _, entries = reason.partition("not in supported formats: ")
    # "(model=a, runtime=b)" is one difference; a comma outside of it begins the next.
    return min(len(_NEXT.split(entry)) for entry in entries.split("; "))


def first_check(verdict: Verdict) -> str:
    """The code of the first check that an excluded candidate fails."""
    return verdict.failures[0].code


def exclusion_of(verdict: Verdict) -> Exclusion:
    """An excluded candidate as it is shown. Of a thousand only a page is, so only those are made."""
    return Exclusion(verdict.runtime, verdict.failures[0], verdict.failures[1:])


def _excluded(candidates: Iterable[Candidate]) -> list[Verdict]:
    return [each.verdict for each in candidates if each.verdict.failures]


def _holds(each: Verdict, words: list[str]) -> bool:
    if not words:  # then no reason need be made
        return True
    text = f"{each.runtime.ref.namespace}/{each.runtime.ref.name} {each.failures[0].reason}".lower()
    return all(word in text for word in words)
