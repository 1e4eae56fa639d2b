"""``python -m bench.browsers``: a hundred open pages on the server as it is, while services change.

Each browser does what ``static/js/live.js`` does: it asks ``/live/`` once a second and, when it is told to, fetches its
page. A third of them look at the list of services, a third at the overview, a third at a service. Another reader goes
from page to page meanwhile. Beside it: what open streams (server-sent events) do to the same server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.__main__ import run
from bench.fleet import Size
from bench.measure import percentile

__all__ = ["main"]

THREADS = 8
NAME = "bench"


@dataclass
class Times:
    """Seconds that requests took, and how old a change was when a page had it."""

    polls: list[float] = field(default_factory=list)
    refreshes: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)
    errors: int = 0


async def ask(port: int, path: str, headers: Iterable[str] = ()) -> tuple[int, dict[str, str], str]:
    """Status, headers and body of one request on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close", *headers]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    raw = await reader.read()
    writer.close()
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    named = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
    return int(first.split()[1]), named, body.decode()


class Browser:
    """One open page."""

    def __init__(self, port: int, path: str, times: Times, changes: list[float]) -> None:
        self.port, self.path, self.times, self.changes = port, path, times, changes
        self.asks = ""
        self.known = 0  # so many changes were there when it last asked

    async def load(self) -> None:
        _, _, body = await ask(self.port, self.path)
        self._keep(body)

    def _keep(self, body: str) -> None:
        found = re.search(r'hx-get="(/live/\?seen=[^"]+)"', body)
        if found is None:
            raise AssertionError("the page has no strip")
        self.asks = found.group(1)

    async def stay(self, seconds: float) -> None:
        """Stay open for a while. Browsers don't start together."""
        await asyncio.sleep(random.random())
        end = time.monotonic() + seconds
        while (began := time.monotonic()) < end:
            try:
                await self._poll()
            except (OSError, ValueError, IndexError):
                self.times.errors += 1
            await asyncio.sleep(max(0.0, began + 1 - time.monotonic()))

    async def _poll(self) -> None:
        there, began = len(self.changes), time.monotonic()
        page = f"HX-Current-URL: http://127.0.0.1:{self.port}{self.path}"
        status, headers, body = await ask(self.port, self.asks, ["HX-Request: true", page])
        self.times.polls.append(time.monotonic() - began)
        if status == 200:
            self._keep(body)
        elif status != 204:
            raise ValueError(status)
        if headers.get("hx-trigger") == "fleet-changed":
            began = time.monotonic()
            await ask(self.port, self.path, ["X-Live: 1"])
            now = time.monotonic()
            self.times.refreshes.append(now - began)
            if there > self.known and not self.path.startswith("/services/bench"):
                self.times.seen.append(now - self.changes[self.known])
            self.known = there


async def read_on(port: int, paths: list[str], times: Times, seconds: float) -> None:
    """Somebody who goes from page to page, one every half second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        await ask(port, random.choice(paths))
        times.pages.append(time.monotonic() - began)
        await asyncio.sleep(0.5)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def _process(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, text=True, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


async def _until_it_answers(port: int, path: str) -> None:
    for _ in range(600):
        try:
            await ask(port, path)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            return
    raise AssertionError("the server didn't come up")


async def _note_changes(process: subprocess.Popen[str], changes: list[float]) -> None:
    """One line a change, as soon as it is committed."""
    loop = asyncio.get_running_loop()
    if process.stdout is None:
        return
    while await loop.run_in_executor(None, process.stdout.readline):
        changes.append(time.monotonic())


async def browse(environment: dict[str, str], browsers: int, seconds: float, every: float) -> dict[str, Any]:
    """Open the pages, change services, and say how long everything took."""
    port, times = _free_port(), Times()
    changes: list[float] = []
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with _process(
        [sys.executable, "-m", "ome_dashboard.serve"],
        env=environment | {"OME_DASHBOARD_PORT": str(port), "OME_DASHBOARD_LOG_LEVEL": "ERROR"},
        **quiet,
    ) as server:
        await _until_it_answers(port, "/healthz")
        _, _, body = await ask(port, "/services/")
        services = sorted(set(re.findall(rf'href="(/services/{NAME}/[^"?#]+/)"', body)))
        for path in ("/", "/services/", services[0]):
            await ask(port, path)  # the fleet is read into memory once
        opened = [
            Browser(port, ("/", "/services/", random.choice(services))[n % 3], times, changes) for n in range(browsers)
        ]
        for each in opened:
            await each.load()
        changing = [sys.executable, "-m", "bench.browsers", "--change", str(every)]
        with _process(changing, env=environment, stdout=subprocess.PIPE) as changer:
            noting = asyncio.create_task(_note_changes(changer, changes))
            while not changes:
                await asyncio.sleep(0.1)
            spent, began = _spent(server.pid), time.monotonic()
            paths = ["/", "/services/", "/runtimes/", "/models/", "/conflicts/", *services[:10]]
            await asyncio.gather(read_on(port, paths, times, seconds), *(each.stay(seconds) for each in opened))
            cpu = (_spent(server.pid) - spent) / (time.monotonic() - began)
            told = len(changes)
        await noting
    return {
        "browsers": browsers,
        "seconds": seconds,
        "changes": told,
        "errors": times.errors,
        "server_cpu_percent": round(100 * cpu, 1),
        **{name: _told(getattr(times, name)) for name in ("polls", "refreshes", "pages", "seen")},
    }


def _spent(pid: int) -> float:
    """Processor seconds that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _told(values: list[float]) -> dict[str, float]:
    if not values:
        return {"count": 0}
    return {
        "count": len(values),
        **{f"p{share}_ms": round(1000 * percentile(values, share), 1) for share in (50, 95, 99)},
        "most_ms": round(1000 * max(values), 1),
    }


