"""What a token may be used for. Each scope holds those before it."""

from __future__ import annotations

from django.db import models

__all__ = ["Scope"]


class Scope(models.TextChoices):
    """The most that a token may do; its user's rights limit it further.

    >>> Scope.REVIEW.holds(Scope.READ), Scope.READ.holds(Scope.REVIEW)
    (True, False)
    """

    READ = "read", "Read"
    REVIEW = "review", "Review: open, comment, decide, sign"
    ADMIN = "admin", "Administer"

    def holds(self, wanted: Scope) -> bool:
        """Whether a token of this scope may do what needs ``wanted``."""
        order = list(Scope)
        return order.index(self) >= order.index(wanted)
