"""Manifests that somebody pasted, uploaded or sent: read within limits, and refused in sentences that name the place.

The text may come from anybody who may open a page, so nothing of it is trusted: every limit holds before anything
grows, and what can't be used is never passed over in silence. All of it is used, or nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from selection.cluster.documents import decode, parts_of, read_documents
from selection.cluster.identities import Unusable, is_list, kind_of, settle
from selection.cluster.jsontext import parse_json
from selection.cluster.kinds import Kind
from selection.cluster.objects import strip_noise
from selection.cluster.yamltext import DocumentError, Limits, ParsedDocument

__all__ = ["PASTED", "Pasted", "PastedObject", "Refusal", "Told", "read_body", "read_pasted"]

PASTED = Limits(file_bytes=10 * 1024 * 1024, documents=2_000, depth=64, values=150_000, alias_values=10_000)
"""The limits unless told otherwise. ``values`` counts keys and values of all documents together: most manifests have
one or two hundred, so that a thousand of them fit, and reading them takes less than a second."""

LONGEST = 1_000_000
"""Characters of one text in a manifest: an API server takes no larger object."""

MOST_OBJECTS = 1_000
"""Objects in all: judging many runtimes takes longer than reading them."""

MOST_REFUSALS = 20
"""Told at once; after these the rest isn't read."""

MOST_DIRECTIVES = 20
"""Lines that begin with ``%``: libyaml compares each with all before it."""

_NAMED = 10
_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_QUOTED = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the input isn't used; ``str()`` is one sentence that names the place.

    ``code`` is ``too-large``, ``document`` (it can't be read, or goes beyond a limit), ``object`` (it isn't one of its
    kind), ``twice``, ``delete`` (what is to be deleted can't be read) or ``unseen`` (it lies where whoever asks sees
    nothing). Documents, lines and columns count from 1; ``item`` is a place in a list of objects.
    """

    code: Literal["too-large", "document", "object", "twice", "unseen", "delete"]
    message: str
    document: int | None = None
    line: int | None = None
    column: int | None = None
    item: int | None = None

    @property
    def place(self) -> str:
        """Where: ``document 2, line 14``; ``""`` for all of it."""
        named = (("document", self.document), ("object", self.item), ("line", self.line), ("column", self.column))
        return ", ".join(f"{name} {number}" for name, number in named if number is not None)

    def to_dict(self) -> dict[str, Any]:
        """The refusal as JSON."""
        return {
            "code": self.code,
            "detail": str(self),
            "document": self.document,
            "object": self.item,
            "line": self.line,
            "column": self.column,
        }

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


@dataclass(frozen=True, slots=True)
class Told:
    """What a person should know of how the input was read: a code, how often, and the first ten it is about.

    ``ignored``: objects of kinds that aren't read, by their kinds. ``default-namespace``: objects that say none.
    ``ome-manager``: OME's own Deployment, whose release isn't judged. ``status``: objects with a status that doesn't
    count. ``not-there``: objects to delete that aren't there.
    """

    code: str
    count: int
    names: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The note as JSON."""
        return {"code": self.code, "count": self.count, "names": list(self.names)}


@dataclass(frozen=True, slots=True)
class PastedObject:
    """One object of the input and the place that it stands at."""

    manifest: dict[str, Any]
    kind: Kind
    document: int | None = None
    line: int | None = None
    item: int | None = None

    @property
    def identity(self) -> tuple[str, str, str]:
        """Kind, namespace ("" for cluster-scoped kinds) and name."""
        metadata = self.manifest["metadata"]
        return self.kind.kind, metadata.get("namespace", ""), metadata["name"]

    @property
    def name(self) -> str:
        """The identity as people write it."""
        kind, namespace, name = self.identity
        return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


