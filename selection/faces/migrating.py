"""What a migration plan is made from, and the copy of a runtime as YAML and as a diff.

Nothing is decided here: the rules plan. Pages, the API and ``manage.py migrate-plan`` ask here, so that they show
the same. Follows OME: move from LeaderWorkerSet to OMENative.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from selection.cluster.documents import decode
from selection.cluster.errors import SourceError
from selection.cluster.files import read_paths
from selection.cluster.yamlround import document_value, edited_text, find_document
from selection.cluster.yamltext import DocumentError
from selection.faces.cli.output import as_yaml
from selection.rules.explain import explain_service
from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet
from selection.rules.migration_order import FleetOrder, order_fleet
from selection.rules.objects import ObjectRef, Runtime
from selection.rules.parent_copies import ParentCopy, bare_manifest, parent_copy
from selection.rules.planning import plan_services, services_on_the_way
from selection.rules.runtime_copy import RuntimeCopy, copy_edits, plan_copy
from selection.rules.service_plan import ServicePlan
from selection.store.redaction import PLACEHOLDER

__all__ = ["copy_diff", "copy_text", "fleet_order", "manifest_yaml", "runtime_copy", "service_plans", "source_text"]

Manifests = Callable[[Sequence[ObjectRef]], Mapping[ObjectRef, Mapping[str, Any]]]
"""Gives the manifests of objects, without those that aren't there."""

Waiting = Callable[[Sequence[ObjectRef]], Mapping[ObjectRef, int]]
"""Tells how many services have to leave each of some runtimes."""

_AT_ONCE = 200
"""So many objects are asked for in one query; SQLite takes no longer conditions."""


def service_plans(
    fleet: Fleet, manifests: Manifests, services: Sequence[ObjectRef], *, waiting: Waiting | None = None
) -> tuple[ServicePlan, ...]:
    """The plans of services, in the order given.

    Args:
        fleet: the cluster.
        manifests: gives manifests.
        services: the services.
        waiting: tells how many services have to leave each of some runtimes; without it they are counted.

    Raises:
        LookupError: the fleet has no such service.
    """
    wanted: dict[ObjectRef, None] = {}
    for ref in services:
        explanation = explain_service(fleet, ref.namespace, ref.name, brief=True)
        wanted |= {ref: None, **({explanation.selected.ref: None} if explanation.selected else {})}
        wanted |= dict.fromkeys(_classes(explanation))
        wanted |= {workload.ref: None for modes in explanation.modes.values() for workload in modes.workloads}
    refs = list(wanted)
    found: dict[ObjectRef, Mapping[str, Any]] = {}
    for start in range(0, len(refs), _AT_ONCE):
        found |= manifests(refs[start : start + _AT_ONCE])
    return plan_services(fleet, services, found, placeholder=PLACEHOLDER, waiting=waiting)


def _classes(explanation: Explanation) -> Iterator[ObjectRef]:
    """The accelerator classes that the service's pods may get: with a runtime that lists none, none."""
    service, runtime = explanation.service, explanation.selected
    if service is None or runtime is None or not runtime.accelerator_classes:
        return
    names = [service.accelerator_class, *(each.accelerator_class for each in service.components.values())]
    yield from (ObjectRef("AcceleratorClass", "", name) for name in (*names, runtime.accelerator_classes[0]) if name)


def fleet_order(fleet: Fleet, manifests: Manifests) -> FleetOrder:
    """The plans of every service that is on the way, in order."""
    return order_fleet(fleet, service_plans(fleet, manifests, services_on_the_way(fleet)))


def runtime_copy(fleet: Fleet, manifests: Manifests, runtime: Runtime) -> tuple[RuntimeCopy, ParentCopy | None]:
    """A runtime's copy, and the copy in two layers where that is better."""
    manifest = manifests([runtime.ref]).get(runtime.ref) or bare_manifest(runtime)
    copy = plan_copy(fleet, manifest, placeholder=PLACEHOLDER)
    return copy, parent_copy(fleet, copy, manifest)


def copy_text(copy: RuntimeCopy, source: str | None = None) -> str:
    """The copy as YAML.

    Args:
        copy: the copy.
        source: the original's text. With it comments, quotes and order stay, and what stands in it is not looked
            through for secrets: it is the reader's own file. Without it, keys are in the order of the alphabet.
    """
    if source is not None and not copy.inherits:
        value = document_value(source)
        text = edited_text(source, copy_edits(value, copy.copy.name)) if isinstance(value, dict) else None
        if text is not None:
            return text.rstrip("\n")
    return manifest_yaml(copy.manifest)


def copy_diff(copy: RuntimeCopy, source: str | None = None, *, text: str | None = None) -> str:
    """What differs between the original and the copy, as a unified diff.

    Args:
        copy: the copy.
        source: the original's text, as :func:`copy_text` takes it.
        text: what :func:`copy_text` gave, where somebody has it already.
    """
    after = copy_text(copy, source) if text is None else text
    kept = source is not None and not copy.inherits and after != manifest_yaml(copy.manifest)
    before = source.rstrip("\n") if kept and source is not None else manifest_yaml(copy.original)
    names = f"{copy.runtime.name}.yaml", f"{copy.copy.name}.yaml"
    return "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm=""))


def manifest_yaml(manifest: Mapping[str, Any]) -> str:
    """A manifest as YAML, its keys in the order of the alphabet, as kubectl prints it."""
    return as_yaml(_in_order(manifest))


def _in_order(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def source_text(paths: Iterable[str], runtime: ObjectRef) -> str | None:
    """The text of a runtime's document among files; None when it is in none, or came from standard input."""
    files = [path for path in paths if path != "-"]
    try:
        found = read_paths(files).objects
        path = next(each.path for each in found if each.identity == (runtime.kind, runtime.namespace, runtime.name))
        text = decode(Path(path).read_bytes())
    except (SourceError, StopIteration, OSError, DocumentError):
        return None

    def wanted(value: Any) -> bool:
        metadata = value.get("metadata") if isinstance(value, dict) else None
        if not isinstance(metadata, dict) or value.get("kind") != runtime.kind:
            return False
        namespace = (metadata.get("namespace") or "default") if runtime.namespace else ""
        return (namespace, metadata.get("name")) == (runtime.namespace, runtime.name)

    return find_document(text, wanted)
