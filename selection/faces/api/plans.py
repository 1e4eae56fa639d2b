"""What the plans of a migration look like: those of services, of runtimes, and the order of a fleet."""

from __future__ import annotations

from selection.faces.api.explanations import Admission, DeclaredMode, ServiceModes
from selection.faces.api.shapes import (
    Ref,
    Shape,
    Whole,
    anything,
    flag,
    listed,
    mapped,
    moment,
    number,
    ref,
    text,
    texts,
    whole,
)
from selection.rules.explanation import OUTCOMES
from selection.rules.migration import STATES
from selection.rules.migration_order import WAVES
from selection.rules.plan_steps import EXPECTATIONS, OUTAGES, PURPOSES
from selection.rules.service_plan import REASONS, RISKS

__all__ = ["Order", "RuntimePlan", "ServicePlan", "TurnRow", "WaveRow"]


class Note(Whole):
    """A code and its facts."""

    code = text("The code.")
    facts = mapped("What there is to say.")


class Pods(Whole):
    """What a component comes to."""

    replicas = number("How many Instances, groups or pods there are at least.")
    leaders = number("Pods of one replica that serve.")
    workers = number("Further pods of one replica.")
    pods = number("How many pods there are in all.")
    accelerators = mapped("What all of them ask for, by resource.", number("How many."))


class Leftover(Ref):
    """An old workload that the plan deletes."""

    there = flag("Whether it was seen in the cluster; else it is where OME would have made it.")
    holds = whole(Pods, "What it holds.")


class ComponentMove(Whole):
    """A component's part of the plan."""

    name = text("`engine` or `decoder`.")
    state = text(f"One of {', '.join(STATES)}; null when it has nothing to do with multi-node serving.", null=True)
    running = whole(DeclaredMode, "What it runs in now, and the rule that decided.")
    moves = flag("Whether the plan changes it.")
    pods = whole(Pods, "What it comes to on OMENative.")
    leftovers = listed(Leftover, "The old workloads to delete.")
    accelerator_class = text("The AcceleratorClass that it gets; null for none, or when a policy picks it.", null=True)


class StepCheck(Whole):
    """How to see that a step did what it should."""

    command = text("The command.")
    expect = text(f"What it should show: one of {', '.join(EXPECTATIONS)}.")
    facts = mapped("What there is to say of that.")


class PlanStep(Whole):
    """A step of the plan."""

    purpose = text(f"One of {', '.join(PURPOSES)}.")
    commands = texts("What to run.")
    patch = mapped("The merge patch that a command applies.", null=True)
    checks = listed(StepCheck, "How to see that it did what it should.")
    back = texts("How to go back.")
    outage = text(f"What it means for those who call the service: one of {', '.join(OUTAGES)}.")
    only_if_pending = flag("Whether it is only to be done when the new pods can't be scheduled.")
    facts = mapped("What there is to say of it.")


class Accelerators(Whole):
    """Accelerators that a move takes, by resource."""

    needs = mapped("What the new pods need while the old ones still hold theirs.", number("How many."))
    holds = mapped("What the old workloads hold until they are deleted.", number("How many."))


class PlanSide(Whole):
    """What the rules say before, or after."""

    outcome = text(f"One of {', '.join(OUTCOMES)}.")
    selected = ref("The runtime that the service gets.", null=True)
    message = text("OME's text when there is no runtime.", null=True)
    modes = mapped("The components, by name.", ServiceModes())
    admission = whole(Admission, "What the webhook would say.")


class ServicePlan(Shape):
    """A service's move off MultiNode: what `manage.py migrate-plan -o json` prints of it."""

    service = ref("The service.")
    state = text("The state of the component that needs a person most; null when none is concerned.", null=True)
    ready = flag("Whether the plan can be carried out as it is.")
    for_later = flag("Whether the cluster has to be upgraded first; `after` is then told by the later rules.")
    reasons = listed(Note, f"Why it can't: {', '.join(REASONS)}.")
    risks = listed(Note, f"What makes the move harder: {', '.join(RISKS)}.")
    components = listed(ComponentMove, "Its engine and decoder.")
    runtime = ref("What it is rendered from now.", null=True)
    copy = ref("The runtime's OMENative copy; null when it needs none.", null=True)
    steps = listed(PlanStep, "What to do, in order.")
    patch = mapped("The merge patch of the service.", null=True)
    back = mapped("The merge patch that brings it back.", null=True)
    accelerators = whole(Accelerators, "What the move takes.")
    before = whole(PlanSide, "What the rules say now.")
    after = whole(PlanSide, "What they say once the plan is done.")


