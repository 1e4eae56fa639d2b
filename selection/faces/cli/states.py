"""Two states of a cluster for a command: where each comes from, and what differs, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.core.management.base import CommandError

from selection.cluster.errors import SourceError
from selection.cluster.files import SourceProblem, read_paths
from selection.faces.cli.output import table
from selection.faces.cli.sources import cluster_named, database_in_words, standard_input, version_in, version_known
from selection.rules.comparison import Comparison, ObjectChange, State
from selection.rules.objects import ObjectRef
from selection.rules.parsing import ref_of
from selection.rules.semantics import V1_3, semantics_of
from selection.rules.what_if_answer import Change, ServiceChange, Standing
from selection.store.models import StoredObject
from selection.store.redaction import redact

__all__ = ["OpenState", "comparison_lines", "open_state"]

FIELDS = 3
"""So many differing fields of an object are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class OpenState:
    """One state, what it is called, and what of it can't be used."""

    name: str
    state: State
    problems: tuple[SourceProblem, ...] = ()


def open_state(path: str | None, cluster: str | None, ome_version: str | None) -> OpenState:
    """The state in a snapshot or in manifests, or of a cluster in the database.

    Raises:
        CommandError: it isn't there, holds no object, or can't be read.
    """
    return _of_path(path, ome_version) if path is not None else _of_cluster(cluster or "", ome_version)


def _of_path(path: str, ome_version: str | None) -> OpenState:
    try:
        documents = read_paths([path], stdin=standard_input())
    except SourceError as error:
        raise CommandError(str(error)) from None
    if not documents.objects:
        for problem in documents.problems:
            raise CommandError(str(problem))
        if documents.snapshot is None:  # an empty cluster is one; a wrong folder isn't
            raise CommandError(f"{path}: no object of a kind that OME knows")
    manifests = [redact(each.manifest) for each in documents.objects]
    head = documents.snapshot
    release = ome_version or version_known(head.ome_version if head else "") or version_in(manifests) or V1_3.version
    name = f"{path} ({head.cluster} as of {head.taken_at})" if head else path
    state = State({ref_of(each): each for each in manifests}, semantics_of(release))
    return OpenState(name, state, documents.problems)


def _of_cluster(name: str, ome_version: str | None) -> OpenState:
    with database_in_words():
        cluster = cluster_named(name)
        rows = StoredObject.objects.filter(cluster=cluster).values_list("kind", "namespace", "name", "manifest")
        manifests = {ObjectRef(kind, namespace, name): manifest for kind, namespace, name, manifest in rows}
    return OpenState(f"cluster {cluster.name}", State(manifests, semantics_of(ome_version or cluster.ome_version)))


def comparison_lines(found: Comparison) -> Iterator[str]:
    """The comparison for people."""
    if found.versions[0] != found.versions[1]:
        yield f"judged by OME {found.versions[0]} before and by OME {found.versions[1]} after"
    if found.same:
        noun = "service" if found.total[1] == 1 else "services"
        yield f"nothing differs that could decide something ({found.total[1]} {noun})"
        return
    if found.services:
        told = ", ".join(f"{count} {tendency}" for tendency, count in found.tendencies.items() if count)
        noun = "service differs" if len(found.services) == 1 else "services differ"
        yield f"{len(found.services)} {noun} ({told}), of {found.total[0]} before and {found.total[1]} after"
        yield ""
        acts = {each.object: each.act for each in found.objects}
        yield table(
            ["TENDENCY", "SERVICE", "CHANGE", "BEFORE", "AFTER", "REACHED BY"],
            [line for row in found.services for line in _service(row, acts)],
        )
    else:
        yield f"no service differs, of {found.total[0]} before and {found.total[1]} after"
    if found.objects:
        yield ""
        yield table(["OBJECT", "ACT", "WHAT DIFFERS"], [_object(each) for each in found.objects])


def _service(row: ServiceChange, acts: Mapping[ObjectRef, str]) -> Iterator[list[str]]:
    name = f"{row.service.namespace}/{row.service.name}"
    causes = ", ".join(f"{ref} ({acts[ref]})" for ref in row.reached_by[:FIELDS] if ref in acts)
    more = row.reaching - min(len(row.reached_by), FIELDS)
    causes += f" and {more} more" if more > 0 else ""
    for change in row.changes:  # each line says whose it is, for grep
        code = f"{change.code} ({change.component})" if change.component else change.code
        yield [change.tendency, name, code, _side(change, row.before), _side(change, row.after), causes]


def _side(change: Change, standing: Standing | None) -> str:
    """What a change is about, as it was or as it is."""
    if standing is None:
        return "-"
    if change.code == "mode-changes":
        return standing.modes.get(change.component) or "-"
    if change.code.startswith("conflict-"):
        conflict = str(change.facts["conflict"])
        return conflict if conflict in standing.conflicts.get(change.component, ()) else "none"
    if change.code in {"refused-now", "admitted-now", "admission-differs"}:
        admission = standing.admission
        return "admitted" if admission.allowed else f"refused: {admission.errors[0]}"
    if change.code.startswith("component-"):
        return "there" if change.component in standing.modes else "-"
    if change.code == "model-differs":
        return str(standing.model) if standing.model else "none"
    if change.code == "outcome-differs" or standing.runtime is None:
        return standing.outcome
    return str(standing.runtime)


def _object(each: ObjectChange) -> list[str]:
    if each.act != "changed":
        return [str(each.object), each.act, ""]
    named = "; ".join(
        f"{one.path}: {one.before or 'not there'} → {one.after or 'not there'}" for one in each.differences[:FIELDS]
    )
    more = len(each.differences) - FIELDS
    return [str(each.object), each.act, f"{named}; and {more} more" if more > 0 else named]
