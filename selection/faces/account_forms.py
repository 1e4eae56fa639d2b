"""The forms about tokens, passwords and accounts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User

from selection.people.scopes import Scope

__all__ = ["AccountForm", "NewAccountForm", "TokenForm"]

DAYS = (7, 30, 90, 180, 365)
USUAL_DAYS = 90
PLAIN = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}


class TokenForm(forms.Form):
    """A new token."""

    name = forms.CharField(
        label="What it is for",
        max_length=80,
        help_text="Such as “nightly report”.",
        widget=forms.TextInput(attrs=PLAIN),
    )
    scope = forms.ChoiceField(
        label="What it may do",
        choices=Scope.choices,
        initial=Scope.READ,
        help_text="Each holds those before it, and none goes beyond your own rights.",
    )
    days = forms.TypedChoiceField(label="How long it holds", coerce=int)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        days = sorted({each for each in DAYS if each <= settings.TOKEN_DAYS} | {settings.TOKEN_DAYS})
        field = self.fields["days"]
        field.choices = [(each, f"{each} day{'' if each == 1 else 's'}") for each in days]  # type: ignore[attr-defined]
        field.initial = max((each for each in days if each <= USUAL_DAYS), default=days[0])


class AccountForm(forms.Form):
    """What can be changed about an account."""

    email = forms.EmailField(
        label="E-mail address",
        required=False,
        max_length=254,
        help_text="For people to find each other. Nothing is sent to it.",
        widget=forms.EmailInput(attrs=PLAIN),
    )
    groups = forms.CharField(
        label="Groups",
        required=False,
        max_length=2000,
        help_text="Separated by commas. One that isn't there yet is made.",
        widget=forms.TextInput(attrs=PLAIN),
    )

    def clean_groups(self) -> list[str]:
        """The names."""
        return [name.strip() for name in self.cleaned_data["groups"].split(",") if name.strip()]

    @classmethod
    def of(cls, user: User) -> AccountForm:
        """The form as an account is now."""
        names = user.groups.order_by("name").values_list("name", flat=True)
        return cls(initial={"email": user.email, "groups": ", ".join(names)})


class NewAccountForm(AccountForm):
    """A new account."""

    name = forms.CharField(
        label="User name",
        max_length=150,
        help_text="Letters, digits and @ . + - _.",
        widget=forms.TextInput(attrs=PLAIN),
    )
    field_order = ("name", "email", "groups")
