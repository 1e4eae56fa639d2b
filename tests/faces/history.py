"""What happened, made up for the tests of the pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from selection.store.models import Change, Cluster, ObjectChange

__all__ = ["edited", "felt"]

FIELD = {"path": "spec.disabled", "before": "false", "after": "true"}


def edited(
    cluster: Cluster, kind: str, name: str, namespace: str = "", *, ago: timedelta = timedelta(0), **fields: Any
) -> ObjectChange:
    """An object that changed from version 7 to 8, ``ago`` from now; ``fields`` say otherwise."""
    values = {"act": "changed", "old_version": "7", "new_version": "8", "differences": [FIELD], "generation": 1}
    return ObjectChange.objects.create(
        cluster=cluster, kind=kind, namespace=namespace, name=name, at=timezone.now() - ago, **{**values, **fields}
    )


def felt(
    cluster: Cluster,
    service: str,
    what: str,
    before: str = "",
    after: str = "",
    *,
    namespace: str = "apps",
    cause: ObjectChange | None = None,
    ago: timedelta = timedelta(0),
    **fields: Any,
) -> Change:
    """A change of a service, at the time of its cause or ``ago`` from now."""
    return Change.objects.create(
        cluster=cluster,
        generation=fields.pop("generation", cause.generation if cause else 1),
        at=cause.at if cause else timezone.now() - ago,
        namespace=namespace,
        service=service,
        what=what,
        before=before,
        after=after,
        cause=cause,
        **fields,
    )
