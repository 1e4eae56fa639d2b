"""The quick way and the plain way to judge a service say the same."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from selection.rules.admission import Admission
from selection.rules.explain import explain_service, explain_services
from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet, read_fleet
from selection.rules.fleet_answers import Judged
from selection.rules.index import serves
from selection.rules.selection import Question, Verdict, question_of
from selection.rules.semantics import V1_3, Semantics

from .fleets_more import holds, releases, rich_fleets
from .manifests import Manifest, a_model, a_runtime


def without_list(text: str | None) -> str | None:
    """OME's message without how many runtimes it looked at and why not these."""
    return text if text is None else text.partition(". Checked ")[0]


def shortened(full: Explanation) -> Explanation:
    """A full explanation without what a brief one leaves out."""
    errors = tuple(without_list(error) or "" for error in full.admission.errors)
    return replace(
        full,
        candidates=(),
        message=without_list(full.message),
        event=without_list(full.event),
        admission=Admission(errors, full.admission.warnings),
    )


def told(verdict: Verdict) -> tuple[object, ...]:
    """A verdict so that two can be compared: a distance may be NaN, which is not equal to itself."""
    return (
        verdict.runtime,
        verdict.failures,
        verdict.entry,
        verdict.priority,
        verdict.weight,
        verdict.score,
        repr(verdict.distance),
    )


def questions(fleet: Fleet) -> list[tuple[Question, str]]:
    """What the services of a fleet ask, and what its models ask for themselves, with the namespace."""
    asked = []
    for service in fleet.services.values():
        for model in fleet.models.values():
            asked.append((question_of(service, model, fleet.semantics), service.ref.namespace))
            asked.append((question_of(None, model, fleet.semantics), model.ref.namespace))
    return asked


@holds()
@given(rich_fleets(), releases)
def test_a_brief_explanation_is_the_full_one_without_candidates(manifests: list[Manifest], release: Semantics) -> None:
    fleet = read_fleet(manifests, release)
    brief = explain_services(fleet, brief=True)
    assert [each.subject.name for each in brief].count("chat") == 1
    for short in brief:
        full = explain_service(fleet, short.subject.namespace, short.subject.name)
        assert short == shortened(full)
        assert full.outcome in {"invalid", "not-applicable"} or len(full.candidates) == short.considered


@holds(4)
@given(rich_fleets(most=6), releases)
def test_the_ranking_is_the_same(manifests: list[Manifest], release: Semantics) -> None:
    fleet = read_fleet(manifests, release)
    for question, namespace in questions(fleet):
        brief, full = fleet.judged(question, namespace, brief=True), fleet.judged(question, namespace)
        assert [told(verdict) for verdict in brief.ranked] == [told(verdict) for verdict in full.ranked]
        assert counted(brief) == counted(full)


@holds(8)
@given(rich_fleets(most=6), releases)
def test_a_brief_answer_judges_the_enabled_runtimes_that_serve_the_model(
    manifests: list[Manifest], release: Semantics
) -> None:
    fleet = read_fleet(manifests, release)
    for question, namespace in questions(fleet):
        brief, full = fleet.judged(question, namespace, brief=True), fleet.judged(question, namespace)
        serving = {
            verdict.runtime.ref: told(verdict)
            for verdict in full.verdicts
            if not verdict.runtime.disabled and serves(verdict.runtime, question.model)
        }
        assert {verdict.runtime.ref: told(verdict) for verdict in brief.verdicts} == serving
        assert len(brief.verdicts) == len(serving)


def counted(judged: Judged) -> tuple[int, int, int]:
    return judged.namespaced, judged.clustered, judged.total


NEAR = ["0", "0.3", "0.6", "1.2", "1.8", "nan", "inf", "2e19", "8B"]


@holds(4)
@given(st.lists(st.tuples(st.sampled_from([None, "team"]), st.sampled_from(NEAR)), min_size=3, max_size=8))
def test_the_ranking_is_the_same_where_distances_are_no_order(limits: list[tuple[str | None, str]]) -> None:
    runtimes = [
        a_runtime(name, namespace, modelSizeRange={"max": limit})
        for name, (namespace, limit) in zip("abcdefgh", limits, strict=False)
    ]
    fleet = read_fleet([a_model(modelParameterSize="0"), *runtimes])
    question = question_of(None, fleet.models[("", "llama")], V1_3)
    brief, full = fleet.judged(question, "team", brief=True), fleet.judged(question, "team")
    assert [told(verdict) for verdict in brief.ranked] == [told(verdict) for verdict in full.ranked]
    assert len(full.ranked) == len(runtimes)
