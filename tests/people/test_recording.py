"""What administrators do stands in the record too, without any secret, and who sees it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command

from selection.people.clusters import declare_cluster, describe_cluster, forget_cluster, stop_following
from selection.people.grading import grade
from selection.people.granting import give, take
from selection.people.models import ActRecord, Role
from selection.people.rights import sight_of
from selection.people.subjects import parse
from selection.store.declarations import Declaration, DeclarationError
from selection.store.models import Cluster
from selection.store.severities import SeverityError
from selection.store.sight import seeing
from tests.people.cast import somebody
from tests.people.writers import by
from tests.store.builders import model, sync

pytestmark = pytest.mark.django_db

ROOT = by("root")


def acts() -> list[tuple[str, str, object, object]]:
    """What stands in the record, the oldest first."""
    return [(each.act, each.subject, each.before, each.after) for each in ActRecord.objects.order_by("pk")]


def test_roles_that_are_given_changed_and_taken() -> None:
    bob = User.objects.create_user("bob")
    give(bob, Role.VIEWER, cluster="east", namespace="ml", by=ROOT)
    give(bob, Role.VIEWER, cluster="east", namespace="ml", by=by("ada"))
    give(bob, Role.ADMIN, cluster="east", namespace="ml", by=ROOT)
    assert take(bob, cluster="east", namespace="ml", by=ROOT)
    assert not take(bob, cluster="east", namespace="ml", by=ROOT)
    place = {"cluster": "east", "namespace": "ml"}
    assert acts() == [
        ("role-given", "account:bob", None, {"role": "viewer", **place}),
        ("role-given", "account:bob", {"role": "viewer"}, {"role": "admin", **place}),
        ("role-taken", "account:bob", {"role": "admin", **place}, None),
    ]
    assert set(ActRecord.objects.values_list("cluster", "namespace", "actor", "via")) == {
        ("east", "ml", "root", "command")
    }


def test_who_got_a_role_is_seen_by_who_sees_the_place() -> None:
    Cluster.objects.create(name="east")
    ann = somebody("ann", Role.VIEWER, cluster="east", namespace="ml")
    bob, platform = User.objects.create_user("bob"), Group.objects.create(name="platform")
    give(bob, Role.VIEWER, cluster="east", namespace="ml", by=ROOT)
    give(bob, Role.VIEWER, cluster="east", namespace="hr", by=ROOT)
    give(bob, Role.VIEWER, namespace="ml", by=ROOT)
    give(platform, Role.ADMIN, by=ROOT)
    assert ActRecord.objects.filter(subject="group:platform").count() == 1
    with seeing(sight_of(ann)):
        assert list(ActRecord.objects.values_list("subject", "namespace")) == [("account:bob", "ml")]


def test_severities_that_are_set_and_set_back() -> None:
    grade(ROOT, "invalid", "info", reason="a test bed")
    grade(ROOT, "invalid", "info", reason="a test bed")
    grade(ROOT, "invalid", "")
    with pytest.raises(SeverityError):
        grade(ROOT, "invalid", "dreadful")
    said = {"severity": "info", "reason": "a test bed"}
    assert acts() == [("severity-set", "code:invalid", None, said), ("severity-set", "code:invalid", said, None)]


def test_a_cluster_from_declared_to_forgotten() -> None:
    declaration = Declaration("lab", context="admin@lab", ome_namespace="ome", ome_version="auto")
    cluster = declare_cluster(ROOT, declaration, "ome", "auto")
    declare_cluster(ROOT, declaration, "ome", "auto")
    describe_cluster(ROOT, cluster, "ome-system", "1.2")
    assert stop_following(ROOT, Cluster.objects.get())
    forget_cluster(ROOT, Cluster.objects.get())
    assert not Cluster.objects.exists()
    assert acts() == [
        (
            "cluster-declared",
            "cluster:lab",
            None,
            {"followed": True, "context": "admin@lab", "ome_namespace": "ome", "ome_version": "auto"},
        ),
        (
            "cluster-described",
            "cluster:lab",
            {"ome_namespace": "ome", "ome_version": "auto"},
            {"ome_namespace": "ome-system", "ome_version": "1.2"},
        ),
        ("cluster-stopped", "cluster:lab", {"followed": True}, {"followed": False}),
        (
            "cluster-forgotten",
            "cluster:lab",
            {"followed": False, "context": "admin@lab", "ome_namespace": "ome-system", "ome_version": "1.2"},
            None,
        ),
    ]
    assert set(ActRecord.objects.values_list("cluster", "namespace")) == {("lab", "")}


def test_a_declaration_that_is_refused_is_no_act() -> None:
    Cluster.objects.create(
        name="lab", followed=True, declared_by=Cluster.DeclaredBy.FILE, access=Cluster.Access.KUBECONFIG, context="a"
    )
    with pytest.raises(DeclarationError):
        declare_cluster(ROOT, Declaration("lab", context="b"), "ome", "auto")
    assert not ActRecord.objects.exists()


def test_no_path_of_the_server_stands_in_the_record() -> None:
    cluster = Cluster.objects.create(name="lab", kubeconfig="/home/root/.kube/config", context="a")
    forget_cluster(ROOT, cluster)
    assert "kube/config" not in str(acts())


def test_commands_say_so() -> None:
    sync("east", model())
    User.objects.create_user("bob")
    call_command("severities", "invalid", "info", verbosity=0)
    call_command("grant", "add", "bob", "viewer", verbosity=0)
    call_command("grant", "remove", "bob", verbosity=0)
    call_command("forget", "east", verbosity=0)
    assert [each[0] for each in acts()] == ["severity-set", "role-given", "role-taken", "cluster-forgotten"]
    assert set(ActRecord.objects.values_list("via", flat=True)) == {"command"}


@pytest.mark.parametrize("text", ["group:platform", "cluster:arn:aws/prod", "code:invalid", "account:ada@example.com"])
def test_their_subjects_are_read_as_they_are_written(text: str) -> None:
    assert parse(text).text == text
