"""Accounts: making them, their groups, the links by which people set their passwords.

They are Django's own users and groups. Nobody but its owner ever knows a password: whoever administers accounts hands
on a link that works once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt
from axes.utils import reset
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from selection.people.persons import Person, local_person
from selection.people.rights import Act, may
from selection.people.subjects import account_subject
from selection.people.writing import Writer, note, writing

__all__ = [
    "AccountError",
    "create_account",
    "end_wait",
    "may_change",
    "may_manage",
    "password_path",
    "set_active",
    "set_groups",
    "waiting_names",
]

LONGEST_GROUP = 150
"""As long as a group's name may be (Django's ``Group.name``)."""


class AccountError(ValueError):
    """An account can't be like that; the message says why, in one line."""


def may_manage(person: Person) -> bool:
    """Whether a person may make and change accounts: an admin everywhere, for accounts belong to no cluster."""
    return may(person, Act.GRANT)


def may_change(person: Person, user: User) -> bool:
    """Whether a person may change this account. A superuser's only superusers may, who can do more than anybody."""
    if not may_manage(person):
        return False
    return person.user is None or person.user.is_superuser or not user.is_superuser


def create_account(
    name: str, *, email: str = "", groups: Iterable[str] = (), superuser: bool = False, by: Writer | None = None
) -> User:
    """Make an account without a password; its owner sets one by :func:`password_path`.

    Args:
        name: the user name, as Django allows it; no other may differ in capitals alone.
        email: an address, ``""`` for none. Nothing is ever sent to it.
        groups: names of groups; one that isn't there is made.
        superuser: whether it may do everything everywhere.
        by: who makes it; by default whoever runs this program at a shell.

    Raises:
        AccountError: the name is taken or not allowed, or the address or a group's name is no such thing.
    """
    user = User(username=User.normalize_username(name.strip()), email=email.strip())
    user.is_superuser = user.is_staff = superuser
    user.set_unusable_password()
    try:
        user.full_clean(validate_unique=False)
    except ValidationError as error:
        raise AccountError(" ".join(" ".join(error.messages).split()).rstrip(".")) from None
    if User.objects.filter(username__iexact=user.username).exists():
        raise AccountError(f"There is an account named {user.username} already")
    names = _group_names(groups)
    try:
        with writing():
            user.save()
            _put_into(user, names)
            _note(by, "make-account", user, None, {"groups": names, "superuser": superuser})
    except IntegrityError:  # somebody was quicker
        raise AccountError(f"There is an account named {user.username} already") from None
    return user


def set_groups(user: User, groups: Iterable[str], by: Writer | None = None) -> list[str]:
    """Put a user into exactly these groups; names those that had to be made.

    Raises:
        AccountError: a name is empty, too long, or has a comma or characters that can't be shown.
    """
    names = _group_names(groups)
    with writing():
        before = _groups(user)
        made = _put_into(user, names)
        if (after := _groups(user)) != before:
            _note(by, "set-groups", user, {"groups": before}, {"groups": after})
    return made


def set_active(user: User, active: bool, by: Writer | None = None) -> bool:
    """Let an account in again, or keep it out: its sessions and tokens stop at once. Says whether that is a change."""
    with writing():
        changed = User.objects.filter(pk=user.pk).exclude(is_active=active).update(is_active=active)
        if changed:
            _note(by, "let-in" if active else "keep-out", user, {"active": not active}, {"active": active})
    return bool(changed)


def password_path(user: User, by: Writer | None = None) -> tuple[str, datetime]:
    """The path of a page where the owner sets the password, and until when it works. It works once.

    Whoever has the link has the account, so it is shown once, to who administers accounts, and kept nowhere.
    """
    _note(by, "make-link", user, None, None)
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    path = reverse("set-password", args=[uid, default_token_generator.make_token(user)])
    return path, timezone.now() + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)


def waiting_names() -> set[str]:
    """User names that have to wait, from some address, after too many wrong passwords."""
    since = timezone.now() - settings.AXES_COOLOFF_TIME
    failed: dict[tuple[str, str], int] = {}
    rows = AccessAttempt.objects.filter(attempt_time__gte=since)
    for name, address, failures in rows.values_list("username", "ip_address", "failures_since_start"):
        failed[name, address] = failed.get((name, address), 0) + failures
    return {name for (name, _), failures in failed.items() if name and failures >= settings.AXES_FAILURE_LIMIT}


def end_wait(user: User, by: Writer | None = None) -> bool:
    """Let a user try to sign in again, from every address. Says whether there was anything to forget."""
    with writing():
        forgotten = reset(username=user.get_username())
        if forgotten:
            _note(by, "end-wait", user, {"failures": forgotten}, None)
    return bool(forgotten)


def _note(
    by: Writer | None, act: str, user: User, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> None:
    note(by or Writer(local_person(), "command"), act, account_subject(user.get_username()), before, after)


def _groups(user: User) -> list[str]:
    return list(user.groups.order_by("name").values_list("name", flat=True))


def _group_names(groups: Iterable[str]) -> list[str]:
    names = list(dict.fromkeys(" ".join(name.split()) for name in groups))
    for name in names:
        if not name or len(name) > LONGEST_GROUP or "," in name or not name.isprintable():
            raise AccountError(f"A group's name has 1 to {LONGEST_GROUP} characters and no comma")
    return names


def _put_into(user: User, names: list[str]) -> list[str]:
    made = []
    found = []
    for name in names:
        group, new = Group.objects.get_or_create(name=name)
        found.append(group)
        made += [name] if new else []
    user.groups.set(found)
    return made
