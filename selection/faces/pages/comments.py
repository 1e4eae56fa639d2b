"""What people say: say something, say it otherwise, take it away."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from selection.faces.discussing import say_address
from selection.faces.drafts import draft_of, forget_draft, keeps_draft
from selection.faces.pages.handling import SAVED, seen_version
from selection.faces.subjects_shown import address_of, shown_subjects
from selection.people.comments import edit, may_edit, may_remove, remove, say
from selection.people.models import Comment
from selection.people.persons import person_of
from selection.people.rights import Act, may
from selection.people.subjects import BadSubject, Subject, parse
from selection.people.writing import Refused, Stale, Writer

__all__ = ["change_comment", "say_comment"]

ABOUT = frozenset({"finding", "object", "review", "item"})
"""What is discussed; accounts, roles and settings aren't."""


@keeps_draft
@require_http_methods(["GET", "HEAD", "POST"])
def say_comment(request: HttpRequest) -> HttpResponse:
    """Say something of ``?subject=``, ``/comments/``. Who looks is led to the page of it, which has the form."""
    subject = _subject(request.GET.get("subject", ""))
    person = person_of(request)
    if not may(person, Act.SEE, subject.cluster, subject.namespace):
        raise Http404("There is nothing of that name, or you may not see it.")
    there = address_of(subject.text, "discussion")
    if request.method != "POST":
        return HttpResponseRedirect(there) if there else _form_page(request, subject, "", 200)
    text = request.POST.get("text", "")
    try:
        row = say(Writer(person, "page"), subject, text)
    except Refused as error:
        return _form_page(request, subject, text, 400, _sentence(error))
    forget_draft(request)
    messages.success(request, "Your comment is saved.", extra_tags=SAVED)
    return HttpResponseRedirect(address_of(subject.text, f"comment-{row.pk}") or reverse("comment", args=[row.pk]))


def _subject(text: str) -> Subject:
    try:
        subject = parse(text)
    except BadSubject as error:
        raise Http404(f"{str(error).capitalize()}.") from None
    if subject.sort not in ABOUT:
        raise Http404("That isn't discussed.")
    return subject


def _sentence(error: Refused) -> str:
    told = str(error)
    return f"{told[:1].upper()}{told[1:]}."


def _form_page(request: HttpRequest, subject: Subject, text: str, status: int, problem: str = "") -> HttpResponse:
    address = say_address(subject)
    values = {
        "subject": shown_subjects([subject.text])[subject.text],
        "address": address,
        "text": text or draft_of(request, address).get("text", ""),
        "problem": problem,
        "key": f"{person_of(request).name} {address}",
    }
    return render(request, "people/say.html", values, status=status)


@keeps_draft
@require_http_methods(["GET", "HEAD", "POST"])
def change_comment(request: HttpRequest, number: UUID) -> HttpResponse:
    """Say a comment otherwise or take it away, ``/comments/<number>/``: ``do`` is ``edit`` or ``remove``."""
    row = Comment.objects.filter(pk=number).first()
    if row is None:
        raise Http404("There is no such comment, or you may not see it.")
    by = Writer(person_of(request), "page")
    if not may_remove(by, row):
        raise PermissionDenied
    if request.method != "POST":
        return _edit_page(request, by, row, draft_of(request).get("text", row.text))
    removing = request.POST.get("do") == "remove"
    text = row.text if removing else request.POST.get("text", "")
    try:
        if removing:
            remove(by, row, seen_version(request))
            told = "The comment is taken away."
        else:
            row = edit(by, row, text, seen_version(request))
            told = "Your comment is saved."
    except Refused as error:
        row.refresh_from_db()
        return _edit_page(request, by, row, text, 400, _sentence(error))
    except Stale as stale:
        now = stale.current if isinstance(stale.current, Comment) else row
        return _edit_page(request, by, now, text, 409, stale=True)
    forget_draft(request)
    messages.success(request, told, extra_tags=SAVED)
    return HttpResponseRedirect(address_of(row.subject, f"comment-{row.pk}") or reverse("comment", args=[row.pk]))


def _edit_page(
    request: HttpRequest, by: Writer, row: Comment, text: str, status: int = 200, problem: str = "", *,
    stale: bool = False,
) -> HttpResponse:  # fmt: skip
    values = {
        "comment": row,
        "subject": shown_subjects([row.subject])[row.subject],
        "back": address_of(row.subject, f"comment-{row.pk}"),
        "text": text,
        "problem": problem,
        "stale": stale,
        "may_edit": row.removed_at is None and may_edit(by, row),
        "may_remove": row.removed_at is None and may_remove(by, row),
        "key": f"{by.person.name} {request.path}",
    }
    return render(request, "people/comment.html", values, status=status)
