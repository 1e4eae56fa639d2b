"""``manage.py grant`` gives roles, lists them and takes them back."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from pytest_django import Settings

from selection.people.models import Grant
from tests.faces.cli import refused, run, run_json
from tests.people.cast import somebody

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def people(settings: Settings) -> None:
    settings.LOCAL_NAME = "kim"
    somebody("ann", None)
    Group.objects.create(name="platform")


def test_it_gives_a_role_in_a_place_and_says_so() -> None:
    assert run("grant", "add", "ann", "viewer") == "ann: viewer everywhere\n"
    told = run("grant", "add", "platform", "reviewer", "--group", "--cluster", "east", "-n", "ml")
    assert told == "group platform: reviewer in namespace ml of east\n"
    assert run_json("grant", "list") == [
        {"user": "ann", "group": None, "role": "viewer", "cluster": None, "namespace": None, "given_by": "kim"},
        {
            "user": None,
            "group": "platform",
            "role": "reviewer",
            "cluster": "east",
            "namespace": "ml",
            "given_by": "kim",
        },
    ]


def test_it_lists_what_was_given_to_all_or_to_one() -> None:
    assert "no role was given" in run("grant", "list")
    run("grant", "add", "ann", "viewer", "--cluster", "east")
    run("grant", "add", "platform", "admin", "--group")
    lines = run("grant", "list").splitlines()
    assert lines[0].split() == ["USER", "GROUP", "ROLE", "CLUSTER", "NAMESPACE", "GIVEN", "BY"]
    assert ["ann", "-", "viewer", "east", "*", "kim"] in [line.split() for line in lines]
    assert [row["user"] for row in run_json("grant", "list", "ann")] == ["ann"]
    assert [row["group"] for row in run_json("grant", "list", "platform", "--group")] == ["platform"]


def test_it_takes_back_what_was_given_in_a_place() -> None:
    run("grant", "add", "ann", "viewer", "--cluster", "east")
    run("grant", "add", "ann", "admin")
    assert run("grant", "remove", "ann", "--cluster", "east") == "ann: nothing in east any more\n"
    assert Grant.objects.values_list("role", "cluster").get() == ("admin", "")


def test_another_role_in_the_same_place_takes_its_place() -> None:
    run("grant", "add", "ann", "admin")
    run("grant", "add", "ann", "viewer")
    assert Grant.objects.get().role == "viewer"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("add", "nobody", "viewer"), "there is no user 'nobody'"),
        (("add", "ann", "viewer", "--group"), "there is no group 'ann'"),
        (("add", "ann", "owner"), "invalid choice: 'owner'"),
        (("add", "ann", "viewer", "--cluster", "a//b"), "between its slashes"),
        (("add", "ann", "viewer", "-n", "Not A Namespace"), "small letters"),
        (("list", "nobody"), "there is no user 'nobody'"),
        (("remove", "ann"), "ann was given no role everywhere"),
        (("remove", "ann", "--cluster", "east"), "ann was given no role in east"),
        ((), "ACT"),
    ],
)
def test_it_refuses_in_one_line_what_cannot_be(arguments: tuple[str, ...], words: str) -> None:
    assert words in refused("grant", *arguments)
    assert not Grant.objects.exists()
