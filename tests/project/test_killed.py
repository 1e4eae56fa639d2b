"""A web process that is killed in the middle of saving: an answer is there whole, with its act, or not at all."""

from __future__ import annotations

import http.client
import json
import sqlite3
import threading
import urllib.parse
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.project.test_serve import ask, free_port, started
from tests.project.test_settings import run

NEED = 12
"""So many answers are saved before the process is killed, in the middle of one of those that follow."""

TIMES = 3


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with the demo fleet."""
    for command in ("migrate", "demo"):
        done = run(tmp_path, "manage.py", command, "--verbosity", "0")
        assert done.returncode == 0, done.stderr
    return tmp_path


def rows(data: Path, query: str, *values: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(next(data.glob("*.sqlite3")))) as database:
        return database.execute(query, values).fetchall()


def posted(port: int, path: str, form: Mapping[str, str]) -> str:
    """Where a form leads to."""
    cookie = ask(port, "/reviews/new/")[1]["Set-Cookie"].partition(";")[0]
    told = {**form, "csrfmiddlewaretoken": cookie.partition("=")[2]}
    status, headers = ask(port, path, told, Cookie=cookie, Referer=f"http://127.0.0.1:{port}/")
    assert status == 302, path
    return headers["Location"]


def answer_until_it_dies(data: Path, port: int, review: str, enough: threading.Event, turn: int) -> int:
    """Answer one item after another, round and round; how many answers the server said it saved."""
    cookie = ask(port, "/reviews/new/")[1]["Set-Cookie"].partition(";")[0]
    items = rows(data, "SELECT place, key, version, evidence FROM people_reviewitem ORDER BY place")
    versions = {str(key): int(str(version)) for _, key, version, _ in items}
    saved = 0
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while True:
        for place, key, _, evidence in items:
            form = {
                "csrfmiddlewaretoken": cookie.partition("=")[2],
                "key": str(key),
                "version": str(versions[str(key)]),
                "evidence": str(evidence),
                "answer": "needs-change",
                "owner": "mara",
                "reason": f"words {turn} {saved} of {key}",
            }
            headers = {
                "Cookie": cookie,
                "Referer": f"http://127.0.0.1:{port}/",
                "Content-Type": "application/x-www-form-urlencoded",
            }
            try:
                connection.request("POST", f"{review}items/{place}/", urllib.parse.urlencode(form), headers)
                response = connection.getresponse()
                response.read()
            except (OSError, http.client.HTTPException):
                return saved
            assert response.status == 302, response.status
            versions[str(key)] += 1
            saved += 1
            if saved >= NEED:
                enough.set()


def check(data: Path) -> int:
    """Every answer is whole: its act, what was done with the finding, and its own row say the same."""
    [(whole,)] = rows(data, "PRAGMA integrity_check")
    assert whole == "ok"
    found = 0
    for key, version, reason, answer in rows(data, "SELECT key, version, reason, answer FROM people_reviewitem"):
        query = "SELECT after FROM people_actrecord WHERE act = 'answered' AND subject LIKE ? ORDER BY id"
        acts = rows(data, query, f"item:%/{key}")
        assert len(acts) == int(str(version)) - 1, key
        found += len(acts)
        if acts:
            assert json.loads(str(acts[-1][0]))["reason"] == reason
            assert rows(data, "SELECT reason, owner FROM people_handling WHERE key = ?", str(key)) == [(reason, "mara")]
        else:
            assert (reason, answer) == ("", "")
            assert rows(data, "SELECT 1 FROM people_handling WHERE key = ?", str(key)) == []
    return found


def test_killed_in_the_middle_of_saving_each_answer_is_whole_or_not_there(data: Path) -> None:
    review, saved = "", 0
    with ThreadPoolExecutor(1) as pool:
        for turn in range(TIMES):
            port = free_port()
            server = started(data, port)
            enough = threading.Event()
            try:
                if not review:
                    form = {"name": "Killed", "places": "/us-lab", "signatures_needed": "1"}
                    review = posted(port, "/reviews/new/", form)
                at_work = pool.submit(answer_until_it_dies, data, port, review, enough, turn)
                assert enough.wait(120)
            finally:
                server.kill()
                server.wait(20)
            saved += at_work.result(60)
            there = check(data)
            assert saved <= there <= saved + turn + 1, "what was said to be saved is there; at most one more each time"
