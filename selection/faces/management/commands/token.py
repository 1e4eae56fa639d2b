"""``manage.py token``: makes, lists and revokes tokens, also for accounts that are a program's own."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from selection.faces.cli.output import as_json, table
from selection.faces.cli.people import account_named, moment
from selection.faces.cli.sources import database_in_words
from selection.people.models import Token
from selection.people.persons import local_person
from selection.people.scopes import Scope
from selection.people.tokens import TokenError, create_token, revoke
from selection.people.writing import Writer

__all__ = ["Command"]


class Command(BaseCommand):
    """The secret goes to standard output alone, so that a script can catch it; it can't be shown again."""

    help = "Make, list and revoke tokens, with which programs act for people at /api/."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        create = acts.add_parser("create", help="make one; prints its secret, this once")
        create.add_argument("user", metavar="USER", help="the account that it acts for")
        create.add_argument("name", metavar="NAME", help="what it is for")
        create.add_argument("--scope", choices=Scope.values, default=Scope.READ.value, help="the most it may do")
        create.add_argument("--days", type=int, default=min(90, settings.TOKEN_DAYS), help="how long it holds")
        listing = acts.add_parser("list", help="list them, those of one account or all")
        listing.add_argument("user", metavar="USER", nargs="?")
        take = acts.add_parser("revoke", help="revoke one for good")
        take.add_argument("prefix", metavar="PREFIX", help="what it begins with, as the list shows it")
        for each, forms in ((create, ["text", "json"]), (listing, ["table", "json"]), (take, ["text", "json"])):
            each.add_argument("-o", "--output", choices=forms, default=forms[0])

    def handle(self, *args: Any, **options: Any) -> None:
        with database_in_words():
            getattr(self, f"_{options['act']}")(options)

    def _create(self, options: dict[str, Any]) -> None:
        user = account_named(options["user"])
        scope = Scope(options["scope"])
        try:
            token, secret = create_token(
                user, options["name"], scope=scope, days=options["days"], by=Writer(local_person(), "command")
            )
        except TokenError as error:
            raise CommandError(str(error)) from None
        if options["output"] == "json":
            self.stdout.write(as_json({**_row(token), "secret": secret}))
            return
        self.stdout.write(secret)
        self.stderr.write(f"{token.name} may {token.scope} for {user.username} until {moment(token.ends_at)}.")

    def _list(self, options: dict[str, Any]) -> None:
        tokens = Token.objects.select_related("user").order_by("user__username", "-created_at", "-pk")
        if options["user"] is not None:
            tokens = tokens.filter(user=account_named(options["user"]))
        rows = [_row(token) for token in tokens]
        if options["output"] == "json":
            self.stdout.write(as_json(rows))
            return
        shown = ("user", "name", "prefix", "scope", "state", "expires_at", "last_used_at")
        headers = ["USER", "NAME", "BEGINS WITH", "SCOPE", "STATE", "UNTIL", "LAST USED"]
        self.stdout.write(table(headers, [[row[key] for key in shown] for row in rows]))

    def _revoke(self, options: dict[str, Any]) -> None:
        # Somebody who found a secret may give all of it.
        begins = "_".join(options["prefix"].replace("\x00", "").split("_")[:2])
        token = Token.objects.select_related("user").filter(prefix=begins).first()
        if token is None:
            raise CommandError("there is no token that begins like that: `manage.py token list` has all of them")
        changed = revoke(token, Writer(local_person(), "command"))
        token.refresh_from_db()
        if options["output"] == "json":
            self.stdout.write(as_json(_row(token)))
        else:
            told = "revoked" if changed else "was revoked already"
            self.stdout.write(f"{token.prefix} ({token.name}) of {token.user.username}: {told}")


def _row(token: Token) -> dict[str, Any]:
    return {
        "user": token.user.username,
        "name": token.name,
        "prefix": token.prefix,
        "scope": token.scope,
        "state": token.state(timezone.now()),
        "created_at": moment(token.created_at),
        "created_by": token.created_by,
        "expires_at": moment(token.ends_at),
        "revoked_at": moment(token.revoked_at),
        "last_used_at": moment(token.last_used_at),
    }
