"""When a request is made again, and when not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from selection.cluster.errors import ApiError, Trouble
from tests.cluster.fakes import FakeClock


def failing(*errors: ApiError | None) -> Callable[[], str]:
    """A request that fails with these one after the other, and is answered where there is None."""
    left = list(errors)

    def request() -> str:
        error = left.pop(0) if len(left) > 1 else left[0]
        if error is not None:
            raise error
        return "answer"

    return request


def trouble(kind: Trouble, retry_after: float | None = None) -> ApiError:
    return ApiError("no", trouble=kind, retry_after=retry_after)


def test_an_answer_is_not_waited_for(clock: FakeClock) -> None:
    assert clock.retry.call(failing(None)) == "answer"
    assert clock.slept == []


def test_waits_double_up_to_a_limit(clock: FakeClock) -> None:
    retry = replace(clock.retry, server=9, longest_wait=4.0)
    with pytest.raises(ApiError):
        retry.call(failing(trouble("server")))
    assert clock.slept == [0.25, 0.5, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0]


def test_jitter_spreads_the_waits() -> None:
    clock = FakeClock(jitter=1.0)
    assert clock.retry.call(failing(trouble("server"), trouble("server"), None)) == "answer"
    assert clock.slept == [0.5, 1.0]


@pytest.mark.parametrize(("kind", "attempts"), [("throttled", 10), ("server", 5), ("connection", 4)])
def test_each_trouble_has_its_number_of_attempts(clock: FakeClock, kind: Trouble, attempts: int) -> None:
    with pytest.raises(ApiError) as given_up:
        clock.retry.call(failing(trouble(kind)))
    assert len(clock.slept) == attempts - 1
    assert str(given_up.value) == f"no ({attempts} attempts)"
    assert given_up.value.trouble == kind


def test_what_will_not_help_is_not_tried_again(clock: FakeClock) -> None:
    error = ApiError("forbidden", status=403)
    with pytest.raises(ApiError) as refused:
        clock.retry.call(failing(error, None))
    assert refused.value is error
    assert clock.slept == []


def test_it_waits_as_long_as_it_is_asked_to() -> None:
    clock = FakeClock(jitter=1.0)
    clock.retry.call(failing(trouble("throttled", 7.0), trouble("server", 0.0), None))
    assert clock.slept == [7.5, 0.5]


def test_it_does_not_wait_for_ever_when_asked_to(clock: FakeClock) -> None:
    with pytest.raises(ApiError) as given_up:
        clock.retry.call(failing(trouble("throttled", 3600.0), None))
    assert str(given_up.value) == "no (it asked to wait 3600 s)"
    assert clock.slept == []


def test_all_attempts_together_have_an_end(clock: FakeClock) -> None:
    with pytest.raises(ApiError) as given_up:
        clock.retry.call(failing(trouble("throttled", 25.0)))
    assert clock.slept == [25.0, 25.0, 25.0]
    assert str(given_up.value) == "no (4 attempts, gave up after 75 s)"


def test_time_that_a_request_takes_counts(clock: FakeClock) -> None:
    def slow() -> str:
        clock.now += 60
        raise trouble("connection")

    with pytest.raises(ApiError, match=r"2 attempts, gave up after 120 s"):
        clock.retry.call(slow)


def test_a_hurried_one_connects_once_and_is_patient_with_the_rest(clock: FakeClock) -> None:
    with pytest.raises(ApiError) as given_up:
        clock.retry.hurried().call(failing(trouble("connection"), None))
    assert str(given_up.value) == "no"
    assert clock.retry.hurried().call(failing(trouble("throttled"), None)) == "answer"