class LocatedReference(Whole):
    """A reference to LeaderWorkerSet in a runtime."""

    path = text("The place in the spec.")
    component = text("The component.", null=True)
    container = text("The container.", null=True)
    init_container = flag("Whether that is an init container.")
    kind = text("What is referred to.")
    token = text("The text that refers.")
    replacement = text("What stands for it on OMENative; null when nothing does.", null=True)
    remedy = text("`replace`, `remove` or `rework`.")
    explanation = text("Why, as a code.")
    line = number("The line of a script; null when it isn't one.", null=True)
    origin = ref("The runtime that wrote it.")


class ManifestEdit(Whole):
    """A difference between a runtime and its copy."""

    op = text("`replace`, `add`, `remove` or `rename`.")
    path = text("The place.")
    before = anything("What stands there.")
    after = anything("What will stand there.")
    why = texts("Why, as codes.")


class Layers(Whole):
    """The copy in two layers: one of the parent, and a child that inherits from it."""

    parent = ref("The parent.")
    copy = ref("The parent's copy.")
    others = Ref(many=True, help_text="Others that inherit from the parent.")
    manifests = anything("Both manifests.")


class RuntimePlan(Shape):
    """A runtime's OMENative copy: what `manage.py migrate-plan -o json` prints of it."""

    runtime = ref("The original.")
    copy = ref("What the copy is called.")
    need = text("`references` or `mode`; null when the runtime works as it is.", null=True)
    ready = flag("Whether the copy can be applied as it is.")
    reasons = listed(Note, "Why it can't.")
    notes = listed(Note, "What a person should know.")
    references = listed(LocatedReference, "Every reference to LeaderWorkerSet.")
    changes = listed(ManifestEdit, "All that differs, in the order of the manifest.")
    admission = whole(Admission, "What the webhook would say of the copy.")
    manifest = mapped("The copy.")
    layers = whole(Layers, "The copy in two layers, where that is better.", null=True)


class OrderWave(Whole):
    """Services that go together."""

    kind = text(f"One of {', '.join(WAVES)}.")
    services = Ref(many=True, help_text="The services, in the order in which they should go.")
    accelerators = whole(Accelerators, "What the wave takes.")


class Order(Shape):
    """The order in which a cluster's services leave MultiNode."""

    cluster = text("The cluster.")
    generation = number("The generation of the cluster's objects that it was computed from.")
    fresh = flag("Whether that is still the cluster's; else the next order is being computed.")
    at = moment("When it was computed.")
    waves = listed(OrderWave, "What goes when.")
    accelerators = whole(Accelerators, "What the whole move takes.")


class WaveRow(Shape):
    """A service in the order."""

    wave = text(f"Its wave: one of {', '.join(WAVES)}.")
    namespace = text("The namespace.")
    service = text("The name.")
    state = text(f"One of {', '.join(STATES)}.")
    ready = flag("Whether its plan can be carried out as it is.")
    runtime_kind = text("The kind of the runtime that it is rendered from.", null=True)
    runtime_namespace = text("That runtime's namespace.", null=True)
    runtime = text("That runtime's name.", null=True)
    needs = texts("Accelerators that its new pods need, such as `nvidia.com/gpu=8`.")
    holds = texts("Accelerators that its old workloads hold.")
    risks = texts("What makes the move harder, as codes.")
    reasons = texts("Why the plan isn't ready, as codes.")
    place = number("When it should go: 1 is first, over all waves.")
    self = text('The path of its plan; `""` for what no path can say.')


class TurnRow(Shape):
    """A runtime that services wait on."""

    kind = text("The kind.")
    namespace = text("The namespace; null for a ClusterServingRuntime.", null=True)
    name = text("The name.")
    need = text("What its copy is for: `references` or `mode`; null when it works as it is.", null=True)
    waiting = number("How many services wait on it.")
    references = number("How many references to LeaderWorkerSet it renders.")
    copy = text("The name of its copy; null when no service needs one.", null=True)
    ready = flag("Whether the copy can be applied as it is.", null=True)
    self = text('The path of its plan; `""` for what no path can say.')
