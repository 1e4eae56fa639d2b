"""Replaces what looks secret in a manifest, before anything is stored or shown.

A dashboard needs to know that a token is there, never what it is. Replaced are: values under a name that
says secret (environment variables, ``storage.parameters``, annotations, any text field), and what ``secrettext``
finds inside other text. What only refers to a secret (``secretName``, ``secretKeyRef``, ``$(HF_TOKEN)``) stays,
and so does what identifies an object or decides selection.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from selection.rules.inheritance import INHERIT_FROM, PROFILE

from .secretnames import refers, says_secret
from .secrettext import PLACEHOLDER, hidden_text, shapes_hidden, storable, without_secrets

__all__ = ["PLACEHOLDER", "redact"]

_DEEPEST = 200
"""No manifest of OME's kinds is this deep; what can't be looked through isn't kept."""

_VERBATIM = frozenset(
    {"apiVersion", "kind", "name", "namespace", "uid", "resourceVersion", "image", "revision"}
    | {"pinnedRevisionName", "lastRuntimeSyncToken"}
    | {"modelArchitecture", "quantization", "modelParameterSize", "distribution", "min", "max"}
    | {"version", "operator", "className", "library", "type", "acceleratorClass", "acceleratorClasses"}
    | {INHERIT_FROM, PROFILE, "ome.io/accelerator-class", "ome.io/runtime-sync"}
    | {"ome.io/inferenceservice", "component", "serving-runtime"}
)
"""Fields that say which object it is or decide selection: a name may look like a token and has to stay a name."""

_LABELS = frozenset({"labels", "matchLabels", "nodeSelector"})


def redact(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the manifest with what looks secret replaced by :data:`PLACEHOLDER`.

    Never raises on what JSON can hold; doing it twice changes nothing.

    >>> redact({"env": [{"name": "HF_TOKEN", "value": "abc"}, {"name": "PORT", "value": "80"}]})
    {'env': [{'name': 'HF_TOKEN', 'value': '«secret replaced»'}, {'name': 'PORT', 'value': '80'}]}
    >>> redact({"args": ["--api-key=abc", "--tokenizer=x", "--max-tokens", "5"]})["args"]
    ['--api-key=«secret replaced»', '--tokenizer=x', '--max-tokens', '5']
    """
    return _mapping(manifest, 0)


def _field(name: str, value: Any, depth: int, *, secret: bool) -> Any:
    """The value of a field. ``secret`` says that its name, or that of what it belongs to, says so."""
    if depth > _DEEPEST:
        return PLACEHOLDER
    if isinstance(value, str):
        return hidden_text(value) if secret else _text(value, depth)
    if isinstance(value, Mapping):
        if name in _LABELS:
            return {storable(str(key)): _label(str(key), item, depth) for key, item in value.items()}
        return _mapping(value, depth, secret=secret and _holds_values(value))
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return _items(value, depth, secret=secret)
    return _number(value, secret=secret)


def _mapping(value: Mapping[str, Any], depth: int, *, secret: bool = False) -> dict[str, Any]:
    named = value.get("name", value.get("key"))
    pair = isinstance(named, str) and "value" in value and says_secret(named)
    kept = {}
    for key, item in value.items():
        name = str(key)
        hide = secret or (pair and name == "value") or says_secret(name)
        kept[storable(name)] = _verbatim(item) if _stays(name, item) else _field(name, item, depth + 1, secret=hide)
    return kept


def _stays(name: str, value: Any) -> bool:
    """Whether a field is kept as it is: a word, a number, or a list of words under a name that decides."""
    if name not in _VERBATIM or isinstance(value, Mapping):
        return False
    return not isinstance(value, Sequence) or isinstance(value, str) or all(isinstance(each, str) for each in value)


def _verbatim(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [storable(each) for each in value]
    return _number(value, secret=False)


def _label(key: str, value: Any, depth: int) -> Any:
    """A label: whatever its name says, it is there to be selected by. A token in one is replaced all the same."""
    if key in _VERBATIM:
        return _verbatim(value) if _stays(key, value) else _field("", value, depth + 1, secret=False)
    return shapes_hidden(storable(value)) if isinstance(value, str) else _field("", value, depth + 1, secret=False)


def _holds_values(value: Mapping[str, Any]) -> bool:
    """Whether a mapping under a secret name holds values itself (``credentials: {user: x}``) and no references."""
    return bool(value) and all(
        not isinstance(item, (Mapping, list, tuple)) and str(key) != "key" and not refers(str(key))
        for key, item in value.items()
    )


def _items(values: Sequence[Any], depth: int, *, secret: bool) -> list[Any]:
    """A list; in a command the word after an option that says secret is its value."""
    kept: list[Any] = []
    follows = False
    for item in values:
        hide = secret or (follows and not (isinstance(item, str) and item.startswith("-")))
        kept.append(_field("", item, depth + 1, secret=hide))
        option = item.strip() if isinstance(item, str) else ""
        follows = option.startswith("-") and not {"=", " "} & set(option) and says_secret(option)
    return kept


def _number(value: Any, *, secret: bool) -> Any:
    """A number, true, false or null. What no database keeps becomes text; a long number may be a password."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return hidden_text(str(value)) if secret else str(value)
    return hidden_text(str(value)) if secret and abs(value) >= 100_000 else value


def _text(value: str, depth: int) -> str:
    """Text under an innocent name. JSON in it (kubectl's copies, options that take an object) is looked through."""
    value = storable(value)
    if len(value) < 6:
        return value
    if value.lstrip()[:1] in {"{", "["}:
        try:
            parsed = json.loads(value)
            clean = _field("", parsed, depth + 1, secret=False)
        except (ValueError, RecursionError):
            pass  # no JSON after all
        else:
            if clean != parsed:
                value = json.dumps(clean, ensure_ascii=False)
    return without_secrets(value)
