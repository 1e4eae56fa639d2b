"""The items of a review, one after another: what each is, what it rests on, and what is answered to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from selection.faces.discussing import discussion_of
from selection.faces.drafts import draft_of, forget_draft, keeps_draft
from selection.faces.review_forms import AnswerForm
from selection.faces.reviewing import allowed, find_review, frozen, writer_of
from selection.people.handlings import LONGEST_ACCEPTANCE
from selection.people.models import ActRecord, Review, ReviewItem
from selection.people.persons import person_of
from selection.people.review_rows import subject_of_item
from selection.people.reviews import answer
from selection.people.rights import Act, may
from selection.people.writing import Refused, Stale
from selection.rules.objects import ObjectRef
from selection.store.findings import find_finding

__all__ = ["review_item"]


@keeps_draft
@require_http_methods(["GET", "HEAD", "POST"])
def review_item(request: HttpRequest, number: UUID, place: int) -> HttpResponse:
    """The page of one item, ``/reviews/<uuid>/items/<place>/``, and its answer.

    An answer names the finding (``key``), its evidence and the version that it was given to: what is at this place may
    have become another meanwhile. Who was slower sees both versions and keeps the own text.
    """
    review = find_review(number)
    items = ReviewItem.objects.filter(review=review)
    if request.method == "POST":
        return _answered(request, review, items)
    item = items.filter(place=place).first()
    if item is None:
        raise Http404("There is no such item in this review.")
    draft = draft_of(request)
    if draft.get("key") != item.key:  # what was at this place when it was written is at another one now
        return _page(request, review, item, AnswerForm.of(item), elsewhere=draft)
    form = AnswerForm(initial=dict(draft))
    return _page(request, review, item, form, seen=draft.get("version", ""), evidence=draft.get("evidence", ""))


def _answered(request: HttpRequest, review: Review, items: QuerySet[ReviewItem]) -> HttpResponse:
    given = request.POST
    item = items.filter(key=given.get("key", "")).first()
    form = AnswerForm(given)
    if item is None:
        if not allowed(person_of(request), review).review:
            raise PermissionDenied
        values = {"review": review, "form": form, "gone": find_finding(given.get("key", ""))}
        return render(request, "reviews/item_gone.html", values, status=409)
    seen = given.get("version", "")
    if not form.is_valid():
        return _page(request, review, item, form, status=422, seen=seen, evidence=given.get("evidence", ""))
    try:
        answer(writer_of(request), item, form.reply, int(seen) if seen.isdecimal() else 0, given.get("evidence", ""))
    except Refused as error:
        form.add_error(error.field if error.field in form.fields else None, f"{error}.")
        return _page(request, review, item, form, status=422, seen=seen, evidence=given.get("evidence", ""))
    except Stale:
        return _page(request, review, item, form, status=409, conflict=True)
    forget_draft(request)
    return _onward(request, review, item, items)


def _onward(request: HttpRequest, review: Review, item: ReviewItem, items: QuerySet[ReviewItem]) -> HttpResponse:
    """To the next item, the next one without an answer, or the same; behind the last one to the review."""
    go = request.POST.get("go", "next")
    if go == "stay":
        messages.success(request, "Saved.", extra_tags="good saved")
        return redirect("review-item", review.pk, item.place)
    after = items.filter(place__gt=item.place).order_by("place")
    found = (after.filter(answer="") if go == "open" else after).first()
    if found is None and go == "open":
        found = items.filter(answer="").order_by("place").first()
    if found is None:
        messages.success(request, "Saved. That was the last item.", extra_tags="good saved")
        return redirect("review", review.pk)
    messages.success(request, f"Item {item.place} is saved.", extra_tags="good saved")
    return redirect("review-item", review.pk, found.place)


def _page(
    request: HttpRequest,
    review: Review,
    item: ReviewItem,
    form: AnswerForm,
    *,
    status: int = 200,
    conflict: bool = False,
    seen: str = "",
    evidence: str = "",
    elsewhere: Mapping[str, str] | None = None,
) -> HttpResponse:
    now = find_finding(item.key)
    there = now is not None and now.present and not now.hidden
    total = ReviewItem.objects.filter(review=review).count()
    subject = subject_of_item(item)
    values: dict[str, Any] = {
        "review": review,
        "item": item,
        "finding": frozen(item),
        "ref": ObjectRef(item.kind, item.namespace, item.name),
        "now": now if there else None,
        "changed": now is not None and there and (now.evidence, now.severity) != (item.evidence, item.severity),
        "form": form,
        "total": total,
        "before": item.place - 1 if item.place > 1 else None,
        "after": item.place + 1 if item.place < total else None,
        "conflict": conflict,
        "version": seen or item.version,
        "evidence": evidence or item.evidence,
        "acts": list(ActRecord.objects.filter(subject=subject.text, act="answered")[:20]),
        "may_answer": may(person_of(request), Act.REVIEW, item.cluster, item.namespace),
        "closed": review.closed_at is not None,
        "longest": LONGEST_ACCEPTANCE.days,
        "elsewhere": elsewhere or None,
        "discussion": discussion_of(request, subject),
    }
    return render(request, "reviews/item.html", values, status=status)
