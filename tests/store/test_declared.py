"""Clusters are followed as they are declared, and no longer."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.checks import Error
from django.utils import timezone
from pytest_django import Settings

from ome_dashboard.checks import check_clusters
from selection.store.declarations import Declaration, DeclarationError
from selection.store.declared import declare, declare_settings, forget_commands, to_follow, undeclare
from selection.store.models import Cluster

from .builders import model, rows, sync

pytestmark = pytest.mark.django_db

BY = Cluster.DeclaredBy
PROD = Declaration("prod", context="admin@prod")


def following() -> dict[str, str]:
    return dict(Cluster.objects.filter(followed=True).values_list("name", "declared_by"))


@pytest.fixture
def file(settings: Settings, tmp_path: Path) -> Path:
    path = tmp_path / "clusters.yaml"
    settings.CLUSTERS, settings.CLUSTERS_FILE = "", str(path)
    return path


def test_a_declared_cluster_is_followed() -> None:
    cluster = declare(Declaration("lab", True, "", "", "ome-system", "1.2"), BY.PAGE)
    cluster.refresh_from_db()
    assert (cluster.access, cluster.followed, cluster.declared_by) == ("in-cluster", True, "page")
    assert (cluster.ome_namespace, cluster.ome_version, cluster.ome_version_source) == ("ome-system", "1.2", "set")
    assert to_follow() == [cluster]


def test_declaring_again_changes_nothing() -> None:
    declare(Declaration("prod", context="a", ome_namespace="ome", ome_version="1.2"), BY.FILE)
    before = Cluster.objects.values().get()
    declare(Declaration("prod", context="a", ome_namespace="ome", ome_version="1.2"), BY.FILE)
    assert Cluster.objects.values().get() == before


def test_what_a_declaration_leaves_out_stays() -> None:
    sync("prod", model(), ome_version="1.2", ome_namespace="ome-system")
    cluster = declare(PROD, BY.PAGE)
    assert (cluster.ome_namespace, cluster.ome_version, cluster.ome_version_source) == ("ome-system", "1.2", "set")
    assert cluster.objects_read.count() == 1
    cluster = declare(Declaration("prod", context="admin@prod", ome_version="auto"), BY.PAGE)
    assert cluster.ome_version_source == "default"


def test_one_that_is_undeclared_keeps_its_data() -> None:
    cluster, _ = sync("prod", model())
    declare(PROD, BY.PAGE)
    before = rows(cluster)
    assert undeclare("prod")
    assert not undeclare("prod")
    assert (following(), to_follow()) == ({}, [])
    assert rows(cluster) == before


def test_a_page_names_no_kubeconfig() -> None:
    with pytest.raises(DeclarationError, match="only contexts of the server's own"):
        declare(Declaration("prod", context="a", kubeconfig="/etc/shadow"), BY.PAGE)
    assert not Cluster.objects.exists()


@pytest.mark.parametrize(("first", "second"), [(BY.FILE, BY.PAGE), (BY.FILE, BY.ENVIRONMENT), (BY.PAGE, BY.COMMAND)])
def test_whose_word_counts_more_keeps_the_cluster(first: str, second: str) -> None:
    declare(PROD, first)
    with pytest.raises(DeclarationError, match="prod is declared already"):
        declare(Declaration("prod", context="other"), second)
    declare(PROD, second)  # the same is no contradiction
    cluster = Cluster.objects.get()
    assert (cluster.context, cluster.declared_by) == ("admin@prod", first)


def test_a_file_takes_over_what_a_page_declared() -> None:
    declare(PROD, BY.PAGE)
    cluster = declare(Declaration("prod", context="other"), BY.FILE)
    assert (cluster.context, cluster.declared_by) == ("other", "file")


def test_what_a_command_declares_is_its_own() -> None:
    declare(PROD, BY.COMMAND)
    assert to_follow() == []
    assert [each.name for each in to_follow({"prod"})] == ["prod"]


def test_what_a_command_declared_is_over_when_its_process_is_gone() -> None:
    for name, silent in (("alive", 5), ("dead", 60)):
        declare(Declaration(name, context=name), BY.COMMAND)
        Cluster.objects.filter(name=name).update(heartbeat_at=timezone.now() - timedelta(seconds=silent))
    declare(Declaration("never-claimed", context="x"), BY.COMMAND)
    declare(PROD, BY.PAGE)
    forget_commands()
    assert following() == {"alive": "command", "prod": "page"}


def test_what_vanishes_from_the_file_is_followed_no_more(file: Path) -> None:
    declare(Declaration("of-the-page", context="x"), BY.PAGE)
    file.write_text("- {name: east, context: east}\n- {name: west, context: west}\n")
    assert declare_settings() == []
    assert following() == {"of-the-page": "page", "east": "file", "west": "file"}
    file.write_text("- {name: east, context: east}\n")
    assert declare_settings() == []
    assert following() == {"of-the-page": "page", "east": "file"}
    assert Cluster.objects.filter(name="west").exists()
    file.write_text("")
    declare_settings()
    assert following() == {"of-the-page": "page"}


def test_a_wrong_file_is_not_used_at_all_and_what_it_said_before_holds(file: Path, settings: Settings) -> None:
    settings.CLUSTERS = "lab=in-cluster"
    file.write_text("- {name: east, context: east}\n- {name: west, context: west}\n")
    declare_settings()
    file.write_text("- {name: east, context: other}\n- {name: new, context: new}\n- {name: broken}\n")
    [problem] = declare_settings()
    assert problem.startswith(f"{file}:3: a cluster needs either a context")
    assert following() == {"east": "file", "west": "file", "lab": "environment"}
    assert Cluster.objects.get(name="east").context == "east"
    file.unlink()
    [problem] = declare_settings()
    assert "can't be read" in problem
    assert following() == {"east": "file", "west": "file", "lab": "environment"}


def test_settings_that_are_not_there_say_nothing(settings: Settings) -> None:
    declare(PROD, BY.FILE)
    settings.CLUSTERS = settings.CLUSTERS_FILE = ""
    assert declare_settings() == []
    assert following() == {"prod": "file"}


def test_a_name_in_the_file_and_in_the_environment_is_the_files(file: Path, settings: Settings) -> None:
    settings.CLUSTERS = "east=other,lab=lab"
    file.write_text("- {name: east, context: east}\n")
    for _ in range(2):
        problems = declare_settings()
        assert problems == ["OME_DASHBOARD_CLUSTERS: east is declared already, by the file, and otherwise"]
        assert following() == {"east": "file", "lab": "environment"}
    file.write_text("")
    assert declare_settings() == []
    assert following() == {"east": "environment", "lab": "environment"}


def test_the_checks_tell_what_is_wrong(file: Path, settings: Settings) -> None:
    file.write_text("- name: east\n")
    settings.CLUSTERS = "prod="
    found = check_clusters(None)
    assert [(type(each), each.id) for each in found] == [(Error, "ome_dashboard.E007"), (Error, "ome_dashboard.E008")]
    assert "OME_DASHBOARD_CLUSTERS: entry 1:" in found[0].msg
    assert f"OME_DASHBOARD_CLUSTERS_FILE: {file}:1:" in found[1].msg
    file.write_text("")
    settings.CLUSTERS = ""
    assert check_clusters(None) == []
