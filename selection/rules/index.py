"""Finds the few runtimes that can matter to a model, so that a fleet isn't judged pair by pair.

An entry can only match a model when format, architecture, quantization and framework have the same names, or
are missing on both sides. Runtimes are found by that; every other one fails check 4 (or sooner) and can neither
be selected nor be kept away by a deployment mode alone. What is found is judged by the plain rules.
"""

from __future__ import annotations

from collections.abc import Iterable, KeysView

from .formats import matching_entry
from .objects import Entry, Model, Runtime
from .sizes import in_range

__all__ = ["Key", "RuntimeIndex", "entry_key", "key_of", "serves"]

Key = tuple[str, str | None, str | None, str | None]


class RuntimeIndex:
    """The runtimes of one scope, by what must be equal.

    >>> from .objects import Format, ObjectRef
    >>> runtime = Runtime(ObjectRef("ClusterServingRuntime", "", "a"), (Entry(format=Format("gguf")),))
    >>> index = RuntimeIndex([runtime])
    >>> [len(index.serving(Model(ObjectRef("BaseModel", "n", "m"), Format(name)))) for name in ("gguf", "onnx")]
    [1, 0]
    """

    def __init__(self, runtimes: Iterable[Runtime]) -> None:
        self.runtimes = tuple(sorted(runtimes, key=lambda runtime: runtime.ref))
        self._by_key: dict[Key, dict[int, Runtime]] = {}
        self._serving: dict[Model, tuple[Runtime, ...]] = {}
        for position, runtime in enumerate(self.runtimes):
            if runtime.disabled:
                continue
            for entry in runtime.entries:
                if entry.format is not None:
                    self._by_key.setdefault(entry_key(entry), {})[position] = runtime

    def serving(self, model: Model) -> tuple[Runtime, ...]:
        """The enabled runtimes that pass the checks of formats and size for this model, by name."""
        found = self._by_key.get(key_of(model))
        if found is None:
            return ()
        if model not in self._serving:
            self._serving[model] = tuple(runtime for _, runtime in sorted(found.items()) if serves(runtime, model))
        return self._serving[model]

    @property
    def keys(self) -> KeysView[Key]:
        """What the entries have that must be equal to a model's (:func:`key_of`)."""
        return self._by_key.keys()

    def remember(self, other: RuntimeIndex, changed: Iterable[Runtime]) -> None:
        """Take over what another index found for models that none of the changed runtimes serves, before or after."""
        different = tuple(changed)
        for model, serving in other._serving.copy().items():  # other threads may ask it at the same time
            if not any(serves(runtime, model) for runtime in different):
                self._serving[model] = serving


def serves(runtime: Runtime, model: Model) -> bool:
    """Whether a runtime passes the checks of formats and size for a model."""
    return matching_entry(model, runtime.entries) is not None and in_range(model.size, runtime.size_range)


def entry_key(entry: Entry) -> Key:
    """What of an entry must be equal in a model that it matches (:func:`key_of`)."""
    name = entry.format.name if entry.format else ""
    return name, entry.architecture, entry.quantization, entry.framework.name if entry.framework else None


def key_of(model: Model) -> Key:
    """What of a model must be equal in an entry that matches it."""
    framework = model.framework.name if model.framework else None
    return model.format.name, model.architecture, model.quantization, framework
