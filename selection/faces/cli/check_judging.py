"""Judging an input, alone or on top of a cluster: from remarks of the rules to reports with a level and a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from selection.faces.cli.check_config import Config
from selection.faces.cli.check_input import Input, Note
from selection.faces.cli.check_rules import LEVELS, OFF, OTHER, RULES
from selection.faces.cli.check_words import named, next_of, other_words, silence_words, words_of
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.remarks import Remark, remark_of, remarks
from selection.rules.semantics import Semantics
from selection.rules.stream import digest_of
from selection.rules.streams import other_stream
from selection.rules.what_if import what_if
from selection.rules.what_if_answer import WhatIf

__all__ = ["Judgement", "Report", "Silenced", "judge"]

LONGEST = 500
"""Characters of a message for people; OME's words on many runtimes can have thousands."""

MOST_OTHERS = 20
"""Of so many services that one object changes in the same way each is told; the rest are counted."""

_RUNTIMES = frozenset({"ServingRuntime", "ClusterServingRuntime"})


@dataclass(frozen=True, slots=True)
class Report:
    """One problem.

    Attributes:
        code: the rule.
        level: ``error``, ``warning`` or ``info``.
        object: what it is about, None for a file.
        path: the file, ``-`` for standard input, ``""`` for an object of the cluster.
        line: from 1; None when it is about all of the file.
        column: from 1; None when only the line is known.
        field: the path of the field that decides, ``""`` for the object as a whole.
        component: ``engine``, ``decoder``, ``router`` or ``""``.
        message: what is wrong, in one line, with the object's name.
        next: what to do about it, or ``""``.
        cause: the object of the input that does it to another one, else None.
        identity: what tells it apart from others, whatever line it is in.
        fingerprint: a digest of that, unique among the reports.
    """

    code: str
    level: str
    object: ObjectRef | None
    path: str
    line: int | None
    column: int | None
    field: str
    component: str
    message: str
    next: str = ""
    cause: ObjectRef | None = None
    identity: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def short(self) -> str:
        """The message as far as a person reads; JSON has all of it."""
        return self.message if len(self.message) <= LONGEST else f"{self.message[:LONGEST]} … (-o json has all of it)"


@dataclass(frozen=True, slots=True)
class Silenced:
    """A problem that a comment silences, and the reason that the comment gives."""

    report: Report
    reason: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of judging.

    Attributes:
        reports: the problems, by file, line and level.
        silenced: those that comments silence.
        objects: every object of the input with its file, in its order.
        notes: files that aren't judged.
        files: how many files were read.
        ignored: how many documents of kinds that aren't OME's.
        version: the release line that was judged by.
        base: what the input was judged on top of, ``""`` for nothing.
    """

    reports: tuple[Report, ...]
    silenced: tuple[Silenced, ...]
    objects: tuple[tuple[ObjectRef, str], ...]
    notes: tuple[Note, ...]
    files: int
    ignored: int
    version: str
    base: str

    def counts(self) -> dict[str, int]:
        """How many problems there are of each level."""
        found = Counter(report.level for report in self.reports)
        return {level: found[level] for level in LEVELS}

    def fails(self, level: str) -> bool:
        """Whether there is a problem of this level or a worse one."""
        return any(LEVELS.index(report.level) <= LEVELS.index(level) for report in self.reports)


def judge(
    given: Input, config: Config, semantics: Semantics, base: Fleet | None, name: str = "", *, everything: bool = False
) -> Judgement:
    """Judge an input.

    Args:
        given: the input.
        config: which level each rule has where.
        semantics: the release of OME to judge by.
        base: what the input comes on top of, None for nothing.
        name: what to call that.
        everything: whether to tell problems of the base, too, that the input has no part in.
    """
    found = list(_of_input(given))
    if base is None:
        fleet = read_fleet(given.manifests.values(), semantics)
        found += _told(given, remarks(fleet, given.manifests, given.manifests.keys(), alone=True))
    else:
        answer = what_if(base, list(given.manifests.values()))
        fleet = answer.after
        subjects = set(given.manifests) | (_all(fleet) if everything else set())
        found += _told(given, remarks(fleet, given.manifests, subjects, alone=False))
        found += _others(given, answer)
        if not everything:
            found += _beside(given, answer)
    reports, silenced = _settled(given, config, found)
    return Judgement(
        reports=tuple(reports),
        silenced=tuple(silenced),
        objects=tuple((ref, source.path) for ref, source in given.sources.items()),
        notes=tuple(given.notes),
        files=given.documents.files,
        ignored=given.documents.ignored,
        version=semantics.version,
        base=name,
    )


def _all(fleet: Fleet) -> set[ObjectRef]:
    readable = (fleet.services, fleet.runtimes, fleet.models)
    return {each.ref for kind in readable for each in kind.values()} | set(fleet.problems)


def _of_input(given: Input) -> Iterator[Report]:
    """What can't be used, and comments without effect."""
    codes = {"file": "unreadable-file", "document": "unreadable-document", "object": "unusable-object"}
    for problem in given.problems:
        code = codes.get(problem.what, "given-twice")
        identity = (code, problem.path, problem.message)
        remark = Remark(code, ObjectRef("", "", ""), text=problem.message)
        yield Report(
            code, "", None, problem.path, problem.line, problem.column, "", "", problem.message, next_of(remark),
            identity=identity,
        )  # fmt: skip
    for silence in given.bad_silences:
        code, words = "bad-silence", silence_words(silence.why, silence.name)
        remark = Remark(code, ObjectRef("", "", ""), text=words)
        identity = (code, silence.path, words)
        yield Report(
            code, "", None, silence.path, silence.line, None, "", "", words, next_of(remark), identity=identity
        )


