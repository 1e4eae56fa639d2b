"""Which clusters are to be followed, as people write it: in a file, in the environment, on a page.

Reading is apart from doing (``declared``): nothing here touches the database, so that the configuration can be
checked before there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from selection.rules.semantics import VERSIONS

__all__ = [
    "IN_CLUSTER",
    "Declaration",
    "DeclarationError",
    "check_context",
    "check_name",
    "check_ome_namespace",
    "check_ome_version",
    "read_environment",
    "read_file",
]

IN_CLUSTER = "in-cluster"
"""What stands in the environment, instead of a context, for the cluster that the dashboard runs in."""

LARGEST = 1024 * 1024
"""Bytes; a list of clusters is short."""

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class DeclarationError(ValueError):
    """A declaration is wrong; ``str()`` is one line that names the place."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A cluster to follow.

    Attributes:
        name: what it is called here.
        in_cluster: it is the one that the dashboard runs in.
        context: of the kubeconfig, ``""`` for the current one.
        kubeconfig: a path, ``""`` for ``KUBECONFIG`` or ``~/.kube/config``. Never from a page: a person at a
            browser has no say in which files the server reads.
        ome_namespace: where OME is installed; None to leave what is known, which is ``ome`` at first.
        ome_version: ``1.3``, ``1.2``, ``auto``, or None to leave what is known, which is ``auto`` at first.
    """

    name: str
    in_cluster: bool = False
    context: str = ""
    kubeconfig: str = ""
    ome_namespace: str | None = None
    ome_version: str | None = None


def check_name(text: str) -> str:
    """A cluster's name: 1 to 253 printable characters, blanks around it don't count.

    It stands in the addresses of its pages, so between its slashes there must be something, and not ``.`` or ``..``.

    Raises:
        DeclarationError: it isn't one.
    """
    name = _short("a cluster's name", text, 253)
    if {"", ".", ".."} & set(name.split("/")):
        raise DeclarationError("a cluster's name has no part that is empty, . or .. between its slashes")
    return name


def check_context(text: str) -> str:
    """A context's name, 1 to 253 printable characters.

    Raises:
        DeclarationError: it isn't one.
    """
    return _short("a context's name", text, 253)


def check_ome_namespace(text: str) -> str:
    """The namespace that OME is installed in: a DNS label (RFC 1123), as Kubernetes wants it.

    Raises:
        DeclarationError: no namespace is called so.
    """
    if not _LABEL.fullmatch(text):
        raise DeclarationError(
            "a namespace is at most 63 small letters, digits and dashes, and neither begins nor ends with a dash"
        )
    return text


def check_ome_version(text: str) -> str:
    """A release line of OME that is known, or ``auto``.

    Raises:
        DeclarationError: it is neither.
    """
    allowed = [*sorted(VERSIONS, reverse=True), "auto"]
    if text not in allowed:
        raise DeclarationError(f"OME's version is one of {', '.join(allowed)}")
    return text


def read_environment(text: str) -> list[Declaration]:
    """The clusters of ``OME_DASHBOARD_CLUSTERS``: ``name=context`` separated by commas.

    ``in-cluster`` in place of a context stands for the cluster that the dashboard runs in; a context alone is its
    own name.

    Raises:
        DeclarationError: with the entry and what is wrong; none is to be used then.

    >>> [(each.name, each.context, each.in_cluster) for each in read_environment("prod=admin@prod, lab=in-cluster,x")]
    [('prod', 'admin@prod', False), ('lab', '', True), ('x', 'x', False)]
    """
    found: dict[str, Declaration] = {}
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    for number, entry in enumerate(entries, 1):
        name, equals, context = entry.partition("=")
        try:
            name = check_name(name)
            context = check_context(context if equals else name)
        except DeclarationError as error:
            raise DeclarationError(f"entry {number}: {error}") from None
        if name in found:
            raise DeclarationError(f"entry {number}: {name} stands there twice")
        inside = context == IN_CLUSTER
        found[name] = Declaration(name, inside, "" if inside else context)
    return list(found.values())


def read_file(path: Path) -> list[Declaration]:
    """The clusters of a YAML file: a list of mappings, or one under the key ``clusters``. An empty file has none.

    A path may begin with ``~``.

    Raises:
        DeclarationError: with file, line and what is wrong. A file counts whole or not at all: half of one would have
            the other half's clusters followed no more.
    """
    try:
        path = path.expanduser()
        if path.is_fifo():  # opening one waits for somebody to write
            raise DeclarationError(f"{path}: it can't be read (a pipe is read once, and this is read again)")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except RuntimeError:
        raise DeclarationError(f"{path}: it can't be read (nobody has that home folder)") from None
    except OSError as error:
        raise DeclarationError(f"{path}: it can't be read ({error.strerror or type(error).__name__})") from None
    if len(data) > LARGEST:
        raise DeclarationError(f"{path}: it is larger than 1 MiB, and no list of clusters")
    try:
        root = yaml.compose(data.decode("utf-8-sig"), Loader=_LOADER)
    except UnicodeDecodeError:
        raise DeclarationError(f"{path}: it isn't UTF-8") from None
    except yaml.MarkedYAMLError as error:
        raise _at(path, error.problem_mark, error.problem or "not YAML") from None
    except (yaml.YAMLError, RecursionError):
        raise DeclarationError(f"{path}: not YAML") from None
    found: dict[str, Declaration] = {}
    for node in _entries(path, root):
        declaration = _entry(path, node)
        if declaration.name in found:
            raise _at(path, node.start_mark, f"{declaration.name} stands there twice")
        found[declaration.name] = declaration
    return list(found.values())


def _entries(path: Path, root: yaml.Node | None) -> list[yaml.Node]:
    if root is None:
        return []
    if isinstance(root, yaml.MappingNode):
        fields = _fields(path, root, frozenset({"clusters"}))
        root = fields.get("clusters", root)
    if isinstance(root, yaml.ScalarNode) and root.value in {"", "null", "~"}:
        return []
    if not isinstance(root, yaml.SequenceNode):
        raise _at(path, root.start_mark, "a list of clusters is expected here")
    return list(root.value)


_KEYS = frozenset({"name", "context", "inCluster", "kubeconfig", "omeNamespace", "omeVersion"})


def _entry(path: Path, node: yaml.Node) -> Declaration:
    if not isinstance(node, yaml.MappingNode):
        raise _at(path, node.start_mark, "a cluster with its name is expected here")
    fields = _fields(path, node, _KEYS)

    def read(key: str, check: Callable[[str], str] = str) -> str:
        value = fields.get(key)
        if value is None:
            return ""
        if not isinstance(value, yaml.ScalarNode) or value.value in {"", "null", "~"}:
            raise _at(path, value.start_mark, f"{key}: a word is expected here")
        try:
            return check(value.value)
        except DeclarationError as error:
            raise _at(path, value.start_mark, f"{key}: {error}") from None

    inside = read("inCluster", _boolean) == "true"
    context, kubeconfig = read("context", check_context), read("kubeconfig", _path)
    if "name" not in fields:
        raise _at(path, node.start_mark, "a cluster needs a name")
    if inside == bool(context or kubeconfig):
        raise _at(
            path,
            node.start_mark,
            "a cluster needs either a context (or a kubeconfig, for its current one) or inCluster",
        )
    if kubeconfig and not kubeconfig.startswith("~"):
        kubeconfig = str(path.parent.absolute() / kubeconfig)
    namespace, version = read("omeNamespace", check_ome_namespace), read("omeVersion", check_ome_version)
    return Declaration(read("name", check_name), inside, context, kubeconfig, namespace or "ome", version or "auto")


def _fields(path: Path, node: yaml.MappingNode, known: frozenset[str]) -> Mapping[str, yaml.Node]:
    fields: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name not in known:
            raise _at(
                path, key.start_mark, f"{str(name)[:80] or 'this'} is no key of a cluster: {', '.join(sorted(known))}"
            )
        if name in fields:
            raise _at(path, key.start_mark, f"{name} stands there twice")
        fields[name] = value
    return fields


def _boolean(text: str) -> str:
    if text.lower() not in {"true", "false"}:
        raise DeclarationError("write true or false")
    return text.lower()


def _path(text: str) -> str:
    return _short("a path", text, 900)


def _short(what: str, text: str, longest: int) -> str:
    text = text.strip()
    if not (text and len(text) <= longest and text.isprintable()):
        raise DeclarationError(f"{what} is 1 to {longest} printable characters")
    return text


def _at(path: Path, mark: Any, what: str) -> DeclarationError:
    return DeclarationError(f"{path}:{mark.line + 1}: {what}" if mark is not None else f"{path}: {what}")
