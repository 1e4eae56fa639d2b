"""What people write about clusters to follow is read whole, or told with its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from selection.store.declarations import (
    Declaration,
    DeclarationError,
    check_context,
    check_name,
    check_ome_namespace,
    check_ome_version,
    read_environment,
    read_file,
)

GOOD = """\
# The team's clusters.
- name: prod
  context: admin@prod
  omeNamespace: ome-system
  omeVersion: 1.2
- name: lab
  inCluster: true
- {name: elsewhere, kubeconfig: other/config, inCluster: false}
"""


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write(text: str | bytes) -> Path:
        path = tmp_path / "clusters.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("text", [GOOD, "clusters:\n" + GOOD, "\ufeff" + GOOD])
def test_a_file_says_all_of_a_cluster(text: str, file: Callable[[str], Path], tmp_path: Path) -> None:
    assert read_file(file(text)) == [
        Declaration("prod", False, "admin@prod", "", "ome-system", "1.2"),
        Declaration("lab", True, "", "", "ome", "auto"),
        Declaration("elsewhere", False, "", str(tmp_path / "other" / "config"), "ome", "auto"),
    ]


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[]", "clusters:", "clusters: []", "null"])
def test_an_empty_file_declares_nothing(text: str, file: Callable[[str], Path]) -> None:
    assert read_file(file(text)) == []


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("- context: x\n", 1, "a cluster needs a name"),
        ("- name: a\n  context: x\n- name: b\n", 3, "a cluster needs either a context"),
        ("- name: a\n  context: x\n  inCluster: true\n", 1, "either a context"),
        ("- name: a\n  kubeconfig: k\n  inCluster: true\n", 1, "either a context"),
        ("- name: a\n  inCluster: perhaps\n", 2, "inCluster: write true or false"),
        ("- name: a\n  contxt: x\n", 2, "contxt is no key of a cluster: context, inCluster"),
        ("- name: a\n  name: b\n  context: x\n", 2, "name stands there twice"),
        ("- name: a\n  context: x\n\n- name: a\n  context: y\n", 4, "a stands there twice"),
        ("- name: ''\n  context: x\n", 1, "name: a word is expected here"),
        ("- name: [a]\n  context: x\n", 1, "name: a word is expected here"),
        ('- name: "a\\u0007"\n  context: x\n', 1, "name: a cluster's name is 1 to 253 printable characters"),
        (f"- name: {'a' * 254}\n  context: x\n", 1, "1 to 253 printable"),
        ("- name: a\n  context: x\n  omeNamespace: OME\n", 3, "omeNamespace: a namespace is at most 63 small letters"),
        ("- name: a\n  context: x\n  omeVersion: 1.4\n", 3, "omeVersion: OME's version is one of 1.3, 1.2, auto"),
        ("- prod\n", 1, "a cluster with its name is expected here"),
        ("prod\n", 1, "a list of clusters is expected here"),
        ("prod: x\n", 1, "prod is no key of a cluster"),
        ("clusters: x\n", 1, "a list of clusters is expected here"),
        ("- name: a\n  context: x\n - b\n", 3, "expected"),
        ("- name: a\n  context: *b\n", 2, "undefined alias"),
        ("- name: a\n  context: x\n---\n- name: b\n", 3, "but found another document"),
    ],
)
def test_a_wrong_file_is_told_with_the_line(text: str, line: int, told: str, file: Callable[[str], Path]) -> None:
    path = file(text)
    with pytest.raises(DeclarationError) as error:
        read_file(path)
    message = str(error.value)
    assert message.startswith(f"{path}:{line}: ")
    assert told in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"- name: \xff\n", "it isn't UTF-8"),
        (b"- name: a\x00\n", "not YAML"),
        (b"#" * (1024 * 1024 + 1), "it is larger than 1 MiB"),
    ],
)
def test_a_file_that_is_none_is_told(content: bytes, told: str, file: Callable[[bytes], Path]) -> None:
    path = file(content)
    with pytest.raises(DeclarationError) as error:
        read_file(path)
    assert str(error.value).startswith(str(path))
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_of_any_depth_is_told(file: Callable[[str], Path]) -> None:
    path = file("[" * 100_000)
    with pytest.raises(DeclarationError, match=f"^{path}"):
        read_file(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=r"no\.yaml: it can't be read \(No such file or directory\)"):
        read_file(tmp_path / "no.yaml")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "clusters.yaml")
    with pytest.raises(DeclarationError, match=r"clusters\.yaml: it can't be read \(a pipe"):
        read_file(tmp_path / "clusters.yaml")


def test_a_home_folder_that_nobody_has_is_told() -> None:
    with pytest.raises(
        DeclarationError, match=r"~nobody-at-all/x.yaml: it can't be read \(nobody has that home folder\)"
    ):
        read_file(Path("~nobody-at-all/x.yaml"))


def test_the_environment_names_contexts() -> None:
    said = read_environment(" prod=arn:aws:eks:eu-central-1:123:cluster/prod , lab = in-cluster,dev,")
    assert said == [
        Declaration("prod", False, "arn:aws:eks:eu-central-1:123:cluster/prod"),
        Declaration("lab", True),
        Declaration("dev", False, "dev"),
    ]
    assert read_environment(" ") == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("prod=a,=b", "entry 2: a cluster's name is 1 to 253 printable characters"),
        ("prod=", "entry 1: a context's name is 1 to 253 printable characters"),
        ("prod=a,prod=b", "entry 2: prod stands there twice"),
        ("a\x07b=c", "entry 1: a cluster's name"),
    ],
)
def test_a_wrong_entry_of_the_environment_is_told_with_its_number(text: str, told: str) -> None:
    with pytest.raises(DeclarationError) as error:
        read_environment(text)
    assert str(error.value).startswith(told)


@pytest.mark.parametrize("good", ["ome", "o", "ome-system", "0me", "a" * 63])
def test_a_namespace_is_a_dns_label(good: str) -> None:
    assert check_ome_namespace(good) == good


@pytest.mark.parametrize("bad", ["", "OME", "-ome", "ome-", "o.me", "a" * 64, "ome\n", "öme", " ome"])
def test_anything_else_is_no_namespace(bad: str) -> None:
    with pytest.raises(DeclarationError):
        check_ome_namespace(bad)


def test_names_are_printable_and_blanks_around_them_do_not_count() -> None:
    assert check_name("  the lab ") == "the lab"
    assert check_context("admin@prod") == "admin@prod"
    for bad in ("", "  ", "a\nb", "a" * 254, "a\u202eb"):
        with pytest.raises(DeclarationError):
            check_name(bad)


@pytest.mark.parametrize("name", ["..", "a/../b", ".", "/", "a//b", "/a", "a/"])
def test_a_name_is_an_address_that_browsers_leave_as_it_is(name: str) -> None:
    with pytest.raises(DeclarationError, match="between its slashes"):
        check_name(name)
    assert check_name("arn:aws:eks:eu-west-1:1:cluster/prod..x") == "arn:aws:eks:eu-west-1:1:cluster/prod..x"


def test_versions_are_those_that_are_known() -> None:
    assert [check_ome_version(each) for each in ("1.3", "1.2", "auto")] == ["1.3", "1.2", "auto"]
    with pytest.raises(DeclarationError):
        check_ome_version("v1.3")
