"""Computes what is derived of a cluster from its objects.

A process that evaluated a cluster keeps the fleet it saw. When only few objects differ since, it judges again
what they can reach and nothing else; otherwise everything. Both give the same rows, and keep the same changes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db import transaction

from selection.rules.explain import explain_service, explain_services
from selection.rules.explanation import Explanation
from selection.rules.fleet import Fleet
from selection.rules.objects import ObjectRef
from selection.rules.reach import Reach, reach

from .causes import Causes, Key, Reached
from .daily import note_day
from .derive_runtimes import write_models, write_runtimes
from .derive_services import write_conflicts, write_services
from .derive_stream import write_stream
from .fleets import Loaded, advance, load
from .models import Cluster, ServiceResult, StoredObject
from .recording import record_changes
from .rows import Delta, Written
from .sight import EVERYTHING, seeing
from .tallies import count
from .uncollected import uncollected

__all__ = ["Evaluation", "evaluate"]

MOST = 2000
"""From so many services on, judging all of them anew costs no more."""

_seen: dict[int, Loaded] = {}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How many services were judged, how many derived rows changed, and whether everything was looked at."""

    services: int
    changed: int
    complete: bool


@seeing(EVERYTHING)
def evaluate(cluster: Cluster, *, anew: bool = False) -> Evaluation:
    """Judge the cluster's services and write what changed, in one transaction.

    Args:
        cluster: the cluster, as it stands in the database.
        anew: judge everything, whatever is known to have changed.
    """
    with uncollected():
        while (done := _evaluated(cluster, anew=anew)) is None:
            cluster.refresh_from_db()
    return done


def _evaluated(cluster: Cluster, *, anew: bool) -> Evaluation | None:
    """Try once; None when another process wrote in between."""
    started = time.monotonic()
    known = _seen.get(cluster.pk)
    trusted = not anew and known is not None and known.generation == cluster.evaluated_generation
    new = advance(cluster, known) if known is not None and trusted else None
    touched, reached = _touched(known.fleet, new) if known is not None and new is not None else (None, {})
    loaded = new or load(cluster)
    explanations = _explanations(loaded.fleet, touched)
    judged = _Judged(cluster, loaded, explanations, touched, known, reached)
    with transaction.atomic():
        written = judged.write()
        if written is not None:
            count(cluster, "evaluations", "part" if touched else "full", total=time.monotonic() - started)
            note_day(cluster, changed=written.total > 0)
    if written is None:
        return None
    _seen[cluster.pk] = replace(loaded, generation=cluster.evaluated_generation)
    return Evaluation(len(explanations), written.total, touched is None)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What an evaluation came to, and what it went by. ``known`` is what this process saw the last time."""

    cluster: Cluster
    loaded: Loaded
    explanations: Sequence[Explanation]
    touched: Reach | None
    known: Loaded | None
    reached: Reached

    def write(self) -> Written | None:
        """Write the rows; None when another process wrote in between, so that these are old or build on others."""
        cluster, loaded, touched = self.cluster, self.loaded, self.touched
        now = Cluster.objects.select_for_update().get(pk=cluster.pk)
        moved = now.evaluated_generation != cluster.evaluated_generation
        if now.ome_version != loaded.version or (moved and (touched or now.evaluated_generation > loaded.generation)):
            return None
        # The same objects may be judged again, by other rules: what differs then is newer than what was seen of them.
        again = now.evaluated_generation == loaded.generation
        stamp = loaded.generation + again
        marked = _write_problems(cluster, loaded.fleet)
        services, delta = write_services(cluster, self.explanations, touched, stamp)
        written = (
            marked
            + services
            + write_conflicts(cluster, loaded.fleet, self.explanations, touched)
            + write_runtimes(cluster, loaded.fleet, touched, stamp)
            + write_models(cluster, loaded.fleet, touched, stamp)
            + write_stream(cluster, loaded.fleet, self.explanations, touched, stamp)
        )
        if now.evaluated_generation:
            self._record(now, delta, stamp)
        if written.total:
            now.answers_generation = stamp
        now.evaluated_generation = loaded.generation
        if written.total and again and now.generation == loaded.generation:
            now.generation = now.evaluated_generation = stamp  # pages look again when a generation is another one
        now.evaluated_version = loaded.version
        fields = ["generation", "evaluated_generation", "evaluated_version", "answers_generation"]
        now.save(update_fields=fields)
        for name in fields:
            setattr(cluster, name, getattr(now, name))
        return written

    def _record(self, now: Cluster, delta: Delta[ServiceResult], generation: int) -> None:
        if not (delta.created or delta.updated or delta.deleted):
            return
        known, since = self.known, now.evaluated_generation
        same = known is not None and (known.generation, known.version) == (since, now.evaluated_version)
        old = known.fleet if known is not None and same else None
        causes = Causes(now, since, self.loaded.generation, old, self.loaded.fleet, self.reached)
        judged_by = (now.evaluated_version, self.loaded.version)
        record_changes(now, delta, causes, generation=generation, judged_by=judged_by)


def _touched(old: Fleet, new: Loaded) -> tuple[Reach | None, Reached]:
    """What the changed objects can reach, before or after, together and each; None when that is most of the fleet."""
    touched = Reach()
    reached: dict[ObjectRef, set[Key]] = {}
    for ref in new.changed:
        found = reach(old, ref)
        found.add(reach(new.fleet, ref))
        touched.add(found)
        reached[ref] = found.services
        if len(touched.services) > MOST:
            return None, reached
    return touched, reached


def _explanations(fleet: Fleet, touched: Reach | None) -> list[Explanation]:
    if touched is None:
        return explain_services(fleet, brief=True)
    return [explain_service(fleet, *key, brief=True) for key in sorted(touched.services) if _is_there(fleet, key)]


def _is_there(fleet: Fleet, key: tuple[str, str]) -> bool:
    return key in fleet.services or any(
        (ref.namespace, ref.name) == key for ref in fleet.problems if ref.kind == "InferenceService"
    )


def _write_problems(cluster: Cluster, fleet: Fleet) -> Written:
    """Mark the objects that can't be judged, with the path and the reason, and unmark the others."""
    rows = StoredObject.objects.filter(cluster=cluster).defer("manifest")
    marked = {(row.kind, row.namespace, row.name): row for row in rows.exclude(problem_message="")}
    wanted = {
        (ref.kind, ref.namespace, ref.name): (problem.path[:500], problem.message)
        for ref, problem in fleet.problems.items()
    }
    new = {key for key, text in wanted.items() if key not in marked or _words(marked[key]) != text}
    found: Iterable[StoredObject] = rows.filter(kind__in={kind for kind, _, _ in new}) if new else ()
    changed = [row for row in found if (row.kind, row.namespace, row.name) in new]
    for row in changed:
        row.problem_path, row.problem_message = wanted[(row.kind, row.namespace, row.name)]
    for key, row in marked.items():
        if key not in wanted:
            row.problem_path = row.problem_message = ""
            changed.append(row)
    StoredObject.objects.bulk_update(changed, ["problem_path", "problem_message"], batch_size=500)
    return Written(updated=len(changed))


def _words(row: StoredObject) -> tuple[str, str]:
    return row.problem_path, row.problem_message
