"""The forms by which people take findings on and decide about them, one or many at once."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils import timezone

from selection.faces.words import DECISIONS
from selection.people.handlings import LONGEST_ACCEPTANCE, LONGEST_REASON, Wish
from selection.people.models import Handling
from selection.people.standings import Standing

__all__ = ["DecisionForm", "OwnerForm", "TogetherForm"]

_STATES = [(state, DECISIONS[state].label) for state in Handling.State.values]
_PLAIN = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}


def _owner(label: str) -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=150,
        label=label,
        help_text="Whoever looks after it: the name of an account. Empty for nobody.",
        widget=forms.TextInput(attrs=_PLAIN),
    )


def _reason() -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=LONGEST_REASON,
        label="Reason",
        help_text="Accepting needs one.",
        widget=forms.Textarea(attrs={"rows": 3, "data-draft": ""}),
    )


def _expires_on() -> forms.DateField:
    return forms.DateField(
        required=False,
        label="Accepted until",
        help_text=f"The last day on which that holds, at most {LONGEST_ACCEPTANCE.days} days ahead.",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": "Write a day such as 2026-12-31."},
    )


class _Dated(forms.Form):
    """A form with a day until which something is accepted."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        today = timezone.now().date()
        self.fields["expires_on"].widget.attrs |= {
            "min": today.isoformat(),
            "max": (today + LONGEST_ACCEPTANCE).isoformat(),
        }


class OwnerForm(forms.Form):
    """Who looks after a finding."""

    owner = _owner("Owner")

    def wish(self) -> Wish:
        """What is asked for."""
        return Wish(owner=self.cleaned_data["owner"])


class DecisionForm(_Dated):
    """What is decided about a finding."""

    state = forms.ChoiceField(
        label="Decision",
        choices=_STATES,
        help_text="What is accepted comes back when its day is past, or when what it rests on becomes another.",
    )
    reason = _reason()
    expires_on = _expires_on()

    def wish(self) -> Wish:
        """What is asked for."""
        given = self.cleaned_data
        return Wish(state=given["state"], reason=given["reason"], expires_on=given["expires_on"])

    @classmethod
    def of(cls, standing: Standing) -> DecisionForm:
        """The form as a finding stands; of an acceptance that has lapsed the reason stands there still."""
        row = standing.handling
        if row is None:
            return cls(initial={"state": Handling.State.OPEN})
        state = Handling.State.ACCEPTED if standing.lapsed else row.state
        return cls(initial={"state": state, "reason": row.reason, "expires_on": row.expires_on})


class TogetherForm(_Dated):
    """What is to become of many findings; what is left as it is isn't touched."""

    owning = forms.ChoiceField(
        required=False, label="Owner", choices=[("", "leave as it is"), ("set", "set to"), ("nobody", "nobody")]
    )
    owner = _owner("Name of the owner")
    state = forms.ChoiceField(required=False, label="Decision", choices=[("", "leave as it is"), *_STATES])
    reason = _reason()
    expires_on = _expires_on()

    def clean(self) -> dict[str, Any]:
        """See that something is asked for."""
        given: dict[str, Any] = super().clean() or {}
        if given.get("owning") == "set" and not given.get("owner"):
            self.add_error("owner", "Whose name?")
        if not given.get("owning") and not given.get("state"):
            raise forms.ValidationError("Choose an owner or a decision.")
        return given

    def wish(self) -> Wish:
        """What is asked for."""
        given = self.cleaned_data
        owner = {"set": given["owner"], "nobody": ""}.get(given["owning"])
        if not given["state"]:
            return Wish(owner=owner)
        return Wish(owner=owner, state=given["state"], reason=given["reason"], expires_on=given["expires_on"])
