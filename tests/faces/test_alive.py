"""The sign of life of ``sync --watch``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from selection.faces.cli.alive import alive
from selection.faces.cli.following import own_declarations
from selection.store.declarations import Declaration
from selection.store.declared import declare
from selection.store.keeper import Keeper
from selection.store.models import Cluster


def test_the_time_of_the_file_goes_on_while_steps_are_made(tmp_path: Path) -> None:
    now = 100.0
    file = tmp_path / "alive"
    sign = alive(str(file), lambda: now)
    os.utime(file, (0, 0))
    sign()
    assert file.stat().st_mtime == 0, "not at each step"
    now += 5.0
    sign()
    assert file.stat().st_mtime > 0


def test_without_a_file_nothing_is_made() -> None:
    assert not alive(None)()


def test_a_file_that_cannot_be_made_is_said_before_anything_begins(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"--alive .*: No such file or directory"):
        call_command("sync", watch=True, declared_only=True, alive=str(tmp_path / "no" / "folder"))


def test_a_keeper_gives_the_sign_between_steps(db: None) -> None:
    signs: list[str] = []
    keeper = Keeper(lambda cluster: pytest.fail("nothing is declared"))

    def sign() -> None:
        signs.append("a sign")
        keeper.stopping = len(signs) > 1

    keeper.alive = sign
    keeper.run()
    assert len(signs) == 2


def test_only_what_is_declared_is_followed_when_asked_so(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: prod\n"
        "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\nusers: [{name: u, user: {token: t}}]\n"
        "contexts: [{name: prod, context: {cluster: c, user: u}}]\n"
    )
    monkeypatch.setenv("KUBECONFIG", str(config))
    options = ("context", "current_context", "declared_only", "in_cluster", "kubeconfig", "cluster")
    nothing = dict.fromkeys((*options, "ome_namespace", "ome_version"))
    assert own_declarations({**nothing, "declared_only": True}) == ()
    assert [each.name for each in own_declarations(nothing)] == ["prod"]
    declare(Declaration("other", context="other"), Cluster.DeclaredBy.PAGE)
    Cluster.objects.filter(name="prod").delete()
    assert own_declarations(nothing) == ()
    assert [each.name for each in own_declarations({**nothing, "current_context": True})] == ["prod"]
