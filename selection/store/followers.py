"""Who follows an object: the services that a change of it reaches, and those that would lose it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from selection.rules.explain import explain_services
from selection.rules.fleet import Fleet, parent_of
from selection.rules.inheritance import RuntimeKey
from selection.rules.objects import Model, ObjectRef, Runtime
from selection.rules.remedies import would_win
from selection.rules.selection import Question, judge, question_of

from .models import Cluster, ModelResult, RuntimeResult, ServiceResult

__all__ = ["Followers", "followers_of", "losing"]

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Followers:
    """Whom a change of a runtime or model reaches.

    Attributes:
        selected: the services that get the runtime by automatic selection, by namespace and name.
        named: how many services name the runtime and get it.
        heirs: how many runtimes inherit from it directly; the services that name them are reached too.
        users: how many services use the model.
    """

    selected: tuple[Key, ...] = ()
    named: int = 0
    heirs: int = 0
    users: int = 0

    @property
    def services(self) -> int:
        """The services that are reached directly."""
        return len(self.selected) + self.named + self.users

    def to_dict(self) -> dict[str, int]:
        """The numbers as JSON."""
        return {"selected": len(self.selected), "named": self.named, "heirs": self.heirs, "users": self.users}


def followers_of(fleet: Fleet, ref: ObjectRef, cluster: Cluster | None = None) -> Followers:
    """The services that follow a runtime or use a model.

    Read from the cluster's rows, with two queries; without a cluster every service of the fleet is judged for it.
    """
    if ref.kind in {"BaseModel", "ClusterBaseModel"}:
        return Followers(users=_users(fleet, ref, cluster))
    selected, named = _counted(fleet, ref) if cluster is None else _stored(cluster, ref)
    return Followers(tuple(selected), named, _heirs(fleet, ref))


def losing(fleet: Fleet, followers: Followers, changed: Runtime) -> list[Key]:
    """The services that get the runtime by selection today and wouldn't get it as changed."""
    answers: dict[tuple[Question, str], bool] = {}
    lost = []
    for namespace, name in followers.selected:
        service = fleet.services.get((namespace, name))
        model = fleet.find_model(namespace, service.model_name) if service and service.model_name else None
        if not isinstance(model, Model):
            continue
        key = (question_of(service, model, fleet.semantics), namespace)
        if key not in answers:
            verdict = judge(key[0], changed)
            answers[key] = verdict.qualified and would_win(fleet, namespace, key[0], verdict)
        if not answers[key]:
            lost.append((namespace, name))
    return lost


def _users(fleet: Fleet, ref: ObjectRef, cluster: Cluster | None) -> int:
    if cluster is None:
        return sum(told.model is not None and told.model.ref == ref for told in explain_services(fleet, brief=True))
    row = ModelResult.objects.filter(**_identity(cluster, ref)).first()
    return row.services if row else 0


def _stored(cluster: Cluster, ref: ObjectRef) -> tuple[Sequence[Key], int]:
    row = RuntimeResult.objects.filter(**_identity(cluster, ref)).first()
    rows = ServiceResult.objects.filter(
        cluster=cluster,
        named=False,
        selected_kind=ref.kind,
        selected_namespace=ref.namespace,
        selected_name=ref.name,
    )
    return list(rows.order_by("namespace", "name").values_list("namespace", "name")), row.named_by if row else 0


def _identity(cluster: Cluster, ref: ObjectRef) -> dict[str, Any]:
    return {"cluster": cluster, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def _counted(fleet: Fleet, ref: ObjectRef) -> tuple[Sequence[Key], int]:
    selected, named = [], 0
    for told in explain_services(fleet, brief=True):
        if told.selected is None or told.selected.ref != ref:
            continue
        if told.service is not None and told.service.named_runtime:
            named += 1
        else:
            selected.append((told.subject.namespace, told.subject.name))
    return selected, named


def _heirs(fleet: Fleet, ref: ObjectRef) -> int:
    key = RuntimeKey(ref.kind, ref.namespace or None, ref.name)
    return sum(
        parent_of(runtime) == ref.name and fleet.effective(runtime).chain.members[-2:-1] == (key,)
        for runtime in fleet.runtimes.values()
    )
