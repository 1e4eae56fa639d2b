"""The forms that declare a cluster: how it is reached, where OME is in it, which release line that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms

from selection.cluster.config import contexts, runs_in_cluster
from selection.cluster.errors import ConfigurationError
from selection.cluster.kinds import OME_NAMESPACE
from selection.rules.semantics import VERSIONS
from selection.store.clusters import AUTO
from selection.store.declarations import Declaration, DeclarationError, check_name, check_ome_namespace
from selection.store.models import Cluster

__all__ = ["AddForm", "SettingsForm"]

IN_CLUSTER = "in-cluster"
CONTEXT = "context:"
"""Goes before a context's name, so that none is taken for :data:`IN_CLUSTER`."""

_VERSIONS = [(AUTO, "auto: from OME's own Deployment"), *((each, f"v{each}") for each in sorted(VERSIONS)[::-1])]


def _ways() -> tuple[list[tuple[str, str]], str]:
    """How this server can reach clusters, as choices, and why there are none of its kubeconfig."""
    found = [(IN_CLUSTER, "the cluster that the dashboard runs in")] if runs_in_cluster() else []
    try:
        named = contexts()
    except ConfigurationError as error:
        return found, str(error)
    found += [(f"{CONTEXT}{each.name}", f"{each.name} ({each.server or 'its cluster is missing'})") for each in named]
    return found, "" if named else "it has no context"


class _Form(forms.Form):
    """What both forms ask. ``problem`` says why no context of a kubeconfig is offered."""

    way = forms.ChoiceField(label="Reached by")
    ome_namespace = forms.CharField(
        label="OME's namespace",
        max_length=63,
        initial=OME_NAMESPACE,
        help_text="Where OME is installed in it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    ome_version = forms.ChoiceField(
        label="OME's version", choices=_VERSIONS, initial=AUTO, help_text="By whose rules it is judged."
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.ways, self.problem = _ways()
        self.fields["way"].choices = [("", "choose one"), *self.ways]  # type: ignore[attr-defined]

    def clean_ome_namespace(self) -> str:
        """A namespace as Kubernetes names them."""
        return _checked(check_ome_namespace, self.cleaned_data["ome_namespace"])

    def declaration(self, name: str) -> Declaration:
        """What the form says, once it is valid."""
        way: str = self.cleaned_data["way"]
        context = way.removeprefix(CONTEXT) if way.startswith(CONTEXT) else ""
        return Declaration(
            name, in_cluster=way == IN_CLUSTER, context=context, ome_namespace=self.cleaned_data["ome_namespace"]
        )


class AddForm(_Form):
    """Another cluster."""

    name = forms.CharField(
        required=False,
        max_length=253,
        help_text="What it is called here. Left empty, it is called like its context.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ("way", "name", "ome_namespace", "ome_version")

    def clean(self) -> dict[str, Any]:
        """Find the name, which must be a new one."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        way = values.get("way", "")
        name = values.get("name") or way.removeprefix(CONTEXT)
        if not name or "name" in self.errors:
            return values
        try:
            values["name"] = _checked(check_name, name)
        except forms.ValidationError as error:
            self.add_error("name", error)
            return values
        if Cluster.objects.filter(name=values["name"]).exists():
            self.add_error("name", f"A cluster called {values['name']} is here already; its settings have it followed.")
        return values


class SettingsForm(_Form):
    """A cluster that is here. One that isn't followed may be described without following it."""

    def __init__(self, cluster: Cluster, *args: Any, **options: Any) -> None:
        initial = {
            "way": _way_of(cluster),
            "ome_namespace": cluster.ome_namespace,
            "ome_version": cluster.ome_version if cluster.ome_version_source == cluster.VersionSource.SET else AUTO,
        }
        super().__init__(*args, initial=initial, **options)
        self.cluster = cluster
        choices = [*self.ways]
        known = {value for value, _ in choices}
        if initial["way"] and initial["way"] not in known:
            choices.append((initial["way"], f"{cluster.context or IN_CLUSTER} (this server doesn't know it)"))
        way: Any = self.fields["way"]
        way.choices = choices if cluster.followed else [("", "not followed"), *choices]
        way.required = cluster.followed

    @property
    def follows(self) -> bool:
        """Whether it is to be followed, once the form is valid."""
        return bool(self.cleaned_data["way"])


def _way_of(cluster: Cluster) -> str:
    """How a cluster that is followed is reached, as the form's choice."""
    if not cluster.followed:
        return ""
    return IN_CLUSTER if cluster.access == Cluster.Access.IN_CLUSTER else f"{CONTEXT}{cluster.context}"


def _checked(check: Callable[[str], str], text: str) -> str:
    """What the check makes of a text, or the form's error."""
    try:
        return check(text)
    except DeclarationError as error:
        raise forms.ValidationError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