@dataclass(frozen=True, slots=True)
class Pasted:
    """The objects of an input in order, each once; or why it is refused, and what should be known of it."""

    objects: tuple[PastedObject, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    told: tuple[Told, ...] = ()


def read_pasted(
    text: str | bytes = "", values: Sequence[Any] = (), *, limits: Limits = PASTED, namespace: str = "default"
) -> Pasted:
    """Read manifests from a text (YAML or JSON, several documents, lists) and from values that JSON gave.

    Of an object that is given twice the second one is refused: nobody could say which of them is meant. A namespaced
    object without a namespace gets ``namespace``, which is told.
    """
    reader = _Reader(limits, namespace)
    try:
        reader.read_text(text)
        for item, value in enumerate(values, 1):
            reader.read_value(value, _Place(item=item))
    except _Enough:
        pass
    told = []
    if reader.ignored:
        kinds = tuple(f"{count} {kind}" for kind, count in reader.ignored.most_common(_NAMED))
        told.append(Told("ignored", sum(reader.ignored.values()), kinds))
    if reader.defaulted:
        told.append(Told("default-namespace", len(reader.defaulted), tuple(reader.defaulted[:_NAMED])))
    objects = () if reader.refusals else tuple(reader.objects.values())
    return Pasted(objects, tuple(reader.refusals), tuple(told))


def read_body(data: bytes, limits: Limits = PASTED) -> Any:
    """The one JSON value of a request, with the refusals that pasted JSON meets.

    Raises:
        DocumentError: it is too large, isn't JSON, gives a key twice, or goes beyond a limit.
    """
    if len(data) > limits.file_bytes:
        raise DocumentError(_too_large(limits))
    text = decode(data)
    if _has_too_many(text, limits):
        raise DocumentError(_too_many(limits))
    found = [document.value for document in parse_json(text, limits)]
    if len(found) != 1:
        raise DocumentError("it holds no value" if not found else "it holds more than one value")
    return found[0]


def _too_large(limits: Limits) -> str:
    return f"larger than {limits.file_bytes:,} bytes: not read"


def _too_many(limits: Limits) -> str:
    return f"more than {limits.values:,} values in all: the rest of it is not read"


def _has_too_many(text: str, limits: Limits) -> bool:
    """Whether a JSON text holds more values than the limit, found without making them.

    >>> [_has_too_many('[1, "2, 3", {"4": 5}]', Limits(values=most)) for most in (3, 4)]
    [True, False]
    """
    signs = ",[{"
    if sum(map(text.count, signs)) <= limits.values:
        return False
    found = end = 0
    for strings, quoted in enumerate(_QUOTED.finditer(text)):  # what stands in a text is no sign
        found += sum(text.count(sign, end, quoted.start()) for sign in signs)
        end = quoted.end()
        if found > limits.values or strings > 2 * limits.values:  # a value has one key at most
            return True
    return found + sum(text.count(sign, end) for sign in signs) > limits.values


class _Enough(Exception):
    """There are so many refusals, or values, that nothing more is read."""


@dataclass(frozen=True, slots=True)
class _Place:
    document: int | None = None
    line: int | None = None
    item: int | None = None


@dataclass(slots=True)
class _Reader:
    limits: Limits
    namespace: str
    objects: dict[tuple[str, str, str], PastedObject] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    defaulted: list[str] = field(default_factory=list)
    values: int = 0

    def refuse(self, refusal: Refusal, *, last: bool = False) -> None:
        self.refusals.append(refusal)
        if last or len(self.refusals) >= MOST_REFUSALS:
            raise _Enough

    def read_text(self, data: str | bytes) -> None:
        text = self._decoded(data)
        if len(_DIRECTIVE.findall(text)) > MOST_DIRECTIVES:
            self.refuse(Refusal("document", f"more than {MOST_DIRECTIVES} lines begin with %: not read"), last=True)
        for part, line in islice(parts_of(text), self.limits.documents):
            if part.lstrip()[:1] in {"{", "["} and _has_too_many(part, self.limits):
                self.refuse(Refusal("document", _too_many(self.limits), line=line), last=True)
        for number, document in enumerate(read_documents(text, self.limits), 1):
            if isinstance(document, DocumentError):
                self.refuse(Refusal("document", str(document), number, document.line, document.column))
            else:
                self._document(document, number)

    def _decoded(self, data: str | bytes) -> str:
        # Characters are at least as many bytes; only what may fit is counted exactly.
        too_large = len(data) > self.limits.file_bytes
        if not too_large and isinstance(data, str):
            too_large = len(data.encode("utf-8", "surrogatepass")) > self.limits.file_bytes
        if too_large:
            self.refuse(Refusal("too-large", _too_large(self.limits)), last=True)
        try:
            return decode(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        except DocumentError as error:
            self.refuse(Refusal("document", str(error), line=error.line), last=True)
            raise  # it never comes to this

    def _document(self, document: ParsedDocument, number: int) -> None:
        if document.value is None:
            return
        place = _Place(number, document.line)
        if is_list(document.value) and isinstance(document.value["items"], list):
            self._list(document.value, document.item_lines, place)
        else:
            self.read_value(document.value, place)

    def read_value(self, value: Any, place: _Place) -> None:
        """Take in one object, or a list of them."""
        if is_list(value) and isinstance(value["items"], list):
            self._list(value, (), place)
            return
        self._count(value, place)
        try:
            kind = kind_of(value)
            if kind is None or not kind.wants(value):
                self._pass_over(value)
                return
            defaulted = settle(value, kind, self.namespace)
        except Unusable as unusable:
            self.refuse(Refusal("object", str(unusable), place.document, place.line, None, place.item))
            return
        if len(self.objects) >= MOST_OBJECTS:
            message = f"more than {MOST_OBJECTS:,} objects: the rest of it is not read"
            self.refuse(Refusal("document", message, place.document, place.line, None, place.item), last=True)
        found = PastedObject(strip_noise(value), kind, place.document, place.line, place.item)
        if defaulted:
            self.defaulted.append(found.name)
        first = self.objects.setdefault(found.identity, found)
        if first is not found:
            there = Refusal("twice", "", first.document, first.line, None, first.item).place
            message = f"{found.name} is given twice, first in {there}"
            self.refuse(Refusal("twice", message, place.document, place.line, None, place.item))

    def _list(self, value: dict[str, Any], lines: Sequence[int], place: _Place) -> None:
        of = str(value["kind"]).removesuffix("List")
        for index, item in enumerate(value["items"]):
            if of and isinstance(item, dict):
                item.setdefault("apiVersion", value.get("apiVersion"))
                item.setdefault("kind", of)
            line = lines[index] if index < len(lines) else place.line
            self.read_value(item, _Place(place.document, line, place.item))

    def _pass_over(self, value: Any) -> None:
        kind = value.get("kind") if isinstance(value, dict) else None
        self.ignored[kind[:80] if isinstance(kind, str) and kind else "without a kind"] += 1

    def _count(self, value: Any, place: _Place) -> None:
        """Hold the limits that no reader of one document knows of."""
        for each in _inside(value):
            self.values += 1
            if isinstance(each, str) and len(each) > LONGEST:
                message = f"a text of more than {LONGEST:,} characters: no API server takes such an object"
                self.refuse(Refusal("object", message, place.document, place.line, None, place.item), last=True)
        if self.values > self.limits.values:
            self.refuse(
                Refusal("document", _too_many(self.limits), place.document, place.line, None, place.item), last=True
            )


def _inside(value: Any) -> Iterator[Any]:
    """Every value and key in a value, without a call for each level: what is nested deep can't run out of stack."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, dict):
            waiting.extend(each)
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
