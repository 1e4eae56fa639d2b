"""The demo fleet, with or without much that a viewer may not see: what the tests of leaks compare.

What is hidden is a copy of every namespace under another name, with services, workloads, runtimes and models
that use and rival what is seen, and a whole cluster. All of it has :data:`MARK` in a name.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

from selection.cluster.files import Documents, SourceObject, listings, read_paths
from selection.cluster.kinds import KINDS
from selection.faces.cli.demo_past import past_of
from selection.faces.management.commands.demo import FLEET, SOURCE
from selection.people.comments import say
from selection.people.freezing import Scope
from selection.people.handlings import Wish, handle_many
from selection.people.reviews import open_review
from selection.people.subjects import object_subject
from selection.rules.objects import ObjectRef
from selection.store.models import Finding, ServiceResult
from selection.store.sync import open_cluster, sync_cluster
from tests.people.writers import by

__all__ = ["MARK", "NAMESPACES", "load_demo", "write_of_hidden"]

MARK = "zq7"
"""No name that is seen has it, and no sentence."""

NAMESPACES = {
    "eu-prod": ("assistants", "creative", "frontier", "retrieval"),
    "us-lab": ("evals", "sandbox"),
}
"""By cluster, the namespaces that the viewer sees: all but OME's own."""

_KINDS = {kind.kind: kind for kind in KINDS}
_OF_SERVICE = "ome.io/inferenceservice"


def load_demo(*, hidden: bool) -> None:
    """Store and judge the demo's clusters edit by edit, with what is hidden from the beginning or without it."""
    for folder in sorted(path for path in FLEET.iterdir() if path.is_dir()):
        now = read_paths([folder])
        states = [*past_of(folder, now), now]
        _load(folder.name, [_with_hidden(folder.name, each) for each in states] if hidden else states)
    if hidden:
        _load(f"{MARK}-dark", [read_paths([FLEET / "us-lab"])])


def _load(name: str, states: list[Documents]) -> None:
    cluster = open_cluster(name, source=SOURCE)
    for state in states:
        sync_cluster(cluster, listings(state))


def write_of_hidden(name: str) -> None:
    """Have people write of what is hidden, to somebody who may not see it: comments, owners, reviews, acts."""
    writer = by(f"{MARK}-writer")
    for cluster, namespace in (("eu-prod", f"{MARK}frontier"), (f"{MARK}-dark", "evals")):
        found = ServiceResult.objects.filter(cluster__name=cluster, namespace=namespace).first()
        assert found is not None
        say(writer, object_subject(cluster, ObjectRef("InferenceService", namespace, found.name)), f"{MARK} @{name}")
        rows = Finding.objects.select_related("cluster").filter(cluster__name=cluster, namespace=namespace)
        handle_many(writer, list(rows[:3]), Wish(owner=name, state="in-progress"), {})
        open_review(writer, f"{MARK} review", Scope(((cluster, namespace),)))
    open_review(writer, f"{MARK} review of all", Scope((("eu-prod", ""),)))


def _with_hidden(cluster: str, state: Documents) -> Documents:
    return replace(state, objects=(*state.objects, *_hidden(NAMESPACES[cluster], state.objects)))


def _hidden(namespaces: tuple[str, ...], objects: tuple[SourceObject, ...]) -> Iterator[SourceObject]:
    for each in objects:
        kind, namespace, name = each.identity
        if namespace in namespaces:
            prefixed = kind not in {"ServingRuntime", "BaseModel"}
            yield _moved(each, f"{MARK}{namespace}", f"{MARK}-{name}" if prefixed else name)
            if not prefixed:
                yield _moved(each, f"{MARK}{namespace}", f"{MARK}-{name}")
        elif kind in {"ClusterBaseModel", "ClusterServingRuntime"}:
            # The namespace's own under the same name, which rival the cluster's.
            yield _moved(each, f"{MARK}{namespaces[-1]}", name, kind.removeprefix("Cluster"))


def _moved(each: SourceObject, namespace: str, name: str, kind: str = "") -> SourceObject:
    manifest: dict[str, Any] = deepcopy(each.manifest)
    metadata = manifest["metadata"]
    metadata |= {"name": name, "namespace": namespace, "uid": f"{namespace}-{each.kind.kind}-{name}"}
    labels = metadata.get("labels", {})
    if _OF_SERVICE in labels:
        labels[_OF_SERVICE] = f"{MARK}-{labels[_OF_SERVICE]}"
    if kind:
        metadata["uid"] += kind
        manifest["kind"] = kind
    return replace(each, manifest=manifest, kind=_KINDS[kind or each.kind.kind])
