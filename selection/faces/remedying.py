"""What it would take for one candidate, arranged for a page and a command: each change in words and as a command.

Nothing is decided here: the rules find the changes and judge them. Follows OME: troubleshoot runtime selection;
JSON Patch (RFC 6902) as ``kubectl patch --type=json`` takes it.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from selection.faces.explaining import Place, why_first
from selection.rules.candidates import Candidate
from selection.rules.explain import explain_service
from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet, evolved
from selection.rules.objects import ObjectRef
from selection.rules.parsing import parse_runtime
from selection.rules.patches import Operation, applied, setting
from selection.rules.remedies import Case, Remedy, remedies
from selection.rules.winning import ways_to_win
from selection.store.followers import Followers, followers_of, losing
from selection.store.models import Cluster

__all__ = [
    "Change",
    "Manifests",
    "Outlook",
    "Reached",
    "Step",
    "as_value",
    "candidate_of",
    "field_path",
    "first_fixes",
    "kubectl_patch",
    "needed",
    "outlook",
    "reached",
]

Manifest = Mapping[str, Any]
Manifests = Mapping[ObjectRef, Manifest]

NAMED = "named"
_REACH = ("InferenceService", "ServingRuntime", "ClusterServingRuntime", "BaseModel", "ClusterBaseModel")


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a patch: ``add``, ``append``, ``replace`` or ``remove``, the field, and what stands there.

    ``before`` and ``after`` are values as YAML writes them on one line, ``""`` where there is none.
    """

    op: str
    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change that the rules accept, in words, as a JSON Patch and as a command.

    ``kind`` is the remedy's: ``qualify``, a way to win, or ``named``: the service names the runtime. Then
    ``outcome`` is what becomes of the service.
    """

    target: ObjectRef
    kind: str
    selected: bool
    operations: tuple[Operation, ...]
    steps: tuple[Step, ...]
    outcome: str = ""

    @property
    def patch(self) -> str:
        """The JSON Patch, indented; ASCII, so that nothing in it can look like something else."""
        return json.dumps([each.to_dict() for each in self.operations], indent=2)

    @property
    def command(self) -> str:
        """The command that applies the patch, quoted for a shell; ``""`` for a change that is no patch."""
        return kubectl_patch(self.target, self.operations) if self.operations else ""

    def to_dict(self) -> dict[str, Any]:
        """The change as JSON."""
        shown = Remedy(self.target, self.operations, self.selected, self.kind).to_dict()
        if self.kind == NAMED:
            shown["outcome"] = self.outcome
        return {**shown, "command": self.command or None}


@dataclass(frozen=True, slots=True)
class Outlook:
    """What one candidate came to, and what it would take.

    Attributes:
        subject: the service, or the model that is explained without one.
        candidate: the candidate with its verdict.
        first: the candidate that is selected, None when nothing qualifies.
        behind: why the first goes before this one, None when it doesn't.
        changes: what would make it qualify or, for one that does, the first; those that reach least come first.
        named: the service's change to name the runtime, when OME would use it then.
    """

    subject: ObjectRef
    candidate: Candidate
    first: Candidate | None
    behind: Place | None
    changes: tuple[Change, ...]
    named: Change | None


def first_fixes(
    fleet: Fleet, explanation: Explanation, candidates: Sequence[ObjectRef], namespace: str, manifests: Manifests
) -> dict[ObjectRef, Change]:
    """For each of these excluded candidates the change that reaches least and would make it qualify, if there is one.

    Args:
        fleet: the cluster.
        explanation: of the service or model that they are candidates for.
        candidates: the runtimes.
        namespace: where they are candidates.
        manifests: those that :func:`needed` names; without one of them a candidate has no fix.
    """
    model = explanation.model
    service = manifests.get(explanation.subject) if explanation.service is not None else None
    if model is None or model.ref not in manifests or (explanation.service is not None and service is None):
        return {}
    found = {}
    for runtime in candidates:
        if runtime in manifests:
            case = Case(fleet, namespace, manifests[runtime], manifests[model.ref], service)
            known = sorted(remedies(case), key=lambda each: _REACH.index(each.target.kind))
            if known:
                found[runtime] = _change(manifests[known[0].target], known[0])
    return found


def candidate_of(explanation: Explanation, runtime: ObjectRef) -> Candidate | None:
    """The candidate that is this runtime, None when it isn't one."""
    return next((each for each in explanation.candidates if each.verdict.runtime.ref == runtime), None)


