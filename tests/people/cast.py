"""People with rights, for tests of a server."""

from __future__ import annotations

from django.contrib.auth.models import User

from selection.people.granting import give
from selection.people.models import Role

__all__ = ["somebody"]


def somebody(name: str, role: Role | None = Role.VIEWER, *, cluster: str = "", namespace: str = "") -> User:
    """A user with a role in one place, everywhere unless it is said; None is a user without any right."""
    user, _ = User.objects.get_or_create(username=name)
    if role is not None:
        give(user, role, cluster=cluster, namespace=namespace, by="a test")
    return user
