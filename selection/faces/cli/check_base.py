"""What ``manage.py check`` judges its input on top of: nothing, a live cluster, one in the database, or a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.management.base import CommandError, CommandParser

from selection.cluster.config import from_kubeconfig, in_cluster
from selection.cluster.errors import ClusterError, SourceError
from selection.cluster.files import listings, read_paths
from selection.cluster.kinds import OME_NAMESPACE, KindListing
from selection.cluster.listing import read_cluster
from selection.faces.cli.sources import open_sources, version_in
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.semantics import V1_3, semantics_of
from selection.store.redaction import redact
from selection.store.uncollected import uncollected

__all__ = ["Base", "add_base_arguments", "open_base"]

_NEEDED = frozenset(
    {"AcceleratorClass", "ClusterBaseModel", "BaseModel", "ClusterServingRuntime", "ServingRuntime", "InferenceService"}
)


@dataclass(frozen=True, slots=True)
class Base:
    """A fleet that the input comes on top of: what to call it, and what of it couldn't be read and isn't needed."""

    name: str
    fleet: Fleet
    notes: tuple[str, ...] = ()


def add_base_arguments(parser: CommandParser) -> None:
    """Add what chooses the base; at most one of these is given."""
    base = parser.add_mutually_exclusive_group()
    base.add_argument("--on-cluster", action="store_true", help="judge on top of the current context's cluster")
    base.add_argument("--context", metavar="NAME", help="on top of the cluster of this context of the kubeconfig")
    base.add_argument("--in-cluster", action="store_true", help="on top of the cluster that this process runs in")
    base.add_argument("--cluster", metavar="NAME", help="on top of this cluster of the database")
    base.add_argument("--on", metavar="FILE", help="on top of a snapshot, or of manifests that stand for a cluster")
    parser.add_argument("--kubeconfig", metavar="PATH", help="instead of KUBECONFIG or ~/.kube/config")
    parser.add_argument("--ome-namespace", metavar="NAMESPACE", help="where OME is installed (ome)")


def open_base(options: Mapping[str, Any], version: str | None) -> Base | None:
    """Read what is to be judged on top of, by this release of OME or the one that it runs; None for nothing.

    Raises:
        CommandError: it isn't there, or what decides can't be read.
    """
    if options["kubeconfig"] and not (options["on_cluster"] or options["context"]):
        raise CommandError("--kubeconfig is for --on-cluster and --context: give one of them", returncode=2)
    if options["cluster"] is not None:
        try:
            [source] = open_sources(None, options["cluster"], version)
        except CommandError as error:
            raise CommandError(str(error), returncode=2) from None
        return Base(f"cluster {source.cluster}", source.fleet)
    if options["on"] is not None:
        return _of_files(options["on"], version)
    if not (options["on_cluster"] or options["in_cluster"] or options["context"]):
        return None
    try:
        connection = (
            in_cluster() if options["in_cluster"] else from_kubeconfig(options["kubeconfig"], options["context"])
        )
        with connection:
            listed = list(read_cluster(connection, ome_namespace=options["ome_namespace"] or OME_NAMESPACE))
    except ClusterError as error:
        raise CommandError(str(error), returncode=2) from None
    return _of_listings(f"cluster {connection.name}", listed, version)


def _of_files(path: str, version: str | None) -> Base:
    try:
        with uncollected():
            documents = read_paths([path])
    except SourceError as error:
        raise CommandError(str(error), returncode=2) from None
    if not documents.objects and documents.snapshot is None:
        raise CommandError(f"{path}: no object of a kind that OME knows", returncode=2)
    known = version or (documents.snapshot.ome_version if documents.snapshot else None)
    # In a snapshot secrets were replaced when it was made, and looking for them again takes longer than all the rest.
    base = _of_listings(path, listings(documents), known, hidden=documents.snapshot is not None)
    return replace(base, notes=(*(f"not used: {problem}" for problem in documents.problems), *base.notes))


def _of_listings(name: str, listed: Iterable[KindListing], version: str | None, *, hidden: bool = False) -> Base:
    """The base that kinds were listed from; ``hidden`` says that secrets are replaced already.

    Raises:
        CommandError: a kind that decides couldn't be listed: what is missing would be taken for a mistake.
    """
    manifests: list[Mapping[str, Any]] = []
    notes: list[str] = []
    for listing in listed:
        if listing.objects is not None:
            manifests += listing.objects if hidden else [redact(manifest) for manifest in listing.objects]
        elif listing.outcome != "not-served":
            told = f"{name}: {listing.kind.kind}: {listing.outcome}: {listing.reason}"
            if listing.kind.kind in _NEEDED:
                raise CommandError(told, returncode=2)
            notes.append(f"{told}; judged without")
    with uncollected():
        return Base(name, read_fleet(manifests, semantics_of(_version(manifests, version))), tuple(notes))


def _version(manifests: Sequence[Mapping[str, Any]], version: str | None) -> str:
    return version or version_in(manifests) or V1_3.version
