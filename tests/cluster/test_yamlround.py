"""Edits in the source text of a manifest: all else stays as somebody wrote it, to the letter."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from selection.cluster.yamlround import edited_text, find_document
from selection.rules.edits import Edit, edited
from selection.rules.runtime_copy import copy_edits

TEXT = """\
# Serves the large model over two nodes.
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata:
  name: "large"   # the name of the label too
  labels: {team: a}
  # Who to ask.
  annotations:
    owner: team-a  # on call
    other: x
# What it runs.
spec:
    supportedModelFormats:
    - modelFormat: {name: safetensors}
      autoSelect:   true # for now

    - autoSelect: yes
      modelFormat:
        name: gguf
    engineConfig:
      annotations:
        ome.io/deploymentMode: MultiNode  # deprecated
      leader:
        runner:
          command: [serve, '--nnodes', "$(LWS_GROUP_SIZE)"]   # in one line
          args:
            -   --rank
            -   $(LWS_WORKER_INDEX)
            # a script
            - |
              set -e
              run $LWS_LEADER_ADDRESS   # no comment of YAML
            - >-
              route --selector component=engine
              leaderworkerset.sigs.k8s.io/worker-index=0
              a=b

              --port 8080
"""

RESULT = """\
# Serves the large model over two nodes.
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata:
  name: "large-omenative"   # the name of the label too
  # Who to ask.
# What it runs.
spec:
    supportedModelFormats:
    - modelFormat: {name: safetensors}
      autoSelect:   false # for now

    - autoSelect: false
      modelFormat:
        name: gguf
    engineConfig:
      leader:
        runner:
          command: [serve, '--nnodes', "$(OME_INSTANCE_POD_COUNT)"]   # in one line
          args:
            -   --rank
            -   $(OME_INSTANCE_POD_RANK)
            # a script
            - |
              set -e
              run $OME_LEADER_ADDRESS   # no comment of YAML
            - >-
              route --selector component=engine
              ome.io/runner=leader
              a=b

              --port 8080
