"""A snapshot comes back as it was written, or not at all."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.cluster.errors import SourceError
from selection.cluster.files import listings, read_paths
from selection.cluster.kinds import CLUSTER_SERVING_RUNTIME, INFERENCE_SERVICE, LEADER_WORKER_SET, SERVING_RUNTIME
from selection.cluster.snapshots import KindState, SnapshotHead, is_snapshot, read_snapshot, write_snapshot
from selection.cluster.yamltext import Limits

HEAD = SnapshotHead(
    "prod",
    "1.2",
    "ome",
    "2026-11-30T06:00:00+00:00",
    (
        KindState(INFERENCE_SERVICE, "complete", "", "2026-11-30T06:00:00+00:00", "812", 2),
        KindState(SERVING_RUNTIME, "forbidden", "may not list"),
    ),
)


def service(name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ml"}
    return {"apiVersion": "ome.io/v1beta1", "kind": "InferenceService", "metadata": metadata, "spec": spec}


def packed(*lines: Any) -> bytes:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    return gzip.compress(text.encode())


def written(*objects: dict[str, Any], head: SnapshotHead = HEAD) -> bytes:
    file = io.BytesIO()
    assert write_snapshot(file, head, objects) == len(objects)
    return file.getvalue()


def kept(folder: Path, data: bytes) -> Path:
    path = folder / "prod.ome-snapshot.gz"
    path.write_bytes(data)
    return path


FIRST = {"format": "ome-dashboard-snapshot", "version": 1, "cluster": "prod", "kinds": []}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=5))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    objects = [service(f"chat-{place}", note=text) for place, text in enumerate(texts)]
    snapshot = read_snapshot(kept(tmp_path_factory.mktemp("snapshot"), written(*objects)))
    assert snapshot.head == HEAD
    assert [each.manifest for each in snapshot.objects] == objects
    assert [each.line for each in snapshot.objects] == list(range(2, 2 + len(objects)))


def test_the_same_state_gives_the_same_bytes() -> None:
    one = written({**service("chat"), "status": {}})
    other = written(dict(reversed(list({**service("chat"), "status": {}}.items()))))
    assert one == other


def test_files_take_a_snapshot_by_what_it_holds_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "state.yaml"
    path.write_bytes(written(service("chat"), service("search")))
    assert is_snapshot(path)
    documents = read_paths([path])
    assert documents.snapshot == HEAD
    assert [(each.manifest["metadata"]["name"], each.line) for each in documents.objects] == [
        ("chat", 2),
        ("search", 3),
    ]
    outcomes = {each.kind: (each.outcome, each.reason, each.objects) for each in listings(documents)}
    assert outcomes[INFERENCE_SERVICE] == ("complete", None, [service("chat"), service("search")])
    assert outcomes[SERVING_RUNTIME] == ("forbidden", "may not list", None)
    assert outcomes[LEADER_WORKER_SET] == ("complete", None, [])


def test_beside_other_files_a_snapshot_is_so_many_objects(tmp_path: Path) -> None:
    more = tmp_path / "more.json"
    runtime = {"apiVersion": "ome.io/v1beta1", "kind": "ClusterServingRuntime", "metadata": {"name": "fast"}}
    more.write_text(json.dumps(runtime))
    documents = read_paths([kept(tmp_path, written(service("chat"))), more])
    assert documents.snapshot is None
    assert [each.kind for each in documents.objects] == [INFERENCE_SERVICE, CLUSTER_SERVING_RUNTIME]
    assert all(each.outcome == "complete" for each in listings(documents))


def test_noise_is_taken_off(tmp_path: Path) -> None:
    noisy = service("chat")
    noisy["metadata"] = {**noisy["metadata"], "managedFields": [{}]}
    [found] = read_snapshot(kept(tmp_path, written(noisy))).objects
    assert found.manifest == service("chat")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([{"format": "else"}], "not a snapshot"),
        ([[1]], ":1: not one object of JSON"),
        ([{**FIRST, "version": 2}], "a snapshot of format 2, and this release reads format 1"),
        ([{**FIRST, "cluster": 7}], ":1: cluster is not a line of text"),
        ([{**FIRST, "kinds": {}}], ":1: kinds is not a list"),
        ([{**FIRST, "kinds": [1]}], ":1: kinds has something that is no object"),
        ([{**FIRST, "kinds": [{"kind": "InferenceService", "outcome": "?"}]}], "the outcome of InferenceService"),
        ([FIRST], "cut off after line 1"),
        ([FIRST, service("a"), {"end": 2}], ":3: 1 objects are there, and it says 2"),
        ([FIRST, service("a"), service("a"), {"end": 2}], ":3: InferenceService ml a is already in line 2"),
        ([FIRST, {"end": 0}, service("a")], ":2: something follows its end"),
        ([FIRST, "{", {"end": 1}], ":2: not JSON"),
        ([FIRST, '{"a": NaN}', {"end": 1}], ":2: "),
        ([FIRST, {"apiVersion": "v1", "kind": "Secret"}, {"end": 1}], ":2: an object of a kind that isn't read"),
        ([FIRST, {**service("a"), "metadata": {"name": "a"}}, {"end": 1}], ":2: InferenceService without metadata.na"),
        ([FIRST, "[" * 5000, {"end": 1}], ":2: nested deeper"),
    ],
)
def test_what_is_no_whole_snapshot_is_refused_with_its_place(tmp_path: Path, lines: list[Any], told: str) -> None:
    with pytest.raises(SourceError) as error:
        read_snapshot(kept(tmp_path, packed(*lines)))
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_kind_that_another_release_reads_is_passed_over_in_the_head(tmp_path: Path) -> None:
    head = {**FIRST, "kinds": [{"kind": "Gateway", "outcome": "complete"}]}
    assert read_snapshot(kept(tmp_path, packed(head, {"end": 0}))).head.kinds == ()


def test_a_file_that_was_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    whole = written(*(service(f"chat-{place}", note="x" * place) for place in range(50)))
    for length in range(2, len(whole), 37):
        with pytest.raises(SourceError, match=r"cut off|damaged"):
            read_snapshot(kept(tmp_path, whole[:length]))


def test_a_file_with_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    whole = bytearray(written(*(service(f"chat-{place}") for place in range(50))))
    whole[len(whole) // 2] ^= 1
    with pytest.raises(SourceError):
        read_snapshot(kept(tmp_path, bytes(whole)))


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    line = json.dumps(service("chat", note="0" * 10_000))
    data = packed(FIRST, *[line.replace('"chat"', f'"chat-{place}"') for place in range(200)], {"end": 200})
    with pytest.raises(SourceError, match="larger than"):
        read_snapshot(kept(tmp_path, data), most_bytes=100_000)
    with pytest.raises(SourceError, match=r":2: larger than 5,000 bytes"):
        read_snapshot(kept(tmp_path, data), Limits(file_bytes=5_000))
