"""What the command line says of the clusters to follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from selection.cluster.config import contexts, from_kubeconfig, in_cluster
from selection.cluster.errors import ConfigurationError
from selection.store.declarations import (
    IN_CLUSTER,
    Declaration,
    DeclarationError,
    check_name,
    check_ome_namespace,
)
from selection.store.declared import declare, declare_settings, forget_commands, to_follow
from selection.store.models import Cluster

__all__ = ["own_declarations"]

_SOURCE = ("context", "current_context", "in_cluster", "kubeconfig", "cluster", "ome_namespace", "ome_version")


def own_declarations(options: dict[str, Any]) -> tuple[Declaration, ...]:
    """The cluster that the options of ``sync --watch`` name; without any, the current context if nothing is declared.

    ``current_context`` names it also when something is declared; with ``declared_only`` it isn't followed in any case.

    What the settings declare is brought into the database first.

    Raises:
        DeclarationError: an option, the file or the environment is wrong.
        ClusterError: how to reach the cluster isn't known.
    """
    forget_commands()
    problems = declare_settings()
    if problems:
        raise DeclarationError(problems[0])
    if any(options[name] for name in _SOURCE):
        found = _named(options)
    elif options["declared_only"] or to_follow():
        return ()
    else:
        try:
            current = next((each.name for each in contexts() if each.current), "")
        except ConfigurationError:
            current = ""
        if not current:
            return ()
        found = Declaration(current, context=current)
    declare(found, Cluster.DeclaredBy.COMMAND)
    return (found,)


def _named(options: dict[str, Any]) -> Declaration:
    kubeconfig = str(Path(options["kubeconfig"]).expanduser().absolute()) if options["kubeconfig"] else ""
    # Only to see that it can be made: a wrong word on the command line is told at once.
    inside = options["in_cluster"]
    with in_cluster() if inside else from_kubeconfig(kubeconfig or None, options["context"]) as connection:
        name = options["cluster"] or (IN_CLUSTER if inside else connection.name)
        context = "" if inside else connection.name
    namespace = options["ome_namespace"]
    try:
        name = check_name(name)
    except DeclarationError as error:
        raise DeclarationError(f"--cluster: {error}") from None
    try:
        namespace = check_ome_namespace(namespace) if namespace else None
    except DeclarationError as error:
        raise DeclarationError(f"--ome-namespace: {error}") from None
    return Declaration(name, inside, context, kubeconfig, namespace, options["ome_version"])
