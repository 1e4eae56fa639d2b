"""``manage.py check`` on top of a real API server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.server import ApiServer
from tests.rules.manifests import a_model, a_runtime, a_service, an_entry

from .cli import as_yaml
from .test_command_check import checked, refused

pytestmark = pytest.mark.apiserver

NAMESPACE = "of-real-check"
ARCHITECTURE = "OfRealCheckForCausalLM"


def entry(**more: Any) -> dict[str, Any]:
    return an_entry(modelArchitecture=ARCHITECTURE, **more)


MODEL = a_model("of-real-check", modelArchitecture=ARCHITECTURE)
THERE = [
    MODEL,
    a_runtime("of-real-check-slow", None, entry(priority=1)),
    a_service("chat", NAMESPACE, model={"name": "of-real-check"}),
]


@pytest.fixture
def kubeconfig(apiserver: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The way to the server, on which these objects are; the current folder is empty."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in {"KUBECONFIG", "KUBERNETES_SERVICE_HOST"}:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    for each in THERE:
        apiserver.apply(each)
    yield apiserver.kubeconfig(name="real-check")
    for each in THERE:
        apiserver.delete(each)


def test_what_the_input_refers_to_is_there_and_what_it_does_to_others_is_told(kubeconfig: Path) -> None:
    faster = a_runtime("of-real-check-faster", None, entry(priority=2))
    new = a_service("new", NAMESPACE, model={"name": "of-real-check"})
    lost = a_service("lost", NAMESPACE, model={"name": "of-real-check-nobody"})
    Path("input.yaml").write_text(as_yaml(faster, new, lost))

    code, printed = checked("input.yaml", "--on-cluster", "--kubeconfig", kubeconfig, "-o", "json")

    told = json.loads(printed)
    found = {(each["code"], each["object"]["name"]): each for each in told["problems"]}
    assert (code, told["on"]) == (1, "cluster real-check")
    assert found.keys() >= {("invalid", "lost"), ("other-another-runtime", "chat")}
    assert not any(name == "new" for _, name in found)
    by = found["other-another-runtime", "chat"]
    assert (by["cause"]["name"], by["file"], by["line"]) == ("of-real-check-faster", "input.yaml", 1)


def test_what_is_there_as_it_stands_does_nothing_to_others(apiserver: ApiServer, kubeconfig: Path) -> None:
    Path("input.yaml").write_text(as_yaml(*map(apiserver.get, THERE)))

    printed = checked("input.yaml", "--on-cluster", "--kubeconfig", kubeconfig, "-o", "json")[1]

    assert [each["code"] for each in json.loads(printed)["problems"]] == []


def test_without_the_rights_it_says_so_and_judges_nothing(apiserver: ApiServer, kubeconfig: Path) -> None:
    Path("input.yaml").write_text(as_yaml(MODEL))
    nobody = apiserver.kubeconfig(name="real-check-nobody", token="not-a-token")

    told = refused("input.yaml", "--on-cluster", "--kubeconfig", nobody)

    assert "real-check-nobody" in told
    assert "\n" not in told
    assert "not-a-token" not in told
