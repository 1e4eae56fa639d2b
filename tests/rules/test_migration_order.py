"""The order of a fleet: who waits on whom, who goes first, what goes together, and what it takes."""

from __future__ import annotations

import itertools
from typing import Any

from selection.rules.fleet import read_fleet
from selection.rules.migration_order import WAVES, FleetOrder, order_fleet
from selection.rules.parsing import ref_of
from selection.rules.planning import plan_services, services_on_the_way

from .manifests import MODE, Manifest, a_model, a_runtime, a_service, an_entry, deployed, moded
from .test_planning import CURRENT, OLD, leaning, multi_node, pods


def ordered(*objects: Manifest) -> FleetOrder:
    manifests = [a_model(), *objects]
    fleet = read_fleet(manifests)
    plans = plan_services(fleet, services_on_the_way(fleet), {ref_of(each): each for each in manifests})
    return order_fleet(fleet, plans)


def waves(order: FleetOrder) -> dict[str, list[str]]:
    return {wave.kind: [ref.name for ref in wave.services] for wave in order.waves}


def naming(name: str, runtime: str = "fast", **fields: Any) -> Manifest:
    return multi_node(name=name, runtime={"name": runtime, **fields})


def test_the_runtime_that_most_wait_on_comes_first() -> None:
    order = ordered(
        leaning("few", None, an_entry(autoSelect=False)),
        leaning("many", None, an_entry(autoSelect=False)),
        leaning("unused", None, an_entry(autoSelect=False)),
        a_runtime("says", engineConfig=moded("MultiNode")),
        a_runtime("fine"),
        naming("a", "few"),
        naming("b", "many"),
        naming("c", "many"),
    )
    assert [(turn.runtime.name, len(turn.services), turn.need) for turn in order.runtimes] == [
        ("many", 2, "references"),
        ("few", 1, "references"),
        ("says", 0, "mode"),
        ("unused", 0, "references"),
    ]
    assert order.runtimes[0].references == 4
    assert order.runtimes[0].to_dict()["waiting"] == 2
    assert order.runtimes[3].copy is None


FLEET = [
    leaning(),
    leaning("odd", None, engineConfig=pods("$((LWS_GROUP_SIZE-1))")),
    a_runtime("plain", None, an_entry(autoSelect=False), engineConfig=pods("serve")),
    naming("one"),
    naming("two"),
    naming("pinned", autoSync=False),
    naming("revised", autoSync=False, revision="cr-fast-0123abcd"),
    naming("odd", "odd"),
    naming("plain", "plain"),
    a_service("down", runtime={"name": "fast"}),
    deployed(CURRENT, service="down"),
    a_service("left", engine=moded("OMENative"), runtime={"name": "plain"}),
    deployed(CURRENT, service="left", runtime="plain"),
    deployed(OLD, service="left", runtime="plain"),
    a_service("done", engine=moded("OMENative"), runtime={"name": "plain"}),
    deployed(CURRENT, service="done", runtime="plain"),
]


def test_what_is_down_goes_first_and_what_is_not_ready_last() -> None:
    assert waves(ordered(*FLEET)) == {
        "urgent": ["down"],
        "cleanup": ["left"],
        "first": ["one"],
        "together": ["plain", "two", "pinned"],
        "alone": ["revised"],
        "not-ready": ["odd"],
    }


def test_plans_stand_in_the_order_of_the_waves() -> None:
    order = ordered(*FLEET)
    assert [plan.service for plan in order.plans] == [ref for wave in order.waves for ref in wave.services]
    assert [wave.kind for wave in order.waves] == list(WAVES)


def test_accelerators_are_told_for_each_wave_and_in_all() -> None:
    order = ordered(*FLEET)
    needs = {wave.kind: dict(wave.needs) for wave in order.waves}
    assert needs["together"] == {"nvidia.com/gpu": 3 * 16}
    assert needs["cleanup"] == {}
    assert dict(order.holds) == {"nvidia.com/gpu": 16}
    assert dict(order.needs) == {"nvidia.com/gpu": 6 * 16}
    assert order.to_dict()["accelerators"] == {"needs": {"nvidia.com/gpu": 96}, "holds": {"nvidia.com/gpu": 16}}


def test_a_service_scaled_to_nothing_shows_of_no_copy_that_it_works() -> None:
    idle = multi_node(name="idle", engine=moded("MultiNode", minReplicas=0))
    assert waves(ordered(leaning(), idle, naming("one"))) == {"first": ["one"], "together": ["idle"]}
    assert waves(ordered(leaning(), idle)) == {"together": ["idle"]}


def test_what_takes_least_goes_first_among_the_same() -> None:
    large = a_service("a-large", runtime={"name": "fast"}, engine=moded("MultiNode", worker={"size": 7}, leader={}))
    assert waves(ordered(leaning(), large, naming("b-small"))) == {"first": ["b-small"], "together": ["a-large"]}


def test_within_a_wave_those_that_need_most_accelerators_stand_first() -> None:
    sizes = {"small": 1, "large": 7, "middle": 3}
    services = [
        a_service(name, runtime={"name": "fast"}, engine=moded("MultiNode", worker={"size": size}, leader={}))
        for name, size in sizes.items()
    ]
    found = waves(ordered(leaning(), *services, naming("a-probe")))
    assert found == {"first": ["a-probe"], "together": ["large", "middle", "small"]}


def test_the_order_of_the_plans_given_does_not_matter() -> None:
    manifests = [a_model(), *FLEET]
    fleet = read_fleet(manifests)
    plans = plan_services(fleet, services_on_the_way(fleet), {ref_of(each): each for each in manifests})
    expected = order_fleet(fleet, plans).to_dict()
    for some in itertools.islice(itertools.permutations(plans), 0, 5000, 500):
        assert order_fleet(fleet, some).to_dict() == expected


def test_nothing_waits() -> None:
    order = ordered(a_runtime(), a_service(engine={"annotations": {MODE: "OMENative"}}))
    assert (order.plans, order.waves, order.runtimes, order.needs) == ((), (), (), ())
