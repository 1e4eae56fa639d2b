"""``manage.py grant``: who may see and do what, by cluster and namespace."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group
from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json, table
from selection.faces.cli.sources import database_in_words
from selection.people.granting import GrantError, all_grants, checked_place, give, holder, take
from selection.people.models import Grant, Role
from selection.people.persons import local_person
from selection.people.writing import Writer
from selection.store.models import Cluster

__all__ = ["Command"]


class Command(BaseCommand):
    """Roles of users and groups. A superuser needs none."""

    help = "Give roles to users and groups, in a namespace, a cluster or everywhere; list them, and take them back."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        adding = acts.add_parser("add", help="give a role; one that was given in the same place becomes this one")
        _add_place(adding)
        adding.add_argument("role", choices=Role.values, help="viewer sees; reviewer also writes; admin may everything")
        listing = acts.add_parser("list", help="list the roles that were given")
        listing.add_argument("who", nargs="?", metavar="NAME", help="only this user's, or with --group this group's")
        listing.add_argument("--group", action="store_true", help="NAME is a group")
        listing.add_argument("-o", "--output", choices=["table", "json"], default="table", help="how to print them")
        _add_place(acts.add_parser("remove", help="take back the role that was given in a place"))

    def handle(self, *args: Any, **options: Any) -> None:
        with database_in_words():
            try:
                {"add": self._add, "list": self._list, "remove": self._remove}[options["act"]](options)
            except GrantError as error:
                raise CommandError(str(error)) from None

    def _add(self, options: dict[str, Any]) -> None:
        to = holder(options["who"], group=options["group"])
        grant = give(
            to,
            Role(options["role"]),
            cluster=options["cluster"],
            namespace=options["namespace"],
            by=Writer(local_person(), "command"),
        )
        self.stdout.write(f"{grant.whose}: {grant.role} {grant.place}")
        if grant.cluster and not Cluster.objects.filter(name=grant.cluster).exists():
            self.stderr.write(f"no cluster is named {grant.cluster} yet; it holds as soon as one is")

    def _list(self, options: dict[str, Any]) -> None:
        rows = all_grants()
        if options["who"] is not None:
            to = holder(options["who"], group=options["group"])
            rows = rows.filter(group=to) if isinstance(to, Group) else rows.filter(user=to)
        found = [
            {
                "user": grant.user.get_username() if grant.user else None,
                "group": grant.group.name if grant.group else None,
                "role": grant.role,
                "cluster": grant.cluster or None,
                "namespace": grant.namespace or None,
                "given_by": grant.created_by,
            }
            for grant in rows
        ]
        if options["output"] == "json":
            self.stdout.write(as_json(found))
        elif found:
            lines = [
                [
                    row["user"],
                    row["group"],
                    row["role"],
                    row["cluster"] or "*",
                    row["namespace"] or "*",
                    row["given_by"],
                ]
                for row in found
            ]
            self.stdout.write(table(["USER", "GROUP", "ROLE", "CLUSTER", "NAMESPACE", "GIVEN BY"], lines))
        else:
            self.stdout.write("no role was given; a superuser needs none")

    def _remove(self, options: dict[str, Any]) -> None:
        to = holder(options["who"], group=options["group"])
        cluster, namespace = checked_place(options["cluster"], options["namespace"])
        place = Grant(cluster=cluster, namespace=namespace).place
        if not take(to, cluster=cluster, namespace=namespace, by=Writer(local_person(), "command")):
            raise CommandError(f"{options['who']} was given no role {place}; `grant list` shows what was given")
        self.stdout.write(f"{options['who']}: nothing {place} any more")


def _add_place(parser: CommandParser) -> None:
    parser.add_argument("who", metavar="NAME", help="a user's name")
    parser.add_argument("--group", action="store_true", help="NAME is a group")
    parser.add_argument("--cluster", default="", metavar="NAME", help="only in this cluster, known here or not")
    parser.add_argument("--namespace", "-n", default="", metavar="NAME", help="only in this namespace")
