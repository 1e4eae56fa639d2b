"""A plan as Markdown, for a change request: everything that somebody who carries it out or approves it needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from selection.faces.plan_words import accelerators, edit_reasons, in_markdown, side
from selection.rules.migration_order import FleetOrder
from selection.rules.objects import ObjectRef
from selection.rules.plan_steps import Step
from selection.rules.runtime_copy import RuntimeCopy
from selection.rules.service_plan import ServicePlan

__all__ = ["copy_markdown", "order_markdown", "service_markdown"]

Texts = dict[ObjectRef, tuple[str, str]]
"""The YAML and the diff of each runtime's copy, by the original."""


def order_markdown(order: FleetOrder, texts: Texts, cluster: str) -> str:
    """The whole plan of a fleet: the order, each runtime's copy, each service's steps."""
    return _document(_order(order, texts, cluster))


def service_markdown(plan: ServicePlan, texts: Texts, cluster: str) -> str:
    """The plan of one service, with its runtime's copy."""
    where = f" in cluster {_code(cluster)}" if cluster else ""
    lines = [f"# Move {_code(plan.service.namespace + '/' + plan.service.name)} off MultiNode{where}", ""]
    lines += _service(plan, 2)
    if plan.copy is not None:
        lines += _copy(plan.copy, texts, 2)
    return _document(lines)


def copy_markdown(copy: RuntimeCopy, texts: Texts, cluster: str) -> str:
    """A runtime's copy, with what differs and why."""
    return _document(_copy(copy, texts, 1, cluster))


def _document(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip("\n")


def _order(order: FleetOrder, texts: Texts, cluster: str) -> Iterator[str]:
    yield f"# Off MultiNode{f': cluster {_code(cluster)}' if cluster else ''}"
    yield ""
    ready = sum(plan.ready for plan in order.plans)
    yield f"{len(order.plans)} services to move or clean up, {ready} of them with a plan that is ready."
    yield f"All at one time they need {accelerators(order.needs)}; old workloads hold {accelerators(order.holds)}."
    yield from ("", "## Order", "")
    for number, wave in enumerate(order.waves, 1):
        yield f"{number}. {in_markdown(f'wave-{wave.kind}', wave=wave)} Needs {accelerators(wave.needs)}."
        yield from (f"   - {_code(_name(ref))}" for ref in wave.services)
    yield from ("", "## Runtimes", "")
    if order.runtimes:
        yield "| runtime | services that wait | references | copy |"
        yield "|---|---:|---:|---|"
    for turn in order.runtimes:
        copy = _code(turn.copy.copy.name) if turn.copy else "–"
        yield f"| {_code(_name(turn.runtime))} | {len(turn.services)} | {turn.references} | {copy} |"
    yield ""
    for turn in order.runtimes:
        if turn.copy is not None:
            yield from _copy(turn.copy, texts, 3)
    yield from ("## Services", "")
    for plan in order.plans:
        yield from (f"### {_code(_name(plan.service))}", "")
        yield from _service(plan, 4)


def _service(plan: ServicePlan, level: int) -> Iterator[str]:
    hashes = "#" * level
    if not plan.steps and not plan.reasons:
        yield from ("There is nothing to do.", "")
        return
    yield f"State: {plan.state or 'unknown'}. The plan is {'ready' if plan.ready else '**not ready**'}."
    yield ""
    yield from _list(in_markdown(f"reason-{note.code}", note=note) for note in plan.reasons)
    yield from _list(in_markdown(f"risk-{note.code}", note=note) for note in plan.risks)
    yield f"The new pods need {accelerators(plan.needs)} while the old ones hold {accelerators(plan.holds)}."
    yield ""
    for number, step in enumerate(plan.steps, 1):
        yield from _step(number, step, hashes)
    yield from (f"{hashes} Outcome, by the rules", "")
    upgraded = f" the upgrade to {plan.after.ome_version}" if plan.for_later else ""
    yield from _list([f"Before: {_code(side(plan.before))}", f"After{upgraded}: {_code(side(plan.after))}"])


def _step(number: int, step: Step, hashes: str) -> Iterator[str]:
    yield from (f"{hashes} Step {number}", "")
    yield in_markdown(f"step-{step.purpose}", step=step)
    yield f"**Outage:** {in_markdown(f'outage-{step.outage}', step=step)}"
    yield ""
    yield from _fence("sh", step.commands)
    if step.patch is not None:
        yield from ("The patch:", "")
        yield from _fence("json", json.dumps(step.patch, indent=2).splitlines())
    for check in step.checks:
        yield from (f"Check: {in_markdown(f'expect-{check.expect}', check=check)}", "")
        yield from _fence("sh", [check.command])
    if step.back:
        yield from ("To go back:", "")
        if step.facts.get("unpinned"):
            yield from (in_markdown("back-unpinned", step=step), "")
        yield from _fence("sh", step.back)


def _copy(copy: RuntimeCopy, texts: Texts, level: int, cluster: str = "") -> Iterator[str]:
    where = f" in cluster {_code(cluster)}" if cluster else ""
    yield from (f"{'#' * level} {copy.runtime.kind} {_code(_name(copy.runtime))}{where}", "")
    yield in_markdown(f"need-{copy.need or 'none'}")
    yield ""
    if not copy.need:
        return
    yield from _list(in_markdown(f"reason-{note.code}", note=note) for note in copy.reasons)
    yield from _list(in_markdown(f"note-{note.code}", note=note) for note in copy.notes)
    if copy.rework:
        yield "| for a person | what stands there | why |"
        yield "|---|---|---|"
    for each in copy.rework:
        why = in_markdown(each.reference.explanation, family="reference", reference=each.reference)
        yield f"| {_cell(each.reference.path)} | {_cell(each.reference.token)} | {why} |"
    yield from ("", "| differs | why |", "|---|---|")
    for edit in copy.edits:
        yield f"| {edit.op} {_cell(edit.place)} | {edit_reasons(in_markdown, edit)} |"
    yield ""
    text, diff = texts[copy.runtime]
    yield from (f"{_code(copy.copy.name + '.yaml')}, as a difference:", "")
    yield from _fence("diff", diff.splitlines())
    yield from ("and as a whole:", "")
    yield from _fence("yaml", text.splitlines())


def _list(items: Iterable[str]) -> Iterator[str]:
    told = [f"- {item}" for item in items]
    yield from ([*told, ""] if told else [])


def _fence(language: str, lines: Sequence[str]) -> Iterator[str]:
    """A block of code; its fence is longer than any in it."""
    ticks = max((len(line.strip()) - len(line.strip().lstrip("`")) for line in lines), default=0)
    fence = "`" * max(3, ticks + 1)
    yield from (f"{fence}{language}", *lines, fence, "")


def _code(text: str) -> str:
    return f"`{text.replace('`', '’')}`"


def _cell(text: str) -> str:
    """Code in a table's cell, on one line."""
    return _code(" ".join(text.split()).replace("|", "\\|"))


def _name(ref: ObjectRef) -> str:
    return f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
