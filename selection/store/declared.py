"""Which clusters are followed, in the database: declared by a file, the environment, a page or a command.

A cluster that isn't declared any more is followed no more; what was read of it stays, with its age. A file wins over
the environment, and both over a page and a command: they are the team's word. What a command declares holds for the
processes that run this command, and ends with them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from .claims import SILENT
from .declarations import Declaration, DeclarationError, read_environment, read_file
from .models import Cluster
from .sight import EVERYTHING, seeing
from .versions import set_version

__all__ = ["declare", "declare_settings", "forget_commands", "to_follow", "undeclare"]

_BY = Cluster.DeclaredBy
_RANK: dict[str, int] = {_BY.NOBODY: 0, _BY.COMMAND: 1, _BY.PAGE: 1, _BY.ENVIRONMENT: 2, _BY.FILE: 3}


@seeing(EVERYTHING)
def declare(declaration: Declaration, by: str) -> Cluster:
    """Have a cluster followed from now on; doing it again changes nothing.

    Args:
        declaration: how to reach it.
        by: who says so, one of ``Cluster.DeclaredBy``.

    Raises:
        DeclarationError: it is declared already by somebody whose word counts more, or otherwise; or a page named a
            kubeconfig.
    """
    if by == _BY.PAGE and declaration.kubeconfig:
        raise DeclarationError("a page can't name a kubeconfig: only contexts of the server's own")
    access = Cluster.Access.IN_CLUSTER if declaration.in_cluster else Cluster.Access.KUBECONFIG
    wanted = {
        "access": access,
        "context": declaration.context,
        "kubeconfig": declaration.kubeconfig,
        "declared_by": by,
        "followed": True,
    }
    if declaration.ome_namespace is not None:
        wanted["ome_namespace"] = declaration.ome_namespace
    with transaction.atomic():
        cluster = Cluster.objects.select_for_update().filter(name=declaration.name).first()
        if cluster is None:
            cluster = Cluster(name=declaration.name)
        elif cluster.followed and _RANK[by] <= _RANK[cluster.declared_by] and by != cluster.declared_by:
            if all(getattr(cluster, name) == wanted[name] for name in ("access", "context", "kubeconfig")):
                return cluster
            who = Cluster.DeclaredBy(cluster.declared_by).label.lower()
            raise DeclarationError(f"{cluster.name} is declared already, by the {who}, and otherwise")
        if cluster.pk is None or any(getattr(cluster, name) != value for name, value in wanted.items()):
            for name, value in wanted.items():
                setattr(cluster, name, value)
            # Only these: a process that follows it writes the others.
            cluster.save(update_fields=list(wanted) if cluster.pk else None)
        _set_version(cluster, declaration.ome_version)
    return cluster


def _set_version(cluster: Cluster, version: str | None) -> None:
    source = Cluster.VersionSource
    if version == "auto":
        if cluster.ome_version_source == source.SET:
            set_version(cluster, cluster.ome_version, source.DEFAULT)
    elif version is not None and (cluster.ome_version, cluster.ome_version_source) != (version, source.SET):
        set_version(cluster, version, source.SET)


@seeing(EVERYTHING)
def undeclare(name: str, by: str | None = None) -> bool:
    """Have a cluster followed no more; what was read of it stays.

    ``by`` spares it when somebody else declares it by now. Returns whether it was followed.
    """
    rows = Cluster.objects.filter(name=name, followed=True)
    if by is not None:
        rows = rows.filter(declared_by=by)
    return bool(rows.update(followed=False, declared_by=_BY.NOBODY))


def forget_commands() -> None:
    """Have those followed no more that a command declared whose process is gone, as nobody says that it is there."""
    rows = Cluster.objects.filter(followed=True, declared_by=_BY.COMMAND)
    rows.exclude(heartbeat_at__gt=timezone.now() - SILENT).update(followed=False, declared_by=_BY.NOBODY)


def to_follow(own: Collection[str] = ()) -> list[Cluster]:
    """The clusters that this process may follow: those that are declared, of a command's only its ``own``."""
    rows = Cluster.objects.filter(followed=True).exclude(access=Cluster.Access.NONE)
    return [row for row in rows if row.declared_by != _BY.COMMAND or row.name in own]


def declare_settings() -> list[str]:
    """Bring the database in line with the file and the environment of this process; return what is wrong with them.

    A source with a mistake in it is not used at all, and what it declared before holds. One that isn't set says
    nothing: what another process declared by it holds, too. An empty file says that it declares no cluster.
    """
    problems = []
    file = settings.CLUSTERS_FILE
    if file:
        problems += _declare_source(_BY.FILE, lambda: read_file(Path(file)), "")
    if settings.CLUSTERS:
        text = settings.CLUSTERS
        problems += _declare_source(_BY.ENVIRONMENT, lambda: read_environment(text), "OME_DASHBOARD_CLUSTERS: ")
    return problems


def _declare_source(by: str, read: Callable[[], Sequence[Declaration]], where: str) -> list[str]:
    try:
        declarations = read()
    except DeclarationError as error:
        return [f"{where}{error}"]
    problems = []
    with transaction.atomic():
        for each in declarations:
            try:
                declare(each, by)
            except DeclarationError as error:
                problems.append(f"{where}{error}")
        vanished = Cluster.objects.filter(followed=True, declared_by=by).exclude(
            name__in=[each.name for each in declarations]
        )
        vanished.update(followed=False, declared_by=_BY.NOBODY)
    return problems
