"""A small fleet with findings of several sorts, and reviews of it, for the tests of reviews."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from selection.people.freezing import Scope
from selection.people.models import Review, ReviewItem
from selection.people.reviews import Reply, answer, open_review
from selection.people.writing import Writer
from selection.store.models import Cluster
from tests.store.builders import Manifest, model, runtime, service, sync

__all__ = ["EAST", "answered", "fleet", "item_of", "opened", "read", "soon"]

EAST = Scope((("east", ""),))


def fleet() -> dict[str, Manifest]:
    """The objects by name; ``chat`` and ``search`` name models that aren't there."""
    return {
        each["metadata"]["name"]: each
        for each in (
            model(),
            runtime("vllm"),
            runtime("sglang"),
            service("good"),
            service("chat", model={"name": "missing"}),
            service("search", "hr", model={"name": "gone"}),
        )
    }


def read(objects: dict[str, Manifest], name: str = "east") -> Cluster:
    """Sync a cluster that holds these."""
    return sync(name, *objects.values())[0]


def opened(writer: Writer, scope: Scope = EAST, name: str = "Sprint", **more: Any) -> Review:
    """A review of the fleet as it was read."""
    return open_review(writer, name, scope, **more)


def item_of(review: Review, name: str, code: str = "invalid") -> ReviewItem:
    """The item about an object."""
    return ReviewItem.objects.get(review=review, name=name, code=code)


def answered(writer: Writer, review: Review, reply: Reply | None = None) -> None:
    """Answer every item that has no answer."""
    for item in ReviewItem.objects.filter(review=review, answer=""):
        answer(writer, item, reply or Reply("fine"), item.version)


def soon() -> date:
    """A day that an acceptance may have."""
    return timezone.now().date() + timedelta(days=30)
