"""Who may what, and who sees what."""

from __future__ import annotations

import importlib

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from pytest_django import DjangoAssertNumQueries

from selection.people.granting import GrantError, checked_place, give, grants_within, holder, take
from selection.people.models import Grant, Role
from selection.people.persons import Person
from selection.people.rights import NEEDS, Act, grants_of, may, may_somewhere, rights_key, role_of, sight_of
from selection.people.scopes import Scope
from selection.store.models import Cluster
from selection.store.sight import EVERYTHING, NOTHING
from tests.people.cast import somebody
from tests.people.writers import by

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def clusters() -> dict[str, Cluster]:
    return {name: Cluster.objects.create(name=name) for name in ("east", "west")}


def again(user: User) -> User:
    """The same user as another request has it, which asks for grants anew."""
    return User.objects.get(pk=user.pk)


def of_group(role: Role, **place: str) -> User:
    """A member of a group that has a role."""
    user, group = somebody("grace", None), Group.objects.create(name="platform")
    user.groups.add(group)
    give(group, role, by=by("a test"), **place)
    return user


# What is seen


def test_who_has_no_right_sees_nothing() -> None:
    assert sight_of(somebody("ann", None)) == NOTHING


def test_who_may_see_everything_sees_clusters_that_are_yet_to_come() -> None:
    assert sight_of(somebody("ann")) == EVERYTHING
    assert sight_of(User.objects.create_superuser("root")) == EVERYTHING
    assert sight_of(of_group(Role.REVIEWER)) == EVERYTHING


def test_a_cluster_is_seen_whole_and_no_other(clusters: dict[str, Cluster]) -> None:
    sight = sight_of(somebody("ann", cluster="east"))
    assert sight.whole(clusters["east"].pk)
    assert not sight.sees(clusters["west"].pk)
    assert (sight.sees_named("east", "anything"), sight.sees_named("west")) == (True, False)


def test_namespaces_of_several_grants_add_up(clusters: dict[str, Cluster]) -> None:
    somebody("grace", cluster="east", namespace="ml")
    sight = sight_of(of_group(Role.VIEWER, cluster="east", namespace="apps"))
    assert sight.namespaces(clusters["east"].pk) == frozenset({"ml", "apps"})
    assert sight.sees(clusters["east"].pk), "the cluster itself, with what is in no namespace"
    assert not sight.sees(clusters["east"].pk, "hr")
    assert not sight.sees(clusters["west"].pk)


def test_a_namespace_of_every_cluster(clusters: dict[str, Cluster]) -> None:
    somebody("ann", cluster="west")
    sight = sight_of(somebody("ann", namespace="ml"))
    assert sight.namespaces(clusters["east"].pk) == frozenset({"ml"})
    assert sight.whole(clusters["west"].pk)


def test_a_right_hangs_on_the_clusters_name() -> None:
    ann = somebody("ann", cluster="east")
    Cluster.objects.all().delete()
    assert sight_of(again(ann)) == NOTHING
    new = Cluster.objects.create(name="east")
    assert sight_of(again(ann)).whole(new.pk)


def test_an_account_that_is_kept_out_sees_and_may_nothing() -> None:
    for user in (somebody("ann", Role.ADMIN), User.objects.create_superuser("root")):
        user.is_active = False
        assert sight_of(user) == NOTHING
        assert not any(may(Person(user.username, user), act) for act in Act)
        assert role_of(user) is None
        assert not may_somewhere(Person(user.username, user), Act.SEE)


