"""What waits for the one who looks: findings that they own, comments that name them, reviews that they take part in."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from selection.faces.handled import handled_rows, owned_by
from selection.faces.subjects_shown import address_of, shown_subjects
from selection.people.comments import mentions_of
from selection.people.models import Review
from selection.people.persons import person_of
from selection.store.findings import shown

__all__ = ["mine"]

SHOWN = 50
"""So many of each are named; the others are counted."""


@require_GET
def mine(request: HttpRequest) -> HttpResponse:
    """The page of what is one's own, ``/mine/``."""
    name = person_of(request).name
    findings = owned_by(shown(handled_rows()), name)
    comments = list(mentions_of(name)[:SHOWN])
    reviews = Review.objects.filter(participants__name=name, closed_at=None)
    values = {
        "findings": list(findings[:SHOWN]),
        "finding_count": findings.count(),
        "comments": [(each, address_of(each.subject, f"comment-{each.pk}")) for each in comments],
        "shown": shown_subjects(each.subject for each in comments),
        "comment_count": mentions_of(name).count(),
        "reviews": [(each, address_of(f"review:{each.pk}")) for each in reviews[:SHOWN]],
    }
    return render(request, "mine/page.html", values)
