"""Serve the dashboard with waitress: ``python -m ome_dashboard.serve``.

Where it listens comes from the settings (``OME_DASHBOARD_HOST``, ``OME_DASHBOARD_PORT``). It refuses
to start with settings that are wrong or a database that isn't migrated, and, in local mode, where
nobody signs in, on an address that other machines can reach.
"""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
import threading
from typing import Any

import django
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor

__all__ = ["Refused", "main", "refuse_open_address", "server_options"]

#: Larger than the largest form (16 MiB) and small enough to be held in memory by every thread.
LARGEST_REQUEST = 32 * 1024 * 1024


class Refused(Exception):
    """The server won't start; the message says why, in one line."""


def refuse_open_address(host: str) -> None:
    """In local mode, accept only names and addresses of this machine's loopback interface.

    Raises:
        Refused: ``host`` is, or may resolve to, an address that others can reach.
    """
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError as error:
        raise Refused(f"OME_DASHBOARD_HOST={host} can't be resolved: {error}") from None
    if not all(ipaddress.ip_address(str(address).partition("%")[0]).is_loopback for address in found):
        raise Refused(
            f"In local mode nobody signs in, so it listens on 127.0.0.1 only, not on {host}; "
            "for others set OME_DASHBOARD_MODE=server (docs/deploy.md)."
        )


def refuse_unmigrated_database() -> None:
    """Refuse a database whose tables are older than this code.

    Raises:
        Refused: it can't be reached, or ``manage.py migrate`` has work to do.
    """
    try:
        executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        raise Refused(f"The database can't be used: {str(error).strip().splitlines()[0]}") from None
    finally:
        connections.close_all()
    if pending:
        raise Refused(f"The database lacks {len(pending)} migrations: run `python manage.py migrate` first.")


def server_options(*, host: str, port: int, threads: int, trusted_proxy: str) -> dict[str, Any]:
    """What waitress is told. The client's address and scheme are believed only from ``trusted_proxy``."""
    options: dict[str, Any] = {
        "host": host,
        "port": port,
        "threads": threads,
        "ident": None,
        "max_request_body_size": LARGEST_REQUEST,
        "clear_untrusted_proxy_headers": True,
    }
    if trusted_proxy:
        options |= {
            "trusted_proxy": trusted_proxy,
            "trusted_proxy_count": 1,
            "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto"},
        }
    return options


def main() -> None:
    """Serve until SIGTERM or Ctrl-C; leave with one line and status 1 when it can't."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ome_dashboard.settings")
    django.setup()
    try:
        _serve()
    except (Refused, CommandError) as error:
        sys.exit(str(error))


def _serve() -> None:
    import waitress

    BaseCommand().check()
    if settings.LOCAL:
        refuse_open_address(settings.LISTEN_HOST)
    refuse_unmigrated_database()

    from ome_dashboard.wsgi import application
    from selection.store.fleets import read_ahead

    options = server_options(
        host=settings.LISTEN_HOST,
        port=settings.LISTEN_PORT,
        threads=settings.LISTEN_THREADS,
        trusted_proxy=settings.TRUSTED_PROXY,
    )
    try:
        server = waitress.create_server(application, **options)
    except OSError as error:
        where = f"{settings.LISTEN_HOST}:{settings.LISTEN_PORT}"
        raise Refused(f"Can't listen on {where}: {error.strerror}. Choose another OME_DASHBOARD_PORT.") from None

    # As process 1 of a container there is no default action for SIGTERM.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    shown = f"[{settings.LISTEN_HOST}]" if ":" in settings.LISTEN_HOST else settings.LISTEN_HOST
    print(f"ome-dashboard: http://{shown}:{settings.LISTEN_PORT}/", file=sys.stderr, flush=True)
    threading.Thread(target=read_ahead, daemon=True).start()
    server.run()


if __name__ == "__main__":
    main()
