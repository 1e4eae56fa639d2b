"""The candidates that a service can't get: narrowed, grouped by the first check that they fail, and paged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator

from selection.faces.explaining import CHECK_ORDER
from selection.rules.candidates import Candidate
from selection.rules.objects import Runtime
from selection.rules.selection import Failure

__all__ = ["PAGE_SIZE", "Excluded", "Exclusion", "Group", "excluded"]

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One excluded candidate: OME's reason, and what else it would fail."""

    runtime: Runtime
    reason: Failure
    also: tuple[Failure, ...]


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
    page: Page[Exclusion]
    groups: list[Group]
    query: str


def excluded(candidates: Iterable[Candidate], query: Mapping[str, str]) -> Excluded:
    """Narrow the excluded by ``check`` (a code) and ``q`` (words in the name or the reason), and take ``page``."""
    check, text = query.get("check", ""), query.get("q", "").strip()
    every = [Exclusion(each.verdict.runtime, each.reason, each.also) for each in candidates if each.reason is not None]
    words = text.lower().split()
    found = [each for each in every if (not check or each.reason.code == check) and _holds(each, words)]
    found.sort(key=lambda each: CHECK_ORDER.index(each.reason.code))  # stable: within a check as the rules list them
    page = Paginator(found, PAGE_SIZE).get_page(query.get("page"))
    counts = Counter(each.reason.code for each in found)
    groups: list[Group] = []
    for each in page.object_list:
        if not groups or groups[-1].code != each.reason.code:
            groups.append(Group(each.reason.code, counts[each.reason.code], []))
        groups[-1].rows.append(each)
    kept = urlencode({key: value for key, value in (("check", check), ("q", text)) if value})
    return Excluded(len(every), len(found), check, text, page, groups, kept)


def _holds(each: Exclusion, words: list[str]) -> bool:
    text = f"{each.runtime.ref.namespace}/{each.runtime.ref.name} {each.reason.reason}".lower()
    return all(word in text for word in words)
