"""Replaces what looks secret in a manifest, before anything is stored or shown.

A dashboard needs to know that a token is there, never what it is. Replaced are: values under a name that
says secret (environment variables, ``storage.parameters``, annotations, any text field), options of
commands that carry one (``--api-key=...``), passwords inside URLs, and values that have a secret's shape
whatever their name. What only refers to a secret (``secretName``, ``secretKeyRef``, ``$(HF_TOKEN)``) stays.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["PLACEHOLDER", "redact"]

PLACEHOLDER = "«secret replaced»"

_SECRET_WORDS = frozenset(
    {"pwd", "pat", "credential", "credentials", "secretkey", "accesskey", "privatekey", "authorization"}
)
_SECRET_ENDS = ("token", "secret", "password", "passwd", "passphrase", "apikey")
_SECRET_KEYS = frozenset(["api", "secret", "access", "private", "auth", "signing", "encryption", "account", "client"])
_REFERENCES = frozenset(
    {"name", "ref", "reference", "path", "file", "mount", "namespace", "id", "type", "url", "uri", "endpoint", "length"}
    | {"limit", "count", "expiration", "seconds"}
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ONLY_REFERENCES = re.compile(
    r"\s*(?:\$\([A-Za-z_][A-Za-z0-9_]*\)|\$\{[A-Za-z_][A-Za-z0-9_]*\}|\$[A-Za-z_][A-Za-z0-9_]*)\s*"
)
_PLAIN = re.compile(r"(?:true|false|yes|no|none|null|auto|[+-]?[0-9.]+)?", re.IGNORECASE)
_OPTION = re.compile(r"(?<!\S)(--?([A-Za-z][A-Za-z0-9_.-]*))(=|\s+)(\"[^\"]*\"|'[^']*'|[^\s\"']+)")
_ASSIGNMENT = re.compile(r"(?<![\w$])([A-Za-z_][A-Za-z0-9_]*)=(\"[^\"]*\"|'[^']*'|[^\s\"';|&]+)")
_SHAPES = re.compile(
    r"hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[A-Za-z0-9_-]{20,}"
    r"|AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[\w-]{30,}|nvapi-[\w-]{16,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?i:bearer|basic) [\w.~+/=-]{16,}"
)
_URL_PASSWORD = re.compile(r"(?<=://)([^\s/@:]*):([^\s/@]+)@")


def redact(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the manifest with what looks secret replaced by :data:`PLACEHOLDER`.

    >>> redact({"env": [{"name": "HF_TOKEN", "value": "abc"}, {"name": "PORT", "value": "80"}]})
    {'env': [{'name': 'HF_TOKEN', 'value': '«secret replaced»'}, {'name': 'PORT', 'value': '80'}]}
    >>> redact({"args": ["--api-key=abc", "--tokenizer=x", "--max-tokens", "5"]})["args"]
    ['--api-key=«secret replaced»', '--tokenizer=x', '--max-tokens', '5']
    """
    return {_storable(str(key)): _field(str(key), value, 0) for key, value in manifest.items()}


def _storable(text: str) -> str:
    """Text that both databases take: neither NUL nor half of a surrogate pair."""
    if "\x00" in text:
        text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _field(name: str, value: Any, depth: int) -> Any:
    if depth > 200:
        return PLACEHOLDER  # no manifest of OME's kinds is this deep; what can't be looked through isn't kept
    if isinstance(value, str):
        return _text(value, secret=_says_secret(name))
    if isinstance(value, Mapping):
        return _mapping(value, depth, secret=_says_secret(name) and _all_text(value))
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return _items(name, value, depth)
    return value


def _all_text(value: Mapping[str, Any]) -> bool:
    """Whether a mapping under a secret name holds values itself (``credentials: {user: x}``) and no references."""
    return bool(value) and all(
        isinstance(item, str) and str(key) != "key" and not _refers(str(key)) for key, item in value.items()
    )


def _refers(name: str) -> bool:
    """Whether a name says that its value points at something (``secretName``) and isn't the thing itself."""
    words = _WORD.findall(name)
    return bool(words) and words[-1].lower() in _REFERENCES


def _mapping(value: Mapping[str, Any], depth: int, *, secret: bool = False) -> dict[str, Any]:
    named = value.get("name")
    pair = isinstance(named, str) and "value" in value and _says_secret(named)
    kept = {}
    for key, item in value.items():
        hide = isinstance(item, str) and (secret or (pair and key == "value"))
        kept[_storable(str(key))] = _text(item, secret=True) if hide else _field(str(key), item, depth + 1)
    return kept


def _items(name: str, values: Sequence[Any], depth: int) -> list[Any]:
    """A list; in a command the word after an option that says secret is its value."""
    kept: list[Any] = []
    follows = _says_secret(name)
    for item in values:
        if isinstance(item, str):
            kept.append(_text(item, secret=follows and not item.startswith("-")))
            option = item.strip()
            follows = _says_secret(name) or (
                option.startswith("-") and "=" not in option and " " not in option and _says_secret(option)
            )
        else:
            kept.append(_field(name if not isinstance(item, Mapping) else "", item, depth + 1))
            follows = _says_secret(name)
    return kept


def _says_secret(name: str) -> bool:
    """Whether a name says that its value is a secret; names of things that refer to one don't.

    >>> [_says_secret(name) for name in ("HF_TOKEN", "apiKey", "--api-key", "AWS_SECRET_ACCESS_KEY", "dbPassword")]
    [True, True, True, True, True]
    >>> [_says_secret(name) for name in ("tokenizer", "secretName", "max_tokens", "TOKEN_LIMIT", "key", "passwordFile")]
    [False, False, False, False, False]
    """
    if _refers(name):
        return False
    words = [word.lower() for word in _WORD.findall(name)]
    return any(word in _SECRET_WORDS or word.endswith(_SECRET_ENDS) for word in words) or any(
        first in _SECRET_KEYS and second == "key" for first, second in itertools.pairwise(words)
    )


def _text(value: str, *, secret: bool) -> str:
    value = _storable(value)
    if secret:
        keeps = _ONLY_REFERENCES.fullmatch(value) or _PLAIN.fullmatch(value)
        return value if keeps else PLACEHOLDER
    if len(value) < 6:
        return value
    value = _SHAPES.sub(PLACEHOLDER, value)
    if "://" in value:
        value = _URL_PASSWORD.sub(lambda match: f"{match.group(1)}:{PLACEHOLDER}@", value)
    if "-" in value:
        value = _OPTION.sub(_option, value)
    if "=" in value:
        value = _ASSIGNMENT.sub(_assignment, value)
    return value


def _option(match: re.Match[str]) -> str:
    option, name, separator, argument = match.groups()
    hidden = _says_secret(name) and not argument.startswith("-")
    return f"{option}{separator}{_text(argument.strip(chr(34) + chr(39)), secret=True) if hidden else argument}"


def _assignment(match: re.Match[str]) -> str:
    name, argument = match.groups()
    return f"{name}={_text(argument.strip(chr(34) + chr(39)), secret=True)}" if _says_secret(name) else match.group(0)
