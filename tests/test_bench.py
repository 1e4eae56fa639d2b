"""The measurement runs, on a fleet a hundred times smaller; how long it takes is for ``make bench`` to say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import run
from bench.fleet import Size, changed_runtime, manifests
from bench.measure import Measurement, table


def test_the_fleet_is_the_same_every_time() -> None:
    size = Size().part(200)
    assert json.dumps(manifests(size)) == json.dumps(manifests(size))


def test_a_changed_runtime_differs_from_the_one_in_the_fleet() -> None:
    fleet = manifests(Size().part(100))
    changed = changed_runtime(fleet)
    (before,) = [each for each in fleet if each["metadata"]["uid"] == changed["metadata"]["uid"]]
    assert before["spec"] != changed["spec"]


def test_every_stage_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    for stage, measured in [
        ("rules", 2),
        ("first_sync", 2),
        ("from_scratch", 2),
        ("one_change", 1),
        ("pages", 10),
        ("database_size", 1),
    ]:
        found = run(stage, 100, str(tmp_path))
        assert len(found) == measured
        assert all(each.value >= 0 for each in found)


def test_a_limit_that_is_not_kept_is_shown() -> None:
    assert table([Measurement("a", 2, "s", 1)]).endswith("OVER")
    assert not table([Measurement("a", 1, "s", 1)]).endswith("OVER")
