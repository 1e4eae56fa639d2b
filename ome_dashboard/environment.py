"""Reading settings from environment variables.

A wrong value never raises here: it becomes a :class:`Problem`, the default stands in for it, and
:mod:`ome_dashboard.checks` reports all problems at once, each with its id and a hint. Values are
never repeated in a message, for some of them are secrets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Environment", "Problem"]

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})
ORIGIN = re.compile(r"https?://([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
"""The origin of a page (RFC 6454) as browsers write it: in small letters, without a path."""


@dataclass(frozen=True)
class Problem:
    """One wrong setting: a stable id such as ``ome_dashboard.E001``, what is wrong, what to do."""

    id: str
    message: str
    hint: str


@dataclass
class Environment:
    """The variables of one process, the names that were asked for and the problems found in them.

    >>> environment = Environment({"OME_DASHBOARD_PORT": "many", "OME_DASHBOARD_PROT": "1"})
    >>> environment.number("OME_DASHBOARD_PORT", 8000, least=1, most=65535)
    8000
    >>> environment.problems[0].message
    'OME_DASHBOARD_PORT is not a whole number from 1 to 65535.'
    >>> environment.unknown("OME_DASHBOARD_")
    ['OME_DASHBOARD_PROT']
    """

    values: Mapping[str, str]
    problems: list[Problem] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)

    def text(self, name: str, default: str = "") -> str:
        """The value, or ``default`` when it is unset or blank."""
        self.asked.add(name)
        return self.values.get(name, "").strip() or default

    def choice(self, name: str, allowed: Sequence[str], default: str) -> str:
        """One of ``allowed``; anything else is a problem (E002)."""
        value = self.text(name, default)
        if value not in allowed:
            self._wrong("E002", name, f"is not one of {', '.join(allowed)}")
            return default
        return value

    def switch(self, name: str, default: bool) -> bool:
        """A yes or no; anything that is neither is a problem (E002)."""
        value = self.text(name).lower()
        if not value:
            return default
        if value not in TRUE | FALSE:
            self._wrong("E002", name, "is neither yes nor no (write 1 or 0)")
            return default
        return value in TRUE

    def number(self, name: str, default: int, *, least: int, most: int) -> int:
        """A whole number within bounds; anything else is a problem (E002)."""
        value = self.text(name)
        if not value:
            return default
        if not (value.isascii() and value.isdigit() and least <= int(value[:12]) <= most):
            self._wrong("E002", name, f"is not a whole number from {least} to {most}")
            return default
        return int(value)

    def folder(self, name: str, default: Path) -> Path:
        """A folder's absolute path, ``~`` expanded; a home folder that is nobody's is a problem (E002)."""
        try:
            return Path(self.text(name, str(default))).expanduser().absolute()
        except RuntimeError:
            self._wrong("E002", name, "begins with a home folder that is nobody's")
            return default

    def names(self, name: str) -> list[str]:
        """A list separated by commas, without blanks."""
        return [part.strip() for part in self.text(name).split(",") if part.strip()]

    def origins(self, name: str) -> list[str]:
        """Origins of other sites, separated by commas; anything that is no origin is a problem (E002).

        >>> environment = Environment({"A": "https://a.example, http://localhost:3000", "B": "*", "C": "https://c/path"})
        >>> environment.origins("A")
        ['https://a.example', 'http://localhost:3000']
        >>> environment.origins("B"), environment.origins("C"), len(environment.problems)
        ([], [], 2)
        """
        found = self.names(name)
        if not all(map(ORIGIN.fullmatch, found)):
            self._wrong("E002", name, "names something that is no origin, such as https://portal.example.com")
            return []
        return found

    def report(self, id: str, message: str, hint: str) -> None:
        """Note a problem that only the settings as a whole can see."""
        self.problems.append(Problem(f"ome_dashboard.{id}", message, hint))

    def unknown(self, prefix: str) -> list[str]:
        """Variables under our prefix that no setting asked for: most likely a typing error."""
        return sorted(name for name in self.values if name.startswith(prefix) and name not in self.asked)

    def _wrong(self, id: str, name: str, what: str) -> None:
        self.report(id, f"{name} {what}.", f"Correct {name} or unset it; docs/configuration.md has the table.")
