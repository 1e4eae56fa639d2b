"""A review as Markdown: what it was about, where it stands, each item with its answer, and who signed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from selection.faces.reviewing import item_sentence
from selection.faces.words import word
from selection.people.models import Review, ReviewItem
from selection.people.review_states import ReviewState

__all__ = ["review_markdown"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@!])")


def review_markdown(
    review: Review, state: ReviewState, items: Sequence[ReviewItem], scope: str, participants: Sequence[str]
) -> str:
    """The whole review. Nothing that an object or a person says can be taken for markup, but for the purpose."""
    return "\n".join(_lines(review, state, items, scope, participants)).rstrip("\n") + "\n"


def _lines(
    review: Review, state: ReviewState, items: Sequence[ReviewItem], scope: str, participants: Sequence[str]
) -> Iterator[str]:
    progress = state.progress
    yield f"# {_plain(review.name)}"
    yield ""
    yield f"- State: {word('review', state.state).label.lower()}"
    yield f"- About: {_plain(scope)}"
    yield f"- Frozen: {review.frozen_at:%Y-%m-%d %H:%M} UTC, digest `{review.state_digest}`"
    yield f"- Opened by {_plain(review.created_by)}, {review.created_at:%Y-%m-%d}"
    yield f"- Takes part: {', '.join(map(_plain, participants))}"
    yield (
        f"- {progress.answered} of {progress.total} items answered: {progress.fine} fine, "
        f"{progress.needs_change} to be changed, {progress.accepted} accepted"
    )
    if review.purpose:
        yield from ("", review.purpose)
    yield from ("", "## Signatures", "")
    if not state.signatures:
        yield f"None of {review.signatures_needed}."
    for each in state.signatures:
        words = f": {_plain(each.note)}" if each.note else ""
        yield f"- {_plain(each.name)}, {each.signed_at:%Y-%m-%d %H:%M} UTC{words}"
    if state.differences:
        yield from ("", "## Not as it was frozen", "")
        for difference in state.differences:
            what = f" ({word('code', difference.code).label})" if difference.code else ""
            named = _name(difference.namespace, difference.name)
            where = f"{difference.kind} {named} in {_plain(difference.cluster)}"
            yield f"- {word('differs', difference.what).label}: {where}{what}"
    yield from ("", "## Items", "")
    for item in items:
        yield from _item(item)


def _item(item: ReviewItem) -> Iterator[str]:
    component = f", {item.component}" if item.component else ""
    yield (
        f"{item.place}. **{_plain(word('code', item.code).label)}** ({item.severity}): {item.kind} "
        f"{_name(item.namespace, item.name)}{component} in {_plain(item.cluster)}"
    )
    sentence = item_sentence(item)
    if sentence:
        yield f"   {_plain(sentence)}"
    answer = word("answer", item.answer or "none").label
    told = [f"   - {answer}"]
    if item.owner:
        told.append(f"by {_plain(item.owner)}")
    if item.expires_on:
        told.append(f"until {item.expires_on}")
    if item.reason:
        told.append(_plain(item.reason))
    yield ", ".join(told) + (f" ({_plain(item.answered_by)}, {item.answered_at:%Y-%m-%d})" if item.answered_at else "")


def _name(namespace: str, name: str) -> str:
    return f"`{namespace}/{name}`" if namespace else f"`{name}`"


def _plain(text: str) -> str:
    """A text on one line, with nothing in it that Markdown reads.

    >>> _plain("a_b\\n<script>")
    'a\\\\_b \\\\<script\\\\>'
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
