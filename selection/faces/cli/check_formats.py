"""A judgement for programs: JSON of our own, SARIF for code scanning, JUnit for test reports, GitLab's code quality."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from ome_dashboard import __version__
from selection.faces.cli.check_judging import Judgement, Report
from selection.faces.cli.check_rules import LEVELS, RULES, Rule
from selection.faces.cli.check_text import github, place, shown_path
from selection.faces.cli.output import as_json
from selection.rules.objects import ObjectRef

__all__ = ["FORMATS", "code_quality", "json_of", "junit", "sarif"]

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ABOUT = "https://github.com/sgl-project/ome"
"""Where OME's rules can be read; each rule's help has the words that matter."""

_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_QUALITY = {"error": "critical", "warning": "minor", "info": "info"}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def json_of(judgement: Judgement, fail_on: str) -> str:
    """The judgement as JSON: a documented contract."""
    return as_json(
        {
            "version": 1,
            "ome_version": judgement.version,
            "on": judgement.base or None,
            "files": judgement.files,
            "objects": len(judgement.objects),
            "ignored_documents": judgement.ignored,
            "counts": judgement.counts(),
            "failed": judgement.fails(fail_on),
            "problems": [_problem(report) for report in judgement.reports],
            "silenced": [{**_problem(each.report), "reason": each.reason} for each in judgement.silenced],
            "not_judged": [{"file": note.path, "reason": note.text} for note in judgement.notes],
        }
    )


def _problem(report: Report) -> dict[str, Any]:
    return {
        "code": report.code,
        "level": report.level,
        "file": report.path or None,
        "line": report.line,
        "column": report.column,
        "object": report.object.to_dict() if report.object else None,
        "component": report.component or None,
        "field": report.field or None,
        "message": report.message,
        "next": report.next or None,
        "cause": report.cause.to_dict() if report.cause else None,
        "fingerprint": report.fingerprint,
    }


def sarif(judgement: Judgement, fail_on: str) -> str:
    """The judgement as SARIF 2.1.0, with the rules that it names. Paths count from the current folder.

    Code scanning refuses a whole log for one result that stands in no file, so what is wrong in the cluster alone
    (``--all``) is no result: a notification of the tool counts it.
    """
    placed = [report for report in judgement.reports if report.path]
    used = [RULES[code] for code in RULES if any(report.code == code for report in placed)]
    index = {rule.code: number for number, rule in enumerate(used)}
    driver = {
        "name": "ome-dashboard",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": ABOUT,
        "rules": [_sarif_rule(rule) for rule in used],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The folder that the check was run in."}}},
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": int(judgement.fails(fail_on)),
                "toolExecutionNotifications": list(_unplaced(len(judgement.reports) - len(placed))),
            }
        ],
        "results": [_sarif_result(report, index[report.code]) for report in placed],
    }
    return as_json({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _unplaced(count: int) -> Iterator[dict[str, Any]]:
    if count:
        told = f"Problems left out here, for they stand in no file: {count:,}. The text and the JSON have them."
        yield {"level": "note", "message": {"text": told}}


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    level = _SARIF_LEVELS[rule.level]
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.code.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "helpUri": ABOUT,
        "help": {
            "text": f"{rule.title}. {rule.why}",
            "markdown": f"**{rule.title}** (`{rule.code}`). {rule.why}",
        },
        "defaultConfiguration": {"level": level},
        "properties": {"tags": [rule.family], "problem.severity": "recommendation" if level == "note" else level},
    }


def _sarif_result(report: Report, index: int) -> dict[str, Any]:
    message = report.short + (f"\n{report.next}" if report.next else "")
    result: dict[str, Any] = {
        "ruleId": report.code,
        "ruleIndex": index,
        "level": _SARIF_LEVELS[report.level],
        "message": {"text": message},
        "partialFingerprints": {"omeDashboard/v1": report.fingerprint},
    }
    region = {"startLine": report.line or 1} | ({"startColumn": report.column} if report.column else {})
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(report.path), "region": region},
    }
    if report.object is not None:
        name = f"{report.object.namespace}/{report.object.name}" if report.object.namespace else report.object.name
        logical = {"name": report.object.name, "kind": "object"}
        location["logicalLocations"] = [{**logical, "fullyQualifiedName": f"{report.object.kind}/{name}"}]
    result["locations"] = [location]
    return result


def _artifact(path: str) -> dict[str, str]:
    """A file by its address: from the current folder when it is below it, which is what code scanning wants."""
    inside = _inside(path)
    if inside is None:
        return {"uri": Path(os.path.normpath(Path.cwd() / path)).as_uri()}
    return {"uri": quote(inside), "uriBaseId": "SRCROOT"}


def _inside(path: str) -> str | None:
    """A path from the current folder, with slashes; None when it isn't below it."""
    if path == "-":
        return "stdin"
    whole = PurePath(os.path.normpath(Path.cwd() / path))
    return whole.relative_to(Path.cwd()).as_posix() if whole.is_relative_to(Path.cwd()) else None


