"""When a request is made again, and when not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.cluster.errors import ApiError, Trouble, Unauthorized
from selection.cluster.retry import LONGEST_ASKED, Backoff, Retry
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


def test_a_brief_one_waits_only_when_it_is_asked_to(clock: FakeClock) -> None:
    slept: list[float] = []
    brief = clock.retry.briefly(slept.append)
    kinds: list[Trouble] = ["server", "connection"]
    for kind in kinds:
        with pytest.raises(ApiError, match=r"^no$"):
            brief.call(failing(trouble(kind), None))
    assert brief.call(failing(trouble("throttled", 3.0), None)) == "answer"
    assert slept == [3.0]
    assert clock.slept == []


def test_who_never_gives_up_waits_longer_each_time_until_something_goes_well() -> None:
    backoff = Backoff(Retry(jitter=lambda: 1.0))
    assert [backoff.after(trouble("server")) for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    backoff.reset()
    assert backoff.after(Unauthorized("no")) == 0.5


@pytest.mark.parametrize(
    ("failures", "asked", "wait"),
    [(0, 7.0, 7.0), (0, 0.0, 0.25), (9, 0.0, 4.0), (9, 1.0, 4.0), (9, 60.0, 60.0), (0, 86_400.0, LONGEST_ASKED)],
)
def test_what_it_is_asked_to_wait_is_believed_within_reason(failures: int, asked: float, wait: float) -> None:
    backoff = Backoff(Retry(jitter=lambda: 0.0), failures)
    assert backoff.after(trouble("throttled", asked)) == wait


@given(
    failures=st.integers(0, 10_000),
    asked=st.none() | st.floats(0, 1e9),
    jitter=st.floats(0, 1),
)
def test_no_wait_is_shorter_than_asked_for_or_without_end(failures: int, asked: float | None, jitter: float) -> None:
    backoff = Backoff(Retry(jitter=lambda: jitter), failures)
    wait = backoff.after(trouble("throttled", asked))
    assert min(asked or 0.0, LONGEST_ASKED) <= wait <= LONGEST_ASKED + 1
    assert wait >= 0.25 or asked is not None
    assert asked is not None or wait <= 30.0


@given(jitter=st.floats(0, 1), seconds=st.floats(0.1, 100))
def test_around_is_a_fifth_more_or_less(jitter: float, seconds: float) -> None:
    assert 0.79 * seconds <= Retry(jitter=lambda: jitter).around(seconds) <= 1.21 * seconds
