"""What reviews look like, and what is sent to open one, answer its items, sign it and have others take part."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from selection.faces.api.shapes import Shape, Whole, flag, listed, mapped, moment, number, text, texts, whole
from selection.faces.api.writes import Body, OneOf, Text, seen_version
from selection.faces.api.writes import Whole as WholeNumber
from selection.people.handlings import LONGEST_REASON
from selection.people.models import ReviewItem
from selection.people.review_differences import SHOWN, WHATS
from selection.people.review_signing import LONGEST_NOTE
from selection.people.review_states import STATES
from selection.people.reviews import LONGEST_PURPOSE, MOST_SIGNATURES
from selection.rules.codes import SEVERITIES

__all__ = [
    "Answer",
    "Compared",
    "ItemDetailShape",
    "ItemRow",
    "NewReview",
    "Participants",
    "Renewed",
    "ReviewDetailShape",
    "ReviewRow",
    "ReviewVersion",
    "Signing",
]

_ANSWERS = tuple(ReviewItem.Answer.values)


class ReviewRow(Shape):
    """A review."""

    name = text("What it is called.")
    id = text("Stands for this review.")
    scope = text("What it is about, for people: the words may change.")
    state = text(f"One of {', '.join(STATES)}.")
    items = number("How many items it has.")
    answered = number("How many of them have an answer.")
    signed = number("How many signatures count.")
    signatures_needed = number("How many it asks for.")
    created_by = text("Who opened it.")
    created_at = moment("When.")
    frozen_at = moment("As of when its items are.")
    closed_at = moment("When it was closed.", null=True)
    closed_by = text('Who closed it, or `""`.')
    self = text("The path of this resource.")


class ReviewedPlace(Whole):
    """A part of what a review is about."""

    cluster = text("The cluster.")
    namespace = text("The namespace; null for all of the cluster.", null=True)


class ReviewProgress(Whole):
    """How far a review is."""

    total = number("How many items it has.")
    answered = number("How many have an answer.")
    open = number("How many have none.")
    fine = number("How many are fine.")
    needs_change = number("How many need a change.")
    accepted = number("How many are accepted.")


class ReviewDifference(Whole):
    """Something that isn't as it was frozen."""

    what = text(f"One of {', '.join(WHATS)}.")
    cluster = text("The cluster.")
    kind = text("The object's kind.")
    namespace = text('Its namespace, or `""`.')
    name = text("Its name.")
    key = text('The finding\'s key, `""` for an object.')
    code = text('The finding\'s code, `""` for an object.')


class ReviewSignature(Whole):
    """A signature."""

    name = text("Whose.")
    token = text('The name of the token that signed for them, or `""`.')
    signed_at = moment("When.")
    note = text("What they said to it.")
    counts = flag("Whether it is under what is frozen and answered now.")


class ReviewParticipant(Whole):
    """Somebody who takes part."""

    name = text("Their name.")
    added_by = text("Who asked them.")
    added_at = moment("When.")


class ReviewAllowed(Whole):
    """What whoever asks may do with a review."""

    review = flag("Answer, bring it up to date, close it.")
    sign = flag("Sign it.")


class ReviewDetailShape(Shape):
    """A review, and where it stands."""

    id = text("Stands for this review.")
    name = text("What it is called.")
    purpose = text("What it is for, in Markdown.")
    purpose_html = text("The same as HTML that can do nothing.")
    places = listed(ReviewedPlace, "What it is about.")
    codes = texts("Only these codes of findings; none for all.")
    severities = texts("Only these severities; none for all.")
    scope = text("The same in words: they may change.")
    state = text(f"One of {', '.join(STATES)}.")
    progress = whole(ReviewProgress, "How far it is.")
    differences = listed(ReviewDifference, f"What isn't as it was frozen, at most {SHOWN} of each sort.")
    signatures_needed = number("How many signatures it asks for.")
    signatures = listed(ReviewSignature, "All signatures; those that don't count are under an earlier state.")
    participants = listed(ReviewParticipant, "Who takes part.")
    previous = text("The id of the review before it, null for none.", null=True)
    created_by = text("Who opened it.")
    created_at = moment("When.")
    frozen_at = moment("As of when its items are.")
    digest = text("Stands for what was frozen.")
    answers = text("Stands for what was frozen and answered: a signature is under this.")
    closed_at = moment("When it was closed.", null=True)
    closed_by = text('Who closed it, or `""`.')
    version = number("Grows with each change of the review as a whole: send it back when you write.")
    may = whole(ReviewAllowed, "What you may do with it.")
    self = text("The path of this resource.")


