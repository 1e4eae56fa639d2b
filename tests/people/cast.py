"""People with rights, for tests of a server."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils import timezone

from selection.people.models import Grant, Role

__all__ = ["somebody"]


def somebody(name: str, role: Role | None = Role.VIEWER, *, cluster: str = "", namespace: str = "") -> User:
    """A user with a role in one place, everywhere unless it is said; None is a user without any right."""
    user, _ = User.objects.get_or_create(username=name)
    if role is not None:
        told = {"role": role, "created_at": timezone.now(), "created_by": "a test"}
        Grant.objects.update_or_create(user=user, group=None, cluster=cluster, namespace=namespace, defaults=told)
    return user
