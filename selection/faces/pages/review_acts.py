"""What is done to a review as a whole, each asked for once more: sign, withdraw, bring up to date, close, reopen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from selection.faces.review_forms import SignForm
from selection.faces.reviewing import allowed, find_review, writer_of
from selection.people.models import Review
from selection.people.persons import person_of
from selection.people.review_differences import tell_apart
from selection.people.review_states import answers_digest, state_of
from selection.people.reviews import Renewal, close, preview_refresh, refresh, reopen, sign, unsign
from selection.people.writing import Refused, Stale, Writer

__all__ = ["ACTS", "review_act"]

Do = Callable[[Writer, Review, int, Mapping[str, Any]], object]

ACTS: Mapping[str, tuple[str, Do]] = {
    "sign": ("Signed.", lambda by, row, seen, given: sign(by, row, seen, given["note"], given["answers"])),
    "withdraw": ("Your signature is withdrawn.", lambda by, row, seen, given: unsign(by, row)),
    "refresh": ("The review is up to date.", lambda by, row, seen, given: refresh(by, row, seen)),
    "close": ("The review is closed.", lambda by, row, seen, given: close(by, row, seen)),
    "reopen": ("The review is open again.", lambda by, row, seen, given: reopen(by, row, seen)),
}
"""By its name in the address: what is said when it is done, and what does it."""


@require_http_methods(["GET", "HEAD", "POST"])
def review_act(request: HttpRequest, number: UUID, act: str) -> HttpResponse:
    """The page that asks whether to do it, ``/reviews/<uuid>/<act>/``, and does it."""
    if act not in ACTS:
        raise Http404
    review = find_review(number)
    may = allowed(person_of(request), review)
    if not (may.sign if act in ("sign", "withdraw") else may.review):
        raise PermissionDenied("That takes a reviewer of all that the review is about.")
    if request.method != "POST":
        return _page(request, review, act, SignForm())
    form = SignForm(request.POST)
    if not form.is_valid():
        return _page(request, review, act, form, status=422)
    said, do = ACTS[act]
    seen = request.POST.get("version", "")
    given = {"note": form.cleaned_data["note"], "answers": request.POST.get("answers", "-")}
    try:
        do(writer_of(request), review, int(seen) if seen.isdecimal() else 0, given)
    except Refused as error:
        return _page(request, find_review(number), act, form, refused=str(error), status=409)
    except Stale:
        return _page(request, find_review(number), act, form, stale=True, status=409)
    messages.success(request, said, extra_tags="good")
    return redirect("review", review.pk)


def _page(
    request: HttpRequest,
    review: Review,
    act: str,
    form: SignForm,
    *,
    refused: str = "",
    stale: bool = False,
    status: int = 200,
) -> HttpResponse:
    state = state_of(review)
    renewal: Renewal | None = None
    if act == "refresh" and not refused:
        try:
            renewal = preview_refresh(review)
        except Refused as error:
            refused = str(error)
    values = {
        "review": review,
        "act": act,
        "state": state,
        "answers": answers_digest(review) if act == "sign" else "",
        "progress": state.progress,
        "differs": tell_apart(state.differences) if act in ("refresh", "sign") else {},
        "form": form,
        "renewal": renewal,
        "refused": refused,
        "stale": stale,
    }
    return render(request, "reviews/act.html", values, status=status)
