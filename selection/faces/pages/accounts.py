"""Everybody's accounts, for who administers them: add one, change its groups, keep it out, hand on a link."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Prefetch, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from selection.faces.account_forms import AccountForm, NewAccountForm
from selection.faces.pages.tokens import rows_of
from selection.faces.sighting import without_sight
from selection.people.accounts import (
    AccountError,
    create_account,
    end_wait,
    may_change,
    may_manage,
    password_path,
    set_active,
    set_groups,
    waiting_names,
)
from selection.people.persons import Person, person_of
from selection.people.writing import Writer

__all__ = ["account_of", "accounts"]

MOST = 500
"""So many accounts are listed at most; the field above the table finds the others."""


def _manager(request: HttpRequest) -> Person:
    person = person_of(request)
    if not may_manage(person):
        raise PermissionDenied
    return person


@never_cache
@without_sight
@require_http_methods(["GET", "HEAD", "POST"])
def accounts(request: HttpRequest) -> HttpResponse:
    """The page of all accounts, ``/accounts/``; it adds one, too."""
    by = Writer(_manager(request), "page")
    form = NewAccountForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        given = form.cleaned_data
        try:
            user = create_account(given["name"], email=given["email"], groups=given["groups"], by=by)
        except AccountError as error:
            form.add_error(None, f"{error}.")
        else:
            return _page_of(request, user, made=True, link=True)
    text = request.GET.get("q", "").strip()[:150].replace("\x00", "")
    found = _found(text)
    values = {
        "form": form,
        "q": text,
        "rows": found[:MOST],
        "count": found.count(),
        "most": MOST,
        "waiting": waiting_names(),
    }
    return render(request, "accounts/page.html", values)


def _found(text: str) -> QuerySet[User]:
    works = Count("tokens", filter=Q(tokens__revoked_at=None), distinct=True)
    rows = (
        User.objects.prefetch_related(Prefetch("groups", Group.objects.order_by("name")))
        .annotate(token_count=works)
        .order_by("-is_active", "username")
    )
    if not text:
        return rows
    groups = User.objects.filter(groups__name__icontains=text).values("pk")
    return rows.filter(Q(username__icontains=text) | Q(email__icontains=text) | Q(pk__in=groups))


@never_cache
@without_sight
@require_http_methods(["GET", "HEAD", "POST"])
def account_of(request: HttpRequest, name: str) -> HttpResponse:
    """The page of somebody's account, ``/accounts/<name>/``: change it, keep it out, make a link for its password."""
    person = _manager(request)
    user = User.objects.filter(username=name).first() if name.isprintable() else None
    if user is None:
        raise Http404
    if request.method != "POST":
        return _page_of(request, user)
    if not may_change(person, user):
        raise PermissionDenied
    by = Writer(person, "page")
    act = request.POST.get("do", "")
    if act == "link":
        return _page_of(request, user, link=True)
    if act == "save":
        form = AccountForm(request.POST)
        if not (form.is_valid() and _saved(request, by, form, user)):
            return _page_of(request, user, form=form)
    elif act in ("keep-out", "let-in"):
        _let(request, by, user, act == "let-in")
    elif act == "end-wait" and end_wait(user, by):
        messages.success(request, f"{user.username} may try to sign in again.", extra_tags="good")
    return redirect("account-of", user.username)


def _saved(request: HttpRequest, by: Writer, form: AccountForm, user: User) -> bool:
    try:
        made = set_groups(user, form.cleaned_data["groups"], by)
    except AccountError as error:
        form.add_error("groups", f"{error}.")
        return False
    user.email = form.cleaned_data["email"]
    user.save(update_fields=["email"])
    new = f" New: the group{'s' if len(made) > 1 else ''} {', '.join(made)}." if made else ""
    messages.success(request, f"{user.username} is saved.{new}", extra_tags="good")
    return True


def _let(request: HttpRequest, by: Writer, user: User, active: bool) -> None:
    if not active and user == by.person.user:
        messages.error(request, "You can't keep yourself out: somebody else has to.", extra_tags="bad")
        return
    if set_active(user, active, by):
        told = "may sign in again" if active else "is kept out: sessions and tokens have stopped"
        messages.success(request, f"{user.username} {told}.", extra_tags="good")


def _page_of(
    request: HttpRequest, user: User, form: AccountForm | None = None, *, made: bool = False, link: bool = False
) -> HttpResponse:
    values: dict[str, Any] = {
        "account": user,
        "form": form or AccountForm.of(user),
        "made": made,
        "waits": user.username in waiting_names(),
        "rows": rows_of(user),
        "may_change": may_change(person_of(request), user),
        "itself": user == request.user,
    }
    if link:
        path, until = password_path(user, Writer(person_of(request), "page"))
        values |= {"link": request.build_absolute_uri(path), "until": until}
    return render(request, "accounts/one.html", values)
