"""The input of ``manage.py check``: objects with the places of their fields, and the comments that silence a rule.

A comment ``# ome-dashboard: ignore CODE -- REASON`` anywhere in a document silences that rule for what is in it.
"""

from __future__ import annotations

import io
import os
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

import yaml

from selection.cluster.documents import decode, parts_of
from selection.cluster.files import Documents, SourceObject, SourceProblem, read_paths
from selection.cluster.places import Place, find_place, root_of, tokens_of
from selection.cluster.yamltext import DocumentError, Limits
from selection.faces.cli.check_rules import RULES
from selection.rules.objects import ObjectRef
from selection.rules.parsing import ref_of
from selection.store.redaction import redact

__all__ = ["BadSilence", "Input", "Note", "Silence", "read_input"]

STDIN = "-"
_COMMENT = re.compile(r"(?:^|[ \t])#[ \t]*ome-dashboard:[ \t]*(.*)$", re.MULTILINE)
_IGNORE = re.compile(r"ignore[ \t]+([a-z0-9-]+(?:[ \t]*,[ \t]*[a-z0-9-]+)*)(?:[ \t]+--[ \t]*(.*\S)?[ \t]*)?\s*")
_KEPT = 4  # texts and documents: what is told comes file by file
_FOREIGN = {
    "kustomization.yaml": "a kustomization: build it first, and judge what kubectl kustomize prints",
    "kustomization.yml": "a kustomization: build it first, and judge what kubectl kustomize prints",
    "Chart.yaml": "of a Helm chart: render it first, and judge what helm template prints",
    "values.yaml": "of a Helm chart: render it first, and judge what helm template prints",
}
_TEMPLATE = "a template: render it first, and judge what helm template prints"
_NO_OBJECT = "not an object but "


@dataclass(frozen=True, slots=True)
class Note:
    """A file that isn't judged though it was given, and why that is no problem."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Silence:
    """A comment that silences rules between two lines of a file, with its reason."""

    codes: frozenset[str]
    reason: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class BadSilence:
    """A comment that was meant to silence something and doesn't, and where.

    ``why`` is ``form``, ``code`` (there is no rule ``name``) or ``reason`` (it gives none).
    """

    path: str
    line: int
    why: Literal["form", "code", "reason"]
    name: str = ""


@dataclass(slots=True)
class Input:
    """What is judged.

    Attributes:
        documents: what was read.
        manifests: the objects by their reference, secrets replaced.
        sources: where each stands.
        problems: what can't be used; without what a note tells.
        notes: files that are for another tool.
        bad_silences: comments that silence nothing.
    """

    documents: Documents
    manifests: dict[ObjectRef, Mapping[str, Any]]
    sources: dict[ObjectRef, SourceObject]
    problems: list[SourceProblem]
    notes: list[Note]
    bad_silences: list[BadSilence] = field(default_factory=list)
    _stdin: bytes = b""
    _silences: dict[str, list[Silence]] = field(default_factory=dict)
    _texts: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _roots: OrderedDict[tuple[str, int], yaml.Node | None] = field(default_factory=OrderedDict)

    def place(self, ref: ObjectRef, path: str = "") -> Place:
        """Where a field of an object stands, or as much of it as there is; else where the object begins."""
        source = self.sources[ref]
        before: tuple[str | int, ...] = () if source.item is None else ("items", source.item - 1)
        tokens = tokens_of(path)
        if tokens:
            root = self._root(source.path, source.start)
            least = len(before) + min(2, len(tokens))
            found = find_place(root, source.start, (*before, *tokens), least)
            if found is not None:
                return found
        return Place(source.line)

    def silenced(self, code: str, path: str, line: int) -> Silence | None:
        """The comment that silences a rule at a line of a file, None when there is none."""
        return next(
            (each for each in self._silences.get(path, ()) if code in each.codes and each.first <= line <= each.last),
            None,
        )

    def look_for_silences(self) -> None:
        """Read the comments of every file that has an object."""
        for path in dict.fromkeys(source.path for source in self.sources.values()):
            text = self._text(path)
            if "ome-dashboard:" not in text:
                continue
            for part, first in parts_of(text):
                for comment in _COMMENT.finditer(part):
                    line = first + part.count("\n", 0, comment.start(1))
                    self._silence(path, comment[1].strip(), line, (first, first + part.count("\n")))

    def _silence(self, path: str, words: str, line: int, lines: tuple[int, int]) -> None:
        found = _IGNORE.fullmatch(words)
        codes = frozenset(re.split(r"[ \t]*,[ \t]*", found[1])) if found else frozenset()
        unknown = sorted(codes - RULES.keys())
        if found is None:
            self.bad_silences.append(BadSilence(path, line, "form"))
        elif unknown:
            self.bad_silences.append(BadSilence(path, line, "code", unknown[0]))
        elif not found[2]:
            self.bad_silences.append(BadSilence(path, line, "reason"))
        else:
            self._silences.setdefault(path, []).append(Silence(codes, found[2], *lines))

    def _root(self, path: str, start: int) -> yaml.Node | None:
        key = (path, start)
        if key not in self._roots:
            self._roots[key] = root_of(self._text(path), start)
            if len(self._roots) > _KEPT:
                self._roots.popitem(last=False)
        return self._roots[key]

    def _text(self, path: str) -> str:
        """The text of a file; empty when it can't be read any more, so that its objects stand where they begin."""
        if path not in self._texts:
            try:
                self._texts[path] = decode(self._stdin if path == STDIN else Path(path).read_bytes())
            except (OSError, DocumentError):
                self._texts[path] = ""
            if len(self._texts) > _KEPT:
                self._texts.popitem(last=False)
        return self._texts[path]


def read_input(paths: Sequence[str], stdin: IO[bytes] | None, namespace: str) -> Input:
    """Read what is to be judged.

    Raises:
        SourceError: a path that was named isn't there or can't be read at all.
    """
    kept = stdin.read(Limits().file_bytes + 1) if STDIN in paths and stdin is not None else b""
    documents = read_paths(paths, io.BytesIO(kept) if stdin is not None else None, namespace=namespace)
    manifests: dict[ObjectRef, Mapping[str, Any]] = {}
    sources: dict[ObjectRef, SourceObject] = {}
    for each in documents.objects:
        ref = ref_of(each.manifest)
        manifests[ref], sources[ref] = redact(each.manifest), each
    notes = list(_notes(documents))
    told = {note.path for note in notes}
    problems = [each for each in documents.problems if not (each.path in told and _is_foreign(each))]
    found = Input(documents, manifests, sources, problems, notes, _stdin=kept)
    found.look_for_silences()
    return found


def _notes(documents: Documents) -> Iterator[Note]:
    foreign = {each.path: each.message for each in reversed(documents.problems) if _is_foreign(each)}
    for path, message in reversed(foreign.items()):
        yield Note(path, f"no manifest of Kubernetes: {message}" if message.startswith(_NO_OBJECT) else _TEMPLATE)
    for path in documents.passed:
        tool = _FOREIGN.get(os.path.basename(path))  # noqa: PTH119 - any text, also of a stream
        if tool is not None:
            yield Note(path, tool)


def _is_foreign(problem: SourceProblem) -> bool:
    """Whether something can't be used because it is for another tool: a template that nobody rendered, or a list."""
    template = "{{" in problem.message or "(a template: " in problem.message
    return problem.what in {"document", "object"} and (template or problem.message.startswith(_NO_OBJECT))
