"""Logs: one line an event, with its fields and without credentials."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from ome_dashboard.logs import JsonFormatter, TextFormatter, without_credentials


def record(message: str, *arguments: object, failed: bool = False, **fields: object) -> logging.LogRecord:
    made = logging.LogRecord("selection.store", logging.INFO, __file__, 1, message, arguments, None)
    if failed:
        try:
            raise ValueError("token=abcdef123456")
        except ValueError:
            made.exc_info = sys.exc_info()
    vars(made).update(fields)
    return made


def test_json_is_one_object_on_one_line_with_the_fields() -> None:
    line = JsonFormatter().format(record("synced %s\nand more", "east", cluster="east", objects=3))
    assert "\n" not in line
    event = json.loads(line)
    assert event["message"] == "synced east\nand more"
    assert (event["level"], event["logger"]) == ("INFO", "selection.store")
    assert (event["cluster"], event["objects"]) == ("east", 3)


def test_text_has_the_fields_behind_the_message() -> None:
    line = TextFormatter().format(record("synced", cluster="east"))
    assert line.endswith("INFO selection.store: synced cluster=east")


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_no_credential_gets_through(formatter: logging.Formatter) -> None:
    line = formatter.format(
        record("to %s", "postgres://ann:hunter2@db/ome", failed=True, header="Authorization: Bearer abcdef123456")
    )
    assert "ValueError" in line
    for secret in ("hunter2", "abcdef123456"):
        assert secret not in line


@pytest.mark.parametrize(
    "text",
    [
        "listed 12 servingruntimes from https://127.0.0.1:6443/apis",
        "token expired",
        "basic checks passed",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert without_credentials(text) == text


@pytest.mark.parametrize(
    "text", ['{"password": "hunter2"}', "api_key: hunter2", "HF_TOKEN=hunter2 x", "client-secret=hunter2"]
)
def test_named_secrets_are_struck_out(text: str) -> None:
    assert "hunter2" not in without_credentials(text)


def test_our_own_tokens_and_links_are_struck_out_but_can_be_told() -> None:
    secret = "omedash_4fGh12Kl_" + 43 * "x"
    assert without_credentials(f"given {secret}, twice") == "given omedash_4fGh12Kl_***, twice"
    assert without_credentials("GET /account/set-password/Mg/dix1bt-1f7183c4/ 200") == (
        "GET /account/set-password/Mg/***/ 200"
    )


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_a_request_that_was_refused_is_told_in_one_line_and_one_that_failed_with_its_traceback(
    formatter: logging.Formatter,
) -> None:
    for status in (400, 403):
        told = formatter.format(record("Invalid HTTP_HOST header", failed=True, status_code=status))
        assert "\n" not in told
        assert "Traceback" not in told
    assert "Traceback" in formatter.format(record("Internal Server Error: /", failed=True, status_code=500))