"""


def test_comments_quotes_order_and_folds_stay() -> None:
    text = TEXT.replace("autoSelect: yes", "autoSelect: true")
    assert edited_text(text, copy_edits(yaml.safe_load(text), "large-omenative")) == RESULT


def remove(*path: Any) -> Edit:
    return Edit("remove", path, None, None, ())


def add(*path: Any) -> Edit:
    return Edit("add", path, None, False, ())


def replace(before: Any, after: Any, *path: Any) -> Edit:
    return Edit("replace", path, before, after, ())


CASES: list[tuple[str, list[Edit], str]] = [
    # lines go as a whole, with what is said of them at their end
    ("a: 1\nb: # deep\n  c: 2\n\n# of d\nd: 3\n", [remove("b")], "a: 1\n\n# of d\nd: 3\n"),
    ("a: 1\nb: 2", [remove("b")], "a: 1\n"),
    ("a:\n- x\n- w # why\n- z\n", [remove("a", 1)], "a:\n- x\n- z\n"),
    ("a:\n  - x\n  - w:\n      - 1\n  - z\n", [remove("a", 0), remove("a", 1)], "a:\n  - z\n"),
    ("a:\n- b: 1\n  c: 2\n", [remove("a", 0, "b")], "a:\n- c: 2\n"),
    ("a:\n- b: 1\n  c: 2\n", [remove("a", 0, "c")], "a:\n- b: 1\n"),
    ("a:\n  b: |\n    text\n\n  c: 1\n", [remove("a", "b")], "a:\n\n  c: 1\n"),
    # what keeps nothing is empty, not null
    ("a:  # all\n  b: 1\n  c: 2\nd: 3\n", [remove("a", "b"), remove("a", "c")], "a: {}\nd: 3\n"),
    ("a:\n- b\nd: 3\n", [remove("a", 0)], "a: []\nd: 3\n"),
    # fields
    ("a:\n  b: 1 # one\n# of c\nc: 2\n", [add("a", "k")], "a:\n  b: 1 # one\n  k: false\n# of c\nc: 2\n"),
    ("a: {b: 1}\n", [add("a", "k")], "a: {b: 1, k: false}\n"),
    ("a: {}\n", [add("a", "k")], "a: {k: false}\n"),
    ("a:\n- b:\n    c: 1\n", [add("a", 0, "k")], "a:\n- b:\n    c: 1\n  k: false\n"),
    (
        "m:\n  'x/y': \"0\" # zero\n  z: 1\n",
        [Edit("rename", ("m", "x/y"), "x/y", "w", ()), replace("0", "leader", "m", "x/y")],
        "m:\n  'w': \"leader\" # zero\n  z: 1\n",
    ),
    # values
    ("a: 'it''s $X'\n", [replace("it's $X", "it's $Y", "a")], "a: 'it''s $Y'\n"),
    ('a: "tab\\t$X"\n', [replace("tab\t$X", "tab\t$Y", "a")], 'a: "tab\\t$Y"\n'),
    ("a: x y\n", [replace("x y", "x: y", "a")], 'a: "x: y"\n'),  # as it is it would be another thing
    ("a: x\n", [replace("x", "true", "a")], 'a: "true"\n'),
    ("a:\nb: 1\n", [replace(None, False, "a")], "a: false\nb: 1\n"),
    ("a: ~\n", [replace(None, False, "a")], "a: false\n"),
    ("a: é $X ü\n", [replace("é $X ü", "é $YY ü", "a")], "a: é $YY ü\n"),
    ("a: x,b,c\n", [replace("x,b,c", "x,c", "a")], "a: x,c\n"),
    # one place behind two aliases
    (
        "a: &it\n  k: $X\nb: *it\n",
        [replace("$X", "$Y", "a", "k"), replace("$X", "$Y", "b", "k")],
        "a: &it\n  k: $Y\nb: *it\n",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "edits", "result"), CASES)
def test_an_edit_touches_what_it_speaks_of(text: str, edits: list[Edit], result: str) -> None:
    assert edited_text(text, edits) == result


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("a: {b: 1, c: 2}\n", [remove("a", "b")]),
        ("a: [1, 2]\n", [remove("a", 0)]),
        ("base: &it\n  k: $X\na:\n  <<: *it\n", [replace("$X", "$Y", "a", "k")]),
        ("a: &it\n  k: 1\nb: *it\n", [remove("a")]),  # the anchor would go
        ("a: &it\n  k: $X\nb: *it\n", [replace("$X", "$Y", "a", "k")]),  # and the other would change too
        ("a: 1\n", [remove("b")]),
        ("- a\n", [remove(0)]),
        ("not: [yaml\n", [remove("not")]),
        ("a: 1\n---\nb: 2\n", [remove("a")]),
        ("", [remove("a")]),
    ],
)
def test_where_more_would_have_to_change_there_is_no_text(text: str, edits: list[Edit]) -> None:
    assert edited_text(text, edits) is None


def test_a_document_is_found_with_the_comments_above_it() -> None:
    text = "# first\na: 1\n---\n\n# second\na: 2\n--- # third\na: 3\n"

    def found(number: int) -> str | None:
        return find_document(text, lambda value: isinstance(value, dict) and value["a"] == number)

    assert (found(1), found(2), found(4)) == ("# first\na: 1\n", "# second\na: 2\n", None)
    assert found(3) == "# third\na: 3\n"


SCALARS = st.sampled_from(
    ["serve", "$(LWS_GROUP_SIZE)", "a: $LWS_GROUP_SIZE", "x\nz $LWS_WORKER_INDEX\n", "true", " q ", ""]
)
LABELS = st.sampled_from(["own", "a/b", "leaderworkerset.sigs.k8s.io/size"])


@st.composite
def manifests(draw: st.DrawFn) -> dict[str, Any]:
    args = st.lists(SCALARS, max_size=4)
    pod = {"runner": {"args": draw(args)}, "labels": draw(st.dictionaries(LABELS, SCALARS, max_size=3))}
    entry = st.fixed_dictionaries({}, optional={"autoSelect": st.booleans(), "priority": st.just(1)})
    spec = {"supportedModelFormats": draw(st.lists(entry, max_size=2)), "engineConfig": {"leader": pod}}
    labels: dict[str, Any] = {"uid": "1", "labels": {"a": "b"}}
    metadata = {"name": "fast", **draw(st.sampled_from([{}, labels]))}
    return {"kind": "ClusterServingRuntime", "metadata": metadata, "spec": spec, "status": {}}


@settings(deadline=None)
@given(manifests(), st.sampled_from([None, "'", '"', "|", ">"]), st.integers(2, 5), st.sampled_from([20, 120]))
def test_however_it_is_written_the_result_reads_as_the_edits_say(
    value: dict[str, Any], style: str | None, indent: int, width: int
) -> None:
    text = _styled(value, style, indent, width)
    assert yaml.safe_load(text) == value
    assert edited_text(text, []) == text
    edits = copy_edits(value, "fast-omenative")
    result = edited_text(text, edits)
    assert result is not None
    assert yaml.safe_load(result) == edited(value, edits)


def _styled(value: dict[str, Any], style: str | None, indent: int, width: int) -> str:
    """The value with every text written in one style, None for what each needs."""

    class Dumper(yaml.SafeDumper):
        pass

    if style is not None:
        tag = "tag:yaml.org,2002:str"
        Dumper.add_representer(str, lambda dumper, text: dumper.represent_scalar(tag, text, style=style))
    return str(yaml.dump(value, Dumper=Dumper, indent=indent, width=width, sort_keys=False))
