"""``docs/ci.md``: its rules are the rules, and its examples do what they say."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from django.template.loader import get_template

from selection.faces.cli.check_config import CONFIG_NAME, read_config
from selection.faces.cli.check_formats import FORMATS
from selection.faces.cli.check_rules import FAMILY_NAMES, OTHER, RULES

from .cli import ROOT
from .test_command_check import checked
from .test_command_check_formats import check_sarif

TEXT = (ROOT / "docs" / "ci.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", TEXT, re.DOTALL)


def block(begin: str) -> str:
    """The one block that begins so."""
    [found] = [text for _, text in BLOCKS if text.startswith(begin)]
    return str(found)


def parsed(begin: str) -> Any:
    return yaml.safe_load(block(begin))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository of the examples, with its two manifests."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "chat.yaml").write_text(block("apiVersion: ome.io/v1beta1\nkind: InferenceService"))
    (tmp_path / "manifests" / "shared.yaml").write_text(block("apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel"))
    return tmp_path


def test_the_table_has_every_rule_as_it_is() -> None:
    _, _, table = TEXT.partition("## Rules\n")
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.splitlines() if "| `" in line]

    assert rows == [(f"`{each.code}`", each.family, each.level, each.title, each.why) for each in RULES.values()]


def test_a_family_is_never_taken_for_a_rule() -> None:
    assert not set(FAMILY_NAMES) & RULES.keys()


@pytest.mark.parametrize("family", ["conflict", "finding", "migration", "upgrade", "workload", "other"])
def test_every_rule_that_has_no_words_of_omes_has_a_sentence(family: str) -> None:
    codes = [rule.code.removeprefix(OTHER) for rule in RULES.values() if rule.family == family]

    assert codes
    for code in codes:
        get_template(f"sentences/{family}/{code}.html")  # raises when there is none


def test_every_format_is_explained() -> None:
    for form in ("text", *FORMATS):
        assert f"\n| `{form}` |" in TEXT


def test_the_example_is_what_is_printed(repository: Path) -> None:
    command, _, expected = block("$ manage.py").partition("\n")

    code, printed = checked(*shlex.split(command)[3:])

    assert (code, printed) == (1, expected)


def test_the_configuration_is_one(repository: Path) -> None:
    (repository / CONFIG_NAME).write_text(block("# .ome-dashboard.yaml"))

    config = read_config(repository / CONFIG_NAME)

    assert (config.fail_on, config.ome_version) == ("warning", "1.3")
    assert config.level("breaks-lws", "manifests/chat.yaml") == "off"
    assert config.level("no-runtime", "manifests/chat.yaml") == "error"
    assert config.level("no-runtime", "staging/team/chat.yaml") == "warning"
    assert config.level("deprecated", "team/experiments/chat.yaml") == "off"
    assert config.level("deprecated", "team/experiments/old/chat.yaml") == "info"


def test_the_comment_silences(repository: Path) -> None:
    (repository / "manifests" / "chat.yaml").write_text(block("# ome-dashboard: ignore"))

    assert checked("manifests")[1] == "no problems (1 silenced); 3 objects in 2 files, by OME 1.3\n"


def test_the_workflow_of_github_runs(repository: Path) -> None:
    job = parsed("# .github/workflows/")["jobs"]["check"]
    [command] = [step["run"] for step in job["steps"] if step.get("run", "").startswith("ome-dashboard-check ")]
    [upload] = [step for step in job["steps"] if "upload-sarif" in step.get("uses", "")]

    code, printed = checked(*shlex.split(command)[1:])

    assert code == 1
    assert "::error file=manifests/chat.yaml,line=7,col=11,title=no-runtime::" in printed
    check_sarif(json.loads(Path(upload["with"]["sarif_file"]).read_text()))


def test_the_job_of_gitlab_runs(repository: Path) -> None:
    job = parsed("# .gitlab-ci.yml")["ome-manifests"]
    reports = job["artifacts"]["reports"]

    [script] = job["script"]
    code, _ = checked(*shlex.split(script)[3:])

    assert code == 1
    assert [each["location"]["path"] for each in json.loads(Path(reports["codequality"]).read_text())] == [
        "manifests/chat.yaml"
    ]
    assert ElementTree.fromstring(Path(reports["junit"]).read_text()).attrib["failures"] == "1"


def test_the_hook_of_pre_commit_runs(repository: Path) -> None:
    [source] = parsed("# .pre-commit-config.yaml")["repos"]
    [hook] = source["hooks"]
    offered = {each["id"] for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}

    assert hook["id"] in offered
    assert checked(*hook["args"])[0] == 1
