"""A client of the test API server that is quick enough to fill it, and to change much in a short time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import urllib3

from tests.apiserver.crds import kind_of
from tests.apiserver.server import ApiServer

__all__ = ["Client", "Manifest", "Refused"]

Manifest = dict[str, Any]

CONNECTIONS = 8


class Refused(RuntimeError):
    """The API server refused a request."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"{status}: {body[:500]!r}")
        self.status = status


class Client:
    """Creates, patches and deletes, over connections that stay open. May be shared by threads."""

    def __init__(self, server: ApiServer) -> None:
        self._pool = urllib3.HTTPSConnectionPool(
            "127.0.0.1",
            server.port,
            maxsize=CONNECTIONS,
            block=True,
            ca_certs=str(server.ca_file),
            retries=False,
            timeout=urllib3.Timeout(connect=5, read=30),
            headers={"Authorization": f"Bearer {server.token}"},
        )

    def send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Manifest:
        """One request; the answer as JSON.

        Raises:
            Refused: the answer isn't a success.
            urllib3.exceptions.HTTPError: there was none.
        """
        data = None if body is None else json.dumps(body)
        answer = self._pool.request(
            method, path, body=data, headers={**self._pool.headers, "Content-Type": content_type}
        )
        if answer.status >= 300:
            raise Refused(answer.status, answer.data)
        found: Manifest = json.loads(answer.data)
        return found

    def create(self, manifest: Manifest) -> Manifest:
        """Create an object; what only a server sets is left out."""
        metadata = {
            key: value
            for key, value in manifest["metadata"].items()
            if key not in {"uid", "resourceVersion", "generation", "creationTimestamp", "ownerReferences"}
        }
        kind = kind_of(manifest)
        path = kind.path(metadata.get("namespace", ""))
        return self.send("POST", path, {**manifest, "metadata": metadata})

    def patch(self, manifest: Manifest, patch: Manifest) -> Manifest:
        """Merge a patch into the object that the manifest names; return it as it is then."""
        return self.send("PATCH", path_of(manifest), patch, "application/merge-patch+json")

    def delete(self, manifest: Manifest) -> None:
        """Delete the object that the manifest names."""
        self.send("DELETE", path_of(manifest))

    def fill(self, manifests: Iterable[Manifest]) -> None:
        """Create many objects, their namespaces first."""
        every = list(manifests)
        for namespace in sorted({each["metadata"].get("namespace", "") for each in every} - {"", "default"}):
            self.send("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        with ThreadPoolExecutor(CONNECTIONS) as threads:
            for _ in threads.map(self.create, every):
                pass


def path_of(manifest: Manifest) -> str:
    """Where the object that the manifest names is."""
    metadata = manifest["metadata"]
    return kind_of(manifest).path(metadata.get("namespace", ""), metadata["name"])
