"""One's own account: who one is here, and one's password."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from selection.faces.sighting import without_sight
from selection.people.accounts import may_manage
from selection.people.models import Token
from selection.people.persons import person_of
from selection.people.rights import Act, grants_of, may_somewhere

__all__ = ["account", "password", "set_password"]


@without_sight
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """The page of one's own account, ``/account/``. In local mode it says whose name is written."""
    person = person_of(request)
    values = {"person": person, "manages": may_manage(person), "grants_roles": may_somewhere(person, Act.GRANT)}
    if person.user is not None:
        values["grants"] = grants_of(person.user)
        values["groups"] = person.user.groups.order_by("name")
        values["tokens"] = Token.objects.filter(user=person.user, revoked_at=None).count()
    return render(request, "account/page.html", values)


@without_sight
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """The page that changes one's password, ``/account/password/``. Sessions elsewhere end with the old one."""
    person = person_of(request)
    if person.user is None:
        return redirect("account")
    form = PasswordChangeForm(person.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        update_session_auth_hash(request, form.save())
        messages.success(
            request, "Your password is changed, and you are signed out everywhere else.", extra_tags="good"
        )
        return redirect("account")
    return render(request, "account/password.html", {"form": form})


class SetPassword(PasswordResetConfirmView):
    """Where a link from an administrator leads: its owner sets a password, once, and then signs in."""

    template_name = "account/set_password.html"
    success_url = reverse_lazy("login")
    title = "Set your password"


set_password = without_sight(SetPassword.as_view())
"""The page at ``/account/set-password/…/``."""