def needed(explanation: Explanation, runtime: ObjectRef) -> list[ObjectRef]:
    """The objects whose manifests :func:`outlook` needs: the service or model, the model, the runtime."""
    refs = [explanation.subject, *([explanation.model.ref] if explanation.model else []), runtime]
    return list(dict.fromkeys(refs))


def outlook(
    fleet: Fleet,
    explanation: Explanation,
    candidate: Candidate,
    namespace: str,
    manifests: Manifests,
) -> Outlook:
    """What it would take for this candidate of a service or model, seen from a namespace.

    Raises:
        LookupError: a manifest that is needed (see :func:`needed`) isn't given.
        Unreadable: a manifest can't be read; it isn't the one that the fleet was made from.
    """
    runtime, model = candidate.verdict.runtime.ref, explanation.model
    if model is None:
        raise LookupError("without a model nothing is selected")
    service = manifests[explanation.subject] if explanation.service is not None else None
    case = Case(fleet, namespace, manifests[runtime], manifests[model.ref], service)
    found = remedies(case) if candidate.rank is None else ways_to_win(case)
    first = next((each for each in explanation.candidates if each.rank == 1), None)
    changes = [_change(manifests[each.target], each) for each in found]
    return Outlook(
        subject=explanation.subject,
        candidate=candidate,
        first=first,
        behind=why_first([first, candidate]) if first and candidate.rank not in {None, 1} else None,
        changes=tuple(sorted(changes, key=lambda change: _REACH.index(change.target.kind))),
        named=_naming(fleet, explanation, candidate, service) if service is not None else None,
    )


@dataclass(frozen=True, slots=True)
class Reached:
    """Whom a change reaches. ``lost`` are the services that get the runtime by selection and then wouldn't."""

    followers: Followers
    lost: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The numbers as JSON, and the lost services as ``namespace/name``."""
        return {**self.followers.to_dict(), "lost": ["/".join(key) for key in self.lost]}


def reached(
    fleet: Fleet, changes: Sequence[Change], manifests: Manifests, cluster: Cluster | None = None
) -> list[Reached | None]:
    """Whom each change of a runtime or a model reaches; None for a service, which is reached alone, and no patch.

    Counted in the cluster's rows, or without a cluster by judging every service of the fleet.
    """
    followers: dict[ObjectRef, Followers] = {}
    found: list[Reached | None] = []
    for change in changes:
        if change.target.kind == "InferenceService" or not change.operations:
            found.append(None)
            continue
        if change.target not in followers:
            followers[change.target] = followers_of(fleet, change.target, cluster)
        known = followers[change.target]
        lost: list[tuple[str, str]] = []
        if known.selected:
            changed = parse_runtime(applied(manifests[change.target], change.operations))
            lost = losing(fleet, known, changed)
        found.append(Reached(known, tuple(lost)))
    return found


def as_value(told: Outlook, reaches: Sequence[Reached | None], cluster: str, version: str) -> dict[str, Any]:
    """The outlook as JSON; ``cluster`` is ``""`` for manifests from files."""
    changes = zip(told.changes, reaches, strict=True)
    return {
        "cluster": cluster or None,
        "ome_version": version,
        "subject": told.subject.to_dict(),
        "candidate": told.candidate.to_dict(),
        "first": told.first.verdict.runtime.ref.to_dict() if told.first else None,
        "changes": [{**each.to_dict(), "reaches": found.to_dict() if found else None} for each, found in changes],
        "named": told.named.to_dict() if told.named else None,
    }


def _change(manifest: Manifest, remedy: Remedy, outcome: str = "") -> Change:
    steps = tuple(_steps(manifest, remedy.patch))
    return Change(remedy.target, remedy.kind, remedy.selected, remedy.patch, steps, outcome)


def _naming(fleet: Fleet, explanation: Explanation, candidate: Candidate, service: Manifest) -> Change | None:
    """The service's change to name the runtime; None when it names one, gets this one, or would be refused."""
    runtime = candidate.verdict.runtime.ref
    if explanation.service is None or explanation.service.named_runtime or candidate.rank == 1:
        return None
    wanted = {"kind": runtime.kind, "name": runtime.name}
    written = isinstance(service.get("spec", {}).get("runtime"), Mapping)
    patch = (
        tuple(setting(service, ("spec", "runtime", field), value) for field, value in wanted.items())
        if written
        else (setting(service, ("spec", "runtime"), wanted),)
    )
    changed = evolved(fleet, [applied(service, patch)], [])
    told = explain_service(changed, explanation.subject.namespace, explanation.subject.name, brief=True)
    if told.selected is None or told.selected.ref != runtime:
        return None
    return _change(service, Remedy(explanation.subject, patch, False, NAMED), told.outcome)


