"""The preview of the upgrade from OME v1.2 to v1.3: go or no-go, and what changes for whom."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial
from typing import Any, ClassVar

from rest_framework.response import Response

from selection.faces.api.lists import list_shape
from selection.faces.api.missing import cluster_named
from selection.faces.api.plans import Note
from selection.faces.api.sequences import Entry, SequenceView
from selection.faces.api.shapes import Shape, Whole, flag, listed, mapped, number, ref, text, whole
from selection.faces.api.views import ReadView
from selection.faces.api.waiting import COMPUTING, computing
from selection.faces.upgrading import object_line, service_line, verdict_text
from selection.rules.explanation import OUTCOMES
from selection.rules.upgrade import UPGRADES
from selection.store.models import Cluster
from selection.store.upgrades import Previewed, preview_of

__all__ = ["UpgradeChanges", "UpgradeObjects", "UpgradeRuntimes", "UpgradeServices", "UpgradeSummary"]

SEVERITIES = tuple(dict.fromkeys(UPGRADES.values()))


class UpgradeCount(Whole):
    """How often something changes."""

    code = text(f"One of {', '.join(UPGRADES)}.")
    severity = text(f"One of {', '.join(SEVERITIES)}.")
    count = number("How often.")
    held = number("How many of those a pin holds back.")


class UpgradeHead(Shape):
    """The preview, but for the single changes."""

    to = text("The release line after the upgrade.")
    runs = text("The release line that the cluster runs.")
    verdict = text("`go`, `decide` or `no-go`.")
    verdict_text = text("The same in a sentence, for people: the words may change.")
    services_total = number("How many services there are.")
    services_changed = number("How many of them would change.")
    severities = mapped("How many changes there are of each severity.", number("How many."))
    counts = listed(UpgradeCount, "How many there are of each code.")
    checks = listed(Note, "What a person must look at, because it can't be read from these objects.")
    cluster = text("The cluster.")
    generation = number("The generation of the cluster's objects that it was computed from.")
    fresh = flag("Whether that is still the cluster's; else the next preview is being computed.")

    def get_fields(self) -> dict[str, Any]:
        """The fields, and one whose name is a word of Python."""
        before = text("The release line before the upgrade.")
        before.required = False
        return {"from": before, **super().get_fields()}


class UpgradeSide(Whole):
    """What one release makes of a service."""

    outcome = text(f"One of {', '.join(OUTCOMES)}.")
    runtime = ref("The runtime that it gets.", null=True)
    modes = mapped("What its components run in, null where nothing is rendered.", text("The mode.", null=True))
    allowed = flag("Whether the webhook lets it pass.")


class ServiceUpgradeChange(Whole):
    """One thing that changes for a service."""

    code = text(f"One of {', '.join(UPGRADES)}.")
    severity = text(f"One of {', '.join(SEVERITIES)}.")
    component = text("The component.", null=True)
    facts = mapped("What there is to say.")
    held = flag("Whether the pin holds it back.")


class Held(Whole):
    """What a pin holds back."""

    code = text(f"One of {', '.join(UPGRADES)}.")
    component = text("The component.", null=True)


class ServicePin(Whole):
    """A merge patch that was seen to hold changes back."""

    patch = mapped("The patch.")
    command = text("The command that applies it.")
    holds = listed(Held, "What it holds back.")
    restarts = flag("Whether pods restart when it is applied.")


class ServiceUpgradeRow(Shape):
    """A service that the upgrade changes."""

    service = ref("The service.")
    severity = text(f"One of {', '.join(SEVERITIES)}.")
    before = whole(UpgradeSide, "Before the upgrade.")
    after = whole(UpgradeSide, "After it.")
    changes = listed(ServiceUpgradeChange, "What changes, the worst first.")
    pin = whole(ServicePin, "What holds changes back; null when nothing does.", null=True)


class RuntimePinValue(Whole):
    """A merge patch of a runtime that was seen to keep services as they are."""

    patch = mapped("The patch.")
    command = text("The command that applies it.")
    holds = number("How many of the services that would move stay.")
    missed = number("How many of them it doesn't reach.")


class RuntimeMovesRow(Shape):
    """A runtime whose services move."""

    runtime = ref("The runtime.")
    moves = number("How many of its services move.")
    breaks = number("How many of those break.")
    pin = whole(RuntimePinValue, "What keeps them as they are; null when nothing does.", null=True)


class ObjectUpgradeRow(Shape):
    """What v1.3 drops, refuses or begins to read in an object."""

    object = ref("The object.")
    path = text("The field.", null=True)
    code = text(f"One of {', '.join(UPGRADES)}.")
    severity = text(f"One of {', '.join(SEVERITIES)}.")
    component = text("The component.", null=True)
    facts = mapped("What there is to say.")
    services = number("How many services get the runtime; null for what isn't one.", null=True)


class UpgradeLine(Shape):
    """One change, as the page's export has it."""

    cluster = text("The cluster.")
    severity = text(f"One of {', '.join(SEVERITIES)}.")
    code = text(f"One of {', '.join(UPGRADES)}.")
    kind = text("The object's kind.")
    namespace = text("The object's namespace.")
    name = text("The object's name.")
    component = text("The component.")
    path = text("The field.")
    before = text("What v1.2 makes of a service.")
    after = text("What v1.3 makes of it.")
    what = text("What changes, for people: the words may change.")
    next = text("What to do, for people: the words may change.")
    held = flag("Whether a pin holds it back.")
    services = number("How many services get the runtime; null for what isn't one.", null=True)
    pin = text("The command that holds it back.")


