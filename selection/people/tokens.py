"""Making, finding and revoking tokens.

A secret has 256 random bits, so a plain SHA-256 guards it: nobody can try them all, and a slow password hash at each
request would only cost time. django-rest-knox keeps digests and expiry too, but its tokens have neither name nor scope
and are deleted when revoked; and it is found out who asks in the views only, too late for what decides what a request
may see. So tokens are ours.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from selection.people.models import Token
from selection.people.scopes import Scope
from selection.people.subjects import account_subject
from selection.people.writing import Writer, note, writing

__all__ = ["TokenError", "create_token", "digest_of", "find_token", "prefix_of", "revoke", "touch"]

MARK = "omedash"
"""What every secret begins with, so that a search for leaked secrets finds it."""

_LETTERS = string.ascii_letters + string.digits
_FORM = re.compile(rf"({MARK}_[A-Za-z0-9]{{8}})_[A-Za-z0-9]{{43}}")
_MINUTE = timedelta(minutes=1)


class TokenError(ValueError):
    """A token can't be made like that; the message says why, in one line."""


def create_token(user: User, name: str, *, scope: Scope = Scope.READ, days: int, by: Writer) -> tuple[Token, str]:
    """Make a token and give it with its secret, which nobody can be told again.

    Args:
        user: for whom it acts.
        name: what it is for, 1 to 80 printable characters; once among the user's tokens that aren't revoked.
        scope: the most it may do.
        days: how long it holds, at most ``OME_DASHBOARD_TOKEN_DAYS``.
        by: who makes it.

    Raises:
        TokenError: the name is empty, too long or taken, the days are out of bounds, or the account isn't active.
    """
    name = " ".join(name.split())
    if not name or len(name) > 80 or not name.isprintable():
        raise TokenError("A token needs a name of 1 to 80 characters")
    if not 1 <= days <= settings.TOKEN_DAYS:
        raise TokenError(f"A token holds for 1 to {settings.TOKEN_DAYS} days")
    if not user.is_active:
        raise TokenError(f"The account {user.get_username()} isn't active")
    prefix = f"{MARK}_{_random(8)}"
    secret = f"{prefix}_{_random(43)}"
    now = timezone.now()
    try:
        with writing():
            token = Token.objects.create(
                user=user,
                name=name,
                prefix=prefix,
                digest=digest_of(secret),
                scope=scope,
                created_at=now,
                created_by=by.person.name,
                expires_at=now + timedelta(days=days),
            )
            note(by, "make-token", account_subject(user.get_username()), None, _told(token))
    except IntegrityError:
        raise TokenError(f"{user.get_username()} has a token named {name} already: revoke it first") from None
    return token, secret


def find_token(secret: str) -> Token | None:
    """The token with this secret, in whatever state it is; None when there is none.

    How long it takes tells nothing of the secret: rows are found by the public prefix alone.
    """
    prefix = prefix_of(secret)
    token = Token.objects.select_related("user").filter(prefix=prefix).first() if prefix else None
    known = token.digest if token else "0" * 64
    return token if hmac.compare_digest(digest_of(secret), known) else None


def revoke(token: Token, by: Writer) -> bool:
    """Revoke a token for good. Says whether that changed anything: it may be revoked already."""
    with writing():
        working = Token.objects.filter(pk=token.pk, revoked_at=None)
        changed = working.update(revoked_at=timezone.now(), revoked_by=by.person.name)
        if changed:
            note(by, "revoke-token", account_subject(token.user.get_username()), _told(token), None)
    return bool(changed)


def touch(token: Token, now: datetime) -> None:
    """Note that a token is used, at most once a minute: a read shouldn't cost a write each time.

    That it can't be noted is no reason to refuse the request or to have it wait, as it would for SQLite's only writer.
    """
    if token.last_used_at is not None and now - token.last_used_at < _MINUTE:
        return
    unseen = Q(last_used_at=None) | Q(last_used_at__lte=now - _MINUTE)
    try:
        with _without_waiting(), transaction.atomic():
            Token.objects.filter(unseen, pk=token.pk).update(last_used_at=now)
    except DatabaseError:
        return


@contextmanager
def _without_waiting() -> Iterator[None]:
    """On SQLite, don't wait for a writer to finish; on PostgreSQL one waits for a row alone."""
    if connection.vendor != "sqlite":
        yield
        return
    usual = int(1000 * connection.settings_dict["OPTIONS"].get("timeout", 5))
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {usual}")


def digest_of(secret: str) -> str:
    """SHA-256 of a secret, in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def prefix_of(secret: str) -> str:
    """The public beginning of a secret, ``""`` for what isn't of its form.

    >>> prefix_of("omedash_4fGh12Kl_" + 43 * "x")
    'omedash_4fGh12Kl'
    >>> prefix_of("anything")
    ''
    """
    found = _FORM.fullmatch(secret)
    return found.group(1) if found else ""


def _told(token: Token) -> dict[str, str]:
    """What the record keeps of a token: never its secret."""
    until = token.expires_at.isoformat(timespec="seconds")
    return {"name": token.name, "begins_with": token.prefix, "scope": token.scope, "until": until}


def _random(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))