def change(every: float) -> None:
    """Change one service after the other as following a cluster does, for ever; a line for each."""
    import django

    django.setup()
    from bench.fleet import changed
    from selection.store.evaluate import evaluate
    from selection.store.models import Cluster, StoredObject

    cluster = Cluster.objects.get(name=NAME)
    evaluate(cluster)
    rows = StoredObject.objects.filter(cluster=cluster, kind="InferenceService").order_by("name")
    keys = list(rows.values_list("pk", flat=True)[:2000])
    while True:
        row = StoredObject.objects.get(pk=random.choice(keys))
        cluster.refresh_from_db()
        cluster.generation += 1
        row.manifest, row.generation = changed(row.manifest), cluster.generation
        row.save()
        cluster.save(update_fields=["generation"])
        evaluate(cluster)
        print(cluster.generation, flush=True)
        time.sleep(every)


async def streams() -> dict[str, float | None]:
    """How long another request takes while so many streams of events are open; None is more than five seconds."""
    port = _free_port()
    found: dict[str, float | None] = {}
    with _process([sys.executable, "-m", "bench.browsers", "--stream", str(port)]):
        await _until_it_answers(port, "/")
        opened = []
        for count in range(THREADS + 2):
            began = time.monotonic()
            try:
                await asyncio.wait_for(ask(port, "/"), 5)
                found[str(count)] = round(1000 * (time.monotonic() - began), 1)
            except TimeoutError:
                found[str(count)] = None
                break
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            opened.append(writer)
        for writer in opened:
            writer.close()
    return found


def stream(port: int) -> None:
    """The same server with an address whose answer never ends, as server-sent events have it."""
    import waitress

    def application(environ: dict[str, Any], start: Any) -> Iterator[bytes]:
        start("200 OK", [("Content-Type", "text/event-stream")])
        yield b": here\n\n"
        while environ["PATH_INFO"] == "/events":
            time.sleep(1)
            yield b"data: \n\n"

    waitress.serve(application, host="127.0.0.1", port=port, threads=THREADS, _quiet=True)


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m bench.browsers", description=__doc__)
    parser.add_argument("--browsers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two changes (2)")
    parser.add_argument("--services", type=int, default=10_000)
    parser.add_argument("--change", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--stream", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.change:
        change(options.change)
    if options.stream:
        stream(options.stream)
        return
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limit[1]), limit[1]))
    share = max(1, 10_000 // options.services)
    size = Size().part(share)
    with tempfile.TemporaryDirectory(prefix="ome-bench-") as data:
        run("fill", size, data)
        run("full", size, data)
        environment = {**os.environ, "OME_DASHBOARD_DATA": data, "DATABASE_URL": "", "OME_DASHBOARD_MODE": "local"}
        environment["DJANGO_SETTINGS_MODULE"] = "ome_dashboard.settings"
        found = asyncio.run(browse(environment, options.browsers, options.seconds, options.every))
    found["services"] = size.services
    found["load"] = os.getloadavg()
    found["request_ms_by_open_streams"] = asyncio.run(streams())
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
