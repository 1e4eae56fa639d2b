"""What people do with one finding: take it on, decide, and be told when somebody else was quicker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from selection.faces.drafts import draft_of, forget_draft, keeps_draft
from selection.faces.handling_forms import DecisionForm, OwnerForm
from selection.people.handlings import handle, handlings_of
from selection.people.models import Handling
from selection.people.persons import Person, person_of
from selection.people.rights import Act, may
from selection.people.standings import standing
from selection.people.writing import Refused, Stale, Writer
from selection.store.findings import find_finding
from selection.store.models import Finding

__all__ = ["handled_values", "handling", "seen_version"]

SAVED = "good saved"
"""The tags of a message after which a browser forgets the draft that it kept."""


def seen_version(request: HttpRequest) -> int:
    """The version that a form was drawn from; one that isn't a number is none that there is."""
    told = request.POST.get("seen", "")
    return int(told) if told.isdecimal() and len(told) < 9 else -1


def handled_values(request: HttpRequest, finding: Finding, row: Handling | None) -> dict[str, Any]:
    """What ``findings/handling.html`` needs: where a finding stands, and the forms of who may decide about it."""
    person = person_of(request)
    found = standing(finding, row, timezone.now().date())
    draft = draft_of(request, reverse("handling", args=[finding.key]))
    deciding = draft.get("do") == "decide"
    return {
        "standing": found,
        "version": row.version if row else 0,
        "may_decide": may(person, Act.DECIDE, finding.cluster.name, finding.namespace),
        "owner_form": OwnerForm(initial={"owner": row.owner if row else ""}),
        "decision_form": _again(draft) if deciding else DecisionForm.of(found),
        "drafted": deciding,
    }


def _again(draft: Mapping[str, str]) -> DecisionForm:
    return DecisionForm(initial={name: draft.get(name, "") for name in DecisionForm.base_fields})


@keeps_draft
@require_http_methods(["GET", "HEAD", "POST"])
def handling(request: HttpRequest, key: str) -> HttpResponse:
    """Do something with a finding, ``/findings/<key>/handling/``: ``do`` is ``take``, ``own`` or ``decide``.

    Who looks is led to the finding's page, which has the forms.
    """
    finding = find_finding(key)
    if finding is None:
        raise Http404("There is no such finding, or it is gone for longer than findings are kept.")
    there = redirect("finding", key)
    there.headers["Location"] += "#handling"
    if request.method != "POST":
        return there
    person = person_of(request)
    if not may(person, Act.DECIDE, finding.cluster.name, finding.namespace):
        raise PermissionDenied
    form = _form(request, person)
    if form.is_valid():
        try:
            handle(Writer(person, "page"), finding, form.wish(), seen_version(request))
        except Refused as error:
            form.add_error(error.field if error.field in form.fields else None, f"{str(error).capitalize()}.")
        except Stale as stale:
            return _both(request, finding, form, stale)
        else:
            forget_draft(request)
            messages.success(request, "It is saved.", extra_tags=SAVED)
            return there
    row = handlings_of([finding]).get(finding.key)
    return _form_page(request, finding, form, row, 400)


def _form(request: HttpRequest, person: Person) -> OwnerForm | DecisionForm:
    what = request.POST.get("do", "")
    if what == "decide":
        return DecisionForm(request.POST)
    return OwnerForm({"owner": person.name} if what == "take" else request.POST)


def _form_page(
    request: HttpRequest, finding: Finding, form: OwnerForm | DecisionForm, row: Handling | None, status: int,
    **values: Any,
) -> HttpResponse:  # fmt: skip
    """The form alone, with what was written in it."""
    told = {
        "finding": finding,
        "cluster": finding.cluster,
        "form": form,
        "deciding": isinstance(form, DecisionForm),
        "version": row.version if row else 0,
        "row": row,
        **values,
    }
    return render(request, "findings/handle.html", told, status=status)


def _both(request: HttpRequest, finding: Finding, form: OwnerForm | DecisionForm, stale: Stale) -> HttpResponse:
    """What somebody else wrote meanwhile beside what was to be written, which stays in the form."""
    row = stale.current if isinstance(stale.current, Handling) else None
    now = standing(finding, row, timezone.now().date())
    return _form_page(request, finding, form, row, 409, stale=True, standing=now)
