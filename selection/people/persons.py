"""Who is at work: the person behind a request or a command, whose name stands by what is written.

A session and a bearer token of the same user give the same person. In local mode there is no sign-in: there it is
whoever runs the program on this machine.
"""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from selection.people.scopes import Scope

__all__ = ["Person", "local_person", "person_of", "person_or_none"]

LONGEST = 150
"""As long as a user name may be (Django's ``User.username``)."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody at work.

    Attributes:
        name: what to call them, and what is kept beside what they write.
        user: their account; None in local mode and for commands, where nobody signs in.
        token: the name of the token that acts for them, ``""`` when they act themselves.
        scope: the most that the token may do; None when they act themselves.
    """

    name: str
    user: User | None = None
    token: str = ""
    scope: Scope | None = None

    @property
    def local(self) -> bool:
        """Whether this is whoever sits at the machine, who needs no rights."""
        return self.user is None

    def __str__(self) -> str:
        """The name, with the token that acts.

        >>> str(Person("alice", token="nightly"))
        'alice (token nightly)'
        """
        return f"{self.name} (token {self.token})" if self.token else self.name


def person_of(request: HttpRequest | Any) -> Person:
    """Who asks. Takes Django's request and the REST framework's alike.

    Raises:
        PermissionDenied: nobody has signed in, and this isn't local mode.
    """
    found = person_or_none(request)
    if found is None:
        raise PermissionDenied("Nobody has signed in.")
    return found


def person_or_none(request: HttpRequest | Any) -> Person | None:
    """Who asks, or None for a stranger in server mode."""
    user = getattr(request, "user", None)
    if isinstance(user, User) or getattr(user, "is_authenticated", False):
        token = getattr(request, "token", None)
        return Person(user.get_username(), user, *((token.name, Scope(token.scope)) if token else ()))  # type: ignore[union-attr]
    return local_person() if settings.LOCAL else None


def local_person() -> Person:
    """Whoever runs this program: ``OME_DASHBOARD_LOCAL_NAME``, or else the name of the machine's user."""
    return Person(settings.LOCAL_NAME or _machine_user())


@lru_cache(maxsize=1)
def _machine_user() -> str:
    """The user's name on this machine. A container's user may have none."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"
    return "".join(filter(str.isprintable, name))[:LONGEST].strip() or "somebody"
