"""Find, or build once, the kube-apiserver and etcd that the cluster tests talk to.

The place is found by the envtest convention: a folder in ``KUBEBUILDER_ASSETS`` that holds
``kube-apiserver`` and ``etcd``. Without it the two are built from their Go modules, when Go is
there, into a cache outside the checkout (``$XDG_CACHE_HOME/ome-dashboard/envtest/...``). A cold
build takes about ten minutes on two cores; afterwards it costs nothing.

Run ``python -m tests.apiserver.build`` to build ahead of the tests; it prints the folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ASSETS_VARIABLE", "NoApiServer", "assets", "kubectl"]

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
KUBERNETES = "v1.36.3"
STAGING = "v0.36.3"
ETCD = "v3.7.3"
BINARIES = ("kube-apiserver", "etcd")

ETCD_MAIN = """\
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
"""


class NoApiServer(RuntimeError):
    """Neither found nor buildable; the message says what is missing."""


def cache_folder() -> Path:
    """The folder that holds the built binaries, named after their versions."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "ome-dashboard" / "envtest" / f"kubernetes-{KUBERNETES}-etcd-{ETCD}"


def assets(*, build: bool = True) -> Path:
    """Return a folder with kube-apiserver and etcd, building them when ``build`` allows it.

    Raises:
        NoApiServer: they are not there and can't be built, with the reason.
    """
    declared = os.environ.get(ASSETS_VARIABLE)
    if declared:
        folder = Path(declared)
        missing = [name for name in BINARIES if not (folder / name).is_file()]
        if missing:
            raise NoApiServer(f"{ASSETS_VARIABLE}={folder} lacks {', '.join(missing)}")
        return folder
    folder = cache_folder()
    if _complete(folder):
        return folder
    if not build:
        raise NoApiServer(f"no kube-apiserver in {folder} and {ASSETS_VARIABLE} is not set")
    if shutil.which("go") is None:
        raise NoApiServer(f"{ASSETS_VARIABLE} is not set and there is no Go to build a kube-apiserver with")
    folder.mkdir(parents=True, exist_ok=True)
    with _exclusive(folder / ".lock"):
        if not (folder / "etcd").is_file():
            _build_etcd(folder / "etcd")
        if not (folder / "kube-apiserver").is_file():
            _build_kubernetes("kube-apiserver", folder / "kube-apiserver")
    return folder


def kubectl() -> Path:
    """Return a kubectl of the API server's version, built when it isn't there: what reading is measured against.

    Raises:
        NoApiServer: it can't be built, with the reason.
    """
    folder = cache_folder()
    target = folder / "kubectl"
    if target.is_file():
        return target
    if shutil.which("go") is None:
        raise NoApiServer("there is no Go to build a kubectl with")
    folder.mkdir(parents=True, exist_ok=True)
    with _exclusive(folder / ".lock"):
        if not target.is_file():
            _build_kubernetes("kubectl", target)
    return target


def _complete(folder: Path) -> bool:
    return all((folder / name).is_file() for name in BINARIES)


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Hold a file lock, so that two test runs don't build the same thing side by side."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _go(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOWORK": "off"}
    done = subprocess.run(["go", *arguments], cwd=folder, env=environment, text=True, capture_output=True)
    if done.returncode != 0:
        raise NoApiServer(f"go {' '.join(arguments[:2])} failed: {done.stderr.strip()[-2000:]}")
    return done.stdout


def _build_etcd(target: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "go.mod").write_text(f"module etcd\n\ngo 1.26\n\nrequire go.etcd.io/etcd/server/v3 {ETCD}\n")
        (folder / "main.go").write_text(ETCD_MAIN)
        _go(folder, "build", "-trimpath", "-ldflags", "-s -w", "-o", "etcd", ".")
        _place(folder / "etcd", target)


def _build_kubernetes(command: str, target: Path) -> None:
    """Build one of the commands of Kubernetes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "go.mod").write_text("module kubernetes\n\ngo 1.26\n")
        described = json.loads(_go(folder, "mod", "download", "-json", f"k8s.io/kubernetes@{KUBERNETES}"))
        # k8s.io/kubernetes replaces its staging modules by folders of its own repository, which a
        # module download doesn't have: the released modules of the same version stand in for them.
        edits = json.loads(_go(folder, "mod", "edit", "-json", described["GoMod"]))
        staging = [entry["Old"]["Path"] for entry in edits.get("Replace") or []]
        lines = [f"replace {path} => {path} {STAGING}\n" for path in staging]
        (folder / "go.mod").write_text(
            f"module kubernetes\n\ngo 1.26\n\nrequire k8s.io/kubernetes {KUBERNETES}\n\n{''.join(lines)}"
        )
        package = "k8s.io/component-base/version"
        stamps = [f"gitVersion={KUBERNETES}", "gitMajor=1", "gitMinor=36"]
        flags = "-s -w " + " ".join(f"-X {package}.{stamp}" for stamp in stamps)
        output = folder / command
        _go(folder, "build", "-trimpath", "-ldflags", flags, "-o", str(output), f"k8s.io/kubernetes/cmd/{command}")
        _place(output, target)


def _place(built: Path, target: Path) -> None:
    """Move into the cache so that the name appears only with the whole file behind it."""
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(built, partial)
    partial.chmod(0o755)
    partial.replace(target)


if __name__ == "__main__":
    try:
        print(assets())
    except NoApiServer as error:
        sys.exit(f"no kube-apiserver: {error}")
