"""A runtime that a service names: where it is looked for, when it is refused, and when it is only advised against.

Follows OME: reference a runtime explicitly. A named runtime is judged on its merged spec.
"""

from __future__ import annotations

from dataclasses import dataclass

from .fleet import Fleet
from .formats import SHARDED, SHARDED_DIFFERENCE
from .objects import Model, Problem, Runtime, RuntimeRef, Service
from .selection import (
    ACCELERATOR,
    DECODER_MODE,
    DISABLED,
    ENGINE_MODE,
    Failure,
    Question,
    compatibility_failures,
    model_error,
)

__all__ = ["Named", "judge_named", "revision_pattern"]

_UNNAMED_MODEL = frozenset({ACCELERATOR, ENGINE_MODE, DECODER_MODE})

NOT_FOUND = "RuntimeNotFound"
REFUSED = "RuntimeValidationError"
BROKEN = "RuntimeFetchError"
ADVISORY = "RuntimeCompatibilityAdvisory"


@dataclass(frozen=True, slots=True)
class Named:
    """What became of a named runtime.

    Attributes:
        runtime: the runtime on its own spec, None when it wasn't found.
        merged: the runtime on its merged spec, None when its chain is broken.
        reason: OME's event reason when something is wrong, or ``""``.
        error: OME's inner error text, or ``""``.
        failures: the checks of compatibility that it fails; advice only, unless the model is sharded.
        problem: why the runtime can't be read, when that is so.
    """

    runtime: Runtime | None = None
    merged: Runtime | None = None
    reason: str = ""
    error: str = ""
    failures: tuple[Failure, ...] = ()
    problem: Problem | None = None

    @property
    def advised(self) -> bool:
        """Whether OME uses it with a warning."""
        return self.reason == ADVISORY


def judge_named(fleet: Fleet, service: Service, model: Model | None, question: Question | None) -> Named:
    """Look up and judge the runtime that the service names; ``model`` is None for a service without one."""
    name = service.named_runtime
    if model is not None:
        error = model_error(model)
        if error is not None:
            return Named(reason=REFUSED, error=error)
    found = _look_up(fleet, service)
    if found is None:
        return Named(reason=NOT_FOUND, error=_not_found_text(fleet, service))
    if isinstance(found, Problem):
        return Named(reason=REFUSED, error="", problem=found)
    effective = fleet.effective(found)
    if effective.chain.problem is not None:
        return Named(found, None, REFUSED if model else BROKEN, effective.chain.problem.message)
    if effective.runtime is None:
        return Named(found, None, REFUSED, "", problem=effective.problem)
    merged = effective.runtime
    if merged.disabled:
        scope = "cluster-scoped" if merged.cluster_scoped else "namespace-scoped"
        return Named(found, merged, REFUSED, f"{scope} runtime {name} is disabled")
    if model is None or question is None:
        return Named(found, merged)
    failures = tuple(failure for failure in compatibility_failures(question, merged) if failure.code != DISABLED)
    if not failures:
        return Named(found, merged)
    sharded = model.distribution == SHARDED
    first = next((failure for failure in failures if SHARDED_DIFFERENCE in failure.reason), failures[0])
    shown = first if sharded else failures[0]
    label = "" if shown.code in _UNNAMED_MODEL else model.format.name
    text = f"runtime {name} does not support model {label}: {shown.reason}"
    return Named(found, merged, REFUSED if sharded else ADVISORY, text, failures)


def _look_up(fleet: Fleet, service: Service) -> Runtime | Problem | None:
    """The lookup by ``spec.runtime.kind``: the default is the cluster's one, then the namespace's.

    Before v1.3 the kind is ignored and the namespace's one wins. Any other kind, also an explicit
    ``""``, looks in the namespace first.
    """
    name, namespace = service.named_runtime, service.ref.namespace
    kind = _kind(fleet, service)
    scopes = [namespace, ""]
    if kind == "ServingRuntime":
        scopes = [namespace]
    elif kind == "ClusterServingRuntime":
        scopes = ["", namespace]
    for scope in scopes:
        found = fleet.find_runtime(scope, name)
        if found is not None:
            return found
    return None


def _kind(fleet: Fleet, service: Service) -> str | None:
    return service.runtime.kind if service.runtime and fleet.semantics.reads_runtime_kind else ""


def _not_found_text(fleet: Fleet, service: Service) -> str:
    name, namespace = service.named_runtime, service.ref.namespace
    if _kind(fleet, service) == "ServingRuntime":
        return f"ServingRuntime {name} not found in namespace {namespace}"
    return f"runtime {name} not found in namespace {namespace} or at cluster scope"


def revision_pattern(runtime: RuntimeRef, namespace: str) -> str:
    """The form that a revision's name must have for a named runtime, without its eight hexadecimal digits.

    >>> revision_pattern(RuntimeRef("fast", "ServingRuntime"), "team")
    'r-team-fast-'
    """
    if runtime.kind == "ServingRuntime":
        return f"r-{namespace}-{runtime.name}-"
    return f"cr-{runtime.name}-"
