"""The judge of manifests behind ``manage.py check PATH...``: options, reading, judging, writing, the exit code.

0 when nothing is at the failing level, 1 when something is, 2 when the command couldn't do its work: bad usage or
configuration, a path that isn't there, a cluster out of reach.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser, OutputWrapper

from selection.cluster.errors import SourceError
from selection.faces.cli.check_base import add_base_arguments, open_base
from selection.faces.cli.check_config import BadConfig, Config, config_above, level_setting, read_config
from selection.faces.cli.check_formats import FORMATS
from selection.faces.cli.check_input import read_input
from selection.faces.cli.check_judging import Judgement, judge
from selection.faces.cli.check_rules import LEVELS
from selection.faces.cli.check_text import text
from selection.faces.cli.sources import standard_input, version_in
from selection.rules.semantics import V1_3, VERSIONS, semantics_of

__all__ = ["add_judge_arguments", "run_judge"]

_FORMATS = ("text", *FORMATS)
_LINES = frozenset({"text", "github"})
"""The formats that can stand one after the other on standard output."""


def add_judge_arguments(parser: CommandParser) -> None:
    """Add the judge's options to the command's."""
    judge = parser.add_argument_group("judging manifests (with PATH...)")
    judge.add_argument(
        "-o", "--output", action="append", metavar="FORMAT[=FILE]", dest="outputs",
        help=f"one of {', '.join(_FORMATS)}; to a file, else to standard output; may be given again (text)",
    )  # fmt: skip
    judge.add_argument(
        "--rule", action="append", metavar="CODE=LEVEL", dest="rules",
        help="set a rule, or a family of rules, to error, warning, info or off; may be given again",
    )  # fmt: skip
    judge.add_argument("--fail-on", choices=LEVELS, help="the level from which on the check fails (error)")
    judge.add_argument("--config", metavar="FILE", help="instead of the .ome-dashboard.yaml above the paths")
    judge.add_argument("--no-config", action="store_true", help="take no .ome-dashboard.yaml")
    judge.add_argument("-n", "--namespace", default="default", help="of objects that say none (default)")
    judge.add_argument("--ome-version", choices=sorted(VERSIONS), help="judge by this release of OME")
    judge.add_argument(
        "--all", action="store_true", dest="everything",
        help="tell problems of the cluster, too, that the input has no part in",
    )  # fmt: skip
    add_base_arguments(parser)


def run_judge(paths: Sequence[str], options: Mapping[str, Any], stdout: OutputWrapper, stderr: OutputWrapper) -> int:
    """Judge, write, and return the exit code, 0 or 1.

    Raises:
        CommandError: with exit code 2, when the work couldn't be done.
    """
    outputs = _outputs(options["outputs"])
    try:
        config = _config(paths, options)
        given = read_input(paths, standard_input(), options["namespace"])
    except (BadConfig, SourceError) as error:
        raise CommandError(str(error), returncode=2) from None
    version = options["ome_version"] or config.ome_version
    base = open_base(options, version)
    if base is not None:
        semantics = base.fleet.semantics
        for note in base.notes:
            stderr.write(note)
    else:
        snapshot = given.documents.snapshot
        known = snapshot.ome_version if snapshot else version_in(list(given.manifests.values()))
        semantics = semantics_of(version or known or V1_3.version)
    judgement = judge(
        given, config, semantics, base.fleet if base else None, base.name if base else "",
        everything=options["everything"],
    )  # fmt: skip
    fail_on = options["fail_on"] or config.fail_on or LEVELS[0]
    for form, file in outputs:
        told = _told(judgement, form, fail_on, colour=file is None and _colourful(options, stdout))
        if file is None:
            if told:
                stdout.write(told)
        else:
            _write(file, told)
    return int(judgement.fails(fail_on))


def _outputs(given: Sequence[str] | None) -> list[tuple[str, str | None]]:
    """The formats with their files, None for standard output: people's text goes there unless another one does."""
    found: list[tuple[str, str | None]] = []
    for each in given or ():
        form, equals, file = each.partition("=")
        if form not in _FORMATS:
            raise CommandError(f"--output: {form[:40]!r} is none of {', '.join(_FORMATS)}", returncode=2)
        if equals and not file:
            raise CommandError(f"--output {form}=: name a file", returncode=2)
        found.append((form, file if equals and file != "-" else None))
    printed = [form for form, file in found if file is None]
    if len(printed) > 1 and not _LINES.issuperset(printed):
        raise CommandError(f"--output: {' and '.join(printed)} can't both go to standard output", returncode=2)
    files = [file for _, file in found if file is not None]
    if len(set(files)) < len(files):
        raise CommandError("--output: two formats can't go to one file", returncode=2)
    return found if printed else [("text", None), *found]


def _config(paths: Sequence[str], options: Mapping[str, Any]) -> Config:
    if options["config"] and options["no_config"]:
        raise BadConfig("--config names a file and --no-config wants none: leave one out")
    path = Path(options["config"]) if options["config"] else None
    if path is None and not options["no_config"]:
        path = config_above(paths)
    config = read_config(path) if path is not None else Config()
    return replace(config, over=dict(level_setting(each) for each in options["rules"] or ()))


def _told(judgement: Judgement, form: str, fail_on: str, *, colour: bool) -> str:
    return text(judgement, colour=colour) if form == "text" else FORMATS[form](judgement, fail_on)


def _colourful(options: Mapping[str, Any], stdout: OutputWrapper) -> bool:
    """Colour is for terminals; https://no-color.org."""
    if options["no_color"] or os.environ.get("NO_COLOR"):
        return False
    return bool(options["force_color"]) or (stdout.isatty() and os.environ.get("TERM") != "dumb")


def _write(file: str, told: str) -> None:
    try:
        Path(file).write_text(told + "\n" if told else "", encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandError(f"{file}: {(reason or type(error).__name__).lower()}", returncode=2) from None
