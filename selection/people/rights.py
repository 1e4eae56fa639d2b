"""Who may what, and who sees what: the one place that pages, the REST interface, exports and commands ask.

A grant gives a role to a user or a group, in a namespace, a cluster or everywhere (:class:`.models.Grant`). Nobody
else's rights are needed to know what somebody sees: grants only add. A superuser is an admin everywhere, and so is
whoever is on the machine in local mode.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from django.contrib.auth.models import User
from django.db.models import Q

from selection.people.models import Grant, Role
from selection.people.persons import Person
from selection.people.scopes import Scope
from selection.store.models import Cluster
from selection.store.sight import EVERYTHING, NOTHING, Place, Sight, seeing

__all__ = [
    "NEEDS",
    "Act",
    "grants_of",
    "may",
    "may_somewhere",
    "rights_key",
    "role_of",
    "sight_of",
]


class Act(StrEnum):
    """What people do here."""

    SEE = "see"
    COMMENT = "comment"
    DECIDE = "decide"
    REVIEW = "review"
    SIGN = "sign"
    DESCRIBE_CLUSTER = "describe-cluster"
    ADD_CLUSTER = "add-cluster"
    FORGET_CLUSTER = "forget-cluster"
    GRANT = "grant"
    GRADE = "grade"


NEEDS: dict[Act, tuple[Role, Scope]] = {
    Act.SEE: (Role.VIEWER, Scope.READ),
    Act.COMMENT: (Role.REVIEWER, Scope.REVIEW),
    Act.DECIDE: (Role.REVIEWER, Scope.REVIEW),
    Act.REVIEW: (Role.REVIEWER, Scope.REVIEW),
    Act.SIGN: (Role.REVIEWER, Scope.REVIEW),
    Act.DESCRIBE_CLUSTER: (Role.ADMIN, Scope.ADMIN),
    Act.ADD_CLUSTER: (Role.ADMIN, Scope.ADMIN),
    Act.FORGET_CLUSTER: (Role.ADMIN, Scope.ADMIN),
    Act.GRANT: (Role.ADMIN, Scope.ADMIN),
    Act.GRADE: (Role.ADMIN, Scope.ADMIN),
}
"""The role that an act needs where it is done, and the scope of a token that does it."""

_GRANTS = "_grants"


def grants_of(user: User) -> Sequence[Grant]:
    """The grants of a user and of their groups. One query, the first time that this object of the user is asked."""
    known: Sequence[Grant] | None = vars(user).get(_GRANTS)
    if known is None:
        rows = Grant.objects.filter(Q(user=user.pk) | Q(group__user=user.pk)).order_by("pk").distinct()
        known = vars(user)[_GRANTS] = tuple(rows)
    return known


def role_of(user: User, cluster: str = "", namespace: str = "") -> Role | None:
    """The largest role of a user in a namespace; with ``""`` in the whole cluster, and with both in all of them."""
    if not user.is_active:
        return None
    if user.is_superuser:
        return Role.ADMIN
    roles = [Role(grant.role) for grant in grants_of(user) if grant.covers(cluster, namespace)]
    return max(roles, key=list(Role).index, default=None)


def may(person: Person, act: Act, cluster: str = "", namespace: str = "") -> bool:
    """Whether a person may do something in a namespace, a whole cluster (no namespace), or everywhere (neither).

    Cluster-scoped objects belong to the cluster: to write about one, a role in some namespaces isn't enough. To see
    them it is, as they are what services are chosen from.
    """
    role, scope = NEEDS[act]
    if person.scope is not None and not person.scope.holds(scope):
        return False
    if person.user is None:
        return True
    if act is Act.SEE and not namespace:
        return _sees_some_of(person.user, cluster)
    found = role_of(person.user, cluster, namespace)
    return found is not None and found.holds(role)


def may_somewhere(person: Person, act: Act) -> bool:
    """Whether there is any place where a person may do it: whether to offer it at all."""
    role, scope = NEEDS[act]
    if person.scope is not None and not person.scope.holds(scope):
        return False
    if person.user is None or (person.user.is_active and person.user.is_superuser):
        return True
    return person.user.is_active and any(Role(grant.role).holds(role) for grant in grants_of(person.user))


def _sees_some_of(user: User, cluster: str) -> bool:
    if not user.is_active:
        return False
    return user.is_superuser or any(grant.cluster in ("", cluster) for grant in grants_of(user))


def sight_of(user: User) -> Sight:
    """What a user sees. One query for who sees everything or nothing, else two, however much there is."""
    if not user.is_active:
        return NOTHING
    if user.is_superuser:
        return EVERYTHING
    grants = grants_of(user)
    if any(not grant.cluster and not grant.namespace for grant in grants):
        return EVERYTHING
    if not grants:
        return NOTHING
    with seeing(EVERYTHING):
        rows = Cluster.objects.order_by("pk").values_list("pk", "name")
        if all(grant.cluster for grant in grants):
            rows = rows.filter(name__in={grant.cluster for grant in grants})
        clusters = list(rows)
    return Sight(tuple(_place(pk, name, grants) for pk, name in clusters))


def _place(pk: int, name: str, grants: Iterable[Grant]) -> Place:
    namespaces = {grant.namespace for grant in grants if grant.cluster in ("", name)}
    return Place(pk, name, None if "" in namespaces else frozenset(namespaces))


def rights_key(user: User) -> tuple[object, ...]:
    """Stands for all that a user may: whoever has the same may do and see the same."""
    if not user.is_active or user.is_superuser:
        return (user.is_active, user.is_superuser)
    return tuple(sorted({(grant.role, grant.cluster, grant.namespace) for grant in grants_of(user)}))
