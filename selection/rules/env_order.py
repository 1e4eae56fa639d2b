"""Variables of a container's own whose value names a variable of OMENative's, and which therefore stay unexpanded.

Follows OME: move from LeaderWorkerSet to OMENative. OME adds its variables after the container's own ``env``, and
Kubernetes expands ``$(X)`` in a value only when X stands before it. A renamed ``COUNT: $(LWS_GROUP_SIZE)`` therefore
holds the text ``$(OME_INSTANCE_POD_COUNT)``. A command and its arguments are expanded after all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .reference_texts import RENAMED_VARIABLES

__all__ = ["Unexpanded", "unexpanded_variables"]

_OURS = re.compile(r"\$+\((" + "|".join(RENAMED_VARIABLES.values()) + r")\)")
_PLACES = (("runner",), ("leader", "runner"), ("worker", "runner"))
_LISTS = (("containers",), ("leader", "containers"), ("worker", "containers"))


@dataclass(frozen=True, slots=True)
class Unexpanded:
    """One variable that holds another's name instead of its value.

    Attributes:
        component: ``engine`` or ``decoder``.
        path: where the value stands, such as ``spec.engineConfig.leader.runner.env[0].value``.
        name: the variable, such as ``COUNT``.
        uses: OMENative's variables that its value names, as a command names them: ``$(OME_INSTANCE_POD_COUNT)``.
        used: where the container's own ``command`` and ``args`` use the variable; empty when they don't.
    """

    component: str
    path: str
    name: str
    uses: tuple[str, ...]
    used: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The variable as JSON."""
        return {
            "component": self.component,
            "path": self.path,
            "name": self.name,
            "uses": list(self.uses),
            "used": list(self.used),
        }


def unexpanded_variables(spec: Mapping[str, Any]) -> tuple[Unexpanded, ...]:
    """What a runtime's engine and decoder would leave unexpanded on OMENative. Takes any JSON and never raises.

    A router runs alone and an init container has none of OME's variables: both are references for a person.

    >>> runner = {"args": ["--n=$(COUNT)"], "env": [{"name": "COUNT", "value": "$(OME_INSTANCE_POD_COUNT)"}]}
    >>> [(each.name, each.used) for each in unexpanded_variables({"engineConfig": {"runner": runner}})]
    [('COUNT', ('spec.engineConfig.runner.args[0]',))]
    """
    return tuple(
        found
        for component in ("engine", "decoder")
        for path, container in _containers(spec.get(f"{component}Config"), f"spec.{component}Config")
        for found in _of_container(component, path, container)
    )


def _containers(config: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for keys in _PLACES:
        if isinstance(found := _below(config, keys), Mapping):
            yield ".".join((path, *keys)), found
    for keys in _LISTS:
        found = _below(config, keys)
        for index, each in enumerate(found if isinstance(found, list) else ()):
            if isinstance(each, Mapping):
                yield f"{'.'.join((path, *keys))}[{index}]", each


def _below(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _of_container(component: str, path: str, container: Mapping[str, Any]) -> Iterator[Unexpanded]:
    env = container.get("env")
    before: set[str] = set()
    for index, entry in enumerate(env if isinstance(env, list) else ()):
        name, value = (entry.get("name"), entry.get("value")) if isinstance(entry, Mapping) else (None, None)
        if not isinstance(name, str):
            continue
        uses = tuple(dict.fromkeys(_named(value, before))) if isinstance(value, str) else ()
        if uses:
            yield Unexpanded(component, f"{path}.env[{index}].value", name, uses, tuple(_uses(container, path, name)))
        before.add(name)


def _named(value: str, before: set[str]) -> Iterator[str]:
    """OMENative's variables in a value, unless the container sets them itself before or they are escaped."""
    for match in _OURS.finditer(value):
        if match[0].index("(") % 2 and match[1] not in before:
            yield f"$({match[1]})"


def _uses(container: Mapping[str, Any], path: str, name: str) -> Iterator[str]:
    """Where the command and the arguments use a variable, as Kubernetes or as a shell writes it."""
    word = re.escape(name)
    pattern = re.compile(rf"\$\({word}\)|\$\{{[#!]?{word}(?!\w)|\${word}(?!\w)")
    for key in ("command", "args"):
        texts = container.get(key)
        for index, text in enumerate(texts if isinstance(texts, list) else ()):
            if isinstance(text, str) and pattern.search(text):
                yield f"{path}.{key}[{index}]"
