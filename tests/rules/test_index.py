"""The index finds exactly the enabled runtimes that pass the checks of formats and size."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.rules.fleet import read_fleet
from selection.rules.formats import matching_entry
from selection.rules.index import RuntimeIndex, key_of, serves
from selection.rules.objects import Model, Runtime
from selection.rules.selection import judge, question_of
from selection.rules.semantics import V1_3

from .fleets import model_manifests, runtime_manifests
from .fleets_more import holds
from .manifests import Manifest, a_model, a_runtime, an_entry, read_model, read_runtime


def by_hand(runtimes: Iterable[Runtime], model: Model) -> list[Runtime]:
    """What the plain checks leave, by kind, namespace and name."""
    question = question_of(None, model, V1_3)
    kept = []
    for runtime in sorted(runtimes, key=lambda each: each.ref):
        codes = {failure.code for failure in judge(question, runtime).failures}
        if not codes & {"disabled", "model-format", "model-size"}:
            kept.append(runtime)
    return kept


@holds(2)
@given(st.lists(runtime_manifests(), max_size=6), st.lists(model_manifests(), min_size=1, max_size=2))
def test_it_finds_what_the_plain_checks_leave(runtimes: list[Manifest], models: list[Manifest]) -> None:
    fleet = read_fleet([*runtimes, *models])
    index = RuntimeIndex(fleet.runtimes.values())
    for model in fleet.models.values():
        expected = by_hand(fleet.runtimes.values(), model)
        assert list(index.serving(model)) == expected
        assert list(index.serving(model)) == expected, "also when it has been asked before"
        assert [runtime for runtime in index.runtimes if serves(runtime, model) and not runtime.disabled] == expected
        if expected:
            assert key_of(model) in index.keys


@holds(4)
@given(
    st.lists(runtime_manifests(), max_size=4),
    st.lists(runtime_manifests(), max_size=2),
    st.lists(model_manifests(), min_size=1, max_size=2),
)
def test_it_remembers_only_what_the_changed_runtimes_cannot_have_changed(
    before: list[Manifest], changed: list[Manifest], models: list[Manifest]
) -> None:
    old, new = read_fleet([*before, *models]), read_fleet([*before, *changed, *models])
    known, index = RuntimeIndex(old.runtimes.values()), RuntimeIndex(new.runtimes.values())
    for model in old.models.values():
        known.serving(model)
    pairs = [(old.runtimes.get(key), new.runtimes[key]) for key in new.runtimes]
    index.remember(known, (each for pair in pairs if pair[0] != pair[1] for each in pair if each is not None))
    for model in new.models.values():
        assert list(index.serving(model)) == by_hand(new.runtimes.values(), model)


# --- by hand -----------------------------------------------------------------------------------------

LLAMA = {
    "modelFramework": {"name": "transformers", "version": "4.0.0"},
    "modelArchitecture": "Llama",
    "quantization": "fp8",
}


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (LLAMA, True),
        ({**LLAMA, "autoSelect": False}, True),
        ({**LLAMA, "priority": -1}, True),
        ({**LLAMA, "modelFramework": {"name": "transformers", "version": "5.0.0", "operator": "GreaterThan"}}, True),
        ({**LLAMA, "modelFramework": {"name": "transformers", "version": "3.0.0"}}, False),
        ({**LLAMA, "modelFramework": {"name": "transformers"}}, False),
        ({**LLAMA, "modelFramework": {"name": "diffusers", "version": "4.0.0"}}, False),
        ({**LLAMA, "modelFramework": None}, False),
        ({**LLAMA, "modelArchitecture": None}, False),
        ({**LLAMA, "modelArchitecture": ""}, False),
        ({**LLAMA, "quantization": None}, False),
        ({**LLAMA, "quantization": "fp4"}, False),
        ({**LLAMA, "modelFormat": None}, False),
        ({**LLAMA, "modelFormat": {"name": "SafeTensors"}}, False),
        ({**LLAMA, "diffusionPipeline": {"className": "Flux"}}, False),
    ],
)
def test_an_entry_is_found_by_all_that_must_be_equal(entry: Manifest, found: bool) -> None:
    runtime, model = read_runtime(an_entry(**entry)), read_model(**LLAMA)
    assert bool(RuntimeIndex([runtime]).serving(model)) == found
    assert serves(runtime, model) == found == (matching_entry(model, runtime.entries) is not None)


def test_a_runtime_is_found_once_also_by_several_entries() -> None:
    runtime = read_runtime(an_entry(), an_entry(priority=2), an_entry(modelArchitecture="Llama"))
    assert RuntimeIndex([runtime]).serving(read_model()) == (runtime,)
    assert RuntimeIndex([runtime]).serving(read_model(modelArchitecture="Llama")) == (runtime,)


def test_a_disabled_runtime_counts_and_is_not_found() -> None:
    disabled = read_runtime(disabled=True)
    index = RuntimeIndex([disabled])
    assert index.runtimes == (disabled,)
    assert index.serving(read_model()) == ()
    assert not index.keys
    assert serves(disabled, read_model())


@pytest.mark.parametrize(("size", "found"), [("7B", True), ("8B", True), ("8.1B", False), (None, True), ("?", True)])
def test_a_size_has_to_be_in_the_range(size: str | None, found: bool) -> None:
    index = RuntimeIndex([read_runtime(modelSizeRange={"max": "8B"})])
    assert bool(index.serving(read_model(modelParameterSize=size))) == found


def test_runtimes_come_by_kind_namespace_and_name() -> None:
    manifests = [a_runtime(name, namespace) for name in "ba" for namespace in ("team", None, "other")]
    index = RuntimeIndex(read_fleet(manifests).runtimes.values())
    found = [(each.ref.namespace, each.ref.name) for each in index.serving(read_model())]
    assert found == [("", "a"), ("", "b"), ("other", "a"), ("other", "b"), ("team", "a"), ("team", "b")]


def test_an_empty_index_finds_nothing() -> None:
    assert RuntimeIndex([]).serving(read_model()) == ()
    assert read_fleet([a_model()]).scopes_with(read_model()) == []


def test_a_fleet_knows_the_scopes_in_which_a_model_may_be_served() -> None:
    onnx = an_entry(modelFormat={"name": "onnx"})
    runtimes = [a_runtime("a", "z"), a_runtime("b"), a_runtime("c", "y", onnx), a_runtime("d", "x", disabled=True)]
    fleet = read_fleet(runtimes)
    assert fleet.scopes_with(read_model()) == ["", "z"]
    assert fleet.scopes_with(read_model(modelFormat={"name": "onnx"})) == ["y"]
    assert fleet.scopes_with(read_model(modelArchitecture="Llama")) == []
