"""Giving roles, and taking them back: what the command and the page do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.contrib.auth.models import Group, User
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from selection.people.models import Grant, Role
from selection.people.persons import Person
from selection.people.rights import Act, may
from selection.people.subjects import Subject, account_subject, group_subject
from selection.people.writing import Writer, note, writing
from selection.store.declarations import DeclarationError, check_name, check_ome_namespace

__all__ = ["GrantError", "all_grants", "checked_place", "give", "grants_within", "holder", "take"]


class GrantError(ValueError):
    """A role can't be given like that; the message says why, in one line."""


def holder(name: str, *, group: bool = False) -> User | Group:
    """The user of this name, or the group.

    Raises:
        GrantError: there is none.
    """
    name = name.strip()
    kind = "group" if group else "user"
    rows = Group.objects.filter(name=name) if group else User.objects.filter(username=name)
    found = rows.first() if "\0" not in name else None
    if found is None:
        raise GrantError(f"there is no {kind} {name!r}")
    return found


def checked_place(cluster: str, namespace: str) -> tuple[str, str]:
    """A place as a grant names it, ``""`` for every cluster and every namespace; it need not be known here yet.

    Raises:
        GrantError: a cluster or a namespace can't be named like that.
    """
    try:
        cluster = check_name(cluster) if cluster.strip() else ""
        return cluster, check_ome_namespace(namespace.strip()) if namespace.strip() else ""
    except DeclarationError as error:
        raise GrantError(str(error)) from None


def give(to: User | Group, role: Role, *, cluster: str = "", namespace: str = "", by: Writer) -> Grant:
    """Give a role in a place; one that was given there before becomes this one.

    Args:
        to: who gets it.
        role: what they are from now on, there.
        cluster: its name, ``""`` for every cluster.
        namespace: its name, ``""`` for every namespace.
        by: whoever gives it. Whether they may is for the caller to ask (:func:`grants_within`).

    Raises:
        GrantError: the place can't be named like that.
    """
    cluster, namespace = checked_place(cluster, namespace)
    with writing():
        there = (
            Grant.objects.select_for_update().order_by().filter(_of(to), cluster=cluster, namespace=namespace).first()
        )
        before = there.role if there else ""
        grant, _ = Grant.objects.update_or_create(
            user=to if isinstance(to, User) else None,
            group=to if isinstance(to, Group) else None,
            cluster=cluster,
            namespace=namespace,
            defaults={"role": role, "created_at": timezone.now(), "created_by": by.person.name},
        )
        if role != before:
            note(by, "role-given", _subject(to, grant), {"role": before} if before else None, _told(grant))
    return grant


def take(to: User | Group, *, cluster: str = "", namespace: str = "", by: Writer) -> bool:
    """Take back what was given in a place, and say whether anything was. What other places and groups give stays."""
    with writing():
        rows = Grant.objects.select_for_update().order_by().filter(_of(to), cluster=cluster, namespace=namespace)
        taken = list(rows)
        for grant in taken:
            grant.delete()
            note(by, "role-taken", _subject(to, grant), _told(grant), None)
    return bool(taken)


def _of(to: User | Group) -> Q:
    return Q(user=to) if isinstance(to, User) else Q(group=to)


def _subject(to: User | Group, grant: Grant) -> Subject:
    """Whose role it is, where it holds: so who sees the place sees who got a role there."""
    found = account_subject(to.get_username()) if isinstance(to, User) else group_subject(to.name)
    return replace(found, cluster=grant.cluster, namespace=grant.namespace)


def _told(grant: Grant) -> dict[str, str]:
    return {"role": grant.role, "cluster": grant.cluster, "namespace": grant.namespace}


def all_grants() -> QuerySet[Grant]:
    """Every grant with whose it is: those of users by name, then those of groups. One query."""
    users_first = F("user__username").asc(nulls_last=True)
    return Grant.objects.select_related("user", "group").order_by(users_first, "group__name", "cluster", "namespace")


def grants_within(person: Person) -> Sequence[Grant]:
    """The grants that a person may give and take: those of the places where they are an admin. Two queries."""
    return [grant for grant in all_grants() if may(person, Act.GRANT, grant.cluster, grant.namespace)]