def _preview(name: str) -> tuple[Cluster, Previewed | None]:
    cluster = cluster_named(name)
    return cluster, preview_of(cluster)


class UpgradeSummary(ReadView):
    """Preview the upgrade.

    Go or no-go, and how often what changes. The services, runtimes and objects have lists of their own.
    """

    operation, tag, shape = "previewUpgrade", "upgrade", UpgradeHead
    tagged, further = False, COMPUTING

    def state(self, **names: str) -> Hashable:
        """It may be of a moment before, so that nothing says when it changes."""
        return None

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """The newest preview that is known."""
        cluster, found = _preview(names["cluster"])
        if found is None:
            return computing()
        told = found.preview.head()
        own = {"cluster": cluster.name, "generation": found.generation, "fresh": found.of(cluster)}
        return {**told, "verdict_text": verdict_text(found.preview), **own}


class _OfPreview(SequenceView):
    """A list out of a cluster's preview."""

    tag, tagged, further = "upgrade", False, COMPUTING

    def state(self, **names: str) -> Hashable:
        """As of :class:`UpgradeSummary`."""
        return None

    def entries(self, **names: str) -> list[Entry] | Response:
        """Every row of the preview."""
        cluster, found = _preview(names["cluster"])
        return computing() if found is None else list(self.rows(cluster, found))

    def rows(self, cluster: Cluster, found: Previewed) -> Iterator[Entry]:
        """Every row of a preview that is known."""
        raise NotImplementedError


class UpgradeServices(_OfPreview):
    """List the services that the upgrade changes.

    By namespace and name, each with what changes and what holds it back.
    """

    operation: ClassVar[str] = "listUpgradeServices"
    row, shape, by = ServiceUpgradeRow, list_shape(ServiceUpgradeRow), "namespace and name"

    def rows(self, cluster: Cluster, found: Previewed) -> Iterator[Entry]:
        """Every service that changes."""
        for each in found.preview.services:
            yield (each.service.namespace, each.service.name), each.to_dict


class UpgradeRuntimes(_OfPreview):
    """List the runtimes whose services move.

    By kind, namespace and name.
    """

    operation: ClassVar[str] = "listUpgradeRuntimes"
    row, shape, by = RuntimeMovesRow, list_shape(RuntimeMovesRow), "kind, namespace and name"

    def rows(self, cluster: Cluster, found: Previewed) -> Iterator[Entry]:
        """Every runtime whose services move."""
        for each in found.preview.runtimes:
            yield (each.runtime.kind, each.runtime.namespace, each.runtime.name), each.to_dict


class UpgradeObjects(_OfPreview):
    """List fields and annotations that the upgrade changes.

    What v1.3 drops, refuses or begins to read, by object.
    """

    operation: ClassVar[str] = "listUpgradeObjects"
    row, shape, by = ObjectUpgradeRow, list_shape(ObjectUpgradeRow), "kind, namespace, name and field"

    def rows(self, cluster: Cluster, found: Previewed) -> Iterator[Entry]:
        """Every such field."""
        for each in found.preview.objects:
            ref, change = each.object, each.change
            yield (ref.kind, ref.namespace, ref.name, each.path, change.code, change.component), each.to_dict


class UpgradeChanges(_OfPreview):
    """List every change of the upgrade.

    One line for each, as the page exports them: services first, by namespace and name, then objects.
    """

    operation: ClassVar[str] = "listUpgradeChanges"
    row, shape, by = UpgradeLine, list_shape(UpgradeLine), "object"

    def rows(self, cluster: Cluster, found: Previewed) -> Iterator[Entry]:
        """Every line, made when it is shown."""
        for row in found.preview.services:
            ref = row.service
            for place, change in enumerate(row.changes):
                key = (0, ref.kind, ref.namespace, ref.name, "", change.code, change.component, place)
                yield key, partial(service_line, cluster.name, row, change)
        for each in found.preview.objects:
            ref, change = each.object, each.change
            key = (1, ref.kind, ref.namespace, ref.name, each.path, change.code, change.component, 0)
            yield key, partial(object_line, cluster.name, each)