def junit(judgement: Judgement, fail_on: str) -> str:
    """The judgement as JUnit's XML: a suite a file, a case an object; what is below the failing level is only told."""
    cases: dict[str, dict[ObjectRef | None, list[Report]]] = {}
    for ref, path in judgement.objects:
        cases.setdefault(path, {})[ref] = []
    for report in judgement.reports:
        at = report.cause or report.object
        cases.setdefault(report.path, {}).setdefault(at, []).append(report)
    fails = LEVELS[: LEVELS.index(fail_on) + 1]
    suites = [_suite(path, found, fails) for path, found in sorted(cases.items())]
    total = sum(len(found) for found in cases.values())
    failed = sum(_failed(reports, fails) for found in cases.values() for reports in found.values())
    head = f'<testsuites name="ome-dashboard check" tests="{total}" failures="{failed}" errors="0">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>"])


def _failed(reports: list[Report], fails: tuple[str, ...]) -> bool:
    return any(report.level in fails for report in reports)


def _suite(path: str, found: Mapping[ObjectRef | None, list[Report]], fails: tuple[str, ...]) -> str:
    failed = sum(_failed(reports, fails) for reports in found.values())
    name = _attribute(shown_path(path) if path else "cluster")
    lines = [f'  <testsuite name={name} tests="{len(found)}" failures="{failed}" errors="0" skipped="0">']
    for ref, reports in found.items():
        lines += _case(path, ref, reports, fails)
    return "\n".join([*lines, "  </testsuite>"])


def _case(path: str, ref: ObjectRef | None, reports: list[Report], fails: tuple[str, ...]) -> Iterator[str]:
    name = _attribute(str(ref) if ref is not None else "the file")
    file = f" file={_attribute(path)}" if path and path != "-" else ""
    head = f"    <testcase classname={_attribute(shown_path(path) if path else 'cluster')} name={name}{file}"
    if not reports:
        yield f"{head}/>"
        return
    yield f"{head}>"
    failures = [report for report in reports if report.level in fails]
    if failures:
        codes = ", ".join(dict.fromkeys(report.code for report in failures))
        told = "\n".join(_line(report) for report in failures)
        yield f'      <failure message={_attribute(codes)} type="{failures[0].level}">{_content(told)}</failure>'
    rest = "\n".join(_line(report) for report in reports if report.level not in fails)
    if rest:
        yield f"      <system-out>{_content(rest)}</system-out>"
    yield "    </testcase>"


def _line(report: Report) -> str:
    step = f"\n    {report.next}" if report.next else ""
    return f"{place(report)}: {report.level} {report.code} {report.short}{step}"


def _content(words: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", words))


def _attribute(words: str) -> str:
    return quoteattr(_NOT_XML.sub("\ufffd", words))


def code_quality(judgement: Judgement, fail_on: str) -> str:
    """GitLab's code quality report; it has no place for what stands in no file of the repository."""
    return as_json(
        [
            {
                "description": f"{report.short} {report.next}".strip(),
                "check_name": report.code,
                "fingerprint": report.fingerprint,
                "severity": _QUALITY[report.level],
                "location": {"path": inside, "lines": {"begin": report.line or 1}},
            }
            for report in judgement.reports
            if report.path and (inside := _inside(report.path)) is not None
        ]
    )


FORMATS: Mapping[str, Callable[[Judgement, str], str]] = {
    "json": json_of,
    "sarif": sarif,
    "junit": junit,
    "gitlab": code_quality,
    "github": lambda judgement, _: github(judgement),
}
"""The formats for programs, by their names."""
