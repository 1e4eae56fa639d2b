"""What an explanation looks like: the contract of docs/explain.md, described for the OpenAPI document."""

from __future__ import annotations

from selection.faces.api.shapes import (
    Ref,
    Shape,
    Whole,
    anything,
    flag,
    listed,
    mapped,
    number,
    ref,
    text,
    texts,
    whole,
)
from selection.rules.conflicts import CODES
from selection.rules.explanation import OUTCOMES
from selection.rules.migration import STATES

__all__ = ["Admission", "Candidate", "Explanation", "Failure", "ModeConflict", "ObjectProblem", "ServiceModes"]


class Failure(Whole):
    """A check that a candidate fails."""

    code = text("The check.")
    reason = text("OME's words.")


class Arithmetic(Whole):
    """How a score came about: of which entry."""

    entry = number("The place of the entry in `supportedModelFormats`.")
    score = number("The score.")
    priority = number("The entry's priority.")
    formatWeight = number("What the format weighs.", null=True)
    frameworkWeight = number("What the framework weighs.", null=True)


class Candidate(Whole):
    """A runtime that was looked at, as automatic selection sees it."""

    kind = text("Its kind.")
    namespace = text("Its namespace; null for a ClusterServingRuntime.", null=True)
    name = text("Its name.")
    scope = text("`Cluster` or `Namespaced`.")
    compatible = flag("Whether automatic selection can choose it.")
    rank = number("Its place, 1 for the one that is selected; null when it doesn't qualify.", null=True)
    priority = number("Of the entry that matched; null when it can't be chosen.", null=True)
    weight = number("Of the entry that matched; null when it can't be chosen.", null=True)
    score = number("What the ranking compares; null when a check before it failed.", null=True)
    size_distance = number("How far its range is from the model's size, in parameters.", null=True, whole=False)
    code = text("The first check that failed; null when none did.", null=True)
    reason = text("The same in OME's words.", null=True)
    also = listed(Failure, "Every further check that fails, judged as if the earlier ones had passed.")
    arithmetic = whole(Arithmetic, "How the score came about.", null=True)


class DeclaredMode(Whole):
    """A mode, and what says so."""

    mode = text("The mode.")
    source = text("The field, or the rule, that says so.")


class ModeConflict(Whole):
    """Modes that don't agree."""

    code = text(f"One of {', '.join(CODES)}.")
    component = text("The component.")
    facts = mapped("What the conflict is between.")


class Workload(Ref):
    """A workload that was seen in the cluster."""

    runtime = text("The runtime that it was rendered from.", null=True)
    ready = flag("Whether it is ready; null when it doesn't say.", null=True)


class ServiceModes(Whole):
    """The modes of a component."""

    requested = whole(DeclaredMode, "What the service asks for.", null=True)
    runtime = whole(DeclaredMode, "What the runtime declares.", null=True)
    running = whole(DeclaredMode, "What it runs in, and the rule that decided.")
    rendered = flag("Whether anything is rendered.")
    conflict = text("The code of the conflict that matters most.", null=True)
    conflicts = listed(ModeConflict, "All of them.")
    workloads = listed(Workload, "What was seen in the cluster.")
    migration = text(f"Where it stands on the way off MultiNode: one of {', '.join(STATES)}.", null=True)


class Admission(Whole):
    """What the webhook would say."""

    allowed = flag("Whether it lets it pass.")
    errors = texts("Why not, in OME's words.")
    warnings = texts("What it warns of.")


class ObjectProblem(Whole):
    """An object that can't be read."""

    object = ref("The object.")
    path = text("The field.")
    message = text("What is wrong with it.")


class NamedRuntime(Whole):
    """What became of a runtime that the service names."""

    runtime = ref("The runtime.", null=True)
    reason = text("Why OME advises against it.", null=True)
    error = text("Why it can't be had.", null=True)
    failures = listed(Failure, "The checks that it fails.")


class Explanation(Shape):
    """Which runtime OME gives, and why not the others. The contract is docs/explain.md's."""

    subject = ref("What was explained.")
    outcome = text(f"One of {', '.join(OUTCOMES)}.")
    selected = ref("The runtime that the service gets.", null=True)
    message = text("OME's text when there is no runtime.", null=True)
    event = text("The text of the event that OME records.", null=True)
    event_reason = text("That event's reason.", null=True)
    candidates = listed(Candidate, "Every runtime that was looked at: the qualified in rank order, then the rest.")
    modes = mapped("The components that the service declares, by name.", ServiceModes())
    admission = whole(Admission, "What the webhook would say.")
    problems = listed(ObjectProblem, "Objects that can't be read and matter here.")
    model = ref("The model that was matched.", null=True)
    named = whole(NamedRuntime, "What became of the runtime that the service names.", null=True)
    revision = text("The revision that a pinned service follows.", null=True)
    ome_version = text("The release line whose rules were applied.")
    notes = mapped("Further facts, by code.", anything("What there is to say."))
