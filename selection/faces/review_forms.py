"""The forms of reviews: opening one, and answering an item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from selection.faces.filterfields import labelled
from selection.people.freezing import Scope
from selection.people.handlings import LONGEST_REASON
from selection.people.models import Review, ReviewItem
from selection.people.persons import Person
from selection.people.review_answers import Reply
from selection.people.review_signing import LONGEST_NOTE
from selection.people.reviews import LONGEST_PURPOSE, MOST_SIGNATURES
from selection.people.rights import Act, may
from selection.rules.codes import CODES, SEVERITIES
from selection.store.findings import FAMILIES, codes_of
from selection.store.models import Cluster, StoredObject

__all__ = ["AnswerForm", "OpenForm", "SignForm", "initial_of", "left_out", "reviewable"]

PLAIN = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
SAID = ("cluster", "namespace", "family", "code", "severity", "sort", "group", "page", "format")
"""The parameters of the list of findings that a scope can say, and those that narrow nothing."""

Place = tuple[str, str]


def reviewable(person: Person) -> list[Place]:
    """The places that somebody may review: clusters, and their namespaces."""
    seen: dict[str, set[str]] = {name: set() for name in Cluster.objects.values_list("name", flat=True)}
    rows = StoredObject.objects.order_by().values_list("cluster__name", "namespace").distinct()
    for cluster, namespace in rows:
        if namespace:
            seen[cluster].add(namespace)
    every = [(cluster, namespace) for cluster, found in sorted(seen.items()) for namespace in ("", *sorted(found))]
    return [place for place in every if may(person, Act.REVIEW, *place)]


def coded(place: Place) -> str:
    """A place as a value of the form. The cluster comes last: its name may have slashes."""
    cluster, namespace = place
    return f"{namespace}/{cluster}"


def _read(value: str) -> Place:
    namespace, _, cluster = value.partition("/")
    return cluster, namespace


class OpenForm(forms.Form):
    """A new review."""

    name = forms.CharField(label="Name", max_length=200, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    purpose = forms.CharField(
        label="What it is for",
        required=False,
        max_length=LONGEST_PURPOSE,
        help_text="Markdown.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    places = forms.MultipleChoiceField(
        label="Clusters and namespaces",
        help_text="Several with Ctrl or ⌘.",
        error_messages={"required": "A review needs a cluster or a namespace at least."},
    )
    severities = forms.MultipleChoiceField(
        label="Severities",
        required=False,
        choices=labelled("severity", SEVERITIES),
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: all.",
    )
    codes = forms.MultipleChoiceField(
        label="Findings", required=False, help_text="None chosen: all. Several with Ctrl or ⌘."
    )
    signatures_needed = forms.IntegerField(label="Signatures", min_value=1, max_value=MOST_SIGNATURES, initial=1)
    participants = forms.CharField(
        label="Who takes part besides you",
        required=False,
        max_length=5000,
        help_text="User names, separated by commas.",
        widget=forms.TextInput(attrs=PLAIN),
    )
    previous = forms.ModelChoiceField(
        label="Compare with", required=False, queryset=Review.objects.none(), empty_label="no earlier review"
    )

    def __init__(self, places: Sequence[Place], data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        fields: Any = self.fields
        fields["places"].choices = [(coded(place), _place_label(place)) for place in places]
        fields["places"].widget.attrs["size"] = min(8, max(2, len(places)))
        fields["codes"].choices = [
            (family, [(code, label) for code, label in labelled("code", codes_of(family))]) for family in FAMILIES
        ]
        fields["codes"].widget.attrs["size"] = 8
        fields["previous"].queryset = Review.objects.all()

    def clean_previous(self) -> Review | None:
        """An earlier review that is seen."""
        found: Review | None = self.cleaned_data["previous"]
        return found

    def clean_participants(self) -> list[str]:
        """The names."""
        return [name.strip() for name in self.cleaned_data["participants"].split(",") if name.strip()]

    @property
    def scope(self) -> Scope:
        """What the review is to be about."""
        given = self.cleaned_data
        return Scope(tuple(map(_read, given["places"])), tuple(given["codes"]), tuple(given["severities"]))


def _place_label(place: Place) -> str:
    cluster, namespace = place
    return f"{cluster}: {namespace}" if namespace else f"{cluster}: all of it"


def initial_of(query: QueryDict, places: Sequence[Place], day: str) -> dict[str, Any]:
    """What the form says at first: the scope that the filters of the list of findings come to."""
    cluster, namespace = query.get("cluster", ""), query.get("namespace", "")
    wanted = [place for place in places if cluster in ("", place[0]) and place[1] == namespace]
    if not wanted and not namespace:  # who may not review a whole cluster is offered the parts
        wanted = [place for place in places if cluster in ("", place[0])]
    codes = [code for code in query.getlist("code") if code in CODES]
    family = query.get("family", "")
    if family in FAMILIES and not codes:
        codes = codes_of(family)
    severities = [each for each in query.getlist("severity") if each in SEVERITIES]
    where = namespace or cluster
    what = {"upgrade": "Upgrade", "migration": "Migration off MultiNode"}.get(family, "Review")
    return {
        "name": query.get("title", "")[:150] or f"{what}{f' of {where}' if where else ''}, {day}",
        "places": [coded(place) for place in wanted],
        "codes": codes,
        "severities": severities,
        "previous": query.get("previous", ""),
    }


def left_out(query: QueryDict) -> list[str]:
    """The filters in use that a scope can't say: then it holds more than the list did."""
    return [name for name in query if name not in (*SAID, "title", "previous") and query[name]]


class AnswerForm(forms.Form):
    """An answer to an item."""

    answer = forms.ChoiceField(
        label="Answer",
        choices=[("", "No answer"), *((each.value, each.label) for each in ReviewItem.Answer)],
        required=False,
        widget=forms.RadioSelect,
    )
    owner = forms.CharField(label="Who changes it", required=False, max_length=150, widget=forms.TextInput(attrs=PLAIN))
    reason = forms.CharField(
        label="Why, or what is to be done",
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3, "data-draft": ""}),
    )
    expires_on = forms.DateField(
        label="Accepted until",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )

    @property
    def reply(self) -> Reply:
        """What was given, valid or not as a whole."""
        given = self.cleaned_data
        return Reply(given["answer"], given["owner"], given["reason"], given["expires_on"])

    @classmethod
    def of(cls, item: ReviewItem) -> AnswerForm:
        """The form as the item is answered now."""
        told = {name: getattr(item, name) for name in ("answer", "owner", "reason", "expires_on")}
        return cls(initial=told)


class SignForm(forms.Form):
    """A signature."""

    note = forms.CharField(
        label="What you say to it",
        required=False,
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
