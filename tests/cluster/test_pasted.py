"""What somebody pasted: read as kubectl would, or refused in a sentence that names the place, in time and in bounds."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from selection.cluster.pasted import LONGEST, MOST_OBJECTS, MOST_REFUSALS, PASTED, Pasted, Told, read_body, read_pasted
from selection.cluster.yamltext import DocumentError, Limits

from .hostile import HOSTILE

MODEL = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {name: llama}\nspec: {}\n"
SERVICE = "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: chat, namespace: team}\nspec: {}\n"
HOMELESS = SERVICE.replace(", namespace: team", "")
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def names(pasted: Pasted) -> list[str]:
    return [each.name for each in pasted.objects]


def refusals(pasted: Pasted) -> list[str]:
    assert pasted.objects == ()
    return [str(each) for each in pasted.refusals]


# --- what is used -----------------------------------------------------------------------------------------


def test_documents_in_yaml_and_json_lists_and_values_are_all_read() -> None:
    items = {"apiVersion": "v1", "kind": "List", "items": [{**json.loads(as_json("talk"))}]}
    text = f"{MODEL}---\n{SERVICE}---\n{as_json('said')}\n---\n{json.dumps(items)}"
    pasted = read_pasted(text, [json.loads(as_json("sent"))])
    assert names(pasted) == [
        "ClusterBaseModel llama",
        *(f"InferenceService team/{name}" for name in ("chat", "said", "talk", "sent")),
    ]
    assert (pasted.refusals, pasted.told) == ((), ())
    assert [each.document for each in pasted.objects] == [1, 2, 3, 4, None]
    assert pasted.objects[-1].item == 1


def as_json(name: str) -> str:
    metadata = {"name": name, "namespace": "team"}
    return json.dumps({"apiVersion": "ome.io/v1beta1", "kind": "InferenceService", "metadata": metadata})


def test_a_list_of_ones_own_kind_names_the_lines_of_its_items() -> None:
    text = "apiVersion: ome.io/v1beta1\nkind: BaseModelList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n"
    pasted = read_pasted(text)
    assert [(each.name, each.line) for each in pasted.objects] == [
        ("BaseModel default/a", 4),
        ("BaseModel default/b", 5),
    ]


def test_no_text_is_no_object() -> None:
    assert read_pasted("") == read_pasted(b"") == read_pasted("---\n# nothing\n---\n") == Pasted()


def test_text_and_bytes_are_read_alike_with_any_line_ends() -> None:
    for data in (SERVICE, SERVICE.encode(), SERVICE.replace("\n", "\r\n"), SERVICE.encode("utf-16")):
        assert names(read_pasted(data)) == ["InferenceService team/chat"]


def test_what_the_server_adds_is_taken_off() -> None:
    value = json.loads(as_json("chat"))
    value["metadata"] |= {"managedFields": [{"manager": "kubectl"}]}
    assert "managedFields" not in read_pasted("", [value]).objects[0].manifest["metadata"]


# --- what is told -----------------------------------------------------------------------------------------


def test_a_missing_namespace_is_the_default_one_and_told() -> None:
    pasted = read_pasted(HOMELESS)
    assert names(pasted) == ["InferenceService default/chat"]
    assert pasted.told == (Told("default-namespace", 1, ("InferenceService default/chat",)),)
    assert names(read_pasted(HOMELESS, namespace="team")) == ["InferenceService team/chat"]


def test_kinds_that_arent_read_are_passed_over_and_told() -> None:
    deployment = CONFIG.replace("v1\nkind: ConfigMap", "apps/v1\nkind: Deployment")
    pasted = read_pasted(f"{CONFIG}---\n{CONFIG}---\n{deployment}---\n{MODEL}---\na: b\n")
    assert names(pasted) == ["ClusterBaseModel llama"]
    assert pasted.told == (Told("ignored", 4, ("2 ConfigMap", "1 Deployment", "1 without a kind")),)


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a\n", "document 1, line 1: not an object but a list"),
        (f"{MODEL}---\n7\n", "document 2, line 6: not an object but a number"),
        ("a: [\n", "document 1, line 2, column 1: not YAML: "),
        ('{"a": 1,,}', "document 1, line 1, column 9: not YAML: "),
        (MODEL.replace("{name: llama}", "{name: a, name: b}"), 'line 3, column 21: the key "name" is given twice'),
        ('{"a": 1, "a": 2}', 'the key "a" is given twice'),
        (MODEL.replace("{name: llama}", "{generateName: a-}"), "without metadata.name: metadata.generateName names no"),
        (MODEL.replace("ClusterBaseModel", "ClusterBaseModl"), "did you mean ClusterBaseModel?"),
        (SERVICE.replace("team", "Team"), "metadata.namespace 'Team' is not a name that Kubernetes takes"),
        ("a: b\0c", "line 1: not text: it holds a NUL byte"),
        ('{"a": "\\u0000"}', "a string holds a NUL character"),
        (b"a: \xff", "line 1: not text: a byte that isn't UTF-8"),
        (f"a: {{{{ .Values.x }}}}\n---\n{MODEL}", "a template: render it first"),
    ],
)
def test_a_refusal_names_the_place_and_the_reason(text: str | bytes, told: str) -> None:
    (only,) = refusals(read_pasted(text))
    assert told in only
    assert "\n" not in only


def test_two_documents_for_one_object_are_refused_because_nobody_knows_which_is_meant() -> None:
    assert refusals(read_pasted(f"{SERVICE}---\n{MODEL}---\n{SERVICE}")) == [
        "document 3, line 11: InferenceService team/chat is given twice, first in document 1, line 1"
    ]
    (told,) = refusals(read_pasted(SERVICE, [json.loads(as_json("chat"))]))
    assert told == "object 1: InferenceService team/chat is given twice, first in document 1, line 1"


def test_several_refusals_are_told_at_once() -> None:
    text = f"a: [\n---\n{MODEL}---\n- a\n---\n{HOMELESS}---\n{HOMELESS}"
    found = read_pasted(text)
    assert [each.code for each in found.refusals] == ["document", "object", "twice"]
    assert [each.document for each in found.refusals] == [1, 3, 5]
    many = read_pasted("---\n- 1\n" * 100)
    assert len(many.refusals) == MOST_REFUSALS


def test_values_of_a_request_are_counted_by_their_places() -> None:
    assert refusals(read_pasted("", [json.loads(as_json("chat")), "x", None])) == [
        "object 2: not an object but a string",
        "object 3: not an object but null",
    ]


SMALL = Limits(file_bytes=2_000, documents=3, depth=6, values=40, alias_values=10)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a" * 2_001, "larger than 2,000 bytes: not read"),
        ("é" * 1_001, "larger than 2,000 bytes: not read"),
        (b"\xff" * 2_001, "larger than 2,000 bytes: not read"),
        ("---\n" * 5, "document 1: more than 3 documents: the rest of it is not read"),
        (f"a: {'[' * 7}{']' * 7}", "line 1, column 9: nested deeper than 6 levels"),
        (f'{{"a": {"[" * 7}{"]" * 7}}}', "line 1: nested deeper than 6 levels"),
        (f"a: [{'x,' * 50}]", "more than 40 values in one document"),
        (f'{{"a": [{"1," * 50}1]}}', "line 1: more than 40 values in all: the rest of it is not read"),
        (f"a: [{'x,' * 25}]\n---\nb: [{'x,' * 25}]", "document 2, line 3: more than 40 values in all"),
        (f"a: &a [{'x,' * 8}]\nb: [*a, *a]", "line 2, column 9: aliases stand for more than 10 values"),
        ("%TAG !a! x\n" * 21, "more than 20 lines begin with %: not read"),
    ],
)
def test_each_limit_has_its_sentence(text: str | bytes, told: str) -> None:
    (only,) = refusals(read_pasted(text, limits=SMALL))
    assert told in only


def test_what_is_within_the_limits_is_read() -> None:
    text = f"# {'a' * 1_800}\n---\na: &a [{'x,' * 4}]\nb: [*a, [[*a]]]\n---\n"
    assert read_pasted(text, limits=SMALL).refusals == ()
    commas = json.dumps({"a": ",[{" * 100})
    assert read_pasted(commas, limits=SMALL).refusals == ()


def test_one_text_may_not_be_longer_than_an_api_server_takes() -> None:
    (told,) = refusals(read_pasted(f"a: {'x' * (LONGEST + 1)}"))
    assert "a text of more than 1,000,000 characters" in told


def test_so_many_objects_are_read_and_no_more() -> None:
    many = "---\n".join(MODEL.replace("llama", f"llama-{number}") for number in range(MOST_OBJECTS))
    assert len(read_pasted(many).objects) == MOST_OBJECTS
    (told,) = refusals(read_pasted(f"{many}---\n{SERVICE}"))
    assert "more than 1,000 objects: the rest of it is not read" in told


# --- the body of a request --------------------------------------------------------------------------------


def test_a_body_is_one_json_value() -> None:
    assert read_body(b'{"a": [1, "x"]}') == {"a": [1, "x"]}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "it holds no value"),
        (b"1 2", "it holds more than one value"),
        (b"{", "not JSON: "),
        (b"a: b", "not JSON: "),
        (b'{"a": NaN}', "NaN is not a number that JSON can hold"),
        (b'{"a": 1, "a": 2}', 'the key "a" is given twice in one object'),
        (b"[" * 100_000, "nested deeper than 64 levels"),
        (b"[" + b"1," * 200_000 + b"1]", "more than 150,000 values in all"),
        (b"x" * (PASTED.file_bytes + 1), "larger than 10,485,760 bytes: not read"),
        (b'"\xff"', "not text: a byte that isn't UTF-8"),
    ],
)
def test_a_body_that_cant_be_used_says_why(data: bytes, told: str) -> None:
    with pytest.raises(DocumentError, match=told.replace("(", r"\(")):
        read_body(data)


# --- hostile input ----------------------------------------------------------------------------------------

MEASURE = """
import json, resource, sys, time
from selection.cluster.pasted import read_pasted
from tests.cluster.hostile import HOSTILE
read_pasted("a: b"); read_pasted("{}")
data = HOSTILE[sys.argv[1]]()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.process_time()
found = read_pasted(data)
spent = time.process_time() - started
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps([spent, grown / 1024, [str(each) for each in found.refusals]]))
"""


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_input_is_refused_within_a_second_and_little_memory(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", MEASURE, name], capture_output=True, text=True, check=True)
    spent, grown, told = read_measured(done.stdout)
    assert told, "it was taken"
    assert all(len(each) < 400 and "\n" not in each for each in told)
    assert spent < 1
    assert grown < 100, "megabytes beyond the text itself"


def read_measured(text: str) -> tuple[float, float, list[str]]:
    found: Any = json.loads(text)
    return found[0], found[1], found[2]
