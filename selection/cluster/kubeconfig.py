"""Kubeconfig files: reading, merging, and saying where something is missing.

Kubernetes: organizing cluster access. Of several files the first that sets a name wins, for contexts, clusters,
users and the current context alike. Messages name the file and the entry, and never quote its values: a
kubeconfig is full of credentials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from selection.cluster.errors import ConfigurationError

__all__ = ["Entry", "Kubeconfig", "read_kubeconfig"]

MOST_NAMES = 10
SECTIONS = {"contexts": "context", "clusters": "cluster", "users": "user"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One context, cluster or user, and the file it stands in."""

    what: str
    name: str
    value: dict[str, Any] = field(repr=False)
    file: Path

    @property
    def where(self) -> str:
        """The place, to begin a message with."""
        return f"{self.file}: {self.what} {self.name!r}"

    def text(self, key: str) -> str | None:
        """Return a string, None when it isn't set or empty.

        Raises:
            ConfigurationError: it is something else than a string.
        """
        value = self.value.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise ConfigurationError(f"{self.where}: {key} is not a string")
        return value

    def path(self, key: str) -> Path | None:
        """Return a path, relative ones from the folder of the kubeconfig; None when it isn't set.

        Raises:
            ConfigurationError: it isn't a string, or there is no such file.
        """
        value = self.text(key)
        if value is None:
            return None
        path = (self.file.parent / value).absolute()
        if not path.is_file():
            raise ConfigurationError(f"{self.where}: {key} names {path}, which is not there")
        return path


@dataclass(slots=True)
class Kubeconfig:
    """What one or more files say together."""

    files: list[Path] = field(default_factory=list)
    contexts: dict[str, Entry] = field(default_factory=dict)
    clusters: dict[str, Entry] = field(default_factory=dict)
    users: dict[str, Entry] = field(default_factory=dict)
    current_context: str | None = None

    @property
    def shown(self) -> str:
        """The files, for messages."""
        return ", ".join(str(file) for file in self.files)

    def context(self, name: str | None) -> Entry:
        """Return the context of this name, or the current one.

        Raises:
            ConfigurationError: there is none, with the names that are there.
        """
        if not self.contexts:
            raise ConfigurationError(f"{self.shown}: no contexts in it")
        if name is None and self.current_context is None:
            raise ConfigurationError(f"{self.shown}: no current-context; name one of {_names(self.contexts)}")
        wanted = self.current_context or "" if name is None else name
        if wanted in self.contexts:
            return self.contexts[wanted]
        near = get_close_matches(wanted, self.contexts, n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {_names(self.contexts)}"
        which = "no context" if name is not None else "the current-context is missing:"
        raise ConfigurationError(f"{self.shown}: {which} {wanted!r}; {hint}")

    def cluster_of(self, context: Entry) -> Entry:
        """Return the cluster that a context names.

        Raises:
            ConfigurationError: it names none, or one that isn't there.
        """
        name = context.text("cluster")
        if name is None:
            raise ConfigurationError(f"{context.where} names no cluster")
        return self._referred(self.clusters, context, "cluster", name)

    def user_of(self, context: Entry) -> Entry | None:
        """Return the user that a context names, None when it names none.

        Raises:
            ConfigurationError: it names one that isn't there.
        """
        name = context.text("user")
        return None if name is None else self._referred(self.users, context, "user", name)

    def _referred(self, entries: dict[str, Entry], context: Entry, what: str, name: str) -> Entry:
        if name not in entries:
            raise ConfigurationError(f"{context.where} names {what} {name!r}, which is not in {self.shown}")
        return entries[name]


def read_kubeconfig(paths: Sequence[Path]) -> Kubeconfig:
    """Read and merge kubeconfig files; those that aren't there are passed over as long as one is.

    Raises:
        ConfigurationError: none of the files is there, or one isn't a kubeconfig.
    """
    merged = Kubeconfig()
    for path in paths:
        if not _exists(path):
            continue
        document = _load(path)
        merged.files.append(path)
        for section, what in SECTIONS.items():
            entries: dict[str, Entry] = getattr(merged, section)
            for entry in _entries(path, section, what, document.get(section)):
                entries.setdefault(entry.name, entry)
        current = document.get("current-context")
        if merged.current_context is None and isinstance(current, str) and current:
            merged.current_context = current
    if not merged.files:
        missing = ", ".join(str(path) for path in paths) or "no file named"
        raise ConfigurationError(f"no kubeconfig: {missing} not found")
    return merged


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise ConfigurationError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None


def _load(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ConfigurationError(f"{path}{place}: not YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ConfigurationError(f"{path}: not YAML") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigurationError(f"{path}: not a kubeconfig: it holds no mapping")
    kind = document.get("kind")
    if kind not in {None, "", "Config"}:
        raise ConfigurationError(f"{path}: not a kubeconfig: its kind is {str(kind)[:80]!r}, not 'Config'")
    return document


def _entries(path: Path, section: str, what: str, value: Any) -> list[Entry]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ConfigurationError(f"{path}: {section} is not a list")
    entries = []
    for index, each in enumerate(value):
        name = each.get("name") if isinstance(each, dict) else None
        if not isinstance(name, str) or not name:
            raise ConfigurationError(f"{path}: {section}[{index}] has no name")
        inner = each.get(what)
        if inner is not None and not isinstance(inner, dict):
            raise ConfigurationError(f"{path}: {what} {name!r} is not a mapping")
        entries.append(Entry(what, name, inner or {}, path))
    return entries


def _names(entries: dict[str, Entry]) -> str:
    names = sorted(entries)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
