"""``manage.py check`` on anything that a file may hold: a judgement or one line, never a traceback, in bounded time."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selection.faces.cli.check_config import Config
from selection.faces.cli.check_formats import FORMATS
from selection.faces.cli.check_input import read_input
from selection.faces.cli.check_judging import Judgement, judge
from selection.faces.cli.check_text import text
from selection.rules.fleet import read_fleet
from selection.rules.semantics import V1_2, V1_3
from tests.rules.fleets import broken_fleets, fleets
from tests.rules.manifests import a_model, a_runtime, a_service, moded

from .cli import as_yaml
from .test_command_check import checked


def judged(data: bytes, base: list[dict[str, Any]] | None = None, version: str = "1.3") -> Judgement:
    """The judgement of what stands on standard input."""
    semantics = V1_2 if version == "1.2" else V1_3
    fleet = None if base is None else read_fleet(base, semantics)
    return judge(read_input(["-"], io.BytesIO(data), "default"), Config(), semantics, fleet, everything=True)


def written(judgement: Judgement) -> None:
    """Every format can be written, and every place is one of the input."""
    for write in FORMATS.values():
        write(judgement, "error")
    assert all(line.isprintable() for line in text(judgement).split("\n"))
    assert len({report.fingerprint for report in judgement.reports}) == len(judgement.reports)


@settings(deadline=None)  # templates and modules are loaded on first use
@given(broken_fleets(), st.sampled_from(["1.3", "1.2"]))
def test_a_field_of_any_wrong_type_is_told_and_the_rest_is_judged(
    broken: tuple[list[dict[str, Any]], int, Any], version: str
) -> None:
    manifests, position, wrong = broken
    manifests[position] = wrong
    data = json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}, indent=1).encode()
    lines = data.decode().count("\n") + 1

    judgement = judged(data, version=version)

    written(judgement)
    assert all(report.line and report.line <= lines for report in judgement.reports)


@settings(deadline=None, max_examples=40)
@given(fleets(), fleets(), st.sampled_from(["1.3", "1.2"]))
def test_any_input_can_be_judged_on_top_of_any_cluster(
    base: list[dict[str, Any]], manifests: list[dict[str, Any]], version: str
) -> None:
    written(judged(as_yaml(*manifests).encode(), base, version))


@settings(deadline=None)  # templates and modules are loaded on first use
@given(st.binary(max_size=200))
def test_any_bytes_are_a_file(data: bytes) -> None:
    written(judged(data))


LINES = """\
---
apiVersion: ome.io/v1beta1
kind: InferenceService
kind: ServingRuntime
metadata:
  name: a
spec:
  engine: {leader: {}}
  model: {name: m}
- x
a: &a [*a]
b: *a
<<: {spec: 1}
{{ x }}
# ome-dashboard: ignore invalid -- x
# ome-dashboard:
%YAML 1.1
...
? [a]
? {b: c}
\ufeff
""".splitlines()


@settings(deadline=None)  # templates and modules are loaded on first use
@given(st.lists(st.sampled_from(LINES), max_size=20))
def test_any_lines_are_a_file(lines: list[str]) -> None:
    written(judged("\n".join(lines).encode()))


BOMBS = {
    "aliases of aliases": "a: &a [x]\n"
    + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 10)}]\n" for n in range(20)),
    "deep nesting": "a: " + "[" * 20_000,
    "deep nesting of mappings": "{a: " * 20_000,
    "deep nesting in JSON": '{"a":' * 20_000,
    "many anchors": "".join(f"k{n}: &k{n} {n}\n" for n in range(50_000)),
    "a long line": "a: " + "x" * 5_000_000,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_one_problem_at_most(bomb: str, tmp_path: Path) -> None:
    (tmp_path / "bomb.yaml").write_text(BOMBS[bomb])
    (tmp_path / "fine.yaml").write_text(as_yaml(a_model(), a_runtime(), a_service()))

    code, printed = checked(tmp_path)

    assert code in {0, 1}
    assert "3 objects in 2 files" in printed.splitlines()[-1]
    assert len([line for line in printed.splitlines() if ": error " in line]) <= 1


def test_places_are_found_in_a_list_of_many_in_one_document(tmp_path: Path) -> None:
    items = [a_service(f"chat-{number}", engine=moded("x")) for number in range(1000)]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": [a_model(), a_runtime(), *items]}, indent=1)
    (tmp_path / "list.json").write_text(listed)

    found = json.loads(checked(tmp_path, "-o", "json")[1])["problems"]

    lines = listed.split("\n")
    assert len(found) == 1000
    assert all('"ome.io/deploymentMode": "x"' in lines[each["line"] - 1] for each in found)
