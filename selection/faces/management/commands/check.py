"""``manage.py check PATH...`` judges manifests; without paths it is Django's own check of this project."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands.check import Command as DjangoCheck

from selection.faces.cli.check import add_judge_arguments, run_judge

__all__ = ["Command"]

_DJANGOS = {"tags": "--tag", "list_tags": "--list-tags", "deploy": "--deploy", "databases": "--database"}


class Command(DjangoCheck):
    """Judge manifests for CI: see ``docs/ci.md``. Words that are no paths are Django's labels of apps."""

    help = "Judge manifests (files, folders, - for standard input); without any, check this Django project."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        for action in parser._actions:
            if action.dest == "args":
                action.metavar = "PATH"
                action.help = "manifests to judge; an app's label, or nothing, is for Django's own check"
        add_judge_arguments(parser)

    def handle(self, *words: Any, **options: Any) -> None:
        djangos = [name for key, name in _DJANGOS.items() if options[key]]
        paths = [word for word in words if _is_path(word)]
        if not paths:
            self._ask_django(words, options)
        elif djangos:
            raise CommandError(f"{djangos[0]} is for Django's own check: leave out the paths", returncode=2)
        elif len(paths) < len(words):
            other = next(word for word in words if word not in paths)
            raise CommandError(f"{other} is an app's label: check it, or manifests, one after the other", returncode=2)
        else:
            code = run_judge(paths, options, self.stdout, self.stderr)
            if code:
                sys.exit(code)

    def _ask_django(self, words: Sequence[Any], options: dict[str, Any]) -> None:
        judges = [name for key, name in _JUDGES.items() if options[key]]
        if judges:
            raise CommandError(
                f"{judges[0]} is for judging manifests: name a path, or - for standard input", returncode=2
            )
        super().handle(*words, **options)


_JUDGES = {
    "outputs": "--output", "rules": "--rule", "fail_on": "--fail-on", "config": "--config", "no_config": "--no-config",
    "ome_version": "--ome-version", "everything": "--all", "on_cluster": "--on-cluster", "context": "--context",
    "in_cluster": "--in-cluster", "cluster": "--cluster",
    "on": "--on", "kubeconfig": "--kubeconfig",
}  # fmt: skip


def _is_path(word: str) -> bool:
    """Whether a word is a path and no app's label: it is there, or it is no label. ``./x`` is always a path."""
    return word == "-" or os.path.lexists(word) or word not in apps.app_configs
