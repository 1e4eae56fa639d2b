"""Versions: which parse, and which an entry accepts. Answers are those of OME's own ``modelver``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.versions import Version, accepts, parse_version

PARSED = [
    # one to three numbers; what isn't written is 0
    ("3", Version((3, 0, 0), "", 1)),
    ("3.4", Version((3, 4, 0), "", 2)),
    ("3.4.5", Version((3, 4, 5), "", 3)),
    ("0", Version((0, 0, 0), "", 1)),
    ("18446744073709551615.0.0", Version((2**64 - 1, 0, 0), "", 3)),
    # a lower-case v in front, once
    ("v3", Version((3, 0, 0), "v", 1)),
    ("v0.8.0", Version((0, 8, 0), "v", 3)),
    # a suffix after the third number: cut at +, then at -, then at the point
    ("1.0.0-rc1", Version((1, 0, 0), "", 3, pre=("rc1",))),
    ("1.0.0+cu121", Version((1, 0, 0), "", 3, build=("cu121",))),
    ("4.43.0.dev0", Version((4, 43, 0), "", 3, dev=("dev0",))),
    ("1.0.0.0", Version((1, 0, 0), "", 3, dev=("0",))),
    ("1.0.0-a.b+c.d", Version((1, 0, 0), "", 3, pre=("a", "b"), build=("c", "d"))),
    ("1.0.0.x.y-p+q", Version((1, 0, 0), "", 3, pre=("p",), build=("q",), dev=("x", "y"))),
    # what follows + belongs to the build, whatever it is; what follows - to the pre-release
    ("1.0.0+a-b.c", Version((1, 0, 0), "", 3, build=("a-b", "c"))),
    ("1.0.0-a-b", Version((1, 0, 0), "", 3, pre=("a-b",))),
    ("1.0.0+a+b", Version((1, 0, 0), "", 3, build=("a+b",))),
    # a suffix may be of any characters
    ("1.0.0-é 1", Version((1, 0, 0), "", 3, pre=("é 1",))),
]


@pytest.mark.parametrize(("text", "version"), PARSED)
def test_it_parses(text: str, version: Version) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    "text",
    [
        # nothing, or a part that is empty
        "",
        "v",
        ".",
        "1.",
        "1..0",
        "1.0.",
        ".1.0",
        # leading zeros
        "01",
        "1.08",
        "1.0.00",
        # letters, signs, blanks, other digits
        "latest",
        "V1.0.0",
        "vv1",
        "1.x",
        "+1",
        "-1.0.0",
        " 1",
        "1.0.0 ",
        "1.0.0\n",
        "٣",
        # a suffix before the third number
        "1-beta",
        "1.2-beta",
        "1.2+cu12",
        "v1.2.dev0",
        # a suffix with nothing in it, or in a part of it
        "1.0.0-",
        "1.0.0+",
        "1.0.0-a..b",
        "1.0.0+a.",
        "1.0.0.dev.",
        "1.0.0-+b",
        # one more than 64 bits hold
        "18446744073709551616",
        "1.0.18446744073709551616",
    ],
)
def test_it_does_not_parse(text: str) -> None:
    assert parse_version(text) is None


EQUAL, GREATER, AT_LEAST = "Equal", "GreaterThan", "GreaterThanOrEqual"

ACCEPTED = [
    # equal numbers; neither the v nor the number of parts matters
    ("1.0.0", EQUAL, "1.0.0", True),
    ("1.0.0", EQUAL, "v1", True),
    ("v1.0", EQUAL, "1", True),
    ("1.0.0", EQUAL, "1.0.1", False),
    # no operator is Equal
    ("1.0.0", None, "1.0", True),
    ("2.0.0", None, "1.0.0", False),
    # the entry's version is an upper limit on the model's
    ("2.0.0", GREATER, "1.9.9", True),
    ("2.0.0", GREATER, "2.0.0", False),
    ("2.0.0", GREATER, "2.0.1", False),
    ("2.0.0", AT_LEAST, "2.0.0", True),
    ("2.0.0", AT_LEAST, "1.0.0", True),
    ("2.0.0", AT_LEAST, "2.1.0", False),
    # compared as numbers, up to 64 bits without a sign
    ("1.10.0", GREATER, "1.9.0", True),
    ("18446744073709551615.0.0", GREATER, "9223372036854775808.0.0", True),
    # other operators than Equal ask for the same number of parts and the same v
    ("2.0", GREATER, "1.0.0", False),
    ("2", AT_LEAST, "1.0", False),
    ("v2.0.0", GREATER, "1.0.0", False),
    ("v2.0.0", GREATER, "v1.0.0", True),
    # a suffix on either side makes it Equal, and the suffixes must be the same
    ("2.0.0", GREATER, "1.0.0-rc1", False),
    ("2.0.0.dev0", AT_LEAST, "1.0.0", False),
    ("1.0.0-rc1", GREATER, "1.0.0-rc1", True),
    ("1.0.0-rc1", EQUAL, "1.0.0-rc2", False),
    ("1.0.0-rc1", EQUAL, "1.0.0+rc1", False),
    ("v1.0.0-rc1", GREATER, "1.0.0-rc1", True),
    ("1.0.0-rc1", EQUAL, "1.0.0", False),
    # any other operator asks for equality, after the rule of the same parts
    ("1.0.0", "LessThan", "1.0.0", True),
    ("1.0.0", "LessThan", "1.0", False),
    ("2.0.0", "LessThan", "1.0.0", False),
    ("1.0.0", "", "1.0.0", True),
    ("1.0.0", "", "v1.0.0", False),
    ("2.0.0", "greaterthan", "1.0.0", False),
    # what doesn't parse never matches, not even itself
    ("", EQUAL, "", False),
    ("latest", EQUAL, "latest", False),
    ("1.0.0", GREATER, "0.8-beta", False),
    ("1.0.0-", AT_LEAST, "0.1.0", False),
]


@pytest.mark.parametrize(("entry", "operator", "model", "accepted"), ACCEPTED)
def test_an_entry_accepts_a_version(entry: str, operator: str | None, model: str, accepted: bool) -> None:
    assert accepts(entry, operator, model) is accepted


numbers = st.one_of(st.integers(0, 12), st.integers(0, 2**64 - 1)).map(str)
suffixes = st.sampled_from(["", "", "", "-rc1", "+cu12", ".dev0", "-rc1+cu12"])
versions = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["", "v"]), numbers),
    st.builds("{}{}.{}".format, st.sampled_from(["", "v"]), numbers, numbers),
    st.builds("{}{}.{}.{}{}".format, st.sampled_from(["", "v"]), numbers, numbers, numbers, suffixes),
)


@given(versions)
def test_equal_accepts_the_same_version(version: str) -> None:
    assert accepts(version, EQUAL, version)


@given(versions, versions)
def test_equal_looks_the_same_from_both_sides(one: str, other: str) -> None:
    assert accepts(one, EQUAL, other) == accepts(other, EQUAL, one)


plain = st.builds("{}.{}.{}".format, numbers, numbers, numbers)


@given(plain, plain)
def test_official_versions_of_as_many_parts_are_in_one_order(one: str, other: str) -> None:
    outcomes = [accepts(one, GREATER, other), accepts(other, GREATER, one), accepts(one, EQUAL, other)]
    assert outcomes.count(True) == 1
    assert accepts(one, AT_LEAST, other) == (outcomes[0] or outcomes[2])


@given(versions, versions, st.sampled_from([GREATER, AT_LEAST, "another"]))
def test_other_operators_accept_no_other_form(entry: str, model: str, operator: str) -> None:
    ours, theirs = parse_version(entry), parse_version(model)
    assert ours is not None
    assert theirs is not None
    official = not (ours.unofficial or theirs.unofficial)
    if official and (ours.prefix, ours.parts) != (theirs.prefix, theirs.parts):
        assert not accepts(entry, operator, model)


@given(st.text(alphabet="0123456789v.+-a", max_size=10), st.sampled_from([None, EQUAL, GREATER, AT_LEAST, "x"]))
def test_no_text_makes_it_raise(text: str, operator: str | None) -> None:
    if parse_version(text) is None:
        assert not accepts(text, operator, "1.0.0")
        assert not accepts("1.0.0", operator, text)
