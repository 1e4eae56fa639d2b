"""What OME's controller records of a service that gets no runtime, as its pages on runtimes and revisions say."""

from __future__ import annotations

from typing import Any

import pytest

from selection.rules.semantics import V1_2, V1_3, Semantics

from .manifests import a_model, a_runtime, a_service, explained

Event = tuple[str | None, str | None]

NOTHING: Event = (None, None)
FAILED: Event = (
    "Runtime fast failed validation: cluster-scoped runtime fast is disabled",
    "RuntimeValidationError",
)
MISSING: Event = (
    "resolve live runtime fast: runtime fast not found in namespace team or at cluster scope",
    "RuntimePinError",
)
BROKEN: Event = (
    'resolve live runtime fast: inherit-from parent "gone" not found (chain so far: [fast])',
    "RuntimePinError",
)


def event_of(*objects: dict[str, Any], semantics: Semantics = V1_3, **service: Any) -> Event:
    """The event that is recorded of ``chat`` among these objects, and its reason."""
    explanation = explained(*objects, a_service(**service), semantics=semantics)
    return explanation.event, explanation.event_reason


def test_without_a_model_a_disabled_runtime_fails_validation() -> None:
    assert event_of(a_runtime(disabled=True), model=None, runtime={"name": "fast"}) == FAILED


def test_without_a_model_and_a_runtime_the_runtime_is_asked_for() -> None:
    assert event_of(a_runtime(), model=None) == (
        "InferenceService must specify spec.runtime when spec.model is omitted",
        "RuntimeSelectionError",
    )


RUNTIMES: dict[str, list[dict[str, Any]]] = {
    "missing": [],
    "disabled": [a_runtime(disabled=True)],
    "broken": [a_runtime(annotations={"ome.io/inherit-from": "gone"})],
}

PINNED: list[tuple[str, bool, Semantics, Event]] = [
    # before the first pin the live runtime is what it gets
    ("missing", False, V1_3, MISSING),
    ("disabled", False, V1_3, FAILED),
    ("broken", False, V1_3, BROKEN),
    # afterwards it keeps its revision, and the condition RuntimeDrifted says the rest
    ("missing", True, V1_3, NOTHING),
    ("disabled", True, V1_3, NOTHING),
    ("broken", True, V1_3, BROKEN),
    # v1.2 needs the live runtime for every look at a pin
    ("missing", True, V1_2, MISSING),
    ("disabled", False, V1_2, NOTHING),
]


@pytest.mark.parametrize(("became", "follows", "semantics", "event"), PINNED)
@pytest.mark.parametrize("in_spec", [True, False])
def test_a_pinned_service_has_events_of_its_own(
    became: str, follows: bool, semantics: Semantics, event: Event, in_spec: bool
) -> None:
    runtime: dict[str, Any] = {"name": "fast", "autoSync": False}
    if follows and in_spec:
        runtime["revision"] = "cr-fast-0a1b2c3d"
    status = {"pinnedRevisionName": "cr-fast-0a1b2c3d"} if follows and not in_spec else None
    objects = [a_model(), *RUNTIMES[became]]
    assert event_of(*objects, semantics=semantics, runtime=runtime, status=status) == event


def test_nobody_compares_the_model_of_a_pinned_service() -> None:
    pinned = {"name": "fast", "autoSync": False}
    for model in (a_model(modelFormat={}), a_model(distribution="Sharded")):
        assert event_of(model, a_runtime(), runtime=pinned) == NOTHING
        assert event_of(model, a_runtime(), runtime={"name": "fast"})[1] == "RuntimeValidationError"
