"""``manage.py account``: makes accounts, and does from a shell what the page of accounts does."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json, table
from selection.faces.cli.people import account_named, moment
from selection.faces.cli.sources import database_in_words
from selection.people.accounts import (
    AccountError,
    create_account,
    end_wait,
    password_path,
    set_active,
    set_groups,
    waiting_names,
)

__all__ = ["Command"]


class Command(BaseCommand):
    """Django's own ``createsuperuser`` and ``changepassword`` work as well."""

    help = "Make accounts, list them, put them into groups, keep them out."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        create = acts.add_parser("create", help="make one; prints a link with which its owner sets a password")
        create.add_argument("name", metavar="NAME")
        create.add_argument("--email", default="", help="nothing is ever sent to it")
        create.add_argument("--group", action="append", default=[], metavar="GROUP", help="may be repeated")
        create.add_argument("--superuser", action="store_true", help="may do everything everywhere")
        link = acts.add_parser("link", help="print a link with which its owner sets a new password")
        listing = acts.add_parser("list", help="list all of them")
        groups = acts.add_parser("groups", help="put one into groups, or take it out")
        groups.add_argument("name", metavar="NAME")
        groups.add_argument("--add", action="append", default=[], metavar="GROUP", help="may be repeated")
        groups.add_argument("--remove", action="append", default=[], metavar="GROUP", help="may be repeated")
        for act, told in (
            ("keep-out", "end its sessions and tokens, and don't let it sign in"),
            ("let-in", "let it sign in again"),
            ("end-wait", "let it try again after too many wrong passwords"),
        ):
            acts.add_parser(act, help=told).add_argument("name", metavar="NAME")
        link.add_argument("name", metavar="NAME")
        for each, forms in ((create, ["text", "json"]), (link, ["text", "json"]), (listing, ["table", "json"])):
            each.add_argument("-o", "--output", choices=forms, default=forms[0])

    def handle(self, *args: Any, **options: Any) -> None:
        with database_in_words():
            try:
                getattr(self, "_" + options["act"].replace("-", "_"))(options)
            except AccountError as error:
                raise CommandError(str(error)) from None

    def _create(self, options: dict[str, Any]) -> None:
        name, superuser = options["name"], options["superuser"]
        user = create_account(name, email=options["email"], groups=options["group"], superuser=superuser)
        self._tell_link(user, options)

    def _link(self, options: dict[str, Any]) -> None:
        self._tell_link(account_named(options["name"]), options)

    def _list(self, options: dict[str, Any]) -> None:
        waiting = waiting_names()
        users = User.objects.prefetch_related("groups").order_by("username")
        rows = [_row(user, user.username in waiting) for user in users]
        if options["output"] == "json":
            self.stdout.write(as_json(rows))
            return
        headers = ["NAME", "STATE", "GROUPS", "EMAIL", "SIGNED IN"]
        cells = [[r["name"], r["state"], ",".join(r["groups"]), r["email"], r["last_login"]] for r in rows]
        self.stdout.write(table(headers, cells))

    def _groups(self, options: dict[str, Any]) -> None:
        user = account_named(options["name"])
        now = list(user.groups.order_by("name").values_list("name", flat=True))
        wanted = [name for name in [*now, *options["add"]] if name not in options["remove"]]
        if wanted != now:
            set_groups(user, wanted)
        names = user.groups.order_by("name").values_list("name", flat=True)
        self.stdout.write(f"{user.username}: {', '.join(names) or 'in no group'}")

    def _keep_out(self, options: dict[str, Any]) -> None:
        user = account_named(options["name"])
        set_active(user, False)
        self.stdout.write(f"{user.username}: kept out")

    def _let_in(self, options: dict[str, Any]) -> None:
        user = account_named(options["name"])
        set_active(user, True)
        self.stdout.write(f"{user.username}: may sign in")

    def _end_wait(self, options: dict[str, Any]) -> None:
        user = account_named(options["name"])
        told = "may try again" if end_wait(user) else "had not to wait"
        self.stdout.write(f"{user.username}: {told}")

    def _tell_link(self, user: User, options: dict[str, Any]) -> None:
        path, until = password_path(user)
        link = f"{_origin()}{path}"
        if options["output"] == "json":
            self.stdout.write(as_json({"name": user.username, "link": link, "until": moment(until)}))
            return
        self.stdout.write(link)
        self.stderr.write(
            f"{user.username} sets a password there, once, until {moment(until)}. Hand it to nobody else."
        )


def _row(user: User, waits: bool) -> dict[str, Any]:
    if not user.is_active:
        state = "kept-out"
    elif not user.has_usable_password():
        state = "no-password"
    else:
        state = "waits" if waits else "active"
    return {
        "name": user.username,
        "state": state,
        "superuser": user.is_superuser,
        "groups": sorted(group.name for group in user.groups.all()),
        "email": user.email,
        "last_login": moment(user.last_login),
    }


def _origin() -> str:
    """Where people reach the server, as well as a command can know."""
    if settings.LOCAL:
        return f"http://127.0.0.1:{settings.LISTEN_PORT}"
    return f"https://{settings.ALLOWED_HOSTS[0].lstrip('.')}"
