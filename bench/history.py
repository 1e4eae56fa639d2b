"""What happened to the made-up fleet over three months: changes and their causes, findings that went, days."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from django.utils import timezone

from bench.fleet import Size
from selection.rules.objects import ObjectRef
from selection.store.models import Change, Cluster, DailyCount, Finding, FindingEvent, ObjectChange, ServiceResult
from selection.store.timeline import runtime_key

__all__ = ["fill_changes", "fill_gone"]

KEPT = timedelta(days=90)
"""As long as changes are kept, unless somebody says otherwise."""
DAYS = 400
EACH = 10
"""So many changes are there for each service, in the middle."""

What = Change.What


def fill_changes(cluster: Cluster, size: Size) -> None:
    """Write changes and days as recording would have, but all at once. Call it when the cluster was judged."""
    _changes(cluster, size, random.Random(4))
    _days(cluster, random.Random(6))


def fill_gone(cluster: Cluster) -> None:
    """For each finding that is there one of a service that was deleted, and what became of them."""
    _gone(cluster, random.Random(5))


def _moments(dice: random.Random, count: int) -> list[datetime]:
    """Moments of the time that is kept, more of them late: a tenth of all within the last day."""
    now = timezone.now()
    return sorted(now - KEPT * dice.random() ** 2 for _ in range(count))


def _changes(cluster: Cluster, size: Size, dice: random.Random) -> None:
    """Edits of runtimes, models and services; most reach a few services, some reach hundreds."""
    services = list(ServiceResult.objects.filter(cluster=cluster))
    wanted = size.services * EACH
    reaches: list[int] = []
    while sum(reaches) < wanted:
        many = min(size.services, 1000)
        reaches.append(
            min(dice.randint(1, 8) if dice.random() < 0.97 else dice.randint(1, many), wanted - sum(reaches))
        )
    causes = [_edit(cluster, dice, at, services, size) for at in _moments(dice, len(reaches))]
    ObjectChange.objects.bulk_create(causes, batch_size=500)
    made = (
        change
        for cause, reach in zip(causes, reaches, strict=True)
        for change in islice(_effects(cluster, dice, cause, services, reach), reach)
    )
    while batch := list(islice(made, 5_000)):
        Change.objects.bulk_create(batch, batch_size=500)


def _edit(
    cluster: Cluster, dice: random.Random, at: datetime, services: list[ServiceResult], size: Size
) -> ObjectChange:
    row = dice.choice(services)
    of = dice.choice(("runtime", "runtime", "model", "service"))
    if of == "service":
        ref, path = (
            ObjectRef("InferenceService", row.namespace, row.name),
            "metadata.annotations[ome.io/deploymentMode]",
        )
    elif of == "model":
        ref, path = ObjectRef(row.model_kind, row.model_namespace, row.model_name), "spec.modelParameterSize"
    else:
        ref = ObjectRef("ClusterServingRuntime", "", f"runtime-{dice.randrange(size.runtimes):04}")
        path = "spec.supportedModelFormats[0].priority"
    version = dice.randrange(10**8)
    return ObjectChange(
        cluster=cluster,
        generation=dice.randint(1, cluster.generation),
        at=at,
        kind=ref.kind,
        namespace=ref.namespace,
        name=ref.name,
        act=ObjectChange.Act.CHANGED,
        old_version=str(version),
        new_version=str(version + 1),
        differences=[{"path": path, "before": "1", "after": "3"}],
    )


def _effects(
    cluster: Cluster, dice: random.Random, cause: ObjectChange, services: list[ServiceResult], reach: int
) -> Iterator[Change]:
    for row in dice.sample(services, min(reach, len(services))):
        told = [(What.RUNTIME, "", _runtime(dice), _runtime(dice))]
        share = dice.random()
        if share < 0.1:
            told = [(What.OUTCOME, "", "auto-selected", "no-runtime"), (What.RUNTIME, "", _runtime(dice), "")]
        elif share < 0.2:
            told = [(What.OUTCOME, "", "no-runtime", "auto-selected"), (What.RUNTIME, "", "", _runtime(dice))]
        elif share < 0.4:
            told.append((What.MODE, "engine", "MultiNode", "OMENative"))
        elif share < 0.6:
            told.append((What.CONFLICT, "engine", "", "drift"))
        for what, component, before, after in told:
            yield Change(
                cluster=cluster,
                generation=cause.generation,
                at=cause.at + timedelta(seconds=2),
                namespace=row.namespace,
                service=row.name,
                what=what,
                component=component,
                before=before,
                after=after,
                cause=cause,
            )


def _runtime(dice: random.Random) -> str:
    return runtime_key(ObjectRef("ClusterServingRuntime", "", f"runtime-{dice.randrange(1000):04}"))


def _gone(cluster: Cluster, dice: random.Random) -> None:
    now = timezone.now()
    there = list(Finding.objects.filter(cluster=cluster))
    gone: list[Finding] = []
    events: list[FindingEvent] = []
    for place, row in enumerate(there):
        first = now - KEPT * dice.random()
        last = first + (now - first) * dice.random()
        if place % 10 == 0:
            events.append(FindingEvent(finding=row, at=first, act="changed", generation=1, facts=row.facts))
        was = {name: getattr(row, name) for name in ("kind", "namespace", "component", "code", "about", "path")}
        gone.append(
            Finding(
                cluster=cluster,
                key=f"{row.code}-{dice.getrandbits(128):032x}",
                name=f"gone-{place:05}",
                severity=row.severity,
                urgency=row.urgency,
                evidence=row.evidence,
                told=row.told,
                facts=row.facts,
                first_seen=first,
                gone_at=last,
                **was,
            )
        )
    Finding.objects.bulk_create(gone, batch_size=500)
    events += [FindingEvent(finding=row, at=row.gone_at or now, act="gone", generation=1) for row in gone]
    FindingEvent.objects.bulk_create(events, batch_size=500)


def _days(cluster: Cluster, dice: random.Random) -> None:
    """A year and more of days, each a little further off MultiNode than the one before."""
    today = timezone.now().date()
    DailyCount.objects.filter(cluster=cluster).delete()
    of = max(1, cluster.services.count() // 5)
    DailyCount.objects.bulk_create(
        DailyCount(
            cluster=cluster, day=today - timedelta(days=day), multi_node=of, off=min(of, of * (DAYS - day) // DAYS)
        )
        for day in range(DAYS, -1, -1)
    )
