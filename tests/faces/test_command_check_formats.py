"""What ``manage.py check`` writes for programs: each format is what its readers take, whatever stands in a manifest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selection.faces.cli.check_formats import FORMATS
from selection.faces.cli.check_input import Note
from selection.faces.cli.check_judging import LONGEST, Judgement, Report, Silenced
from selection.faces.cli.check_rules import LEVELS, RULES
from selection.faces.cli.check_text import plain, text
from selection.rules.objects import ObjectRef
from tests.rules.manifests import a_model, a_runtime, a_service, an_entry, moded

from .cli import as_yaml
from .test_command_check import checked

SARIF_KEYS = {
    "log": {"$schema", "version", "runs"},
    "run": {"tool", "columnKind", "originalUriBaseIds", "invocations", "results"},
    "driver": {"name", "version", "semanticVersion", "informationUri", "rules"},
    "rule": {
        "id",
        "name",
        "shortDescription",
        "fullDescription",
        "helpUri",
        "help",
        "defaultConfiguration",
        "properties",
    },
    "result": {"ruleId", "ruleIndex", "level", "message", "partialFingerprints", "locations"},
    "location": {"physicalLocation", "logicalLocations"},
    "physical": {"artifactLocation", "region"},
    "region": {"startLine", "startColumn"},
    "artifact": {"uri", "uriBaseId"},
    "logical": {"name", "kind", "fullyQualifiedName"},
}
"""The properties that are written, each of them one that SARIF 2.1.0 has on such an object."""


def check_sarif(log: Any) -> None:
    """What SARIF 2.1.0 (OASIS, section 3) asks of what is written here: names, types, ranges, references."""
    assert set(log) == SARIF_KEYS["log"]
    assert log["version"] == "2.1.0"
    assert urlparse(log["$schema"]).scheme == "https"
    [run] = log["runs"]
    assert set(run) == SARIF_KEYS["run"]
    assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
    assert all(set(base) == {"description"} for base in run["originalUriBaseIds"].values())
    [invocation] = run["invocations"]
    assert isinstance(invocation["executionSuccessful"], bool)
    assert isinstance(invocation["exitCode"], int)
    for note in invocation["toolExecutionNotifications"]:
        assert note.keys() == {"level", "message"}
        assert note["level"] == "note"
        assert note["message"]["text"]
    driver = run["tool"]["driver"]
    assert set(driver) == SARIF_KEYS["driver"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", driver["semanticVersion"])
    for rule in driver["rules"]:
        assert set(rule) == SARIF_KEYS["rule"]
        assert all(rule[key]["text"] for key in ("shortDescription", "fullDescription", "help"))
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note", "none"}
        assert urlparse(rule["helpUri"]).netloc
        assert len(set(rule["properties"]["tags"])) == len(rule["properties"]["tags"])
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    for result in run["results"]:
        check_result(result, driver["rules"], run["originalUriBaseIds"])


def check_result(result: Any, rules: list[Any], bases: dict[str, Any]) -> None:
    assert set(result) <= SARIF_KEYS["result"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in {"error", "warning", "note"}
    assert isinstance(result["message"]["text"], str)
    assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
    assert result["locations"], "code scanning refuses the whole log for a result without a place"
    for location in result["locations"]:
        assert set(location) <= SARIF_KEYS["location"]
        for logical in location.get("logicalLocations", []):
            assert set(logical) == SARIF_KEYS["logical"]
        physical = location["physicalLocation"]
        assert set(physical) == SARIF_KEYS["physical"]
        assert set(physical["region"]) <= SARIF_KEYS["region"]
        assert all(isinstance(number, int) and number >= 1 for number in physical["region"].values())
        artifact = physical["artifactLocation"]
        assert set(artifact) <= SARIF_KEYS["artifact"]
        assert re.fullmatch(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+", artifact["uri"]), "a URI reference"
        if "uriBaseId" in artifact:
            assert artifact["uriBaseId"] in bases
            assert not urlparse(artifact["uri"]).scheme


FIELDS = {"version": "V1]]>&<%0A", "name": "on\x1b[31mnx\r\n::error::x"}
HOSTILE = [
    a_model(modelFormat={"name": "a\u2028,:%\n::set-output name=x::y"}),
    a_runtime("fast", None, an_entry(modelFormat=FIELDS)),
    a_service(engine=moded('<b>&"\x07\x85\ufffe')),
]
NAME = "sp ace, 100% [of] ::it#?.yaml"


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a name and values that mean something in every format."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text(as_yaml(*HOSTILE))
    return tmp_path


def output(form: str, *arguments: str | Path) -> str:
    return checked(*arguments, "-o", form)[1]


def test_json_has_every_problem_whole(hostile: Path) -> None:
    found = json.loads(output("json", "."))

    assert found.keys() == {
        "version", "ome_version", "on", "files", "objects", "ignored_documents", "counts", "failed", "problems",
        "silenced", "not_judged",
    }  # fmt: skip
    assert found["counts"] == {"error": 2, "warning": 0, "info": 1}
    assert found["failed"] is True
    for each in found["problems"]:
        assert each.keys() == {
            "code", "level", "file", "line", "column", "object", "component", "field", "message", "next", "cause",
            "fingerprint",
        }  # fmt: skip
        assert each["file"] == NAME


def test_sarif_is_what_code_scanning_takes(hostile: Path) -> None:
    log = json.loads(output("sarif", "."))

    check_sarif(log)
    [run] = log["runs"]
    first = run["results"][0]["locations"][0]
    assert unquote(first["physicalLocation"]["artifactLocation"]["uri"]) == NAME
    assert first["logicalLocations"][0]["fullyQualifiedName"] == "ClusterServingRuntime/fast"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["no-runtime", "version-unparsable", "ignored"]
    assert run["invocations"][0]["exitCode"] == 1


def test_sarif_names_a_file_elsewhere_whole(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (hostile / "here").mkdir()
    monkeypatch.chdir(hostile / "here")

    log = json.loads(output("sarif", ".."))

    check_sarif(log)
    artifact = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (hostile / NAME).as_uri()}


def test_junit_has_a_case_for_each_object(hostile: Path) -> None:
    root = ElementTree.fromstring(output("junit", "."))

    assert root.attrib == {"name": "ome-dashboard check", "tests": "3", "failures": "2", "errors": "0"}
    [suite] = root
    assert suite.attrib["name"] == NAME
    names = [case.attrib["name"] for case in suite]
    assert names == ["ClusterBaseModel llama", "ClusterServingRuntime fast", "InferenceService team/chat"]
    assert [[part.tag for part in case] for case in suite] == [[], ["failure"], ["failure", "system-out"]]
    assert suite[1][0].attrib == {"message": "version-unparsable", "type": "error"}


def test_junit_fails_what_the_check_fails_for(hostile: Path) -> None:
    root = ElementTree.fromstring(output("junit", ".", "--fail-on", "info"))

    assert [part.tag for part in root[0][2]] == ["failure"]
    assert root[0][2][0].attrib["message"] == "no-runtime, ignored"


def unescaped(words: str) -> str:
    for escaped, letter in (("%3A", ":"), ("%2C", ","), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        words = words.replace(escaped, letter)
    return words


ANNOTATION = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def test_github_shows_each_problem_at_its_place(hostile: Path) -> None:
    lines = output("github", ".").splitlines()

    assert len(lines) == 3
    for line, level in zip(lines, ("error", "error", "notice"), strict=True):
        found = ANNOTATION.fullmatch(line)
        assert found is not None
        properties = dict(pair.split("=") for pair in found[2].split(","))
        assert found[1] == level
        assert unescaped(properties["file"]) == NAME
        assert int(properties["line"]) > 1
        assert properties["title"] in RULES


def test_gitlab_gets_its_code_quality_report(hostile: Path) -> None:
    found = json.loads(output("gitlab", "."))

    assert [each["severity"] for each in found] == ["critical", "critical", "info"]
    for each in found:
        assert each.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert each["location"]["path"] == NAME
        assert each["location"]["lines"]["begin"] >= 1
    assert len({each["fingerprint"] for each in found}) == 3


def test_several_formats_are_written_at_once_and_people_read_along(hostile: Path) -> None:
    code, printed = checked(".", "-o", "sarif=x.sarif", "-o", "junit=x.xml", "-o", "gitlab=x.json")

    assert code == 1
    assert printed.splitlines()[-1].startswith("3 problems: 2 errors, 1 info; ")
    check_sarif(json.loads(Path("x.sarif").read_text()))
    assert ElementTree.fromstring(Path("x.xml").read_text()).tag == "testsuites"
    assert len(json.loads(Path("x.json").read_text())) == 3


def test_text_and_annotations_can_stand_one_after_the_other(hostile: Path) -> None:
    printed = checked(".", "-o", "text", "-o", "github")[1].splitlines()

    assert [line.startswith("::") for line in printed][-4:] == [False, True, True, True]


def test_colour_is_for_those_who_ask_and_not_for_those_who_decline(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[31merror\x1b[0m" in checked(".", "--force-color")[1]
    assert "\x1b" not in checked(".")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in checked(".", "--force-color")[1]


def test_nothing_is_left_for_a_terminal_to_obey(hostile: Path) -> None:
    for line in checked(".")[1].splitlines():
        assert line.isprintable()


# Whatever a report says.

WORDS = st.text(max_size=40)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
REPORTS = st.builds(
    Report,
    code=st.sampled_from(sorted(RULES)),
    level=st.sampled_from(LEVELS),
    object=st.none() | st.builds(ObjectRef, NAMES, NAMES, NAMES),
    path=st.sampled_from(["", "-"]) | NAMES,
    line=st.none() | st.integers(1, 10**6),
    column=st.none() | st.integers(1, 1000),
    field=WORDS,
    component=WORDS,
    message=WORDS | st.just("x" * 2000),
    next=WORDS,
    cause=st.none() | st.builds(ObjectRef, NAMES, NAMES, NAMES),
    fingerprint=st.uuids().map(str),
)
JUDGEMENTS = st.builds(
    Judgement,
    reports=st.lists(REPORTS, max_size=4).map(tuple),
    silenced=st.lists(st.builds(Silenced, REPORTS, WORDS), max_size=2).map(tuple),
    objects=st.lists(st.tuples(st.builds(ObjectRef, NAMES, NAMES, NAMES), NAMES), max_size=3, unique=True).map(tuple),
    notes=st.lists(st.builds(Note, NAMES, WORDS), max_size=2).map(tuple),
    files=st.integers(0, 10),
    ignored=st.integers(0, 10),
    version=st.just("1.3"),
    base=WORDS,
)


@settings(deadline=None)  # templates and modules are loaded on first use
@given(JUDGEMENTS, st.sampled_from(LEVELS))
def test_whatever_a_report_says_every_format_stays_whole(judgement: Judgement, fail_on: str) -> None:
    written = {form: write(judgement, fail_on) for form, write in FORMATS.items()}

    assert len(json.loads(written["json"])["problems"]) == len(judgement.reports)
    log = json.loads(written["sarif"])
    check_sarif(log)
    left_out = sum(not report.path for report in judgement.reports)
    assert len(log["runs"][0]["results"]) == len(judgement.reports) - left_out
    assert len(log["runs"][0]["invocations"][0]["toolExecutionNotifications"]) == bool(left_out)
    root = ElementTree.fromstring(written["junit"])
    assert int(root.attrib["tests"]) == len(root.findall(".//testcase"))
    assert int(root.attrib["failures"]) == len(root.findall(".//failure"))
    assert all(len(each["description"]) <= 2 * LONGEST for each in json.loads(written["gitlab"]))
    lines = written["github"].split("\n") if judgement.reports else []
    assert len(lines) == len(judgement.reports)
    for line, report in zip(lines, judgement.reports, strict=True):
        found = ANNOTATION.fullmatch(line)
        assert found is not None
        assert "\r" not in line
        assert unescaped(found[3]) == plain(report.short) + (f"\n{plain(report.next)}" if report.next else "")
    assert all(line.isprintable() for line in text(judgement).split("\n"))
