"""Every way to win that is told makes the candidate the first, and one step less doesn't."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import target as towards

from selection.rules.admission import admit_runtime
from selection.rules.fleet import read_fleet
from selection.rules.objects import ObjectRef
from selection.rules.parsing import parse_runtime, ref_of
from selection.rules.remedies import Case, Remedy
from selection.rules.semantics import Semantics
from selection.rules.winning import ways_to_win

from .fleets_more import Edit, holds, put_into, releases, rich_fleets
from .jsonpatch import patched
from .manifests import Manifest, a_model, a_runtime, a_service, an_entry
from .test_remedies import cases, verdict_after

Told = dict[str, tuple[list[dict[str, Any]], bool]]


def less_by_one(patch: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The patch with its number one smaller, as a literal; a weight of 0 counts as more than 1, so it is left out."""
    [operation] = patch
    value = operation["value"] - 1
    return [{**operation, "value": -1 if value == 0 and operation["path"].endswith("weight") else value}]


def made_again(case: Case, name: str, namespace: str = "") -> Manifest:
    """The runtime under another name, or in a namespace."""
    kind = "ServingRuntime" if namespace or ref_of(case.runtime).namespace else "ClusterServingRuntime"
    metadata = {**case.runtime["metadata"], "name": name}
    metadata |= {"namespace": namespace} if namespace else {}
    return {**case.runtime, "kind": kind, "metadata": metadata}


def is_first(case: Case, manifests: Sequence[Manifest], added: Manifest) -> bool:
    """Whether a runtime that is added would be the first."""
    fleet = read_fleet(put_into(manifests, Edit((added,), ())), case.fleet.semantics)
    ranked = fleet.judged(case.question(), case.namespace).ranked
    return ranked[0].runtime.ref == ref_of(added)


def check(case: Case, manifests: Sequence[Manifest], way: Remedy) -> None:
    """Hold one way to what it says."""
    assert way.target == ref_of(case.runtime)
    if way.kind in {"priority", "weight"}:
        patch = way.to_dict()["patch"]
        changed = patched(case.runtime, patch)
        verdict, first = verdict_after(case, manifests, changed)
        assert verdict.qualified
        assert first
        assert way.selected
        _, first = verdict_after(case, manifests, patched(case.runtime, less_by_one(patch)))
        assert not first
        before, after = (set(admit_runtime(case.fleet, parse_runtime(each)).errors) for each in (case.runtime, changed))
        assert after <= before
    elif way.kind == "name":
        assert way.selected
        assert way.patch == ()
        assert is_first(case, manifests, made_again(case, "-"))  # before every letter
        assert not is_first(case, manifests, made_again(case, "~"))
    else:
        assert way.kind == "namespace"
        assert way.patch == ()
        assert way.selected == is_first(case, manifests, made_again(case, ref_of(case.runtime).name, case.namespace))


@holds(3)
@given(rich_fleets(most=8, broken=False), releases)
def test_every_way_to_win_wins_and_one_step_less_does_not(manifests: list[Manifest], release: Semantics) -> None:
    count = 0
    for case in cases(manifests, release):
        ways = ways_to_win(case)
        assert len({way.kind for way in ways}) == len(ways)
        for way in ways:
            check(case, manifests, way)
            count += 1
    towards(float(count))


@holds(8)
@given(rich_fleets(most=8, broken=False), releases)
def test_only_a_candidate_that_qualifies_and_is_not_the_first_has_ways_to_win(
    manifests: list[Manifest], release: Semantics
) -> None:
    for case in cases(manifests, release):
        ranked = case.fleet.judged(case.question(), case.namespace).ranked
        refs = [verdict.runtime.ref for verdict in ranked]
        ways = ways_to_win(case)
        if ref_of(case.runtime) not in refs[1:]:
            assert ways == ()
        elif ref_of(case.runtime).namespace or not refs[0].namespace:
            assert "namespace" not in {way.kind for way in ways}
        else:
            assert [way.kind for way in ways] == ["namespace"]


# --- by hand -----------------------------------------------------------------------------------------


def told(runtime: Manifest, *others: Manifest, **model: Any) -> Told:
    """The ways to win for ``fast`` by kind: the patch, and whether it would be selected."""
    llama, service = a_model(**model), a_service()
    fleet = read_fleet([runtime, llama, service, *others])
    found = ways_to_win(Case(fleet, "team", runtime, llama, service))
    return {way.kind: (way.to_dict()["patch"], way.selected) for way in found}


def entry(weight: int | None = None, priority: int | None = None, **more: Any) -> dict[str, Any]:
    """An entry for ``llama``; what isn't given isn't written."""
    name: dict[str, Any] = {"name": "safetensors"} | ({} if weight is None else {"weight": weight})
    return an_entry(modelFormat=name, **({} if priority is None else {"priority": priority}), **more)


def priority(value: int, op: str = "add", index: int = 0) -> tuple[list[dict[str, Any]], bool]:
    """The patch of a priority, and that it wins."""
    return [{"op": op, "path": f"/spec/supportedModelFormats/{index}/priority", "value": value}], True


def weight(value: int, op: str = "add", index: int = 0) -> tuple[list[dict[str, Any]], bool]:
    """The patch of a format's weight, and that it wins."""
    return [{"op": op, "path": f"/spec/supportedModelFormats/{index}/modelFormat/weight", "value": value}], True