def test_the_query_for_grants_is_made_once_for_a_user(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    ann = again(somebody("ann", Role.REVIEWER, cluster="east", namespace="ml"))
    person = Person("ann", ann)
    with django_assert_num_queries(2):  # grants, clusters
        sight_of(ann)
        assert may(person, Act.COMMENT, "east", "ml")
        assert not may(person, Act.FORGET_CLUSTER, "east")
        assert rights_key(ann) == (("reviewer", "east", "ml"),)
    assert grants_of(ann) is grants_of(ann)


# What may be done

#: Role and its place, and for each act: everywhere, in the whole of east, in its namespace ml, in another one, in west.
PLACES = (("", ""), ("east", ""), ("east", "ml"), ("east", "hr"), ("west", ""))
SEES = (Act.SEE,)
WRITES = (Act.COMMENT, Act.DECIDE, Act.REVIEW, Act.SIGN)
ADMINISTERS = (Act.DESCRIBE_CLUSTER, Act.ADD_CLUSTER, Act.FORGET_CLUSTER, Act.GRADE, Act.GRANT)
TABLE = [
    # viewer
    (Role.VIEWER, ("", ""), SEES, (1, 1, 1, 1, 1)),
    (Role.VIEWER, ("", ""), WRITES + ADMINISTERS, (0, 0, 0, 0, 0)),
    (Role.VIEWER, ("east", "ml"), SEES, (0, 1, 1, 0, 0)),
    # reviewer
    (Role.REVIEWER, ("", ""), SEES + WRITES, (1, 1, 1, 1, 1)),
    (Role.REVIEWER, ("", ""), ADMINISTERS, (0, 0, 0, 0, 0)),
    (Role.REVIEWER, ("east", ""), WRITES, (0, 1, 1, 1, 0)),
    (Role.REVIEWER, ("east", "ml"), WRITES, (0, 0, 1, 0, 0)),
    (Role.REVIEWER, ("", "ml"), WRITES, (0, 0, 1, 0, 0)),
    # admin
    (Role.ADMIN, ("", ""), SEES + WRITES + ADMINISTERS, (1, 1, 1, 1, 1)),
    (Role.ADMIN, ("east", ""), WRITES + ADMINISTERS, (0, 1, 1, 1, 0)),
    (Role.ADMIN, ("east", "ml"), WRITES + ADMINISTERS, (0, 0, 1, 0, 0)),
]


@pytest.mark.parametrize(("role", "place", "acts", "answers"), TABLE)
def test_a_role_holds_where_it_was_given(
    role: Role, place: tuple[str, str], acts: tuple[Act, ...], answers: tuple[int, ...]
) -> None:
    ann = Person("ann", somebody("ann", role, cluster=place[0], namespace=place[1]))
    for act in acts:
        assert tuple(int(may(ann, act, *where)) for where in PLACES) == answers, act


def test_every_act_needs_a_role_and_a_scope() -> None:
    assert set(NEEDS) == set(Act)
    assert set(SEES + WRITES + ADMINISTERS) == set(Act)


def test_in_local_mode_and_by_command_everything_may_be_done() -> None:
    assert all(may(Person("me"), act) and may_somewhere(Person("me"), act) for act in Act)


@pytest.mark.parametrize(("scope", "acts"), [(Scope.READ, SEES), (Scope.REVIEW, SEES + WRITES), (Scope.ADMIN, Act)])
def test_a_token_may_no_more_than_its_scope(scope: Scope, acts: tuple[Act, ...]) -> None:
    ann = Person("ann", somebody("ann", Role.ADMIN), "nightly", scope)
    assert [act for act in Act if may(ann, act)] == list(acts)
    assert [act for act in Act if may_somewhere(ann, act)] == list(acts)


def test_a_token_may_no_more_than_its_user() -> None:
    ann = Person("ann", somebody("ann", Role.VIEWER), "nightly", Scope.ADMIN)
    assert [act for act in Act if may(ann, act)] == [Act.SEE]


def test_somewhere_is_anywhere() -> None:
    ann = Person("ann", somebody("ann", Role.ADMIN, cluster="east", namespace="ml"))
    assert may_somewhere(ann, Act.GRANT)
    assert not may_somewhere(Person("bob", somebody("bob")), Act.COMMENT)


def test_the_largest_of_several_roles_counts() -> None:
    somebody("ann", Role.VIEWER)
    somebody("ann", Role.ADMIN, cluster="east")
    ann = somebody("ann", Role.REVIEWER, cluster="east", namespace="ml")
    assert role_of(ann, "east", "ml") == Role.ADMIN
    assert role_of(ann, "west", "ml") == Role.VIEWER


def test_who_may_the_same_has_the_same_key() -> None:
    ann, bob = somebody("ann", cluster="east"), somebody("bob", cluster="east")
    assert rights_key(ann) == rights_key(bob) != rights_key(somebody("eve", Role.ADMIN, cluster="east"))
    assert rights_key(User.objects.create_superuser("root")) != rights_key(somebody("max", None))


# Giving and taking


def test_what_is_given_again_in_a_place_becomes_the_new_role() -> None:
    ann = somebody("ann", Role.ADMIN, cluster="east")
    give(ann, Role.VIEWER, cluster=" east ", by=by("root"))
    assert Grant.objects.values_list("role", "created_by").get() == ("viewer", "root")
    assert take(ann, cluster="east", by=by("root"))
    assert not take(ann, cluster="east", by=by("root"))
    assert sight_of(again(ann)) == NOTHING


def test_taking_from_a_user_leaves_the_group_its_own() -> None:
    grace = of_group(Role.VIEWER)
    assert not take(grace, by=by("root"))
    assert sight_of(again(grace)) == EVERYTHING
    assert take(Group.objects.get(name="platform"), by=by("root"))
    assert sight_of(again(grace)) == NOTHING


def test_a_grant_is_to_one_and_once_in_a_place() -> None:
    ann, group = somebody("ann"), Group.objects.create(name="platform")
    at = Grant.objects.get().created_at
    for wrong in ({"user": ann}, {"user": ann, "group": group, "cluster": "east"}, {"cluster": "east"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Grant.objects.create(role="viewer", created_at=at, created_by="a test", **wrong)


def test_it_says_whose_it_is_and_where() -> None:
    of_group(Role.REVIEWER, cluster="east", namespace="ml")
    somebody("ann")
    texts = sorted(map(str, Grant.objects.all()))
    assert texts == ["ann: viewer everywhere", "group platform: reviewer in namespace ml of east"]


@pytest.mark.parametrize(("cluster", "namespace"), [("a//b", ""), ("a\0b", ""), ("", "Has Blanks"), ("", "x" * 64)])
def test_a_place_that_cannot_be_is_refused_in_one_line(cluster: str, namespace: str) -> None:
    with pytest.raises(GrantError) as refused:
        give(somebody("ann", None), Role.VIEWER, cluster=cluster, namespace=namespace, by=by("a test"))
    assert "\n" not in str(refused.value)
    assert not Grant.objects.exists()
    assert checked_place(" east ", " ml ") == ("east", "ml")


@pytest.mark.parametrize("name", ["nobody", "", "ann\0", "a" * 500])
def test_somebody_unknown_is_given_nothing(name: str) -> None:
    somebody("ann")
    for group in (False, True):
        with pytest.raises(GrantError, match="there is no"):
            holder(name, group=group)


def test_an_admin_of_a_cluster_gives_and_takes_there_alone() -> None:
    somebody("bob", cluster="west")
    somebody("bob", cluster="east", namespace="ml")
    somebody("bob", namespace="ml")
    ann = Person("ann", somebody("ann", Role.ADMIN, cluster="east"))
    assert {(grant.whose, grant.cluster) for grant in grants_within(ann)} == {("ann", "east"), ("bob", "east")}
    assert len(grants_within(Person("root", User.objects.create_superuser("root")))) == 4


# The upgrade


def test_the_upgrade_locks_nobody_out() -> None:
    somebody("ann", None)
    User.objects.create_user("stan", is_staff=True)
    User.objects.create_superuser("root")
    somebody("kim", Role.VIEWER, cluster="east")
    migration = importlib.import_module("selection.people.migrations.0003_accounts_that_were_there")
    for _ in range(2):
        migration.give(apps, None)
        found = set(Grant.objects.values_list("user__username", "role", "cluster", "namespace"))
        assert found == {("ann", "viewer", "", ""), ("stan", "admin", "", ""), ("kim", "viewer", "east", "")}
