"""The measurement runs, on a fleet fifty times smaller; how long it takes is for ``make bench`` to say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.fleet import Size, changed, manifests
from bench.plain import compare, plainly
from bench.report import kept, text
from selection.rules.explain import explain_service, explain_services
from selection.rules.fleet import read_fleet

ROOT = Path(__file__).resolve().parent.parent
SMALL = Size().part(100)


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """What a quick measurement prints, and that it prints nothing else."""
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    command = [sys.executable, "-m", "bench", "--quick", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_fleet_is_the_same_every_time() -> None:
    assert json.dumps(manifests(SMALL)) == json.dumps(manifests(SMALL))


def test_fewer_services_are_the_first_of_the_same_fleet() -> None:
    whole = json.dumps(manifests(SMALL))
    assert all(json.dumps(each) in whole for each in manifests(SMALL.tenth()))


def test_the_fleet_has_everything_that_makes_work() -> None:
    fleet = read_fleet(manifests(Size().part(10)))
    explained = explain_services(fleet, brief=True)
    outcomes = {each.outcome for each in explained}
    assert outcomes == {"auto-selected", "named", "named-with-advice", "no-runtime", "invalid"}
    conflicts = {found.code for each in explained for modes in each.modes.values() for found in modes.conflicts}
    assert {"pair", "ignored", "drift"} <= conflicts
    assert any(len(fleet.effective(runtime).chain.members) > 1 for runtime in fleet.runtimes.values())
    assert {ref.kind for ref in fleet.problems} == {"ClusterServingRuntime", "InferenceService"}


@pytest.mark.parametrize("kind", ["ClusterServingRuntime", "ClusterBaseModel", "InferenceService"])
def test_a_changed_object_differs_where_selection_looks(kind: str) -> None:
    before = next(each for each in manifests(SMALL) if each["kind"] == kind)
    after = changed(before)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert read_fleet([after]) != read_fleet([before])


def test_the_plain_way_holds_the_fast_one_to_its_answers() -> None:
    fleet = read_fleet(manifests(Size().part(10)))
    explained = [each for each in explain_services(fleet, brief=True) if each.outcome == "auto-selected"]
    first = explained[0]
    plain = plainly(fleet, first.subject.namespace, first.subject.name)
    compare(plain, first)
    with pytest.raises(AssertionError, match=str(first.subject)):
        compare(plain[1:], first)
    full = explain_service(fleet, first.subject.namespace, first.subject.name)
    assert [each.verdict.runtime.ref for each in full.candidates if each.rank] == plain


def test_it_prints_one_json_object_with_every_number(measured: dict[str, Any]) -> None:
    assert measured["fleet"]["services"] == 200
    numbers = [
        *("rules_full_s", "store_sqlite_full_s", "one_runtime_s", "one_model_s", "one_service_s"),
        *("older_full_s", "older_one_runtime_s", "older_findings"),
        *("rss_mb", "server_rss_mb", "plain_ratio"),
    ]
    assert all(measured[name] > 0 for name in numbers)
    assert measured["growth_1k_to_10k"]["rules"] > 0
    if measured["store_postgresql_full_s"] is None:
        assert measured["store_postgresql_reason"]
    else:
        assert measured["store_postgresql_full_s"] > 0


def test_it_asks_for_every_page(measured: dict[str, Any]) -> None:
    from bench.addresses_written import NOT_MEASURED
    from selection.faces.urls import urlpatterns

    names = {str(getattr(pattern, "name", "")) for pattern in urlpatterns}
    assert names - set(measured["pages"]) == set(NOT_MEASURED)
    assert all(NOT_MEASURED.values()), "each says why not"
    for told in measured["pages"].values():
        assert 0 < told["p50_ms"] <= told["p95_ms"]
    # What open pages ask each second is answered from memory as long as nothing changes; the others read nothing.
    without = {name for name, told in measured["pages"].items() if not told["queries"]}
    assert without == {"live", "api: root", "api: schema", "api: person"}


def test_it_says_which_limit_is_not_kept(measured: dict[str, Any]) -> None:
    good = {**measured, "limits": [{"what": "rss_mb", "value": 9, "limit": 500, "kept": True}]}
    assert kept(good)
    assert text(good).endswith("Every limit is kept.")
    bad = {**measured, "limits": [{"what": "rss_mb", "value": 900, "limit": 500, "kept": False}]}
    assert not kept(bad)
    assert text(bad).endswith("rss_mb: 900, limit 500")