NEAR, WIDE = {"min": "7B", "max": "7B"}, {"min": "1B", "max": "70B"}
WAYS: list[tuple[str, Manifest, list[Manifest], Told]] = [
    # only the name: one more than as much, or a name before the winner's
    (
        "name",
        a_runtime("fast", None, entry()),
        [a_runtime("a", None, entry())],
        {"priority": priority(2), "weight": weight(2), "name": ([], True)},
    ),
    # as much is enough where the distance or the name then decides for it
    (
        "distance",
        a_runtime("fast", None, entry(), modelSizeRange=NEAR),
        [a_runtime("a", None, entry(priority=3), modelSizeRange=WIDE)],
        {"priority": priority(3), "weight": weight(3)},
    ),
    (
        "earlier name",
        a_runtime("fast", None, entry()),
        [a_runtime("z", None, entry(priority=3))],
        {"priority": priority(3), "weight": weight(3)},
    ),
    (
        "later name",
        a_runtime("fast", None, entry()),
        [a_runtime("a", None, entry(priority=3))],
        {"priority": priority(4), "weight": weight(4)},
    ),
    (
        "further away",
        a_runtime("fast", None, entry(), modelSizeRange=WIDE),
        [a_runtime("z", None, entry(), modelSizeRange=NEAR)],
        {"priority": priority(2), "weight": weight(2)},
    ),
    # numbers that don't divide are rounded up
    (
        "rounded",
        a_runtime("fast", None, entry(weight=2, priority=3)),
        [a_runtime("z", None, entry(priority=7))],
        {"priority": priority(4, "replace"), "weight": weight(3, "replace")},
    ),
    # a weight of 0 counts as 10
    (
        "zero",
        a_runtime("fast", None, entry(weight=0)),
        [a_runtime("a", None, entry(priority=20))],
        {"priority": priority(3), "weight": weight(21, "replace")},
    ),
    # the framework's share stays
    (
        "framework",
        a_runtime("fast", None, entry(modelFramework={"name": "t", "weight": 5})),
        [a_runtime("z", None, entry(modelFramework={"name": "t"}, priority=10))],
        {"priority": priority(4), "weight": weight(15)},
    ),
    # the entry that sets the score counts, whether it matches or not
    (
        "other entry",
        a_runtime("fast", None, entry(), entry(priority=5, modelArchitecture="Llama")),
        [a_runtime("a", None, entry(priority=9))],
        {"priority": priority(10, "replace", 1), "weight": weight(2, "add", 1)},
    ),
    # a runtime of a namespace goes before the cluster's, whatever they say
    (
        "namespace",
        a_runtime("fast", None, entry(priority=100)),
        [a_runtime("own", "team", entry())],
        {"namespace": ([], True)},
    ),
    (
        "namespace, and then?",
        a_runtime("fast", None, entry()),
        [a_runtime("own", "team", entry(priority=2))],
        {"namespace": ([], False)},
    ),
    ("first", a_runtime("fast", None, entry()), [a_runtime("z", None, entry())], {}),
    ("not qualified", a_runtime("fast", None, entry(), disabled=True), [a_runtime("z", None, entry())], {}),
    # numbers that don't fit aren't told
    (
        "32 bits",
        a_runtime("fast", None, entry()),
        [a_runtime("a", None, entry(weight=2**33))],
        {"weight": weight(2**33 + 1)},
    ),
    ("64 bits", a_runtime("fast", None, entry()), [a_runtime("a", None, entry(weight=2**63 - 1))], {}),
    (
        "the largest",
        a_runtime("fast", None, entry()),
        [a_runtime("z", None, entry(weight=2**63 - 1))],
        {"weight": weight(2**63 - 1)},
    ),
]


@pytest.mark.parametrize(("runtime", "others", "expected"), [case[1:] for case in WAYS], ids=[case[0] for case in WAYS])
def test_a_candidate_wins_so(runtime: Manifest, others: list[Manifest], expected: Told) -> None:
    framework = {"modelFramework": {"name": "t"}} if "modelFramework" in str(runtime) else {}
    assert told(runtime, *others, modelParameterSize="7B", **framework) == expected


def test_distances_of_less_than_one_parameter_leave_it_to_the_name() -> None:
    near = a_runtime("a", None, entry(), modelSizeRange={"max": "7000000000.2"})
    found = told(
        a_runtime("fast", None, entry(), modelSizeRange={"max": "7000000000.7"}), near, modelParameterSize="7B"
    )
    assert found["name"] == ([], True)


@pytest.mark.parametrize("far", ["inf", "nan", "2e19"])
def test_distances_that_no_integer_holds_leave_it_to_the_name(far: str) -> None:
    near = a_runtime("a", None, entry(), modelSizeRange={"max": "8B"})
    found = told(a_runtime("fast", None, entry(), modelSizeRange={"max": far}), near, modelParameterSize="7B")
    assert found["name"] == ([], True)


def test_a_priority_that_the_webhook_refuses_is_not_told() -> None:
    """Two entries of one name, or of none, must have one priority."""
    twins = [entry(priority=1), entry(priority=1, modelArchitecture="Llama")]
    better = a_runtime("better", None, entry(priority=5))
    assert set(told(a_runtime("fast", None, *twins), better)) == {"weight"}
    named = [{**each, "name": name} for each, name in zip(twins, "ab", strict=True)]
    assert set(told(a_runtime("fast", None, *named), better)) == {"priority", "weight"}


def test_a_way_to_win_is_about_the_runtime() -> None:
    fleet = read_fleet([a_model(), a_runtime("a"), a_runtime("b")])
    ways = ways_to_win(Case(fleet, "team", a_runtime("b"), a_model()))
    assert {way.target for way in ways} == {ObjectRef("ClusterServingRuntime", "", "b")}
