"""``docs/explain.md`` shows what the commands print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from selection.rules import selection
from selection.rules.conflicts import CODES
from selection.rules.explanation import OUTCOMES

from .cli import ROOT, run, run_json

TEXT = (ROOT / "docs" / "explain.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)\n```", TEXT, re.DOTALL)


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    [manifests] = [text for form, text in BLOCKS if form == "yaml"]
    path = tmp_path / "fleet.yaml"
    path.write_text(manifests)
    return path


def test_the_table_is_what_is_printed(fleet: Path) -> None:
    [table] = [text for _, text in BLOCKS if text.startswith("RUNTIME")]
    assert run("explain", "-f", fleet, "--isvc", "demo/chat") == table + "\n"


def narrowed(value: Any, like: Any) -> Any:
    """The part of a value that the document shows."""
    if isinstance(like, dict):
        return {key: narrowed(value[key], like[key]) for key in like}
    if isinstance(like, list):
        return [narrowed(*pair) for pair in zip(value, like, strict=True)]
    return value


def test_the_json_is_what_is_printed(fleet: Path) -> None:
    [shown] = [json.loads(text) for form, text in BLOCKS if form == "json"]
    assert narrowed(run_json("explain", "-f", fleet, "--isvc", "demo/chat"), shown) == shown


def test_every_outcome_and_code_is_named() -> None:

    checks = {
        value
        for name, value in vars(selection).items()
        if name.isupper() and isinstance(value, str) and " " not in value
    }
    for code in {*OUTCOMES, *CODES, *checks}:
        assert f"`{code}`" in TEXT, code
