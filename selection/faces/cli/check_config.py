"""Which level a rule has where: the defaults, ``.ome-dashboard.yaml`` above the input, and the command line.

The file is looked for from the folder that holds everything that was named, upward, and not beyond the repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from selection.cluster.documents import decode, read_documents
from selection.cluster.yamltext import DocumentError, Limits
from selection.faces.cli.check_rules import FAMILY_NAMES, LEVELS, OFF, RULES, SETTABLE, settable_names
from selection.rules.semantics import VERSIONS

__all__ = ["CONFIG_NAME", "BadConfig", "Config", "config_above", "level_setting", "read_config"]

CONFIG_NAME = ".ome-dashboard.yaml"
_LIMITS = Limits(file_bytes=1024 * 1024, documents=2, depth=8, values=20_000, alias_values=1000)
_KEYS = ("fail-on", "ome-version", "rules", "paths")
_PATH_KEYS = ("path", "rules")

Levels = Mapping[str, str]


class BadConfig(ValueError):
    """A level or the file can't be used; ``str()`` is why, in one line that names the place."""


@dataclass(frozen=True, slots=True)
class Config:
    """What is set.

    Attributes:
        rules: levels by code or family, for everything.
        paths: patterns of paths below ``folder`` with the levels that count there; of several that fit the last wins.
        folder: where the file stands.
        fail_on: from which level on the check fails, None when it isn't said.
        ome_version: the release to judge by, None when it isn't said.
        over: levels from the command line, which win.
    """

    rules: Levels = field(default_factory=dict)
    paths: tuple[tuple[str, Levels], ...] = ()
    folder: Path = field(default_factory=Path.cwd)
    fail_on: str | None = None
    ome_version: str | None = None
    over: Levels = field(default_factory=dict)

    def level(self, code: str, path: str) -> str:
        """The level of a rule in a file: ``error``, ``warning``, ``info`` or ``off``."""
        level = _set(self.rules, code) or RULES[code].level
        below = _below(self.folder, path)
        for pattern, levels in self.paths:
            if below is not None and _pattern(pattern).fullmatch(below):
                level = _set(levels, code) or level
        return _set(self.over, code) or level


def _set(levels: Levels, code: str) -> str | None:
    return levels.get(code) or levels.get(RULES[code].family)


def _below(folder: Path, path: str) -> str | None:
    """The path from the folder, with slashes; None for what isn't below it."""
    whole = PurePath(os.path.normpath(Path.cwd() / path))
    return whole.relative_to(folder).as_posix() if whole.is_relative_to(folder) else None


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> re.Pattern[str]:
    """A pattern as an expression: ``**`` for any folders, ``*`` and ``?`` within one; a folder means all below it."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.removesuffix("/"))
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts) + "(?:/.*)?")


def level_setting(text: str) -> tuple[str, str]:
    """Parse ``CODE=LEVEL`` of the command line.

    Raises:
        BadConfig: there is no such code or level.

    >>> level_setting("deprecated=off")
    ('deprecated', 'off')
    """
    code, equals, level = text.partition("=")
    if not equals:
        raise BadConfig(f"{text[:80]!r} is not CODE=LEVEL")
    return _checked(code, level, "")


def _checked(code: str, level: Any, where: str) -> tuple[str, str]:
    if code not in RULES and code not in FAMILY_NAMES:
        near = get_close_matches(code, settable_names(), n=1, cutoff=0.6)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise BadConfig(f"{where}there is no rule {code[:80]!r}{hint}")
    if level is False:  # an unquoted off is false in YAML
        level = OFF
    if level not in SETTABLE:
        raise BadConfig(f"{where}{code}: the level is one of {', '.join(SETTABLE)}, not {_short(level)}")
    return code, str(level)


def config_above(paths: Sequence[str]) -> Path | None:
    """The file that counts for these paths, or None; ``-`` counts as the current folder."""
    folders = [str(Path.cwd())] if not paths else []
    for path in paths:
        whole = Path(os.path.normpath(Path.cwd() / path)) if path != "-" else Path.cwd()
        folders.append(str(whole if path == "-" or whole.is_dir() else whole.parent))
    start = Path(os.path.commonpath(folders))
    for folder in (start, *start.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
        if (folder / ".git").exists():
            break
    return None


def read_config(path: Path) -> Config:
    """Read the file.

    Raises:
        BadConfig: it can't be read, or says something that has no meaning.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LIMITS.file_bytes + 1)
    except OSError as error:
        raise BadConfig(f"{path}: {(error.strerror or type(error).__name__).lower()}") from None
    if len(data) > _LIMITS.file_bytes:
        raise BadConfig(f"{path}: larger than {_LIMITS.file_bytes:,} bytes")
    try:
        documents = list(read_documents(decode(data), _LIMITS))
    except DocumentError as error:
        documents = [error]
    for document in documents:
        if isinstance(document, DocumentError):
            line = f":{document.line}" if document.line else ""
            raise BadConfig(f"{path}{line}: {document}")
    values = [document.value for document in documents if not isinstance(document, DocumentError)]
    if len(values) > 1:
        raise BadConfig(f"{path}: holds more than one document")
    return _config(values[0] if values and values[0] is not None else {}, path)


def _config(value: Any, path: Path) -> Config:
    where = f"{path}: "
    known = _object(value, _KEYS, where)
    rules = _levels(known.get("rules"), f"{where}rules: ")
    patterns = known.get("paths")
    if not isinstance(patterns, list | None):
        raise BadConfig(f"{where}paths is not a list")
    paths = []
    for number, each in enumerate(patterns or ()):
        inside = f"{where}paths[{number}]: "
        entry = _object(each, _PATH_KEYS, inside)
        pattern = entry.get("path")
        if not isinstance(pattern, str) or not pattern:
            raise BadConfig(f"{inside}path is missing, or no text")
        paths.append((pattern.removeprefix("./"), _levels(entry.get("rules"), f"{inside}rules: ")))
    version = known.get("ome-version")
    return Config(
        rules=rules,
        paths=tuple(paths),
        folder=Path(os.path.normpath(Path.cwd() / path.parent)),
        fail_on=_one_of(known.get("fail-on"), LEVELS, f"{where}fail-on"),
        # An unquoted 1.3 is a number.
        ome_version=_one_of(
            str(version) if isinstance(version, float) else version, sorted(VERSIONS), f"{where}ome-version"
        ),
    )


def _object(value: Any, keys: Sequence[str], where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadConfig(f"{where}expected an object with {', '.join(keys)}")
    unknown = [str(key) for key in value if key not in keys]
    if unknown:
        raise BadConfig(f"{where}{unknown[0][:80]!r} has no meaning here; known are {', '.join(keys)}")
    return value


def _levels(value: Any, where: str) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadConfig(f"{where}expected an object of codes and levels")
    return dict(_checked(str(code), level, where) for code, level in value.items())


def _one_of(value: Any, allowed: Iterable[str], where: str) -> str | None:
    if value is not None and value not in allowed:
        raise BadConfig(f"{where} is one of {', '.join(allowed)}, not {_short(value)}")
    return value if value is None else str(value)


def _short(value: Any) -> str:
    return repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}..."