def _steps(manifest: Manifest, patch: Sequence[Operation]) -> Iterator[Step]:
    """The operations one after the other, each beside what it finds."""
    for operation in patch:
        op, path, value = operation.op, operation.path, operation.value
        before = _value_at(manifest, path) if op in {"replace", "remove"} else None
        if op == "add" and path[-1] == "-":
            op, path = "append", path[:-1]
        while op == "add" and isinstance(value, Mapping) and len(value) == 1:
            key, value = next(iter(value.items()))
            path = (*path, key)
        yield Step(op, field_path(path), _told(before), "" if op == "remove" else _told(value))
        manifest = applied(manifest, [operation])


def _value_at(manifest: Any, path: Sequence[str | int]) -> Any:
    for token in path:
        manifest = manifest[token]
    return manifest


def _told(value: Any) -> str:
    """A value on one line of YAML, ``""`` for None."""
    if value is None:
        return ""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False)
    return text.strip().removesuffix("\n...")


def field_path(path: Sequence[str | int]) -> str:
    """A path as OME's messages write it.

    >>> field_path(("spec", "supportedModelFormats", 0, "autoSelect"))
    'spec.supportedModelFormats[0].autoSelect'
    >>> field_path(("metadata", "annotations", "ome.io/deploymentMode"))
    'metadata.annotations["ome.io/deploymentMode"]'
    """
    text = ""
    for token in path:
        if isinstance(token, int):
            text += f"[{token}]"
        elif re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", token):
            text += f".{token}"
        else:
            text += f'["{token}"]'
    return text.removeprefix(".")


def kubectl_patch(target: ObjectRef, patch: Sequence[Operation]) -> str:
    """The command that applies a JSON Patch to an object, quoted for a POSIX shell.

    The kind carries OME's group: other operators have kinds of the same names.

    >>> ref = ObjectRef("ServingRuntime", "team", "fast")
    >>> print(kubectl_patch(ref, [Operation("replace", ("spec", "disabled"), False)]))
    kubectl patch servingruntime.ome.io fast -n team --type=json \
-p '[{"op": "replace", "path": "/spec/disabled", "value": false}]'
    """
    words = ["kubectl", "patch", f"{target.kind.lower()}.ome.io", target.name]
    words += ["-n", target.namespace] if target.namespace else []
    words += ["--type=json", "-p", json.dumps([operation.to_dict() for operation in patch])]
    return " ".join(shlex.quote(word) for word in words)
