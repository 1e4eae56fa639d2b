"""Manifests from files, folders and standard input."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from selection.cluster.errors import SourceError
from selection.cluster.files import Documents, listings, read_paths
from selection.cluster.kinds import CLUSTER_BASE_MODEL, INFERENCE_SERVICE, KINDS
from selection.cluster.objects import LAST_APPLIED
from selection.cluster.yamltext import Limits

SERVICE = """\
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata:
  name: chat
  namespace: ml
spec:
  model: {name: llama}
"""
MODEL = """\
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: llama}
spec: {}
"""


def stdin(text: str | bytes, **options: Any) -> Documents:
    return read_paths(["-"], io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


def service(name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "ome.io/v1beta1", "kind": "InferenceService", "metadata": {"name": name, **metadata}}


def names(documents: Documents) -> list[str]:
    return [each.manifest["metadata"]["name"] for each in documents.objects]


def problems(documents: Documents) -> list[str]:
    return [str(problem) for problem in documents.problems]


# --- where manifests are found ---------------------------------------------------------------------


def test_it_reads_a_folder_sorted_and_all_below_it(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "c.yaml").write_text(json.dumps(service("third")))
    (tmp_path / "b" / "x.yml").write_text(json.dumps(service("second")))
    (tmp_path / "a.JSON").write_text(json.dumps(service("first")))
    (tmp_path / "notes.txt").write_text("not: read")
    (tmp_path / ".hidden.yaml").write_text("not: [read")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.yaml").write_text("not: [read")
    documents = read_paths([tmp_path])
    assert names(documents) == ["first", "second", "third"]
    assert (documents.files, documents.problems) == (3, ())
    assert documents.objects[1].path == str(tmp_path / "b" / "x.yml")


def test_it_reads_a_named_file_whatever_its_name(tmp_path: Path) -> None:
    hidden = tmp_path / ".service.txt"
    hidden.write_text(SERVICE)
    assert names(read_paths([str(hidden)])) == ["chat"]


def test_it_reads_standard_input_among_other_paths(tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text(MODEL)
    documents = read_paths([tmp_path, "-"], io.BytesIO(SERVICE.encode()))
    assert [each.path for each in documents.objects] == [str(tmp_path / "model.yaml"), "-"]


def test_a_link_in_a_circle_is_not_followed_for_ever(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "service.yaml").write_text(SERVICE)
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "sub" / "self").symlink_to("self")
    documents = read_paths([tmp_path])
    assert names(documents) == ["chat"]
    assert documents.problems == ()


def test_a_file_that_is_reached_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "link.yaml").symlink_to("service.yaml")
    (tmp_path / "again").symlink_to(".")
    documents = read_paths([tmp_path, tmp_path / "service.yaml"])
    assert names(documents) == ["chat"]
    assert documents.problems == ()


def test_folders_that_link_to_each_other_are_read_once(tmp_path: Path) -> None:
    for number in range(30):
        folder = tmp_path / f"f{number:02}"
        folder.mkdir()
        (folder / "one").symlink_to(f"../f{number + 1:02}")
        (folder / "two").symlink_to(f"../f{number + 1:02}")
    (tmp_path / "f30").mkdir()
    (tmp_path / "f30" / "service.yaml").write_text(SERVICE)
    assert names(read_paths([tmp_path / "f00"])) == ["chat"]


def test_a_config_map_as_kubernetes_mounts_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "..2026_01").mkdir()
    (tmp_path / "..2026_01" / "service.yaml").write_text(SERVICE)
    (tmp_path / "..data").symlink_to("..2026_01")
    (tmp_path / "service.yaml").symlink_to("..data/service.yaml")
    assert names(read_paths([tmp_path])) == ["chat"]


def test_what_cannot_be_read_in_a_folder_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "gone.yaml").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "z.yaml").write_text(SERVICE)
    documents = read_paths([tmp_path])
    assert names(documents) == ["chat"]
    assert problems(documents) == [
        f"{tmp_path}/gone.yaml: no such file or directory",
        f"{tmp_path}/pipe.yaml: not a regular file",
    ]


def test_a_path_that_is_not_there_ends_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as refused:
        read_paths([tmp_path / "nowhere"])
    assert str(refused.value) == f"{tmp_path}/nowhere: no such file or directory"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_a_path_that_can_be_none_ends_it(path: str) -> None:
    with pytest.raises(SourceError):
        read_paths([path])


def test_standard_input_that_is_not_there_ends_it() -> None:
    with pytest.raises(SourceError, match="no standard input"):
        read_paths(["-"])


def test_a_name_of_any_bytes_can_be_shown(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.yaml")).write_text("[")
    (problem,) = read_paths([tmp_path]).problems
    assert problem.path.encode().endswith(rb"\udcff.yaml")


# --- what is made of them --------------------------------------------------------------------------


def test_each_object_knows_its_place() -> None:
    documents = stdin(f"# two\n{SERVICE}---\n\n{MODEL}")
    first, second = documents.objects
    assert (first.kind, first.path, first.document, first.line, first.item) == (INFERENCE_SERVICE, "-", 1, 2, None)
    assert (second.kind, second.document, second.line) == (CLUSTER_BASE_MODEL, 2, 11)
    assert first.identity == ("InferenceService", "ml", "chat")
    assert second.identity == ("ClusterBaseModel", "", "llama")


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_it_reads_what_kubectl_get_prints(form: str) -> None:
    answer = {"apiVersion": "v1", "kind": "List", "items": [service("a"), {"kind": "Pod", "apiVersion": "v1"}]}
    text = json.dumps(answer, indent=1)
    if form == "yaml":
        text = "apiVersion: v1\nkind: List\nitems:\n- " + json.dumps(service("a")) + "\n- {kind: Pod, apiVersion: v1}"
    documents = stdin(text)
    (found,) = documents.objects
    assert (found.item, found.document, documents.ignored) == (1, 1, 1)
    assert found.line == (4 if form == "yaml" else 5)


def test_the_items_of_a_typed_list_get_its_type() -> None:
    item = {"metadata": {"name": "a"}}
    documents = stdin(
        json.dumps({"apiVersion": "ome.io/v1beta1", "kind": "InferenceServiceList", "metadata": {}, "items": [item]})
    )
    assert documents.objects[0].manifest["kind"] == "InferenceService"
    assert documents.objects[0].manifest["apiVersion"] == "ome.io/v1beta1"


def test_a_list_in_a_list_is_opened() -> None:
    inner = {"apiVersion": "v1", "kind": "List", "items": [service("a"), service("b")]}
    assert names(stdin(json.dumps({"apiVersion": "v1", "kind": "List", "items": [inner]}))) == ["a", "b"]


@pytest.mark.parametrize("text", ["kind: List\nitems:\n", "kind: List\nitems: []", "---\n", "", "# nothing"])
def test_nothing_is_no_problem(text: str) -> None:
    assert stdin(text) == Documents(files=1)


@pytest.mark.parametrize(
    "text",
    [
        "kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\nresources: [a.yaml]",
        "resources: [a.yaml]",
        "replicaCount: 1\nspec: {}",
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}",
        "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: web, labels: {app: web}}",
        "kind: InferenceService\napiVersion: serving.kserve.io/v1beta1\nmetadata: {name: a}",
        "kind: BenchmarkJob\napiVersion: ome.io/v1beta1\nmetadata: {name: a}",
        "kind: ControllerRevision\napiVersion: apps/v1\nmetadata: {name: web-5f6d7c8b9}",
        "kind: AllowList\napiVersion: example.com/v1\nspec: {}",
    ],
)
def test_other_kinds_are_passed_over_and_counted(text: str) -> None:
    assert stdin(text) == Documents(ignored=1, files=1)


def test_workloads_of_services_are_kept() -> None:
    text = "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: a, labels: {ome.io/inferenceservice: chat}}"
    assert stdin(text).objects[0].identity == ("Deployment", "default", "a")


def test_noise_is_taken_off() -> None:
    manifest = service("a", managedFields=[1], annotations={LAST_APPLIED: "{}"})
    assert stdin(json.dumps(manifest)).objects[0].manifest["metadata"] == {"name": "a", "namespace": "default"}


def test_an_object_without_a_namespace_gets_the_one_asked_for() -> None:
    documents = stdin(json.dumps(service("a")) + json.dumps(service("a", namespace="")), namespace="team")
    assert documents.objects[0].manifest["metadata"]["namespace"] == "team"
    assert len(documents.problems) == 1


def test_a_cluster_scoped_object_has_no_namespace() -> None:
    documents = stdin(MODEL.replace("{name: llama}", "{name: llama, namespace: ml}"))
    assert documents.objects[0].manifest["metadata"] == {"name": "llama"}


def test_fields_are_kept_as_written() -> None:
    text = MODEL.replace("spec: {}", "spec: {modelFormat: {name: safetensors, version: 1.0}, disabled: no}")
    assert stdin(text).objects[0].manifest["spec"] == {
        "modelFormat": {"name": "safetensors", "version": 1.0},
        "disabled": False,
    }


def test_of_two_objects_of_one_identity_the_first_is_kept() -> None:
    documents = stdin(f"{SERVICE}---\n{SERVICE.replace('llama', 'other')}---\n{SERVICE.replace('ml', 'elsewhere')}")
    assert [each.manifest["spec"]["model"]["name"] for each in documents.objects] == ["llama", "llama"]
    assert problems(documents) == ["-:9: InferenceService ml/chat is already in -:1; that one is kept"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("just text", "-:1: not an object but a string"),
        ("\n- a\n- b", "-:2: not an object but a list"),
        ("12", "-:1: not an object but a number"),
        ("yes", "-:1: not an object but true or false"),
        ("kind: List\nitems: [null]", "-:2: not an object but null"),
        ("kind: List\nitems: {a: 1}", "-:1: items is not a list"),
        ("kind: InferenceService\nmetadata: {name: a}", "-:1: apiVersion is missing"),
        ("apiVersion: ome.io/v1beta1\nmetadata: {name: a}", "-:1: kind is missing"),
        ("apiVersion: ome.io/v1beta1\nkind: [a]", "-:1: kind is not a string"),
        ("apiVersion: 1\nkind: BaseModel", "-:1: apiVersion is not a string"),
        ("metadata: {name: a}\nspec: {}", "-:1: apiVersion is missing and kind is missing"),
        (
            SERVICE.replace("v1beta1", "v1alpha1"),
            "-:1: InferenceService of ome.io/v1alpha1 is not read, only of ome.io/v1beta1",
        ),
        (
            SERVICE.replace("InferenceService", "InferenceServce"),
            "-:1: ome.io has no kind 'InferenceServce'; did you mean InferenceService?",
        ),
        ("kind: BaseModel\napiVersion: ome.io/v1beta1", "-:1: BaseModel without metadata"),
        ("kind: BaseModel\napiVersion: ome.io/v1beta1\nmetadata: x", "-:1: metadata is not an object"),
        (MODEL.replace("{name: llama}", "{}"), "-:1: ClusterBaseModel without metadata.name"),
        (
            MODEL.replace("{name: llama}", "{generateName: a-}"),
            "-:1: ClusterBaseModel without metadata.name: metadata.generateName names no object that could be judged",
        ),
        (MODEL.replace("llama", "3.1"), "-:1: metadata.name is not a string"),
        (MODEL.replace("llama", "Llama_3"), "-:1: metadata.name 'Llama_3' is not a name that Kubernetes takes"),
        (SERVICE.replace("ml", "1"), "-:1: metadata.namespace is not a string"),
        (SERVICE.replace("ml", "a.b"), "-:1: metadata.namespace 'a.b' is not a name that Kubernetes takes"),
        ("a: 1\nb: c: d", "-:2:5: not YAML: mapping values are not allowed in this context"),
        (b"\x00\x01", "-:1: not text: it holds a NUL byte"),
    ],
)
def test_what_cannot_be_used_is_a_problem_with_its_place(text: str | bytes, message: str) -> None:
    documents = stdin(text)
    assert problems(documents) == [message]
    assert (documents.objects, documents.ignored) == ((), 0)


def test_a_problem_does_not_hide_the_others() -> None:
    documents = stdin(f"- x\n---\n{SERVICE}---\na: [\n---\nkind: BaseModel\n---\n{MODEL}")
    assert names(documents) == ["chat", "llama"]
    assert [problem.document for problem in documents.problems] == [1, 3, 4]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text(SERVICE + "#" * 2000)
    (tmp_path / "small.yaml").write_text(MODEL)
    documents = read_paths([tmp_path], limits=Limits(file_bytes=1024))
    assert names(documents) == ["llama"]
    assert problems(documents) == [f"{tmp_path}/large.yaml: larger than 1,024 bytes: not read"]


def test_a_file_with_nothing_but_problems_is_given_up() -> None:
    documents = stdin("---\n- x\n" * 3000)
    assert len(documents.problems) == 1002
    assert str(documents.problems[-1]) == "-: more than 1000 problems: the rest of it is not read"


def test_the_listings_are_complete_for_every_kind() -> None:
    found = {listing.kind: listing for listing in listings(stdin(f"{SERVICE}---\n{MODEL}"))}
    assert tuple(found) == KINDS
    assert all(listing.outcome == "complete" and listing.resource_version is None for listing in found.values())
    assert [each["metadata"]["name"] for each in found[INFERENCE_SERVICE].objects or []] == ["chat"]
    assert sum(len(listing.objects or []) for listing in found.values()) == 2


def test_a_file_without_anything_that_is_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "chart.yaml").write_text("name: chat\nversion: 1.0.0\n")
    (tmp_path / "service.yaml").write_text(json.dumps(service("a")))

    assert read_paths([tmp_path]).passed == (str(tmp_path / "chart.yaml"),)


def test_a_problem_says_what_it_is_of() -> None:
    text = "\n---\n".join(
        [json.dumps(service("a")), json.dumps(service("a")), "a: [", json.dumps({**service("b"), "metadata": {}})]
    )

    assert [problem.what for problem in stdin(text).problems] == ["twice", "document", "object"]


def test_an_item_of_a_list_knows_where_its_document_starts() -> None:
    text = "# first\n---\nkind: List\nitems:\n- " + json.dumps(service("a")) + "\n"

    assert [(each.start, each.line, each.item) for each in stdin(text).objects] == [(3, 5, 1)]
