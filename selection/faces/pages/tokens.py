"""One's own tokens: make one, see what there are, revoke them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from selection.faces.account_forms import TokenForm
from selection.faces.sighting import without_sight
from selection.people.accounts import may_change
from selection.people.models import Token
from selection.people.persons import person_of
from selection.people.scopes import Scope
from selection.people.tokens import TokenError, create_token, revoke
from selection.people.writing import Writer

__all__ = ["TokenRow", "revoke_token", "rows_of", "tokens"]

TokenRow = tuple[Token, str]
"""A token and its state."""


def rows_of(user: User) -> list[TokenRow]:
    """A user's tokens with their states: those that work first, then the newest."""
    now = timezone.now()
    rows = [(token, token.state(now)) for token in Token.objects.filter(user=user).select_related("user")]
    return sorted(rows, key=lambda row: row[1] != "active")


@never_cache
@without_sight
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables("secret")
def tokens(request: HttpRequest) -> HttpResponse:
    """The page of one's own tokens, ``/account/tokens/``. Of a new one it shows the secret, this once."""
    person = person_of(request)
    if person.user is None:
        services = request.build_absolute_uri("/api/v1/services")
        return render(request, "tokens/local.html", {"command": f"curl {services}"})
    form = TokenForm(request.POST if request.method == "POST" else None)
    values: dict[str, Any] = {}
    if form.is_valid():
        given = form.cleaned_data
        try:
            made, secret = create_token(
                person.user, given["name"], scope=Scope(given["scope"]), days=given["days"], by=Writer(person, "page")
            )
        except TokenError as error:
            form.add_error("name", f"{error}.")
        else:
            values = {"made": made, "secret": secret}
            form = TokenForm()
    return render(request, "tokens/page.html", {"form": form, "rows": rows_of(person.user), **values})


@without_sight
@require_POST
def revoke_token(request: HttpRequest, token: int) -> HttpResponse:
    """Revoke one of one's own tokens, or as an administrator of accounts somebody else's."""
    person = person_of(request)
    found = Token.objects.select_related("user").filter(pk=token).first()
    if found is None:
        raise Http404
    own = found.user == person.user
    if not own and not may_change(person, found.user):
        raise PermissionDenied
    if revoke(found, Writer(person, "page")):
        messages.success(request, f"The token {found.name} is revoked.", extra_tags="good")
    return redirect("tokens") if own else redirect("account-of", found.user.get_username())
