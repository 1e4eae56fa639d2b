"""``manage.py severities``: how much each finding matters here, and change it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from selection.faces.cli.output import as_json, table
from selection.faces.cli.sources import database_in_words, near
from selection.people.grading import grade
from selection.people.persons import local_person
from selection.people.writing import Writer
from selection.rules.codes import CODES, SETTABLE
from selection.store.severities import Graded, SeverityError, grades

__all__ = ["Command"]

DEFAULT = "default"


class Command(BaseCommand):
    """What is set here holds at once for every process and page; what was seen of findings stays as it is."""

    help = "List the severities of findings, or set one: for a code error, warning, info, off or default."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("code", nargs="?", metavar="CODE", help="the code of a finding")
        parser.add_argument("severity", nargs="?", choices=[*SETTABLE, DEFAULT], help="its severity from now on")
        parser.add_argument("--reason", default="", help="why, for the others")
        parser.add_argument("-o", "--output", choices=["table", "json"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        code, severity = options["code"], options["severity"]
        if code is not None and code not in CODES:
            raise CommandError(f"{code!r} is no code of a finding{near(code, list(CODES))}")
        with database_in_words():
            if severity is not None:
                graded = self._set(code, "" if severity == DEFAULT else severity, options["reason"])
                self.stdout.write(f"{code}: {severity}, {graded} finding{'' if graded == 1 else 's'} graded anew")
                return
            found = [grade for grade in grades() if code in (None, grade.code.code)]
        self.stdout.write(as_json([_value(grade) for grade in found]) if options["output"] == "json" else _table(found))

    def _set(self, code: str, severity: str, reason: str) -> int:
        try:
            return grade(Writer(local_person(), "command"), code, severity, reason=reason)
        except SeverityError as error:
            raise CommandError(str(error)) from None


def _value(grade: Graded) -> dict[str, Any]:
    setting = grade.setting
    return {
        "code": grade.code.code,
        "family": grade.code.family,
        "severity": grade.severity,
        "default": grade.code.severity,
        "why": grade.code.why,
        "by": setting.by if setting else None,
        "reason": setting.reason if setting else None,
        "at": setting.at.isoformat() if setting else None,
    }


def _table(found: list[Graded]) -> str:
    headers = ["CODE", "FAMILY", "SEVERITY", "DEFAULT", "WHY"]
    return table(
        headers,
        [[each.code.code, each.code.family, each.severity, each.code.severity, each.code.why] for each in found],
    )
