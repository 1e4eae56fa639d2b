"""Short forms of what ``make soak`` plays: few objects, few kills, the same things that must hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.fleet import Size
from tests.apiserver.build import assets
from tests.apiserver.server import ApiServer
from tests.soak import scenarios
from tests.soak.client import Client
from tests.soak.herd import Herd
from tests.soak.world import World, world
from tests.store.databases import OwnDatabase, copied

pytestmark = [pytest.mark.apiserver, pytest.mark.soak]

SMALL = Size(services=120, runtimes=60, models=30, namespaces=4)


@pytest.fixture(scope="module")
def own_server(apiserver: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """An API server of these tests' own, for they kill it. (The shared one says whether there is any.)"""
    server = ApiServer(assets(build=False), tmp_path_factory.mktemp("soak"))
    try:
        server.start()
        server.install_definitions()
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def herd(own_server: ApiServer) -> Herd:
    """The objects, once on the API server for all scenarios."""
    herd = Herd.of(SMALL)
    Client(own_server).fill(herd.everything)
    return herd


@pytest.fixture
def writer(own_server: ApiServer) -> Client:
    """Somebody who changes them."""
    return Client(own_server)


@pytest.fixture
def played(own_server: ApiServer, own_database: OwnDatabase, tmp_path: Path) -> Iterator[World]:
    """An installation with an empty database."""
    with world(own_server, own_database, tmp_path) as made:
        yield made


@pytest.fixture
def other(template_database: OwnDatabase, tmp_path: Path) -> Iterator[OwnDatabase]:
    """Another empty database, for a fresh sync."""
    with copied(template_database, tmp_path) as database:
        yield database


def test_a_change_is_on_the_page_within_two_seconds(played: World, herd: Herd, writer: Client) -> None:
    played.follow()
    played.serve()
    played.until_live()
    numbers = scenarios.change_to_page(played, herd, writer, changes=15)
    assert numbers["p50_s"] < 2.0, numbers


def test_a_process_that_is_killed_again_and_again_loses_and_repeats_nothing(
    played: World, herd: Herd, writer: Client, other: OwnDatabase
) -> None:
    numbers = scenarios.killed_and_killed(played, herd, writer, other, times=4)
    assert numbers["recorded"] > 0


def test_an_api_server_that_is_killed_is_followed_again(
    played: World, herd: Herd, writer: Client, other: OwnDatabase
) -> None:
    assert scenarios.api_server_killed(played, herd, writer, other, times=2)["objects_changed"] > 0


def test_permissions_that_are_withdrawn_keep_what_was_read(
    played: World, herd: Herd, writer: Client, other: OwnDatabase
) -> None:
    assert scenarios.permissions_withdrawn(played, herd, writer, other)["rows_compared"] > 0


def test_a_kind_that_is_no_longer_defined_goes_and_comes_back(
    played: World, herd: Herd, writer: Client, other: OwnDatabase
) -> None:
    assert scenarios.definition_deleted(played, herd, writer, other)["rows_compared"] > 0


def test_a_storm_of_changes_passes(played: World, herd: Herd, writer: Client, other: OwnDatabase) -> None:
    numbers = scenarios.storm(played, herd, writer, other, changes=400, seconds=2)
    assert numbers["memory_most_mb"] < 500


def test_another_process_takes_over_when_the_first_is_killed(
    played: World, herd: Herd, writer: Client, other: OwnDatabase
) -> None:
    assert scenarios.two_processes(played, herd, writer, other)["taken_over_s"] < 30
