"""The commands ``export-reviews`` and ``import-reviews``. Their modules have names that nobody could import."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.sources import database_in_words
from selection.people.keeping import PARTS, BadExport, Imported, export_reviews, import_reviews

__all__ = ["ExportCommand", "ImportCommand"]


class ExportCommand(BaseCommand):
    """Write everything that people wrote. The file appears whole or not at all."""

    help = "Write everything that people wrote (decisions, comments, reviews, what they did) as one JSON file."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="where to; - for standard output")
        parser.add_argument("--force", action="store_true", help="replace the file when it is there")

    def handle(self, *args: Any, **options: Any) -> None:
        text = io.StringIO()
        with database_in_words():
            count = export_reviews(text)
        if options["file"] == "-":
            self.stdout.write(text.getvalue(), ending="")
            return
        path = Path(options["file"])
        try:
            if path.exists() and not options["force"]:
                raise CommandError(f"{path}: it is there already; give --force to replace it")
            _write(path, text.getvalue())
        except OSError as error:
            raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}") from None
        self.stdout.write(f"{path}: {count} {'row' if count == 1 else 'rows'}")


class ImportCommand(BaseCommand):
    """Read an export: all of it, or nothing."""

    help = "Bring what export-reviews wrote into the database; of two versions the later is kept. Twice is as once."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="what export-reviews wrote; - for standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        shown = options["file"]
        try:
            data = sys.stdin.buffer.read() if shown == "-" else Path(shown).read_bytes()
            text = data.decode("utf-8")
        except OSError as error:
            raise CommandError(f"{shown}: {(error.strerror or str(error)).lower()}") from None
        except UnicodeDecodeError:
            raise CommandError(f"{shown}: not UTF-8") from None
        try:
            with database_in_words():
                done = import_reviews(text)
        except BadExport as error:
            raise CommandError(f"{shown}: {error}; nothing was changed") from None
        self.stdout.write(_summary(done))


def _summary(done: Imported) -> str:
    names = [part.name for part in PARTS]
    told = [f"{done.added[name]} {name} added" for name in names if done.added.get(name)]
    told += [f"{done.replaced[name]} {name} replaced by later versions" for name in names if done.replaced.get(name)]
    kept = sum(done.kept.values())
    return ", ".join(told) if told else f"nothing to do: all {kept} rows are there as they are, or later"


def _write(path: Path, text: str) -> None:
    """Write beside the place, then put it there at once."""
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
