"""What people do with findings: who looks after one, what was decided, many at once, and taking that back."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from selection.faces.api.examples import example_of
from selection.faces.api.paths import address
from selection.faces.api.problems import Forbidden, NotFound
from selection.faces.api.shapes import Shape, flag, listed, moment, number, text, whole
from selection.faces.api.shapes import Whole as WholeShape
from selection.faces.api.states import of_answers, of_people
from selection.faces.api.views import ReadView
from selection.faces.api.writes import (
    Body,
    Flag,
    OneOf,
    Text,
    WriteView,
    answers,
    seen_version,
    told_as_problems,
    writer_of,
)
from selection.people.handlings import LONGEST_REASON, Wish, handle, handle_many, handlings_of, undo
from selection.people.models import ActRecord, Handling
from selection.people.persons import person_of
from selection.people.rights import Act, may
from selection.people.standings import LAPSES, STATES, standing
from selection.people.writing import Refused
from selection.store.findings import find_finding, finding_rows
from selection.store.models import Finding

__all__ = ["FindingHandling", "HandlingShape", "HandlingsTogether", "UndoActs", "handling_value"]

MOST = 500
"""So many findings are handled at once."""

_WRITTEN = tuple(Handling.State.values)


class HandlingShape(Shape):
    """What people do with a finding."""

    key = text("The finding's key.")
    decision = text(f"Where it stands today: one of {', '.join(STATES)}.")
    lapsed = text(f'Why it isn\'t accepted any more: one of {", ".join(LAPSES)}, or `""`.')
    state = text(f"What was decided: one of {', '.join(_WRITTEN)}.")
    owner = text('Who looks after it, `""` for nobody.')
    reason = text("Why it was decided so.")
    expires_on = text("The last day on which an acceptance holds, such as `2026-12-31`.", null=True)
    decided_by = text('Who decided, `""` when nobody has.')
    decided_at = moment("When that was.", null=True)
    changed_at = moment("When somebody last did something with it.", null=True)
    version = number("Grows with each change, 0 when nobody did anything: send it back when you write.")
    self = text("The path of this resource.")


class _Wish(Body):
    owner = Text(required=False, allow_blank=True, max_length=150, help_text='A user\'s name, `""` for nobody.')
    state = OneOf(_WRITTEN, required=False, help_text="What is decided. `fixed` is never said: it follows.")
    reason = Text(
        required=False, allow_blank=True, max_length=LONGEST_REASON, help_text="Why; accepting needs a reason."
    )
    expires_on = serializers.DateField(
        required=False, allow_null=True, help_text="The last day of an acceptance, which needs one (UTC)."
    )


class HandlingChange(_Wish):
    """What is to become of a finding; what isn't said stays."""

    version = seen_version("The `version` that you saw, 0 when nobody had done anything.")


class HandlingWhole(HandlingChange):
    """All that is to be said of a finding; what isn't said is empty."""

    state = OneOf(_WRITTEN, help_text="What is decided.")


class ManyHandlings(_Wish):
    """What is to become of many findings."""

    keys = serializers.ListField(
        child=Text(max_length=80), min_length=1, max_length=MOST, help_text=f"The findings' keys, at most {MOST}."
    )
    versions = serializers.DictField(
        child=seen_version("The version."),
        required=False,
        help_text="By key, the `version` that you saw; one that isn't named was seen untouched. A dry run takes "
        "those that aren't named as they are.",
    )
    dry_run = Flag(required=False, default=False, help_text="Only say what would become of each.")


class HandledOne(WholeShape):
    """One of many findings."""

    key = text("The finding's key.")
    touched = flag("Whether anything became, or would become, another.")
    before = whole(HandlingShape, "As it was.")
    after = whole(HandlingShape, "As it is, or in a dry run would be.")


class HandledTogether(WholeShape):
    """What became, or would become, of many findings."""

    dry_run = flag("Whether nothing was written.")
    batch = text("What undoes it; null when nothing was written.", null=True)
    findings = listed(HandledOne, "Each of them.")


class Undone(WholeShape):
    """What was taken back."""

    batch = text("What undoes that.")
    findings = listed(HandlingShape, "Each finding as it stands now.")


def handling_value(key: str, finding: Finding | None, row: Handling | None) -> dict[str, Any]:
    """What people do with a finding, as an answer; the row is None when nobody did anything."""
    told = standing(finding, row, timezone.now().date())
    known = row or Handling(key=key, version=0)
    return {
        "key": key,
        "decision": told.state,
        "lapsed": told.lapsed,
        "state": str(known.state),
        "owner": known.owner,
        "reason": known.reason,
        "expires_on": known.expires_on,
        "decided_by": known.decided_by,
        "decided_at": known.decided_at,
        "changed_at": known.changed_at,
        "version": known.version,
        "self": address("finding-handling", {"key": key}),
    }


def finding_named(key: str) -> Finding:
    """The finding of that key, with its cluster.

    Raises:
        NotFound: none is kept, or none that is seen.
    """
    found = find_finding(key)
    if found is None:
        raise NotFound(f"There is no finding {key[:80]}.")
    return found


_ACCEPT = OpenApiExample(
    "Accept it until the end of the year",
    request_only=True,
    value={
        "state": "accepted",
        "reason": "Planned for the upgrade in January.",
        "expires_on": "2026-12-31",
        "version": 0,
    },
)


