"""Declaring clusters on pages: who may, what is asked, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from selection.people.models import Role
from selection.store.models import Change, Cluster, ObjectChange, ServiceResult, StoredObject
from tests.faces.clusters import text_of
from tests.faces.history import edited, felt
from tests.faces.small_fleet import HOSTILE, load
from tests.people.cast import somebody

pytestmark = pytest.mark.django_db

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: lab
contexts:
- {name: admin@prod, context: {cluster: prod, user: admin}}
- {name: lab, context: {cluster: lab, user: admin}}
clusters:
- {name: prod, cluster: {server: "https://someone:secret-word@prod.example:6443"}}
- {name: lab, cluster: {server: "https://lab.example:6443"}}
users:
- {name: admin, user: {token: secret-token}}
"""
ADD = "/clusters/add/"
RIGHT = {"way": "context:admin@prod", "name": "prod", "ome_namespace": "ome", "ome_version": "auto"}


@pytest.fixture(autouse=True)
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    monkeypatch.setenv("KUBECONFIG", str(path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    return path


def prod(**fields: Any) -> Cluster:
    """A cluster that the page declared."""
    declared = {"access": "kubeconfig", "context": "admin@prod", "declared_by": "page", "followed": True}
    return Cluster.objects.create(name="prod", **{**declared, **fields})


# Who may


def _anonymous(client: Client) -> Client:
    return client


def _user(client: Client) -> Client:
    client.force_login(somebody("alice"))
    return client


def _admin(client: Client) -> Client:
    client.force_login(somebody("bob", Role.ADMIN))
    return client


PATHS = (ADD, "/clusters/prod/settings/", "/clusters/prod/forget/")
As = Callable[[Client], Client]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("role", "status"), [(_anonymous, 302), (_user, 403), (_admin, 200)])
def test_on_a_server_only_an_admin_sees_the_pages(
    client: Client, server_mode: Settings, path: str, role: As, status: int
) -> None:
    prod()
    assert role(client).get(path).status_code == status


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("role", "status"), [(_anonymous, 302), (_user, 403)])
def test_on_a_server_nobody_else_changes_anything(
    client: Client, server_mode: Settings, path: str, role: As, status: int
) -> None:
    prod()
    for data in (RIGHT, {"do": "stop"}, {**RIGHT, "name": "other", "ome_version": "1.2"}):
        response = role(client).post(path, data) if role is _anonymous else _again(client, role).post(path, data)
        assert response.status_code == status
    now = Cluster.objects.get()
    assert (now.name, now.followed, now.ome_version) == ("prod", True, "1.3")


def _again(client: Client, role: As) -> Client:
    User.objects.all().delete()
    return role(client)


@pytest.mark.parametrize(("role", "sees"), [(_user, False), (_admin, True)])
def test_only_who_may_sees_the_buttons(client: Client, server_mode: Settings, role: As, sees: bool) -> None:
    load()
    page = role(client).get("/clusters/").content.decode()
    assert ('href="/clusters/add/"' in page) is sees
    assert ('href="/clusters/lab/settings/"' in page) is sees


def test_in_local_mode_everybody_may(client: Client) -> None:
    load()
    page = client.get("/clusters/").content.decode()
    assert 'href="/clusters/add/"' in page
    assert 'href="/clusters/lab/settings/"' in page
    assert client.post(ADD, RIGHT).status_code == 302


@pytest.mark.parametrize("path", PATHS)
def test_a_form_of_another_site_is_refused(path: str) -> None:
    prod()
    assert Client(enforce_csrf_checks=True).post(path, {**RIGHT, "do": "stop"}).status_code == 403
    assert Cluster.objects.get().followed


# Adding


def test_it_offers_the_contexts_of_the_servers_kubeconfig_without_secrets(client: Client) -> None:
    page = client.get(ADD).content.decode()
    assert "admin@prod (https://prod.example:6443)" in page
    assert "lab (https://lab.example:6443)" in page
    assert "secret" not in page
    assert 'value="in-cluster"' not in page
    assert 'type="file"' not in page


def test_a_cluster_is_declared_with_what_was_said(client: Client) -> None:
    response = client.post(ADD, {**RIGHT, "ome_namespace": "ome-system", "ome_version": "1.2"}, follow=True)
    now = Cluster.objects.get()
    assert (now.name, now.access, now.context, now.kubeconfig) == ("prod", "kubeconfig", "admin@prod", "")
    assert (now.declared_by, now.followed, now.ome_namespace) == ("page", True, "ome-system")
    assert (now.ome_version, now.ome_version_source) == ("1.2", "set")
    assert "prod is to be followed from now on." in text_of(response)


def test_without_a_name_it_is_called_like_its_context(client: Client) -> None:
    client.post(ADD, {**RIGHT, "name": "  "})
    assert Cluster.objects.get().name == "admin@prod"


