"""Reviews: a set of findings as they were at one moment, what was answered to each, and who signed."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models
from django.db.models.expressions import Exists, OuterRef

from selection.store.sight import current_sight

from .written import Written

__all__ = ["Participant", "Review", "ReviewInput", "ReviewItem", "ReviewPlace", "Signature"]


class _ReviewManager(models.Manager["Review"]):
    """Gives the reviews whose places are all seen: who sees a part of one would take it for the whole."""

    def get_queryset(self) -> models.QuerySet[Review]:
        rows = super().get_queryset()
        places = current_sight().places
        if places is None:
            return rows
        seen = models.Q(pk__in=[])
        for place in places:
            part = models.Q(cluster=place.name)
            seen |= part if place.namespaces is None else part & models.Q(namespace__in=sorted(place.namespaces))
        unseen = ReviewPlace._base_manager.filter(~seen, review=OuterRef("pk"))
        return rows.filter(~Exists(unseen))


class Review(models.Model):
    """Going through what a part of the clusters would do, together.

    ``state_digest`` stands for all that was frozen; a signature holds for one state and its answers. Whether what was
    frozen is still so isn't written down: it follows from what is there (:mod:`selection.people.review_states`).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    purpose = models.TextField(blank=True, help_text="What it is for, in Markdown")
    codes: models.JSONField[Any, Any] = models.JSONField(default=list, help_text="Only these codes; empty for all")
    severities: models.JSONField[Any, Any] = models.JSONField(default=list, help_text="Only these; empty for all")
    signatures_needed = models.PositiveSmallIntegerField(default=1)
    previous = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="next_ones")
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    frozen_at = models.DateTimeField()
    state_digest = models.CharField(max_length=32)
    closed_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=150, blank=True)
    version = models.PositiveIntegerField(default=1)

    objects = _ReviewManager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.name


class ReviewPlace(Written):
    """A part of the scope: a namespace, or with ``""`` a whole cluster."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="places")

    class Meta:
        ordering: ClassVar[list[str]] = ["cluster", "namespace"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["review", "cluster", "namespace"], name="review_place_once")
        ]

    def __str__(self) -> str:
        return f"{self.cluster}/{self.namespace}" if self.namespace else self.cluster


class ReviewInput(Written):
    """An object that frozen findings were computed from, as it was then."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="inputs")
    kind = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    resource_version = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=64, help_text="Of the whole object")
    deciding = models.CharField(max_length=32, help_text="Of the fields that can decide something")

    class Meta:
        ordering: ClassVar[list[str]] = ["cluster", "kind", "namespace", "name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["review", "cluster", "kind", "namespace", "name"], name="review_input_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class ReviewItem(Written):
    """A finding of a review as it was when it was frozen, and what was answered to it."""

    class Answer(models.TextChoices):
        """What was answered."""

        FINE = "fine", "Fine"
        CHANGE = "needs-change", "Needs change"
        ACCEPTED = "accepted", "Accepted"

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="items")
    place = models.PositiveIntegerField(help_text="Its place in the order, from 1")
    key = models.CharField(max_length=80)
    kind = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    component = models.CharField(max_length=10, blank=True)
    code = models.CharField(max_length=40)
    about = models.CharField(max_length=1000, blank=True)
    path = models.CharField(max_length=500, blank=True, help_text="The deciding field, as it stood then")
    severity = models.CharField(max_length=10)
    evidence = models.CharField(max_length=32)
    facts: models.JSONField[Any, Any] = models.JSONField(default=dict)
    answer = models.CharField(max_length=12, choices=Answer, blank=True)
    owner = models.CharField(max_length=150, blank=True)
    reason = models.TextField(blank=True)
    expires_on = models.DateField(null=True)
    answered_by = models.CharField(max_length=150, blank=True)
    answered_at = models.DateTimeField(null=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering: ClassVar[list[str]] = ["place"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["review", "key"], name="review_item_once")
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["review", "place"], name="review_item_place"),
            models.Index(fields=["key"], name="review_item_key"),
        ]

    def __str__(self) -> str:
        return f"{self.place}. {self.code} {self.kind} {self.name}"


class Participant(models.Model):
    """Somebody who takes part, by name."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="participants")
    name = models.CharField(max_length=150)
    added_by = models.CharField(max_length=150)
    added_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["review", "name"], name="participant_once")
        ]

    def __str__(self) -> str:
        return self.name


class Signature(models.Model):
    """Somebody's signature under a state and its answers; one under an earlier state stays, and doesn't count."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="signatures")
    name = models.CharField(max_length=150)
    token = models.CharField(max_length=80, blank=True)
    signed_at = models.DateTimeField()
    digest = models.CharField(max_length=32, help_text="Of what was frozen and answered")
    note = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["signed_at", "pk"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["review", "name", "digest"], name="signature_once")
        ]

    def __str__(self) -> str:
        return f"{self.name}, {self.signed_at:%Y-%m-%d}"
