"""Tokens, with which programs act for people."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models

from selection.people.scopes import Scope

__all__ = ["Token"]


class Token(models.Model):
    """A token of a user. Of its secret only a digest is kept, so the secret is shown once and never again.

    ``prefix`` is the public beginning of the secret: lists show it, so that a token that was found somewhere can be
    told and revoked. A token that is revoked or has expired is kept, so that one can see what there was.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens", help_text="For whom it acts")
    name = models.CharField(max_length=80, help_text="What it is for")
    prefix = models.CharField(max_length=20, unique=True)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the secret, in hexadecimal")
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.READ)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=150, help_text="The name of whoever made it")
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.CharField(max_length=150, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute")

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at", "-pk"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["user", "name"], condition=models.Q(revoked_at__isnull=True), name="token_name_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user.get_username()}: {self.name} ({self.prefix})"

    @property
    def ends_at(self) -> datetime:
        """When it expires: as was said when it was made, and never later than the setting now allows."""
        return min(self.expires_at, self.created_at + timedelta(days=settings.TOKEN_DAYS))

    def state(self, now: datetime) -> str:
        """``revoked``, ``expired``, ``inactive`` (its user's account is) or ``active``."""
        if self.revoked_at is not None:
            return "revoked"
        if self.ends_at <= now:
            return "expired"
        return "active" if self.user.is_active else "inactive"
