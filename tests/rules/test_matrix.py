"""Many services over many runtimes: every cell says what the explanation of its service says."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from selection.rules.explain import explain_service
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.matrix import Cell, Row, askings, cells, columns, fill, others
from tests.rules.manifests import MODE, a_model, a_runtime, a_service, an_entry, moded


def rows_of(*manifests: dict[str, Any]) -> tuple[Fleet, list[Row]]:
    fleet = read_fleet(manifests)
    asked, _ = askings(fleet, fleet.services.values())
    return fleet, fill(fleet, asked)


def codes(row: Row, rows: list[Row], *, excluded: bool = False) -> dict[str, tuple[str, int | None]]:
    told = columns(rows, excluded=excluded)
    return {each.ref.name: (cell.code, cell.rank) for each, cell in zip(told, cells(row, told), strict=True)}


def test_services_that_ask_the_same_share_a_row() -> None:
    _, rows = rows_of(
        a_model(),
        a_runtime(),
        a_service("one"),
        a_service("two"),
        a_service("three", deploymentMode="OMENative"),
        a_service("four", runtime={"name": "fast"}),
        a_service("five", "other"),
    )

    told = [[service.ref.name for service in row.asking.services] for row in rows]
    assert told == [["five"], ["one", "two"], ["three"], ["four"]]


def test_services_without_a_model_to_compare_have_no_row() -> None:
    fleet = read_fleet(
        [
            a_model(),
            a_model("off", disabled=True),
            a_model("empty", modelFormat=None),
            a_service("none", model=None),
            a_service("gone", model={"name": "gone"}),
            a_service("off", model={"name": "off"}),
            a_service("empty", model={"name": "empty"}),
            a_service("virtual", annotations={MODE: "VirtualDeployment"}),
            a_service("replicas", engine=None, replicaRefs={"engine": ["r"]}),
        ]
    )

    asked, without = askings(fleet, fleet.services.values())

    assert asked == []
    assert [each.ref.name for each in without] == ["empty", "gone", "none", "off", "replicas", "virtual"]


def test_a_cell_says_the_rank_or_the_first_failed_check() -> None:
    _, rows = rows_of(
        a_model(modelParameterSize="7B"),
        a_runtime("first", None, an_entry(priority=5)),
        a_runtime("second"),
        a_runtime("other-mode", engineConfig=moded("MultiNode")),
        a_runtime("by-name", None, an_entry(autoSelect=False)),
        a_service("asks", engine=moded("OMENative")),
        a_service("plain"),
    )
    asks, plain = rows

    assert codes(asks, rows, excluded=True) == {
        "first": ("selected", 1),
        "second": ("qualifies", 2),
        "other-mode": ("engine-deployment-mode", None),
        "by-name": ("auto-select", None),
    }
    assert codes(plain, rows)["other-mode"][0] == "qualifies"
    assert "by-name" not in codes(plain, rows)


def test_a_runtime_of_another_namespace_is_absent() -> None:
    _, rows = rows_of(a_model(), a_runtime("own", "other"), a_runtime(), a_service(), a_service("chat", "other"))

    by_namespace = {row.asking.namespace: codes(row, rows) for row in rows}
    assert by_namespace["team"] == {"own": ("absent", None), "fast": ("selected", 1)}
    assert by_namespace["other"] == {"own": ("selected", 1), "fast": ("qualifies", 2)}


def test_a_named_runtime_is_told_as_the_name_has_it() -> None:
    fleet, rows = rows_of(
        a_model(),
        a_runtime(),
        a_runtime("unfit", None, an_entry(modelFormat={"name": "onnx"})),
        a_runtime("off", disabled=True),
        a_service("fit", runtime={"name": "fast"}),
        a_service("unfit", runtime={"name": "unfit"}),
        a_service("off", runtime={"name": "off"}),
        a_service("gone", runtime={"name": "gone"}),
    )

    told = {row.asking.named: codes(row, rows) for row in rows}
    assert told["fast"]["fast"] == ("named", 1)
    assert told["unfit"]["unfit"] == ("advised", None)
    assert told["unfit"]["fast"] == ("qualifies", 1), "what selection would say isn't selected"
    assert told["off"]["off"] == ("refused", None)
    assert [row.astray for row in rows if row.asking.named == "gone"] == ["missing"]
    assert others(fleet, rows, columns(rows)).count == 0


def test_a_named_runtime_that_cant_be_read_is_said() -> None:
    _, rows = rows_of(a_model(), a_runtime(disabled="yes"), a_service(runtime={"name": "fast"}))

    assert [row.astray for row in rows] == ["unreadable"]


def test_the_others_are_counted_by_what_keeps_them_away() -> None:
    fleet, rows = rows_of(
        a_model(modelParameterSize="7B"),
        a_runtime(),
        a_runtime("off", disabled=True),
        a_runtime("format", None, an_entry(modelFormat={"name": "onnx"})),
        a_runtime("size", modelSizeRange={"min": "70B"}),
        a_runtime("by-name", None, an_entry(autoSelect=False)),
        a_service(),
    )

    told = others(fleet, rows, columns(rows))

    assert (told.count, told.disabled, told.excluded, told.serve_none) == (4, 1, (("auto-select", 1),), 2)


NAMES = ("a", "b", "c", "d")


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    modes = st.sampled_from([None, "OMENative", "RawDeployment", "MultiNode"])
    manifests = [a_model("llama", modelParameterSize="7B"), a_model("other", modelFormat={"name": "onnx"})]
    for name in NAMES:
        mode = draw(modes)
        entry = an_entry(
            modelFormat={"name": draw(st.sampled_from(["safetensors", "onnx"]))},
            autoSelect=draw(st.booleans()),
            priority=draw(st.integers(0, 2)),
        )
        fields: dict[str, Any] = {"engineConfig": moded(mode)} if mode else {}
        fields["disabled"] = draw(st.booleans())
        manifests.append(a_runtime(name, draw(st.sampled_from([None, "team"])), entry, **fields))
        mode = draw(modes)
        named = draw(st.sampled_from([None, *NAMES]))
        manifests.append(
            a_service(
                name,
                model={"name": draw(st.sampled_from(["llama", "other"]))},
                engine=moded(mode) if mode else {},
                runtime={"name": named} if named else None,
            )
        )
    return read_fleet(manifests)


@given(fleets())
def test_every_cell_agrees_with_the_explanation(fleet: Fleet) -> None:
    asked, _ = askings(fleet, fleet.services.values())
    told = list(fleet.runtimes.values())
    for row in fill(fleet, asked):
        for service in row.asking.services:
            explanation = explain_service(fleet, service.ref.namespace, service.ref.name)
            known = {each.verdict.runtime.ref: each for each in explanation.candidates}
            for runtime, cell in zip(told, cells(row, told), strict=True):
                candidate = known[runtime.ref]
                selected = explanation.selected is not None and explanation.selected.ref == runtime.ref
                assert cell.rank == candidate.rank
                assert (cell.code in {"selected", "named", "advised"}) == selected
                if cell.rank is None and cell.code not in {"named", "advised", "refused"}:
                    assert candidate.reason is not None
                    assert cell == Cell(candidate.reason.code)
