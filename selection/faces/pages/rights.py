"""Who may see and do what: the roles that were given, for whoever may give them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from selection.faces.sighting import without_sight
from selection.people.granting import GrantError, checked_place, give, grants_within, holder, take
from selection.people.models import Role
from selection.people.persons import Person, person_of
from selection.people.rights import Act, may, may_somewhere
from selection.people.writing import Writer
from selection.store.models import Cluster

__all__ = ["rights"]

PAGE = 50
"""So many roles stand on a page."""

PLAIN = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
WHOSE = (("user", "a user"), ("group", "a group"))


class GrantForm(forms.Form):
    """A role to give."""

    whose = forms.ChoiceField(label="To", choices=WHOSE)
    name = forms.CharField(max_length=150, help_text="Of the user or the group.", widget=forms.TextInput(attrs=PLAIN))
    role = forms.ChoiceField(
        choices=Role.choices,
        help_text="A viewer sees. A reviewer also comments, decides and signs. An admin may everything.",
    )
    cluster = forms.CharField(
        required=False,
        max_length=253,
        help_text="Empty for every cluster. One that isn't known here yet may be named, too.",
        widget=forms.TextInput(attrs={**PLAIN, "list": "clusters"}),
    )
    namespace = forms.CharField(
        required=False,
        max_length=63,
        help_text="Empty for every namespace. What belongs to the whole cluster is seen with any of them.",
        widget=forms.TextInput(attrs=PLAIN),
    )


@never_cache
@without_sight
@require_http_methods(["GET", "HEAD", "POST"])
def rights(request: HttpRequest) -> HttpResponse:
    """The page of rights, ``/rights/``: lists the roles that this person may give and take, gives one, takes one.

    ``?q=`` is a part of who has one, of the role, or of where it holds.
    """
    person = person_of(request)
    if not may_somewhere(person, Act.GRANT):
        raise PermissionDenied
    form = GrantForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        done = _taken(request, person, form) if request.POST.get("do") == "take" else _given(request, person, form)
        if done:
            return redirect("rights")
    text = request.GET.get("q", "").strip()[:150].casefold()
    found = [grant for grant in grants_within(person) if text in f"{grant.whose} {grant.role} {grant.place}".casefold()]
    values = {
        "form": form,
        "q": text,
        "grants": Paginator(found, PAGE).get_page(request.GET.get("page")),
        "clusters": Cluster.objects.order_by("name").values_list("name", flat=True),
        "everywhere": may(person, Act.GRANT),
    }
    return render(request, "rights/page.html", values)


def _given(request: HttpRequest, person: Person, form: GrantForm) -> bool:
    given = form.cleaned_data
    try:
        cluster, namespace = _place(person, given)
        to = holder(given["name"], group=given["whose"] == "group")
        grant = give(to, Role(given["role"]), cluster=cluster, namespace=namespace, by=Writer(person, "page"))
    except GrantError as error:
        form.add_error(None, f"{error}.")
        return False
    messages.success(request, f"{grant.whose} is {grant.get_role_display().lower()} {grant.place}.", extra_tags="good")
    return True


def _taken(request: HttpRequest, person: Person, form: GrantForm) -> bool:
    given = form.cleaned_data
    try:
        cluster, namespace = _place(person, given)
        to = holder(given["name"], group=given["whose"] == "group")
    except GrantError as error:
        form.add_error(None, f"{error}.")
        return False
    if take(to, cluster=cluster, namespace=namespace, by=Writer(person, "page")):
        messages.success(request, f"{given['name']} isn't {given['role']} there any more.", extra_tags="good")
    return True


def _place(person: Person, given: dict[str, Any]) -> tuple[str, str]:
    cluster, namespace = checked_place(given["cluster"], given["namespace"])
    if not may(person, Act.GRANT, cluster, namespace):
        raise GrantError("you are no admin there, so you can't give or take roles there")
    return cluster, namespace
