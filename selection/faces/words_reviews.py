"""The short words of reviews: where one stands, what is answered to an item, what differs from what was frozen."""

from __future__ import annotations

__all__ = ["ANSWERS", "DIFFERS", "REVIEWS"]

REVIEWS = {
    "stale": ("Stale", "warn", "warn", "Something isn't as it was when it was frozen"),
    "open": ("Open", "plain", "info", "Some items have no answer yet"),
    "ready": ("To be signed", "plain", "info", "Every item is answered"),
    "signed": ("Signed", "good", "check", "As many have signed as it asks for"),
    "closed": ("Closed", "quiet", "dash", "Nothing is answered or signed any more"),
}
"""Where a review stands: label, tone, icon and title, as :class:`selection.faces.words.Word` has them."""

ANSWERS = {
    "fine": ("Fine", "good", "check", "Looked at, and nothing is to be done"),
    "needs-change": ("Needs change", "warn", "warn", "Somebody is to change it"),
    "accepted": ("Accepted", "plain", "info", "It stays so for a reason, until a day"),
    "none": ("No answer", "quiet", "dash", "Nobody has answered yet"),
}

DIFFERS = {
    "finding-new": ("New finding", "warn", "warn", "It wasn't there when the review was frozen"),
    "finding-changed": ("Finding changed", "warn", "warn", "It rests on other evidence, or matters otherwise"),
    "finding-gone": ("Finding gone", "good", "check", "It isn't there any more"),
    "acceptance-expired": ("Acceptance expired", "warn", "warn", "The day until which it held is past"),
    "object-changed": ("Object changed", "plain", "info", "A field that can decide something differs"),
    "object-gone": ("Object gone", "plain", "info", "It isn't there any more"),
}
