"""Declaring clusters on pages: have one followed, say what OME it runs, stop following it, forget it.

Who may: in local mode whoever is on this machine; on a server an admin of the cluster, and to add one an admin of all
of them. A page names contexts of the server's own kubeconfig, never a file. What the file or the environment declares
is shown here, and changed there.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from selection.faces.declaring import AddForm, SettingsForm
from selection.faces.pages.errors import missing_object
from selection.people import clusters as kept
from selection.people.persons import person_of
from selection.people.rights import Act, may
from selection.people.writing import Writer
from selection.store.clusters import stored_of
from selection.store.declarations import DeclarationError
from selection.store.lookup import find_cluster
from selection.store.models import Cluster

__all__ = ["add_cluster", "cluster_settings", "forget_cluster", "may_declare"]

BY_PAGE = Cluster.DeclaredBy.PAGE


def may_declare(request: HttpRequest, cluster: str = "") -> bool:
    """Whether this person may have another cluster followed, or describe and forget one that is known here."""
    return may(person_of(request), Act.DESCRIBE_CLUSTER if cluster else Act.ADD_CLUSTER, cluster)


def _only_who_may(request: HttpRequest, cluster: str = "") -> None:
    if not may_declare(request, cluster):
        raise PermissionDenied


@require_http_methods(["GET", "HEAD", "POST"])
def add_cluster(request: HttpRequest) -> HttpResponse:
    """The page that has another cluster followed, ``/clusters/add/``."""
    _only_who_may(request)
    form = AddForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and (cluster := _declared(request, form, form.cleaned_data["name"])) is not None:
        messages.success(request, f"{cluster.name} is to be followed from now on.", extra_tags="good")
        return redirect("clusters")
    return render(request, "clusters/add.html", {"form": form})


@require_http_methods(["GET", "HEAD", "POST"])
def cluster_settings(request: HttpRequest, cluster: str) -> HttpResponse:
    """The page of one cluster's settings, ``/clusters/<name>/settings/``: change them, follow it, stop following it."""
    found = find_cluster(cluster)
    if found is None:
        return missing_object(request, cluster, "cluster", "", cluster)
    _only_who_may(request, cluster)
    if request.method != "POST":
        return _settings_page(request, found, SettingsForm(found))
    if not _changed_here(found):
        messages.error(
            request, f"{found.name} isn't declared on this page, so it isn't changed here.", extra_tags="bad"
        )
        return redirect("cluster-settings", found.name)
    if request.POST.get("do") == "stop":
        if kept.stop_following(_by(request), found):
            told = f"{found.name} isn't followed any more. What was read of it stays."
            messages.success(request, told, extra_tags="good")
        return redirect("cluster-settings", found.name)
    form = SettingsForm(found, request.POST)
    if form.is_valid() and _saved(request, form, found):
        return redirect("clusters")
    return _settings_page(request, found, form)


@require_http_methods(["GET", "HEAD", "POST"])
def forget_cluster(request: HttpRequest, cluster: str) -> HttpResponse:
    """The page that asks whether a cluster is to be forgotten, ``/clusters/<name>/forget/``, and does it."""
    found = find_cluster(cluster)
    if found is None:
        return missing_object(request, cluster, "cluster", "", cluster)
    _only_who_may(request, cluster)
    allowed = _changed_here(found)
    if request.method == "POST" and allowed:
        kept.forget_cluster(_by(request), found)
        messages.success(request, f"{found.name} is forgotten.", extra_tags="good")
        return redirect("clusters")
    values = {"cluster": found, "changed_here": allowed, "stored": stored_of(found)}
    return render(request, "clusters/forget.html", values, status=409 if request.method == "POST" else 200)


def _changed_here(cluster: Cluster) -> bool:
    """Whether the pages have the say over a cluster: nobody else declares it."""
    return not cluster.followed or cluster.declared_by == BY_PAGE


def _settings_page(request: HttpRequest, cluster: Cluster, form: SettingsForm) -> HttpResponse:
    values: dict[str, Any] = {"cluster": cluster, "form": form, "changed_here": _changed_here(cluster)}
    return render(request, "clusters/settings.html", values)


def _saved(request: HttpRequest, form: SettingsForm, cluster: Cluster) -> bool:
    if form.follows:
        if _declared(request, form, cluster.name) is None:
            return False
        told = "is saved" if cluster.followed else "is to be followed from now on"
    else:
        given = form.cleaned_data
        kept.describe_cluster(_by(request), cluster, given["ome_namespace"], given["ome_version"])
        told = "is saved"
    messages.success(request, f"{cluster.name} {told}.", extra_tags="good")
    return True


def _by(request: HttpRequest) -> Writer:
    return Writer(person_of(request), "page")


def _declared(request: HttpRequest, form: AddForm | SettingsForm, name: str) -> Cluster | None:
    """The cluster, declared as the form says; None when it may not be, which the form then tells."""
    given = form.cleaned_data
    try:
        return kept.declare_cluster(_by(request), form.declaration(name), given["ome_namespace"], given["ome_version"])
    except DeclarationError as error:
        form.add_error(None, f"{error}.")
        return None
