"""What the tests of one process must not share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from selection.faces import orders
from selection.store import evaluate, fleets, upgrades


@pytest.fixture(autouse=True)
def _no_fleet_is_remembered() -> Iterator[None]:
    """Forget the fleets of earlier tests: primary keys and generations begin anew in each."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    fleets._loaded.clear()
    upgrades._kept.clear()
    evaluate._seen.clear()
    orders.forget_orders()
