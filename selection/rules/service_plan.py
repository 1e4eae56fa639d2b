"""The plan that moves a service off MultiNode, with its outcome computed by the rules.

Follows OME: move from LeaderWorkerSet to OMENative. The patches are applied to the manifests, the copies and the new
workloads put into the fleet, the old ones taken out; then the service is explained as any other is. A plan whose
outcome isn't OMENative without conflict isn't ready, and says why.

A plan's reasons and risks are codes:

===================  ================================================================================================
``needs-v1.3``       the cluster's OME has no OMENative; the outcome is what v1.3 makes of it
``unreadable``       the service or its runtime can't be read, or isn't there as a manifest
``no-runtime``       no runtime resolves, so that nothing says what the components would be
``broken-chain``     the runtime's parents can't be followed
``rework``           a person must change something in the copy first
``secrets-replaced`` values were taken out of what the copy is made of
``copy-refused``     the webhook would refuse the copy
``own-references``   the service's own fields refer to LeaderWorkerSet: they win over what the copy says
``service-refused``  the webhook would refuse the patch
``other-runtime``    the service would get another runtime than the copy
``not-omenative``    a component would run in another mode
``conflict``         the modes would not agree
``class-missing``    an AcceleratorClass that it asks for isn't there, so that OME updates no workload
===================  ================================================================================================

===================  ================================================================================================
``not-acted``        it says OMENative, and OME hasn't acted on it yet: something holds it
``env-value-order``  a variable of the copy's own would hold the name of OMENative's instead of its value
``pinned``           it follows a revision, so that ``ome.io/runtime-sync`` has to move it on
``pinned-revision``  it names the revision, which has to go
``pair``             engine and decoder stop together
``rolls``            a half that runs OMENative already gets other pods, by its update strategy
``raw-partner``      one of them ran RawDeployment, and moves because its partner does
``auto-selected``    OME chose its runtime; it will name the copy
``auto-inherits``    and what its runtime inherits counts from then on
``one-replica``      nothing else serves while the one replica starts
``shared-runtime``   others wait on the same copy
``router``           the router restarts too
``class-by-policy``  a policy picks its AcceleratorClass, so what its pods ask for isn't known here
===================  ================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .accelerator_needs import Accelerators, Pods
from .explanation import Explanation
from .modes import Declared
from .objects import ObjectRef
from .plan_notes import Note
from .plan_steps import Leftover, Step
from .runtime_copy import RuntimeCopy

__all__ = ["REASONS", "RISKS", "ComponentMove", "ServicePlan"]

Manifest = Mapping[str, Any]

REASONS = (
    "needs-v1.3",
    "unreadable",
    "no-runtime",
    "broken-chain",
    "rework",
    "secrets-replaced",
    "copy-refused",
    "own-references",
    "service-refused",
    "other-runtime",
    "not-omenative",
    "conflict",
    "class-missing",
)
"""Every reason for which a plan or a copy isn't ready."""

RISKS = (
    "not-acted",
    "rework",
    "env-value-order",
    "pinned-revision",
    "pinned",
    "pair",
    "raw-partner",
    "rolls",
    "auto-inherits",
    "auto-selected",
    "one-replica",
    "shared-runtime",
    "router",
    "class-by-policy",
)
"""What makes a move harder, the hardest first."""


@dataclass(frozen=True, slots=True)
class ComponentMove:
    """One engine or decoder.

    Attributes:
        name: ``engine`` or ``decoder``.
        state: its state of migration, None when it has nothing to do with it.
        running: the mode it runs in now and the rule that decided.
        moves: whether the plan changes it.
        pods: what it comes to on OMENative.
        leftovers: the old workloads to delete, and what each holds.
        accelerator_class: the AcceleratorClass that it gets, ``""`` for none or when a policy picks it.
    """

    name: str
    state: str | None
    running: Declared
    moves: bool
    pods: Pods
    leftovers: tuple[Leftover, ...]
    accelerator_class: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The component as JSON."""
        return {
            "name": self.name,
            "state": self.state,
            "running": self.running.to_dict(),
            "moves": self.moves,
            "pods": self.pods.to_dict(),
            "leftovers": [each.to_dict() for each in self.leftovers],
            "accelerator_class": self.accelerator_class or None,
        }


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """A service's move.

    Attributes:
        service: the service.
        state: the state of the component that needs a person most; None when none has to do with multi-node serving.
        components: its engine and decoder.
        runtime: what it is rendered from now, None when there is none.
        copy: the runtime's OMENative copy, None when the service needs none.
        steps: what to do, in order; empty when nothing is left to do.
        patch: the merge patch of the service, empty when it needs none.
        back: the merge patch that brings it back.
        patched: the service's manifest after the patch: what to write where it is kept in files.
        before: what the rules say of it now.
        after: what they say of it once the plan is done.
        risks: what makes the move harder.
        reasons: why the plan isn't ready.
        needs: the accelerators that the new pods need while the old ones still hold theirs.
        holds: the accelerators that the old workloads hold until they are deleted.
    """

    service: ObjectRef
    state: str | None
    components: tuple[ComponentMove, ...]
    runtime: ObjectRef | None
    copy: RuntimeCopy | None
    steps: tuple[Step, ...]
    patch: Mapping[str, Any] = field(hash=False)
    back: Mapping[str, Any] = field(hash=False)
    patched: Manifest = field(hash=False, repr=False)
    before: Explanation = field(hash=False, repr=False)
    after: Explanation = field(hash=False, repr=False)
    risks: tuple[Note, ...] = ()
    reasons: tuple[Note, ...] = ()
    needs: Accelerators = ()
    holds: Accelerators = ()

    @property
    def ready(self) -> bool:
        """Whether the plan can be carried out as it is."""
        return not self.reasons

    @property
    def for_later(self) -> bool:
        """Whether the cluster has to be upgraded first, and the outcome is told by the rules of the release after."""
        return self.before.ome_version != self.after.ome_version

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON."""
        return {
            "service": self.service.to_dict(),
            "state": self.state,
            "ready": self.ready,
            "for_later": self.for_later,
            "reasons": [note.to_dict() for note in self.reasons],
            "risks": [note.to_dict() for note in self.risks],
            "components": [component.to_dict() for component in self.components],
            "runtime": self.runtime.to_dict() if self.runtime else None,
            "copy": self.copy.copy.to_dict() if self.copy else None,
            "steps": [step.to_dict() for step in self.steps],
            "patch": dict(self.patch) or None,
            "back": dict(self.back) or None,
            "accelerators": {"needs": dict(self.needs), "holds": dict(self.holds)},
            "before": _side(self.before),
            "after": _side(self.after),
        }


def _side(explanation: Explanation) -> dict[str, Any]:
    """One side of the outcome: what ``explain`` says, without the candidates."""
    told = explanation.to_dict()
    kept = ("outcome", "selected", "message", "modes", "admission")
    return {key: told[key] for key in kept}
