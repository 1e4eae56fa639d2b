"""Variables whose value would stay the name of one of OMENative's."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.env_order import unexpanded_variables

COUNT = "$(OME_INSTANCE_POD_COUNT)"


def container(*env: tuple[str, Any], **fields: Any) -> dict[str, Any]:
    return {"env": [{"name": name, "value": value} for name, value in env], **fields}


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ({"args": ["serve", "--n=$(SIZE)"]}, ["args[1]"]),
        ({"command": ["sh", "-c", "run ${SIZE:-1}"]}, ["command[2]"]),
        ({"command": ["run"], "args": ["$SIZE", "$SIZES", "${SIZES}", "SIZE"]}, ["args[0]"]),
        ({}, []),
    ],
)
def test_it_is_told_where_the_container_uses_it(written: dict[str, Any], used: list[str]) -> None:
    (found,) = unexpanded_variables({"engineConfig": {"leader": {"runner": container(("SIZE", COUNT), **written)}}})
    place = "spec.engineConfig.leader.runner"
    assert found.to_dict() == {
        "component": "engine",
        "path": f"{place}.env[0].value",
        "name": "SIZE",
        "uses": [COUNT],
        "used": [f"{place}.{each}" for each in used],
    }


@pytest.mark.parametrize(
    "spec",
    [
        {"engineConfig": {"runner": container(("SIZE", f"${COUNT}"))}},  # escaped: it is meant as text
        {"engineConfig": {"runner": container(("OME_INSTANCE_POD_COUNT", "2"), ("SIZE", COUNT))}},
        {"engineConfig": {"runner": container(("SIZE", "$OME_INSTANCE_POD_COUNT"))}},  # Kubernetes never reads this
        {"engineConfig": {"initContainers": [container(("SIZE", COUNT))]}},
        {"routerConfig": {"runner": container(("SIZE", COUNT))}},
        {"engineConfig": {"runner": {"env": [None, {"name": 1, "value": COUNT}, {"name": "A", "value": None}]}}},
        {"engineConfig": {"runner": {"env": "SIZE"}, "containers": ["x"]}, "decoderConfig": 3},
    ],
)
def test_nothing_is_told_of_what_is_no_such_variable(spec: dict[str, Any]) -> None:
    assert unexpanded_variables(spec) == ()


def test_every_container_of_engine_and_decoder_is_looked_at() -> None:
    each = container(("SIZE", f"{COUNT}:{COUNT}"))
    pods = {"runner": each, "containers": [{}, each]}
    found = unexpanded_variables({"decoderConfig": {**pods, "leader": pods, "worker": pods}})
    assert [one.path.removeprefix("spec.decoderConfig.").removesuffix(".env[0].value") for one in found] == [
        "runner",
        "leader.runner",
        "worker.runner",
        "containers[1]",
        "leader.containers[1]",
        "worker.containers[1]",
    ]
    assert {one.uses for one in found} == {(COUNT,)}
