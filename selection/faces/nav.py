"""The pages that the rail on the left leads to."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["KEYS", "NAVIGATION", "Entry"]


class Entry(NamedTuple):
    """A page: its name in ``urls.py``, its label, and the pages that lie below it."""

    url_name: str
    label: str
    within: tuple[str, ...] = ()


NAVIGATION: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "Fleet",
        (
            Entry("overview", "Overview"),
            Entry("services", "Services", ("service", "candidate", "compare-services", "compare-candidates")),
            Entry("runtimes", "Runtimes", ("runtime", "compare-runtimes")),
            Entry("models", "Models", ("model", "model-candidate", "compare-models")),
            Entry("matrix", "Matrix"),
            Entry("changes", "Changes"),
            Entry("clusters", "Clusters", ("object", "cluster-add", "cluster-settings", "cluster-forget")),
        ),
    ),
    (
        "To put right",
        (
            Entry("conflicts", "Mode conflicts"),
            Entry("findings", "Findings", ("finding", "severities", "handling", "together", "done-together")),
            Entry("migration", "Migration", ("migration-order", "service-plan", "runtime-plan")),
            Entry("upgrade", "Upgrade preview"),
            Entry("what-if", "What if"),
            Entry("reviews", "Reviews", ("review-new", "review", "review-item", "review-act", "review-compare")),
        ),
    ),
    (
        "People",
        (
            Entry("mine", "Yours"),
            Entry("acts", "What happened"),
            Entry("account", "Your account", ("password", "tokens", "rights", "accounts", "account-of")),
        ),
    ),
    (
        "Programs",
        (Entry("api-docs", "REST interface"),),
    ),
)

KEYS = {
    "overview": "o",
    "services": "s",
    "runtimes": "r",
    "models": "m",
    "matrix": "x",
    "changes": "h",
    "clusters": "c",
    "conflicts": "d",
    "findings": "f",
    "migration": "i",
    "upgrade": "u",
    "what-if": "w",
    "account": "a",
    "mine": "y",
    "acts": "t",
    "reviews": "v",
    "api-docs": "p",
}
"""The letter that leads to a page after ``g``."""
