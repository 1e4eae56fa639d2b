"""One request, and what its answer or silence means."""

from __future__ import annotations

import gzip
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from selection.cluster import transport
from selection.cluster.errors import ApiError, ClusterError, Unauthorized
from selection.cluster.transport import get_json, server_version
from tests.cluster.fakes import Answer, FakeClock, FakeServer, connect

SECRET = "eyJhbGciOi.very.secret"


def status(code: int, message: str) -> dict[str, Any]:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}


def ask(server: FakeServer, clock: FakeClock, *answers: Answer, **options: Any) -> dict[str, Any]:
    server.answers = list(answers)
    with connect(server.url, **options) as connection:
        return get_json(connection, "/apis/ome.io/v1beta1/basemodels", [("limit", "5")], retry=clock.retry)


def refusal(server: FakeServer, clock: FakeClock, *answers: Answer, **options: Any) -> ApiError:
    with pytest.raises(ApiError) as refused:
        ask(server, clock, *answers, **options)
    return refused.value


# --- what is asked ---------------------------------------------------------------------------------


def test_it_asks_with_the_token_and_for_json(server: FakeServer, clock: FakeClock) -> None:
    assert ask(server, clock, Answer({"items": []}), token=SECRET) == {"items": []}
    (asked,) = server.asked
    assert (asked.path, asked.query) == ("/apis/ome.io/v1beta1/basemodels", {"limit": "5"})
    headers = {name.lower(): value for name, value in asked.headers.items()}
    assert headers["authorization"] == f"Bearer {SECRET}"
    assert headers["accept"] == "application/json"


def test_a_newline_after_a_token_does_no_harm(server: FakeServer, clock: FakeClock) -> None:
    assert ask(server, clock, Answer({}), token=f"{SECRET}\n") == {}


def test_one_connection_serves_all_requests(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [Answer({"n": 1}), Answer({"n": 2}, chunked=True), Answer("", status=404), Answer({"n": 4})]
    with connect(server.url) as connection:
        for _ in range(2):
            get_json(connection, "/version", retry=clock.retry)
        with pytest.raises(ApiError):
            get_json(connection, "/nowhere", retry=clock.retry)
        get_json(connection, "/version", retry=clock.retry)
    assert len({asked.client_port for asked in server.asked}) == 1


# --- what answers mean -----------------------------------------------------------------------------


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_it_reads_long_answers_packed_or_not(server: FakeServer, clock: FakeClock, chunked: bool, packed: bool) -> None:
    body = ('{"a": ["' + "é".join(str(n) for n in range(200_000)) + '"]}').encode()
    headers = {"Content-Encoding": "gzip"} if packed else {}
    answer = Answer(gzip.compress(body) if packed else body, headers=headers, chunked=chunked)
    assert len(ask(server, clock, answer)["a"][0]) > 1_000_000


@pytest.mark.parametrize(("opening", "closing"), [('{"[":', "}"), ("[", "]")])
def test_what_is_nested_beyond_reason_is_cut_and_the_rest_read(
    server: FakeServer, clock: FakeClock, opening: str, closing: str
) -> None:
    deep = opening * 9000 + "1" + closing * 9000
    text = f'{{"items": [{{"a": {deep}, "b": "\\"}}]\\u0000"}}, {{"c": [{deep}, {{"d": 2}}]}}]}}'
    first, second = ask(server, clock, Answer(text.encode()))["items"]
    assert first["b"] == '"}]\ufffd'
    assert second["c"][1] == {"d": 2}
    assert "«nested too deep»" in str(first["a"])
    assert str(first["a"]).count("[") < 200


def test_what_no_database_keeps_is_replaced(server: FakeServer, clock: FakeClock) -> None:
    assert ask(server, clock, Answer(b'{"a": "x\\u0000y", "b": "\\ud83d\\ude00"}')) == {"a": "x\ufffdy", "b": "😀"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            Answer("<html>Sign in</html>", headers={"Content-Type": "text/html; charset=utf-8"}),
            "the answer is not JSON (text/html); is this a Kubernetes API server?",
        ),
        (Answer(b'{"a": "\xff"}'), "the answer is not JSON (application/json); is this a Kubernetes API server?"),
        (Answer(b'{"a": NaN}'), "the answer is not JSON (application/json); is this a Kubernetes API server?"),
        (Answer(b"[" * 100_000), "the answer is not JSON (application/json); is this a Kubernetes API server?"),
        (Answer(""), "the answer is not JSON (application/json); is this a Kubernetes API server?"),
        (Answer("[]"), "the answer is not a JSON object; is this a Kubernetes API server?"),
        (
            Answer("", status=302, headers={"Location": "https://login.example.com/"}),
            "HTTP 302: redirected to another address; is this a Kubernetes API server?",
        ),
        (Answer("<html>", status=404), "HTTP 404"),
        (Answer("404 page not found\n", status=404), "HTTP 404: 404 page not found"),
        (Answer("", status=407), "HTTP 407: a proxy on the way asks for a sign-in"),
        (Answer(status(400, "limit:\n bad"), status=400), "HTTP 400: limit: bad"),
        (Answer(status(410, "x" * 5000), status=410), f"HTTP 410: {'x' * 500}…"),
        (Answer({"message": ["not", "text"]}, status=418), "HTTP 418"),
        (Answer("<html>", status=403), "HTTP 403"),
    ],
)
def test_an_answer_that_is_of_no_use_is_told_in_plain_words(
    server: FakeServer, clock: FakeClock, answer: Answer, reason: str
) -> None:
    error = refusal(server, clock, answer)
    assert str(error) == f"{server.url}: {reason}"
    assert error.trouble is None
    assert len(server.asked) == 1


