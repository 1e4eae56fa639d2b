"""How to reach a cluster: a kubeconfig and one of its contexts, or from inside the cluster.

Follows kubectl: ``KUBECONFIG`` may name several files; data wins over a file; a token file is read again while
it is used. The rest (proxies from the environment, exec plugins, TLS) is the official client's. No file is ever
written: a token that an ``oidc`` auth provider renews is kept in memory only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from kubernetes.client import ApiClient, Configuration
from kubernetes.config import incluster_config
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.kube_config import load_kube_config_from_dict

from selection.cluster.credentials import (
    check_credentials,
    check_tls,
    keep_plugins_quiet,
    prepare_cluster,
    prepare_user,
    refresh_from_file,
    renew_one_at_a_time,
)
from selection.cluster.errors import ConfigurationError
from selection.cluster.kubeconfig import read_kubeconfig

__all__ = ["Connection", "Context", "contexts", "from_kubeconfig", "in_cluster", "kubeconfig_paths", "runs_in_cluster"]

Paths = str | Path | Sequence[str | Path] | None

CONNECT_TIMEOUT = 5.0
"""Seconds; an API server that doesn't accept a connection by then is as good as down."""
READ_TIMEOUT = 60.0
"""Seconds without a byte; the API server itself gives up a list after 60."""
MOST_CONNECTIONS = 32
IN_CLUSTER = "in-cluster"


@dataclass(frozen=True, slots=True)
class Context:
    """One context of a kubeconfig. ``server`` is None when its cluster isn't there; ``file`` is where it stands."""

    name: str
    cluster: str | None
    user: str | None
    namespace: str | None
    server: str | None
    file: str
    current: bool


@dataclass(frozen=True, slots=True)
class Connection:
    """A way to one API server; ``name`` is the context's, ``server`` the address without credentials.

    Timeouts are in seconds: to connect, and without a byte while reading. May be shared between threads.
    """

    name: str
    server: str
    client: ApiClient = field(repr=False)
    connect_timeout: float = CONNECT_TIMEOUT
    read_timeout: float = READ_TIMEOUT

    def close(self) -> None:
        """Close the connections that are open."""
        self.client.close()  # type: ignore[no-untyped-call]

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def kubeconfig_paths(kubeconfig: Paths = None) -> list[Path]:
    """Return the kubeconfig files to read: those given, else those of ``KUBECONFIG``, else ``~/.kube/config``.

    A string may name several, separated as in ``KUBECONFIG``.
    """
    if kubeconfig is None:
        kubeconfig = os.environ.get("KUBECONFIG") or "~/.kube/config"
    if isinstance(kubeconfig, str):
        kubeconfig = [part for part in kubeconfig.split(os.pathsep) if part]
    elif isinstance(kubeconfig, Path):
        kubeconfig = [kubeconfig]
    return [_expanded(Path(path)) for path in kubeconfig]


def contexts(kubeconfig: Paths = None) -> list[Context]:
    """Return every context of the kubeconfig, in its order.

    Raises:
        ConfigurationError: a file is missing or isn't a kubeconfig.
    """
    config = read_kubeconfig(kubeconfig_paths(kubeconfig))
    found = []
    for name, entry in config.contexts.items():
        cluster = entry.text("cluster")
        server = config.clusters[cluster].text("server") if cluster in config.clusters else None
        context = Context(
            name=name,
            cluster=cluster,
            user=entry.text("user"),
            namespace=entry.text("namespace"),
            server=_without_credentials(server) if server else None,
            file=str(entry.file),
            current=name == config.current_context,
        )
        found.append(context)
    return found


