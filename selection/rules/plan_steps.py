"""The steps of a plan as values: what each is for, its commands, what to look at after it, and the way back.

Follows OME: move from LeaderWorkerSet to OMENative. Commands are for a POSIX shell; kinds carry their group, because
other operators have kinds of the same names. Purposes, outages and expectations are codes: sentences live in
``templates/sentences/plan/``.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .accelerator_needs import Pods
from .objects import ObjectRef

__all__ = ["EXPECTATIONS", "OUTAGES", "PURPOSES", "Check", "Leftover", "Step", "kubectl", "merge_command", "resource"]

PURPOSES = ("create-runtime", "move", "free-accelerators", "wait", "delete-leftovers")
"""Every purpose, in the order in which a plan has them."""

OUTAGES = ("none", "rolls", "begins", "lasts", "lasts-already", "over")
"""What a step means for those who call the service: nothing; pods are replaced as in any update, by default without a
gap; it stops serving; it still doesn't; it never did on these pods; it serves again."""

EXPECTATIONS = (
    "runtime-there",
    "token-taken",
    "replica-there",
    "pods-labelled",
    "selects-leaders",
    "nothing-pending",
    "condition-met",
    "replica-ready",
    "pods-gone",
)
"""What a check should show."""

_GROUPS = {"LeaderWorkerSet": "leaderworkerset.x-k8s.io", "Deployment": "apps", "Service": ""}


@dataclass(frozen=True, slots=True)
class Leftover:
    """An old workload that a plan deletes.

    Attributes:
        ref: the workload.
        pods: what it holds.
        there: whether it was seen in the cluster; else it is where OME would have made it.
    """

    ref: ObjectRef
    pods: Pods
    there: bool

    def to_dict(self) -> dict[str, Any]:
        """The workload as JSON."""
        return {**self.ref.to_dict(), "there": self.there, "holds": self.pods.to_dict()}


@dataclass(frozen=True, slots=True)
class Check:
    """A command that shows whether a step did what it should, and what to expect of it, as a code with its facts."""

    command: str
    expect: str
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The check as JSON."""
        return {"command": self.command, "expect": self.expect, "facts": dict(self.facts)}


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        purpose: one of :data:`PURPOSES`.
        commands: what to run.
        patch: the merge patch that a command applies, None for a step without one.
        checks: what to look at afterwards.
        back: the commands that undo it, if need be in another order than the steps'.
        outage: one of :data:`OUTAGES`.
        only_if_pending: whether it is only for the case that new pods stay Pending.
        facts: what its sentences need.
    """

    purpose: str
    commands: tuple[str, ...]
    patch: Mapping[str, Any] | None = field(default=None, hash=False)
    checks: tuple[Check, ...] = ()
    back: tuple[str, ...] = ()
    outage: str = "none"
    only_if_pending: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The step as JSON."""
        return {
            "purpose": self.purpose,
            "commands": list(self.commands),
            "patch": self.patch,
            "checks": [check.to_dict() for check in self.checks],
            "back": list(self.back),
            "outage": self.outage,
            "only_if_pending": self.only_if_pending,
            "facts": dict(self.facts),
        }


def resource(kind: str) -> str:
    """A kind as kubectl takes it, with its group.

    >>> resource("ClusterServingRuntime"), resource("LeaderWorkerSet"), resource("Service")
    ('clusterservingruntime.ome.io', 'leaderworkerset.leaderworkerset.x-k8s.io', 'service')
    """
    group = _GROUPS.get(kind, "ome.io")
    return f"{kind.lower()}.{group}" if group else kind.lower()


def kubectl(verb: str, *words: str, namespace: str = "", options: Sequence[str] = ()) -> str:
    """A command, quoted.

    >>> kubectl("get", "service", "chat-engine", namespace="team", options=["-o", "jsonpath={.spec.selector}"])
    "kubectl get service chat-engine -n team -o 'jsonpath={.spec.selector}'"
    """
    scope = ["-n", namespace] if namespace else []
    return shlex.join(["kubectl", verb, *words, *scope, *options])


def merge_command(target: ObjectRef, patch: Mapping[str, Any]) -> str:
    """The command that applies a merge patch.

    >>> merge_command(ObjectRef("InferenceService", "team", "chat"), {"spec": {"runtime": {"revision": None}}})
    'kubectl patch inferenceservice.ome.io chat -n team --type merge -p \\'{"spec":{"runtime":{"revision":null}}}\\''
    """
    body = json.dumps(patch, separators=(",", ":"), ensure_ascii=True)
    options = ["--type", "merge", "-p", body]
    return kubectl("patch", resource(target.kind), target.name, namespace=target.namespace, options=options)
