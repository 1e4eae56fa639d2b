"""Plans on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from selection.faces.cli.output import cell, table
from selection.faces.plan_words import accelerators, edit_reasons, in_plain, side
from selection.rules.edits import Edit
from selection.rules.migration_order import FleetOrder
from selection.rules.objects import ObjectRef
from selection.rules.parent_copies import ParentCopy
from selection.rules.plan_steps import Step
from selection.rules.runtime_copy import RuntimeCopy
from selection.rules.service_plan import ServicePlan

__all__ = ["copy_lines", "order_lines", "service_lines"]

_LONGEST = 70


def copy_lines(copy: RuntimeCopy, parent: ParentCopy | None) -> Iterator[str]:
    """A runtime's copy: what it is for, what differs and why, what a person has to do."""
    need = copy.need or "none"
    yield f"{copy.runtime}: {in_plain(f'need-{need}')}"
    if not copy.need:
        return
    yield f"Copy: {copy.copy.name}, " + ("ready" if copy.ready else "not ready")
    yield from (f"  {in_plain(f'reason-{note.code}', note=note)}" for note in copy.reasons)
    yield from (f"  {in_plain(f'note-{note.code}', note=note)}" for note in copy.notes)
    if parent is not None:
        others = ", ".join(str(ref) for ref in parent.others)
        yield f"  {others} wait on the same parent: copy {parent.parent.runtime} as {parent.parent.copy.name} instead,"
        yield f"  and let {copy.copy.name} inherit from it: what comes out is the same."
    if copy.rework:
        yield "\nFor a person:"
    for each in copy.rework:
        reference = each.reference
        line = f" line {reference.line}" if reference.line else ""
        yield f"  {reference.path}{line}: {cell(reference.token)}"
        yield f"    {in_plain(reference.explanation, family='reference', reference=reference)}"
    yield "\nDiffers:"
    for edit in copy.edits:
        yield f"  {_edit(edit)}"
        yield f"    {edit_reasons(in_plain, edit)}"


def _edit(edit: Edit) -> str:
    if edit.op == "remove":
        return f"remove {edit.place}"
    if edit.op == "rename":
        return f"rename {edit.place} to {edit.after}"
    before, after = _short(edit.before), _short(edit.after)
    return f"{edit.op} {edit.place}: " + (f"{before} -> {after}" if edit.op == "replace" else after)


def _short(value: object) -> str:
    text = cell(str(value).lower() if isinstance(value, bool) else value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def service_lines(plan: ServicePlan) -> Iterator[str]:
    """A service's plan: where it stands, what it takes, the steps, the outcome."""
    if not plan.steps and not plan.reasons:
        yield f"{plan.service}: {plan.state or 'has nothing to do with MultiNode'}. There is nothing to do."
        return
    yield f"{plan.service}: {plan.state or 'unknown'}, the plan is {'ready' if plan.ready else 'not ready'}"
    yield from (f"  {in_plain(f'reason-{note.code}', note=note)}" for note in plan.reasons)
    yield from (f"  {in_plain(f'risk-{note.code}', note=note)}" for note in plan.risks)
    yield f"Accelerators: {accelerators(plan.needs)} for the new pods; {accelerators(plan.holds)} held by the old ones"
    for number, step in enumerate(plan.steps, 1):
        yield ""
        yield from _step(number, step)
    yield f"\nBefore: {side(plan.before)}"
    upgraded = f" the upgrade to {plan.after.ome_version}" if plan.for_later else ""
    yield f"After{upgraded}: {side(plan.after)}"


def _step(number: int, step: Step) -> Iterator[str]:
    yield f"{number}. {in_plain(f'step-{step.purpose}', step=step)}"
    yield f"   {in_plain(f'outage-{step.outage}', step=step)}"
    yield from (f"     {command}" for command in step.commands)
    for check in step.checks:
        yield f"   Check: {in_plain(f'expect-{check.expect}', check=check)}"
        yield f"     {check.command}"
    if step.back:
        yield "   To go back:"
        if step.facts.get("unpinned"):
            yield f"     {in_plain('back-unpinned', step=step)}"
        yield from (f"     {command}" for command in step.back)


def order_lines(order: FleetOrder) -> Iterator[str]:
    """A fleet's order: runtimes by who waits, the waves, what each service takes."""
    if not order.plans:
        yield "No service runs on MultiNode, and none left anything behind."
    if order.runtimes:
        rows: list[list[object]] = [
            [
                _name(turn.runtime),
                len(turn.services),
                turn.references,
                turn.need,
                turn.copy.copy.name if turn.copy else "",
            ]
            for turn in order.runtimes
        ]
        yield table(["RUNTIME", "WAITING", "REFERENCES", "NEED", "COPY"], rows)
    plans = {plan.service: plan for plan in order.plans}
    for number, wave in enumerate(order.waves, 1):
        yield f"\n{number}. {in_plain(f'wave-{wave.kind}', wave=wave)}"
        needs, holds = accelerators(wave.needs), accelerators(wave.holds)
        yield f"   {needs} needed at one time, {holds} held by old workloads"
        rows = [[_name(ref), *_row(plans[ref])] for ref in wave.services]
        yield table(["SERVICE", "STATE", "RUNTIME", "NEEDS", "RISKS"], rows)
    if order.waves:
        yield f"\nIn all: {accelerators(order.needs)} needed, {accelerators(order.holds)} held"


def _row(plan: ServicePlan) -> list[object]:
    told = [note.code for note in (plan.reasons or plan.risks)]
    runtime = plan.runtime.name if plan.runtime else None
    return [plan.state, runtime, accelerators(plan.needs) if plan.needs else None, ", ".join(dict.fromkeys(told))]


def _name(ref: ObjectRef) -> str:
    return f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
