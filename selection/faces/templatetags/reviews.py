"""The tag that leads from what is found to a review of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import template
from django.template import Context
from django.urls import reverse

from selection.people.persons import person_or_none
from selection.people.rights import Act, may_somewhere

__all__ = ["register"]

register = template.Library()


@register.inclusion_tag("reviews/open.html", takes_context=True)
def open_as_review(context: Context, query: str = "", **scope: Any) -> dict[str, str]:
    """A button that opens a review, for who may: ``{% open_as_review cluster=cluster.name family="upgrade" %}``.

    ``query`` is the query string of the list of findings, ``?`` included, whose filters become the scope.
    """
    person = person_or_none(context["request"]) if "request" in context else None
    if person is None or not may_somewhere(person, Act.REVIEW):
        return {"there": ""}
    told = query or (f"?{urlencode(scope)}" if scope else "")
    return {"there": reverse("review-new") + told}