def test_in_a_pod_the_own_cluster_is_offered(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selection.faces.declaring.runs_in_cluster", lambda: True)
    assert "the cluster that the dashboard runs in" in text_of(client.get(ADD))
    client.post(ADD, {**RIGHT, "way": "in-cluster", "name": ""})
    now = Cluster.objects.get()
    assert (now.name, now.access, now.context) == ("in-cluster", "in-cluster", "")


@pytest.mark.parametrize(
    ("wrong", "field", "words"),
    [
        ({"way": ""}, "way", "This field is required."),
        ({"way": "context:elsewhere"}, "way", "Select a valid choice."),
        ({"way": "/etc/kubeconfig"}, "way", "Select a valid choice."),
        ({"way": "in-cluster"}, "way", "Select a valid choice."),
        ({"name": "x" * 254}, "name", "at most 253 characters"),
        ({"name": "a\tb"}, "name", "A cluster's name is 1 to 253 printable characters."),
        ({"name": "lab"}, "name", "A cluster called lab is here already"),
        ({"ome_namespace": "OME!"}, "ome_namespace", "A namespace is at most 63 small letters"),
        ({"ome_namespace": ""}, "ome_namespace", "This field is required."),
        ({"ome_version": "2.0"}, "ome_version", "Select a valid choice."),
    ],
)
def test_what_is_wrong_is_said_at_its_field(client: Client, wrong: dict[str, str], field: str, words: str) -> None:
    load()
    response = client.post(ADD, {**RIGHT, **wrong})
    assert response.status_code == 200
    assert words in text_of(response)
    page = response.content.decode()
    assert f'id="id_{field}_error"' in page
    assert page.count("_error") == 2, "the field is described by its error, and no other has one"
    assert list(Cluster.objects.values_list("name", flat=True)) == ["lab"]


def test_what_was_typed_is_shown_again_and_nothing_in_it_runs(client: Client) -> None:
    page = client.post(ADD, {**RIGHT, "name": HOSTILE, "ome_namespace": "OME"}).content.decode()
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page


def test_a_path_from_the_web_is_never_read(client: Client) -> None:
    client.post(ADD, {**RIGHT, "kubeconfig": "/etc/passwd"})
    assert Cluster.objects.get().kubeconfig == ""


def test_without_a_kubeconfig_it_says_why_nothing_is_offered(client: Client, kubeconfig: Path) -> None:
    kubeconfig.write_text("contexts: 3")
    text = text_of(client.get(ADD))
    assert "This server knows no cluster" in text
    assert str(kubeconfig) in text
    assert client.post(ADD, RIGHT).status_code == 200
    assert not Cluster.objects.exists()


# Settings


def test_settings_are_changed(client: Client) -> None:
    prod()
    data = {"way": "context:lab", "ome_namespace": "elsewhere", "ome_version": "1.2", "do": "save"}
    response = client.post("/clusters/prod/settings/", data, follow=True)
    now = Cluster.objects.get()
    assert (now.context, now.ome_namespace, now.ome_version) == ("lab", "elsewhere", "1.2")
    assert now.followed
    assert "prod is saved." in text_of(response)


def test_wrong_settings_are_marked_and_not_saved(client: Client) -> None:
    prod()
    data = {"way": "context:lab", "ome_namespace": "-", "ome_version": "1.2"}
    assert "A namespace is at most" in text_of(client.post("/clusters/prod/settings/", data))
    assert Cluster.objects.get().ome_version == "1.3"


def test_it_is_followed_no_more_and_again(client: Client) -> None:
    load(name="prod")
    Cluster.objects.update(access="kubeconfig", context="admin@prod", declared_by="page", followed=True)
    response = client.post("/clusters/prod/settings/", {"do": "stop"}, follow=True)
    assert "prod isn't followed any more. What was read of it stays." in text_of(response)
    assert not Cluster.objects.get().followed
    assert StoredObject.objects.exists()
    data = {"way": "context:admin@prod", "ome_namespace": "ome", "ome_version": "auto"}
    response = client.post("/clusters/prod/settings/", data, follow=True)
    assert "prod is to be followed from now on." in text_of(response)
    assert Cluster.objects.get().followed


def test_what_was_read_from_files_is_judged_by_another_release_at_once(client: Client) -> None:
    load()
    before = set(ServiceResult.objects.values_list("name", "outcome"))
    data = {"way": "", "ome_namespace": "ome", "ome_version": "1.2"}
    assert client.post("/clusters/lab/settings/", data).status_code == 302
    now = Cluster.objects.get()
    assert (now.followed, now.ome_version, now.ome_version_source) == (False, "1.2", "set")
    assert now.evaluated_generation == now.generation
    assert set(ServiceResult.objects.values_list("name", "outcome")) != before
    client.post("/clusters/lab/settings/", {**data, "ome_version": "auto"})
    assert set(ServiceResult.objects.values_list("name", "outcome")) == before
    assert Cluster.objects.get().ome_version_source == "default"


def test_a_cluster_that_is_followed_is_judged_by_who_follows_it(client: Client) -> None:
    load(name="prod")
    Cluster.objects.update(
        access="kubeconfig", context="lab", declared_by="page", followed=True, heartbeat_at=timezone.now()
    )
    client.post("/clusters/prod/settings/", {"way": "context:lab", "ome_namespace": "ome", "ome_version": "1.2"})
    now = Cluster.objects.get()
    assert now.generation > now.evaluated_generation


def test_a_context_that_is_gone_is_kept_and_said_to_be(client: Client) -> None:
    prod(context="old")
    assert "old (this server doesn't know it)" in text_of(client.get("/clusters/prod/settings/"))
    client.post("/clusters/prod/settings/", {"way": "context:old", "ome_namespace": "ns", "ome_version": "auto"})
    now = Cluster.objects.get()
    assert (now.context, now.ome_namespace) == ("old", "ns")


ELSEWHERE = [
    ("file", "in the file that OME_DASHBOARD_CLUSTERS_FILE names"),
    ("environment", "in OME_DASHBOARD_CLUSTERS, and start the processes again"),
    ("command", "Stop that, and change it there or here."),
]


@pytest.mark.parametrize(("by", "words"), ELSEWHERE)
def test_what_others_declare_is_shown_and_not_changed(client: Client, by: str, words: str) -> None:
    prod(declared_by=by)
    page = client.get("/clusters/prod/settings/")
    assert words in text_of(page)
    assert b"<form class" not in page.content
    for data in ({"do": "stop"}, {**RIGHT, "ome_version": "1.2"}):
        response = client.post("/clusters/prod/settings/", data, follow=True)
        assert "isn't declared on this page" in text_of(response)
    refused = client.post("/clusters/prod/forget/")
    assert refused.status_code == 409
    assert words in text_of(refused)
    now = Cluster.objects.get()
    assert (now.followed, now.declared_by, now.ome_version) == (True, by, "1.3")


def test_another_source_that_declares_it_meanwhile_wins(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    prod(followed=False, declared_by="")
    monkeypatch.setattr("selection.faces.pages.declare._changed_here", lambda cluster: True)
    Cluster.objects.update(followed=True, declared_by="file")
    data = {"way": "context:lab", "ome_namespace": "ome", "ome_version": "auto"}
    response = client.post("/clusters/prod/settings/", data)
    assert "Prod is declared already, by the file, and otherwise." in text_of(response)
    assert Cluster.objects.get().context == "admin@prod"


# Forgetting


def test_it_says_what_is_lost_and_asks(client: Client) -> None:
    cluster = load()
    felt(cluster, "chat", "outcome", "named", "invalid", cause=edited(cluster, "ClusterBaseModel", "llama-7b"))
    text = text_of(client.get("/clusters/lab/forget/"))
    assert f"{StoredObject.objects.count()} objects that were read" in text
    assert f"{ServiceResult.objects.count()} services" in text
    assert "1 change, with the objects that caused it. Nothing brings that back." in text
    assert Cluster.objects.exists()


def test_it_is_forgotten_with_all_that_is_known_of_it(client: Client) -> None:
    cluster = load(name="prod")
    load(name="other")
    felt(cluster, "chat", "outcome", "named", "invalid", cause=edited(cluster, "ClusterBaseModel", "llama-7b"))
    Cluster.objects.filter(name="prod").update(access="kubeconfig", declared_by="page", followed=True)
    response = client.post("/clusters/prod/forget/", follow=True)
    assert "prod is forgotten." in text_of(response)
    assert [each.name for each in Cluster.objects.all()] == ["other"]
    assert not Change.objects.exists()
    assert not ObjectChange.objects.exists()


@pytest.mark.parametrize("path", ["/clusters/nowhere/settings/", "/clusters/nowhere/forget/"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_cluster_that_is_not_known_is_a_404(client: Client, path: str, method: str) -> None:
    response = getattr(client, method)(path)
    assert response.status_code == 404
    assert "No cluster is named nowhere." in text_of(response)


def test_a_name_with_slashes_has_its_pages(client: Client) -> None:
    Cluster.objects.create(name="arn:aws:eks:x:1:cluster/prod")
    assert client.get("/clusters/arn:aws:eks:x:1:cluster/prod/settings/").status_code == 200
    assert client.post("/clusters/arn:aws:eks:x:1:cluster/prod/forget/").status_code == 302
    assert not Cluster.objects.exists()


@pytest.mark.parametrize("path", PATHS)
def test_other_methods_are_refused(client: Client, path: str) -> None:
    prod()
    assert client.delete(path).status_code == 405


def test_a_silent_process_counts_as_none(client: Client) -> None:
    load(name="prod")
    long_ago = timezone.now() - timedelta(minutes=5)
    Cluster.objects.update(heartbeat_at=long_ago)
    client.post("/clusters/prod/settings/", {"way": "", "ome_namespace": "ome", "ome_version": "1.2"})
    now = Cluster.objects.get()
    assert now.generation == now.evaluated_generation
