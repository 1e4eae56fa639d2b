"""Running the management commands: in this process, and as somebody at a shell does."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

__all__ = ["ROOT", "Refused", "Result", "as_yaml", "manage", "refused", "run", "run_json"]

ROOT = Path(__file__).parent.parent.parent

NOWHERE = "postgres://nobody@127.0.0.1:1/none"
"""A database that nobody can reach."""

Refused = CommandError


def run(*arguments: str | Path) -> str:
    """What a command prints."""
    output = io.StringIO()
    call_command(*(str(each) for each in arguments), stdout=output, stderr=io.StringIO())
    return output.getvalue()


def run_json(*arguments: str | Path) -> Any:
    """What a command prints with ``-o json``, parsed."""
    return json.loads(run(*arguments, "-o", "json"))


def refused(*arguments: str | Path) -> str:
    """The one line that a command ends with."""
    with pytest.raises(CommandError) as error:
        run(*arguments)
    message = str(error.value)
    assert "\n" not in message
    return message


class Result:
    """How a process ended."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.code = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()
        assert "Traceback" not in self.err, self.err


def manage(
    *arguments: str | Path,
    stdin: str | bytes | None = "",
    env: Mapping[str, str] | None = None,
    close: int | None = None,
) -> Result:
    """Run ``python manage.py`` as a process of its own; the database is out of reach unless ``env`` says otherwise.

    ``close`` is a file descriptor that the process starts without.
    """
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "manage.py", *(str(each) for each in arguments)],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": NOWHERE, **(env or {})},
        input=None if close == 0 else data,
        stdin=subprocess.DEVNULL if close == 0 else None,
        preexec_fn=None if close is None else lambda: os.close(close),
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Result(done)


def as_yaml(*manifests: Mapping[str, Any]) -> str:
    """Manifests as a file holds them."""
    return yaml.safe_dump_all(manifests, sort_keys=False)
