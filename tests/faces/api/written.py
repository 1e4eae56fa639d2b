"""What people wrote, for tests of the interface that reads it."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from selection.people.comments import remove, say
from selection.people.freezing import Scope
from selection.people.handlings import Wish, handle
from selection.people.models import Comment, Handling, Review, ReviewItem
from selection.people.reviews import Reply, answer, open_review
from selection.people.subjects import finding_subject, object_subject
from selection.rules.objects import ObjectRef
from selection.store.models import Finding
from tests.faces.api.contract import in_path
from tests.people.writers import by

__all__ = ["filled", "names", "write_about"]


def write_about(cluster: str, namespace: str, service: str) -> None:
    """Somebody reviews a namespace twice, answers, accepts a finding, and says something of it and of a service."""
    ada = by("ada")
    found = Finding.objects.select_related("cluster").filter(cluster__name=cluster, namespace=namespace)
    one = found.filter(gone_at=None).order_by("key")[0]
    until = timezone.now().date() + timedelta(days=30)
    handle(ada, one, Wish(owner="grace", state="accepted", reason="Until the upgrade.", expires_on=until), 0)
    say(ada, finding_subject(one), "@grace, is **this** so?")
    subject = object_subject(cluster, ObjectRef("InferenceService", namespace, service))
    say(by("grace"), subject, "It is.")
    remove(ada, say(ada, subject, "No."), 1)
    scope = Scope(((cluster, namespace),))
    first = open_review(ada, "Before the upgrade", scope, participants=["grace"])
    second = open_review(ada, "Before the upgrade", scope, purpose="Is it *fine*?", previous=first, signatures_needed=2)
    for review in (first, second):
        item = ReviewItem.objects.get(review=review, place=1)
        answer(ada, item, Reply("needs-change", "grace", "It should name a runtime."), item.version)


def names() -> dict[str, str]:
    """What addresses name of that, by the name of the parameter."""
    return {
        "review": str(Review.objects.all()[0].pk),
        "item": "1",
        "key": Handling.objects.filter(state="accepted").order_by("key")[0].key,
        "comment": str(Comment.objects.filter(removed_at=None)[0].pk),
        "person": "grace",
    }


def filled(path: str) -> str:
    """A path of the document with these names in it."""
    if "{" in path:
        for name, value in names().items():
            path = path.replace(f"{{{name}}}", in_path(value))
    return path
