"""``ome-dashboard-check``, as pre-commit installs it: it is found, works anywhere, and keeps nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_hook_runs_the_command_that_is_installed() -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())

    assert hook["entry"] in PROJECT["project"]["scripts"]
    assert hook["language"] == "python"
    assert hook["pass_filenames"] is False, "a service alone is not the whole of it"
    assert PROJECT["project"]["scripts"][hook["entry"]] == "ome_dashboard.hook:main"


def test_what_it_needs_is_installed_with_it() -> None:
    """By what pyproject.toml includes: every folder of ours, and every kind of file in them that isn't Python."""
    setuptools = PROJECT["tool"]["setuptools"]
    folders = [name.removesuffix("*") for name in setuptools["packages"]["find"]["include"]]
    kinds = {pattern.removeprefix("*") for pattern in setuptools["package-data"]["*"]}

    assert folders == ["ome_dashboard", "selection", "templates"]
    assert setuptools["py-modules"] == ["manage"]
    assert setuptools["dynamic"]["dependencies"]["file"] == ["requirements.in"]
    data = (path for folder in ("selection", "templates") for path in (ROOT / folder).rglob("*.*") if path.is_file())
    assert {path.suffix for path in data} - {".py", ".pyc", ".md"} <= kinds


@pytest.mark.parametrize("mode", ["local", "server"])
def test_it_works_anywhere_and_keeps_nothing(mode: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: Chat}\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OME_", "DATABASE_"))}
    code = "import sys; sys.argv[1:] = ['.']; from ome_dashboard.hook import main; main()"

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(ROOT), "OME_DASHBOARD_MODE": mode, "OME_DASHBOARD_DATA": "data"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("x.yaml:1: error unusable-object metadata.name 'Chat' is not a name")
    assert [path.name for path in tmp_path.iterdir()] == ["x.yaml"]


def test_it_starts_without_the_pages() -> None:
    """They, the REST interface and its document take longer to load than a folder to be judged."""
    code = (
        "import contextlib, io, sys\n"
        "from ome_dashboard.hook import main\n"
        "sys.argv[1:] = ['selection/faces/demo_fleet']\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main()\n"
        "wanted = {'ome_dashboard.urls', 'rest_framework.views', 'selection.faces.cli.check'}\n"
        "print(*sorted(wanted & sys.modules.keys()))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )

    assert done.stdout == "selection.faces.cli.check\n"
