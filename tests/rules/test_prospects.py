"""What hangs on a runtime, held to the rules' own answers on a fleet without it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from selection.rules.explain import explain_service, explain_services
from selection.rules.fleet import Fleet, evolved, read_fleet
from selection.rules.inheritance import INHERIT_FROM
from selection.rules.objects import Runtime
from selection.rules.prospects import descendants, losses, overlaps, served_models, wins
from tests.rules.manifests import a_model, a_runtime, a_service, an_entry, moded

MANY = 1000


def having(fleet: Fleet, runtime: Runtime) -> list[tuple[str, str]]:
    told = explain_services(fleet, brief=True)
    return [
        (each.subject.namespace, each.subject.name)
        for each in told
        if each.selected and each.selected.ref == runtime.ref
    ]


def heir(name: str, parent: str, namespace: str | None = None, **spec: Any) -> dict[str, Any]:
    return a_runtime(name, namespace, annotations={INHERIT_FROM: parent}, **spec)


def test_those_that_are_selected_for_get_the_next() -> None:
    fleet = read_fleet([a_model(), a_runtime("first"), a_runtime("second"), a_service("a"), a_service("b")])
    runtime = fleet.runtimes[("", "first")]

    found, left = losses(fleet, runtime, having(fleet, runtime), MANY)

    assert left == 0
    assert [(each.how, each.outcome, each.instead and each.instead.name, each.services) for each in found] == [
        ("selected", "auto-selected", "second", (("team", "a"), ("team", "b")))
    ]


def test_those_that_name_it_find_another_of_the_name_or_none() -> None:
    fleet = read_fleet(
        [
            a_model(),
            a_runtime(),
            a_runtime("fast", "team"),
            a_service("a", runtime={"name": "fast", "kind": "ClusterServingRuntime"}),
            a_service("b", "lab", runtime={"name": "fast", "kind": "ClusterServingRuntime"}),
        ]
    )
    runtime = fleet.runtimes[("", "fast")]

    found, _ = losses(fleet, runtime, having(fleet, runtime), MANY)

    assert {(each.how, each.outcome, each.instead and each.instead.kind, each.services) for each in found} == {
        ("named", "named", "ServingRuntime", (("team", "a"),)),
        ("named", "no-runtime", None, (("lab", "b"),)),
    }


def test_those_that_name_an_heir_lose_it_too() -> None:
    fleet = read_fleet(
        [
            a_model(),
            a_runtime("base"),
            heir("middle", "base"),
            heir("leaf", "middle"),
            a_service(runtime={"name": "leaf"}),
            a_service("other", runtime={"name": "other"}),
        ]
    )
    base = fleet.runtimes[("", "base")]

    found, _ = losses(fleet, base, having(fleet, base), MANY)

    assert {ref.name for ref in descendants(fleet, base)} == {"middle", "leaf"}
    assert [(each.how, each.outcome, each.instead, each.services) for each in found] == [
        ("heir", "invalid", None, (("team", "chat"),))
    ]


def test_an_heir_that_finds_another_parent_is_told_only_when_it_differs() -> None:
    manifests = [
        a_model(),
        a_runtime("base", "team"),
        heir("leaf", "base", "team"),
        a_service(runtime={"name": "leaf", "kind": "ServingRuntime"}),
    ]
    alike = read_fleet([*manifests, a_runtime("base")])
    different = read_fleet([*manifests, a_runtime("base", hostNetwork=True)])

    def lost(fleet: Fleet) -> list[tuple[str, str]]:
        base = fleet.runtimes[("team", "base")]
        return [(each.how, each.outcome) for each in losses(fleet, base, having(fleet, base), MANY)[0]]

    assert lost(alike) == []
    assert lost(different) == [("heir", "named")]


def test_what_is_beyond_the_limit_is_counted() -> None:
    models = [a_model(f"m-{number}", modelParameterSize=f"{number + 1}B") for number in range(4)]
    services = [a_service(f"s-{number}", model={"name": f"m-{number}"}) for number in range(4)]
    fleet = read_fleet([*models, a_runtime("first"), a_runtime("second"), *services])
    first, second = fleet.runtimes[("", "first")], fleet.runtimes[("", "second")]

    assert losses(fleet, first, having(fleet, first), 3)[1] == 1
    assert wins(fleet, second, served_models(fleet, second), 3)[1] == 1


def test_it_could_win_those_that_it_qualifies_for_behind_another() -> None:
    fleet = read_fleet(
        [
            a_model(),
            a_runtime("first", None, an_entry(priority=3)),
            a_runtime("second"),
            a_runtime("own", "lab"),
            a_service("a"),
            a_service("b"),
            a_service("c", "lab"),
            a_service("d", engine=moded("OMENative")),
            a_service("named", runtime={"name": "first"}),
        ]
    )
    second = fleet.runtimes[("", "second")]

    found, _ = wins(fleet, second, served_models(fleet, second), MANY)

    assert [(each.winner.runtime.ref.name, each.rank, [name for _, name in each.services]) for each in found] == [
        ("first", 2, ["a", "b", "d"]),
        ("own", 3, ["c"]),
    ]


def test_a_disabled_one_wins_nothing() -> None:
    fleet = read_fleet([a_model(), a_runtime("first"), a_runtime("off", disabled=True), a_service()])
    off = fleet.runtimes[("", "off")]

    assert wins(fleet, off, served_models(fleet, off), MANY) == ([], 0)


def test_overlaps_count_the_models_that_both_qualify_for() -> None:
    fleet = read_fleet(
        [
            a_model("small", modelParameterSize="7B"),
            a_model("large", modelParameterSize="70B"),
            a_runtime("wide", modelSizeRange={"min": "1B", "max": "100B"}),
            a_runtime("narrow", modelSizeRange={"min": "1B", "max": "8B"}),
            a_runtime("wide-too", modelSizeRange={"min": "1B", "max": "100B"}),
            a_runtime("own", "team"),
        ]
    )
    wide = fleet.runtimes[("", "wide")]

    found = overlaps(fleet, wide, served_models(fleet, wide))

    assert [(each.other.name, each.models, each.ahead, each.behind, each.tied) for each in found] == [
        ("wide-too", 2, 0, 2, 2),
        ("narrow", 1, 1, 0, 0),
    ]


NAMES = ("a", "b", "c")


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    manifests = [a_model(modelParameterSize="7B")]
    for name in NAMES:
        entry = an_entry(priority=draw(st.integers(0, 2)), autoSelect=draw(st.booleans()))
        parent = draw(st.sampled_from([None, *NAMES]))
        manifests.append(
            a_runtime(
                name,
                draw(st.sampled_from([None, "team"])),
                entry,
                annotations={INHERIT_FROM: parent} if parent and parent != name else None,
                disabled=draw(st.booleans()),
            )
        )
        named = draw(st.sampled_from([None, *NAMES]))
        mode = draw(st.sampled_from([None, "OMENative", "MultiNode"]))
        engine = moded(mode) if mode else {}
        manifests.append(a_service(name, engine=engine, runtime={"name": named} if named else None))
    return read_fleet(manifests)


@given(fleets())
def test_losses_are_what_the_rules_say_without_the_runtime(fleet: Fleet) -> None:
    for runtime in fleet.runtimes.values():
        users = having(fleet, runtime)
        found, _ = losses(fleet, runtime, users, MANY)
        without = evolved(fleet, (), (runtime.ref,))
        for loss in found:
            for key in loss.services:
                told = explain_service(without, *key, brief=True)
                assert (told.outcome, told.selected.ref if told.selected else None) == (loss.outcome, loss.instead)
        counted = Counter(key for loss in found for key in loss.services)
        assert set(counted.values()) <= {1}
        assert set(users) <= set(counted)


@given(fleets())
def test_wins_are_services_that_another_goes_before_it_for(fleet: Fleet) -> None:
    for runtime in fleet.runtimes.values():
        found, _ = wins(fleet, runtime, served_models(fleet, runtime), MANY)
        told = {key: win for win in found for key in win.services}
        for key in fleet.services:
            explanation = explain_service(fleet, *key)
            rank = next((each.rank for each in explanation.candidates if each.verdict.runtime.ref == runtime.ref), None)
            behind = not fleet.services[key].named_runtime and rank is not None and rank > 1
            assert (key in told) == behind
            if behind:
                assert explanation.selected is not None
                assert told[key].winner.runtime.ref == explanation.selected.ref
