"""What the commands about people share."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime

from django.contrib.auth.models import User
from django.core.management.base import CommandError

__all__ = ["account_named", "moment"]


def account_named(name: str) -> User:
    """The account of that name.

    Raises:
        CommandError: there is none; names that are near are told.
    """
    user = User.objects.filter(username=name.replace("\x00", "")).first()
    if user is not None:
        return user
    near = difflib.get_close_matches(name, User.objects.values_list("username", flat=True), n=3)
    meant = f": did you mean {' or '.join(near)}?" if near else ""
    raise CommandError(f"there is no account named {name}{meant}")


def moment(then: datetime | None) -> str | None:
    """A moment in UTC to the second, as in Kubernetes' objects.

    >>> moment(datetime(2026, 3, 1, 12, 30, 5, 250, tzinfo=UTC))
    '2026-03-01T12:30:05Z'
    """
    return then.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if then else None