def test_a_refusal_is_told_in_the_words_of_the_api_server(server: FakeServer, clock: FakeClock) -> None:
    message = 'basemodels.ome.io is forbidden: User "eve" cannot list resource "basemodels"'
    error = refusal(server, clock, Answer(status(403, message), status=403))
    assert (str(error), error.status) == (message, 403)


def test_unknown_credentials_are_an_error_of_their_own(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [Answer(status(401, "Unauthorized"), status=401)]
    with pytest.raises(Unauthorized, match=r"does not accept the credentials of 'test' \(HTTP 401\)") as refused:
        get_json(connect(server.url, token=SECRET), "/version", retry=clock.retry)
    assert SECRET not in str(refused.value)


# --- asking again ----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_it_asks_again_when_the_server_is_in_trouble(server: FakeServer, clock: FakeClock, code: int) -> None:
    assert ask(server, clock, Answer(status(code, "later"), status=code), Answer({"a": 1})) == {"a": 1}
    assert len(server.asked) == 2
    assert clock.slept == [0.25]


def test_a_server_that_stays_in_trouble_is_given_up(server: FakeServer, clock: FakeClock) -> None:
    server.respond = lambda asked: Answer(status(500, "etcdserver: request timed out"), status=500)
    error = refusal(server, clock)
    assert str(error) == f"{server.url}: HTTP 500: etcdserver: request timed out (5 attempts)"
    assert len(server.asked) == 5


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": " 0 "}, 0.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:09 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 9.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:27:00 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 0.0),
        # What can't be understood is as good as none.
        ({"Retry-After": "soon"}, 0.25),
        ({"Retry-After": "-5"}, 0.25),
        ({"Retry-After": "1e9"}, 0.25),
        ({"Retry-After": "9" * 5000}, 0.25),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "no date"}, 0.25),
    ],
)
def test_it_waits_as_retry_after_says(
    server: FakeServer, clock: FakeClock, headers: dict[str, str], wait: float
) -> None:
    ask(server, clock, Answer("", status=429, headers=headers), Answer({}))
    assert clock.slept == [wait]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(hang_up=True),
        Answer({"a": "x" * 1000}, cut=100),
        Answer({"a": "x" * 1000}, cut=100, chunked=True),
        Answer({"a": "x" * 1000}, cut=2, chunked=True),
        Answer(gzip.compress(b'{"a": 1}' * 9), headers={"Content-Encoding": "gzip"}, cut=20),
        Answer(b"no gzip", headers={"Content-Encoding": "gzip"}),
    ],
    ids=["hung up", "cut", "cut in a chunk", "cut in a chunk's size", "cut while packed", "damaged"],
)
def test_it_asks_again_when_the_connection_breaks(server: FakeServer, clock: FakeClock, answer: Answer) -> None:
    assert ask(server, clock, answer, Answer({"a": 1})) == {"a": 1}
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(hang_up=True), "the connection was closed before the answer was complete"),
        (Answer({"a": "x" * 1000}, cut=100), "the answer was cut off"),
        (Answer({"a": "x" * 1000}, cut=100, chunked=True), "the answer was cut off"),
        (Answer(b"no gzip", headers={"Content-Encoding": "gzip"}), "the answer was cut off or damaged"),
    ],
)
def test_a_connection_that_keeps_breaking_is_given_up(
    server: FakeServer, clock: FakeClock, answer: Answer, reason: str
) -> None:
    server.respond = lambda asked: answer
    error = refusal(server, clock)
    assert str(error) == f"{server.url}: {reason} (4 attempts)"
    assert error.trouble == "connection"