def _told(given: Input, found: Iterable[Remark], cause: ObjectRef | None = None) -> Iterator[Report]:
    for remark in found:
        yield _report(given, remark, words_of(remark), next_of(remark), cause)


def _report(given: Input, remark: Remark, words: str, step: str, cause: ObjectRef | None = None) -> Report:
    """A report at the field that decides; of an object that isn't in the input, where the one begins that does it."""
    at = remark.object if cause is None else cause
    path, line, column = "", None, None
    if at in given.sources:
        place = given.place(at, remark.path if cause is None else "")
        path, line, column = given.sources[at].path, place.line, place.column
    return Report(
        remark.code, "", remark.object, path, line, column, remark.path, remark.component,
        named(remark.object, words), step, cause, remark.identity,
    )  # fmt: skip


def _others(given: Input, answer: WhatIf) -> Iterator[Report]:
    """What becomes of services that aren't in the input; of many that one object changes alike, only the first."""
    counts: Counter[tuple[str, ObjectRef]] = Counter()
    for row in answer.services:
        if row.given:
            continue
        cause = row.reached_by[0]
        for change in row.changes:
            code = OTHER + change.code
            counts[code, cause] += 1
            if counts[code, cause] <= MOST_OTHERS:
                remark = Remark(code, row.service, "", change.component, str(change.facts.get("conflict", "")))
                yield _report(given, remark, other_words(change.code, change), "", cause)
    for (code, cause), count in counts.items():
        if count > MOST_OTHERS:
            words = f"{RULES[code].title}: {count - MOST_OTHERS:,} more like the ones that are told"
            yield _report(given, Remark(code, cause, about="more"), words, "", cause)


def _beside(given: Input, answer: WhatIf) -> Iterator[Report]:
    """What is to be said of runtimes and models of the base only since the input is there."""
    causes = [ref for ref in given.manifests if ref.kind in _RUNTIMES]
    if not causes:
        causes = [ref for ref in given.manifests if ref.kind.endswith("BaseModel")]
    if causes:
        known = {told.identity for told in other_stream(answer.before)}
        for told in other_stream(answer.after):
            if told.identity not in known and told.object not in given.manifests:
                mentioned = (ref for ref in causes if str(ref) == told.about)
                yield from _told(given, [remark_of(told)], next(mentioned, causes[0]))


def _settled(given: Input, config: Config, found: Iterable[Report]) -> tuple[list[Report], list[Silenced]]:
    """The reports with their levels and fingerprints, in order; and those that comments silence."""
    reports, silenced, seen = [], [], Counter[tuple[str, ...]]()
    for report in sorted(found, key=lambda each: (each.path, each.line or 0, each.column or 0, each.identity)):
        level = config.level(report.code, report.path)
        if level == OFF:
            continue
        seen[report.identity] += 1
        fingerprint = digest_of([*report.identity, seen[report.identity]])
        settled = replace(report, level=level, fingerprint=fingerprint)
        silence = given.silenced(report.code, report.path, report.line or 0)
        if silence is None:
            reports.append(settled)
        else:
            silenced.append(Silenced(settled, silence.reason))
    return sorted(reports, key=_order), silenced


def _order(report: Report) -> tuple[str, int, int, int, str]:
    return report.path, report.line or 0, LEVELS.index(report.level), report.column or 0, report.code