class FindingHandling(WriteView, ReadView):
    """Read what people do with a finding."""

    operation, tag, shape = "readHandling", "findings", HandlingShape

    def state(self, **names: str) -> Hashable:
        """What it follows from: the finding, what people did, and the day on which acceptances end."""
        return of_answers(), of_people()

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """What people do with it."""
        found = finding_named(names["key"])
        return handling_value(found.key, found, handlings_of([found]).get(found.key))

    @extend_schema(
        operation_id="writeHandling",
        summary="Say all that is to be said of a finding",
        description="What isn't said is empty: without `owner` nobody owns it.",
        request=HandlingWhole,
        responses=answers(HandlingShape, "As it stands now.", 404),
        examples=[_ACCEPT],
    )
    def put(self, request: Request, key: str) -> Response:
        """Say all of it."""
        asked = HandlingWhole.of(request)
        accepting = asked["state"] == Handling.State.ACCEPTED
        with told_as_problems(lambda row: row):
            if accepting and asked.get("expires_on") is None:
                raise Refused("accepting a finding needs a day until which that holds", "expires_on")
        return self._write(request, key, {"owner": "", "reason": "", **asked})

    @extend_schema(
        operation_id="changeHandling",
        summary="Take a finding on, or decide",
        description="What isn't said stays as it is.",
        request=HandlingChange,
        responses=answers(HandlingShape, "As it stands now.", 404),
        examples=[_ACCEPT],
    )
    def patch(self, request: Request, key: str) -> Response:
        """Say some of it."""
        return self._write(request, key, HandlingChange.of(request))

    def _write(self, request: Request, key: str, asked: dict[str, Any]) -> Response:
        found = finding_named(key)
        with told_as_problems(lambda row: handling_value(key, found, row)):
            row = handle(writer_of(request), found, _wish(asked), asked["version"])
        return Response(handling_value(key, found, row))


class HandlingsTogether(WriteView):
    """Do the same with many findings.

    With all of them or with none. A dry run says what would become of each, and is refused for the same reasons.
    """

    operation, tag = "handleFindings", "findings"

    @extend_schema(
        request=ManyHandlings,
        responses=answers(HandledTogether, "What became of each.", 404),
        examples=[
            OpenApiExample(
                "See what taking two on would come to",
                request_only=True,
                value={
                    "keys": [
                        "no-runtime-0123456789abcdef0123456789abcdef",
                        "overlap-fedcba9876543210fedcba9876543210",
                    ],
                    "owner": "ada",
                    "state": "in-progress",
                    "dry_run": True,
                },
            )
        ],
    )
    def post(self, request: Request) -> Response:
        """Do it, or say what would be."""
        asked = ManyHandlings.of(request)
        dry, keys = asked["dry_run"], list(dict.fromkeys(asked["keys"]))
        found = {each.key: each for each in finding_rows().filter(key__in=keys)}
        missing = [key for key in keys if key not in found]
        if missing:
            raise NotFound(f"There is no finding {', '.join(missing[:5])}.")
        rows = [found[key] for key in keys]
        before = handlings_of(rows)
        seen = {key: row.version for key, row in before.items()} if dry else {}
        seen |= asked.get("versions", {})
        with told_as_problems(lambda row: handling_value(row.key, found.get(row.key), row)), transaction.atomic():
            done = handle_many(writer_of(request), rows, _wish(asked), seen)
            newest = ActRecord.objects.filter(subject__in=[f"finding:{key}" for key in keys]).order_by("-pk").first()
            written = any(row.version != _version(before.get(row.key)) for row in done)
            batch = newest.batch if newest is not None and written and not dry else None
            if dry:
                transaction.set_rollback(True)
        told = [_one(found[row.key], before.get(row.key), row) for row in done]
        return Response({"dry_run": dry, "batch": batch, "findings": told})


_UNDONE = [
    OpenApiExample(
        "One that was taken back",
        {
            "batch": "0123456789abcdef0123456789abcdef",
            "findings": [each.value for each in example_of("readHandling")],
        },
        response_only=True,
    )
]


class UndoActs(WriteView):
    """Take back what was done as one.

    As far as nobody did anything with the same findings since: with all of them or with none.
    """

    operation, tag = "undoActs", "acts"

    @extend_schema(request=None, responses=answers(Undone, "What was taken back.", 404), examples=_UNDONE)
    def post(self, request: Request, batch: str) -> Response:
        """Take it back."""
        acts = list(ActRecord.objects.filter(batch=batch))
        if not acts:
            raise NotFound("Nothing was done under that number.")
        person = person_of(request)
        whole = len(acts) == ActRecord._base_manager.filter(batch=batch).count()
        if not whole or not all(may(person, Act.DECIDE, act.cluster, act.namespace) for act in acts):
            raise Forbidden(f"{person.name} may not decide about all of it.")
        with told_as_problems(lambda row: row):
            done = undo(writer_of(request), batch)
        found = {each.key: each for each in finding_rows().filter(key__in=[row.key for row in done])}
        newest = ActRecord.objects.filter(subject=f"finding:{done[0].key}").order_by("-pk").first()
        told = [handling_value(row.key, found.get(row.key), row) for row in done]
        return Response({"batch": newest.batch if newest else batch, "findings": told})


def _wish(asked: dict[str, Any]) -> Wish:
    return Wish(**{name: asked[name] for name in ("owner", "state", "reason", "expires_on") if name in asked})


def _version(row: Handling | None) -> int:
    return row.version if row is not None else 0


def _one(finding: Finding, before: Handling | None, after: Handling) -> dict[str, Any]:
    return {
        "key": finding.key,
        "touched": after.version != _version(before),
        "before": handling_value(finding.key, finding, before),
        "after": handling_value(finding.key, finding, after),
    }