def from_kubeconfig(
    kubeconfig: Paths = None,
    context: str | None = None,
    *,
    connect_timeout: float = CONNECT_TIMEOUT,
    read_timeout: float = READ_TIMEOUT,
) -> Connection:
    """Return a connection by a context of a kubeconfig, the current one unless named.

    Nothing is sent to the cluster yet. An exec plugin of the context's user is run.

    Raises:
        ConfigurationError: with the file, the context and what is missing or wrong there.
    """
    config = read_kubeconfig(kubeconfig_paths(kubeconfig))
    chosen = config.context(context)
    cluster, user = config.cluster_of(chosen), config.user_of(chosen)
    # Only what was chosen is handed on, under names of our own: what else stands in the files can't get in the way.
    settings = {
        "current-context": "chosen",
        "contexts": [{"name": "chosen", "context": {"cluster": "cluster", "user": "user"}}],
        "clusters": [{"name": "cluster", "cluster": prepare_cluster(cluster)}],
        "users": [{"name": "user", "user": prepare_user(user) if user else {}}],
    }
    configuration = _configuration()
    keep_plugins_quiet()
    try:
        load_kube_config_from_dict(  # type: ignore[no-untyped-call]
            settings, client_configuration=configuration, persist_config=False
        )
    except Exception as error:  # whatever its parts raise; some of their texts quote the credentials, so none is shown
        message = f"{chosen.where} can't be used: {type(error).__name__} while loading its credentials"
        raise ConfigurationError(message) from None
    if user is not None:
        token_file = user.path("tokenFile")
        if token_file is not None:
            refresh_from_file(configuration, token_file)
        check_credentials(configuration, user)
    check_tls(configuration, cluster, user)
    return _connect(chosen.name, configuration, connect_timeout, read_timeout)


def runs_in_cluster() -> bool:
    """Tell whether this process runs in a pod with a service account."""
    return (
        bool(os.environ.get(incluster_config.SERVICE_HOST_ENV_NAME))
        and Path(incluster_config.SERVICE_TOKEN_FILENAME).is_file()
    )


def in_cluster(
    *,
    token_file: str | Path | None = None,
    ca_file: str | Path | None = None,
    connect_timeout: float = CONNECT_TIMEOUT,
    read_timeout: float = READ_TIMEOUT,
) -> Connection:
    """Return a connection by the service account of the pod that this process runs in.

    The files are those that Kubernetes mounts, unless named. The token is read again as it is renewed.

    Raises:
        ConfigurationError: this isn't a pod, or it has no service account.
    """
    configuration = _configuration()
    loader = incluster_config.InClusterConfigLoader(  # type: ignore[no-untyped-call]
        token_filename=str(token_file or incluster_config.SERVICE_TOKEN_FILENAME),
        cert_filename=str(ca_file or incluster_config.SERVICE_CERT_FILENAME),
        environ=os.environ,
    )
    try:
        loader.load_and_set(configuration)  # type: ignore[no-untyped-call]
    except ConfigException as error:
        reason = str(error).rstrip(".")
        raise ConfigurationError(f"not in a cluster, or without a service account: {reason}") from None
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError("the service account's files can't be read") from None
    return _connect(IN_CLUSTER, configuration, connect_timeout, read_timeout)


def _configuration() -> Configuration:
    configuration = Configuration()
    # urllib3 would try three times on its own: all trying again is in `retry`, where it is counted.
    configuration.retries = False
    # A connection that died without a word is noticed by the kernel even when nothing is sent over it.
    configuration.keep_alive = True
    # Every kind that is followed has a connection of its own, and more when they are listed at once.
    configuration.connection_pool_maxsize = MOST_CONNECTIONS
    return configuration


def _connect(name: str, configuration: Configuration, connect_timeout: float, read_timeout: float) -> Connection:
    renew_one_at_a_time(configuration)
    try:
        client = ApiClient(configuration)
    except (ImportError, ValueError, OSError):
        raise ConfigurationError(f"{name}: its proxy or its certificates can't be used") from None
    client.user_agent = "ome-dashboard"
    return Connection(name, _without_credentials(configuration.host), client, connect_timeout, read_timeout)


def _without_credentials(server: str) -> str:
    """Take a user name and password off an address, and what only a credential would be asked with, for showing."""
    try:
        parts = urlsplit(server)
    except ValueError:
        return server.partition("?")[0].rsplit("@", 1)[-1]
    return parts._replace(netloc=parts.netloc.rsplit("@", 1)[-1], query="", fragment="").geturl()


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # no home folder
        return path