def test_a_server_that_is_silent_is_not_waited_for(server: FakeServer, clock: FakeClock) -> None:
    never = threading.Event()
    server.respond = lambda asked: Answer({"a": "x" * 1000}, cut=10, wait=never)
    error = refusal(server, clock, read_timeout=0.1)
    never.set()
    assert str(error) == f"{server.url}: no answer within 0.1 s (4 attempts)"


def test_a_server_that_drips_is_not_listened_to_for_ever(
    server: FakeServer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LONGEST_ANSWER_TIME", -1.0)
    assert str(refusal(server, clock, Answer({"a": 1}))) == "the answer took longer than -1 s"


def test_an_answer_without_end_is_not_read_to_its_end(
    server: FakeServer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LONGEST_ANSWER", 1024 * 1024)
    bomb = Answer(gzip.compress(b" " * 50_000_000), headers={"Content-Encoding": "gzip"})
    assert str(refusal(server, clock, bomb)) == "the answer is longer than 1 MiB"


# --- no server at all ------------------------------------------------------------------------------


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that nobody listens on, and that nobody else gets meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def failure(url: str, clock: FakeClock) -> ApiError:
    with pytest.raises(ApiError) as failed, connect(url, token=SECRET) as connection:
        get_json(connection, "/version", retry=clock.retry)
    return failed.value


def test_a_refused_connection_is_told_as_such(closed_port: int, clock: FakeClock) -> None:
    url = f"http://127.0.0.1:{closed_port}"
    assert str(failure(url, clock)) == f"{url}: connection refused (4 attempts)"


def test_a_name_that_is_not_known_is_told_as_such(clock: FakeClock) -> None:
    url = "http://no-such-host.invalid"
    assert str(failure(url, clock)) == f"{url}: the host's name can't be resolved (4 attempts)"


def test_a_server_without_tls_is_told_as_such(server: FakeServer, clock: FakeClock) -> None:
    url = server.url.replace("http:", "https:")
    assert str(failure(url, clock)).startswith(f"{url}: TLS failure")
    assert clock.slept == []


@pytest.mark.parametrize("url", ["http://a..b", "http://" + "a" * 100, "http://exa mple", "gopher://x"])
def test_an_address_that_is_none_is_told_as_such(url: str, clock: FakeClock) -> None:
    assert str(failure(url, clock)).startswith((url, "the address"))


def test_a_token_that_is_none_is_not_repeated(server: FakeServer, clock: FakeClock) -> None:
    error = refusal(server, clock, token=f"{SECRET}\nX-Evil: 1")
    assert str(error) == "the address or the token holds characters that a request can't carry"
    assert server.asked == []


def test_credentials_that_cannot_be_renewed_are_not_repeated(server: FakeServer, clock: FakeClock) -> None:
    def fail(configuration: object) -> None:
        raise RuntimeError(SECRET)

    connection = connect(server.url, token=SECRET)
    connection.client.configuration.refresh_api_key_hook = fail
    with pytest.raises(ApiError) as failed:
        get_json(connection, "/version", retry=clock.retry)
    assert str(failed.value) == "the credentials could not be renewed (RuntimeError)"


def test_nothing_secret_is_logged(server: FakeServer, clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ask(server, clock, Answer(status(500, "x"), status=500), Answer({"spec": "of-an-object"}), token=SECRET)
    assert SECRET not in caplog.text
    assert "of-an-object" not in caplog.text


# --- the version -----------------------------------------------------------------------------------


def test_it_knows_the_version_of_kubernetes(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [Answer({"gitVersion": "v1.33.2"})]
    assert server_version(connect(server.url), retry=clock.retry) == "v1.33.2"
    assert server.asked[0].path == "/version"


def test_a_server_without_a_version_is_no_api_server(server: FakeServer, clock: FakeClock) -> None:
    server.answers = [Answer({"version": 3})]
    with pytest.raises(ClusterError, match="does not answer as a Kubernetes API server"):
        server_version(connect(server.url), retry=clock.retry)