class ItemRow(Shape):
    """An item of a review: a finding as it was frozen, and what was answered to it."""

    place = number("Its place in the order, from 1.")
    severity = text("How much it mattered.")
    code = text("The finding's code.")
    cluster = text("The cluster.")
    kind = text("The object's kind.")
    namespace = text('Its namespace, or `""`.')
    name = text("Its name.")
    component = text('The component, `""` for the whole object.')
    about = text("What else tells the finding apart.")
    path = text("The deciding field, as it stood then.")
    what = text("What it is, for people: the words may change.")
    answer = text(f'One of {", ".join(_ANSWERS)}, `""` for none.')
    owner = text('Who is to change it, or `""`.')
    reason = text("Why, or what is to be done.")
    expires_on = text("The last day of an acceptance.", null=True)
    answered_by = text('Who answered, or `""`.')
    answered_at = moment("When.", null=True)
    key = text("The finding's key.")
    evidence = text("A digest of what the finding rested on.")
    facts = mapped("What there was to say of it.")
    version = number("Grows with each answer: send it back when you write.")
    self = text("The path of this resource.")


class ItemDetailShape(ItemRow):
    """An item, and what its discussion is called."""

    subject = text("What comments about it name.")


class Renewed(Shape):
    """What bringing a review up to date would come to."""

    items = number("How many items it would have.")
    new = number("How many of them it doesn't have now.")
    kept = number("How many answers would stay.")
    again = listed(ItemRow, "The items that would have to be answered again: they rest on other evidence, or expired.")
    gone = listed(ItemRow, "The answered items whose findings aren't there any more.")


class ComparedItem(Whole):
    """An item of two reviews that rests on other evidence in one."""

    before = whole(ItemRow, "As the earlier one has it.")
    after = whole(ItemRow, "As the later one has it.")


class Compared(Shape):
    """A review beside an earlier one."""

    review = text("The id of the review.")
    earlier = text("The id of the earlier one.")
    same = number("How many items are in both as they were.")
    new = listed(ItemRow, "What only the review has.")
    gone = listed(ItemRow, "What only the earlier one has.")
    changed = listed(ComparedItem, "What is in both, on other evidence or of another severity.")


class NewPlace(Body):
    """A part of what a review is to be about."""

    cluster = Text(max_length=253, help_text="The cluster.")
    namespace = Text(
        max_length=253,
        required=False,
        allow_null=True,
        allow_blank=True,
        help_text="The namespace; without it all of the cluster.",
    )


class NewReview(Body):
    """A review to open, of what is there now."""

    name = Text(max_length=200, help_text="What it is called.")
    purpose = Text(required=False, allow_blank=True, max_length=LONGEST_PURPOSE, help_text="What it is for (Markdown).")
    places = serializers.ListField(child=NewPlace(), min_length=1, max_length=200, help_text="What it is about.")
    codes = serializers.ListField(
        child=Text(max_length=40), required=False, max_length=200, help_text="Only these codes of findings."
    )
    severities = serializers.ListField(
        child=OneOf(SEVERITIES), required=False, max_length=10, help_text="Only these severities."
    )
    signatures_needed = WholeNumber(
        required=False, min_value=1, max_value=MOST_SIGNATURES, help_text="How many signatures it asks for: 1."
    )
    participants = serializers.ListField(
        child=Text(max_length=150), required=False, max_length=100, help_text="Who else takes part, by name."
    )
    previous = serializers.UUIDField(
        required=False, allow_null=True, help_text="The id of an earlier review, to compare it with."
    )


class Answer(Body):
    """An answer to an item."""

    answer = OneOf(_ANSWERS, allow_blank=True, help_text='The answer, `""` to take it back.')
    owner = Text(required=False, allow_blank=True, max_length=150, help_text="Who is to change it; it needs somebody.")
    reason = Text(
        required=False, allow_blank=True, max_length=LONGEST_REASON, help_text="Why; accepting needs a reason."
    )
    expires_on = serializers.DateField(
        required=False, allow_null=True, help_text="The last day of an acceptance, which needs one (UTC)."
    )
    version = seen_version("The item's `version` that you saw.")
    evidence = Text(
        required=False, allow_blank=True, max_length=64, help_text="The item's `evidence` that you saw, to be compared."
    )


class ReviewVersion(Body):
    """Which state of a review somebody saw."""

    version = seen_version("The review's `version` that you saw.")


class Signing(ReviewVersion):
    """A signature."""

    answers = Text(max_length=64, help_text="The review's `answers` that you saw: that is what you sign.")
    note = Text(required=False, allow_blank=True, max_length=LONGEST_NOTE, help_text="What you say to it.")


class Participants(Body):
    """Who is to take part."""

    names = serializers.ListField(child=Text(max_length=150), min_length=1, max_length=100, help_text="Their names.")

    def validate_names(self, names: list[str]) -> list[Any]:
        """Each once."""
        return list(dict.fromkeys(names))
