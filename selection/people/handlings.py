"""What people do with findings: take one on, decide, and take it back; one or many at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone

from selection.store.models import Finding

from .models import ActRecord, Handling
from .persons import Person
from .rights import Act, may
from .subjects import finding_subject
from .writing import Refused, Stale, Writer, note, require, writing

__all__ = [
    "LONGEST_ACCEPTANCE",
    "LONGEST_REASON",
    "Wish",
    "check_acceptance",
    "checked_owner",
    "handle",
    "handle_many",
    "handlings_of",
    "undo",
]

LONGEST_ACCEPTANCE = timedelta(days=366)
"""Nothing is accepted for ever: after so long somebody looks again."""

LONGEST_REASON = 5_000
_FIELDS = ("owner", "state", "reason", "expires_on", "evidence", "decided_by", "decided_at")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to become of a finding. A field that is None stays as it is.

    Attributes:
        owner: a user's name, ``""`` for nobody.
        state: one of :class:`Handling.State`.
        reason: why; accepting needs one.
        expires_on: the last day that an acceptance holds; accepting needs one.
    """

    owner: str | None = None
    state: str | None = None
    reason: str | None = None
    expires_on: date | None = None

    def fields(self) -> dict[str, Any]:
        """What is said, by field."""
        told = {"owner": self.owner, "state": self.state, "reason": self.reason, "expires_on": self.expires_on}
        return {name: value for name, value in told.items() if value is not None}


def handle(writer: Writer, finding: Finding, wish: Wish, seen: int) -> Handling:
    """Do something with a finding.

    Args:
        writer: who does it.
        finding: it, read with its cluster.
        wish: what is to become of it.
        seen: the version that the writer saw, 0 when nobody had done anything.

    Raises:
        PermissionDenied: the writer may not decide there.
        Refused: the wish can't be: it names the field and says why.
        Stale: somebody else did something meanwhile.
    """
    subject = finding_subject(finding)
    require(writer, Act.DECIDE, subject)
    try:
        with writing():
            row = Handling.objects.select_for_update().filter(key=finding.key).first()
            if (row.version if row else 0) != seen:
                raise Stale(row or Handling(key=finding.key, version=0), wish.fields())
            new = row is None
            row = row or _new(finding)
            before = _told(row)
            _apply(row, wish, finding, writer, timezone.now())
            after = _told(row)
            if before == after:
                return row
            row.version = seen + 1
            row.changed_at = timezone.now()
            row.save()
            differing = [name for name in _FIELDS if before[name] != after[name]]
            old = None if new else {name: before[name] for name in differing}
            note(writer, _act(before, after), subject, old, {name: after[name] for name in differing})
            return row
    except IntegrityError:  # two began at once
        there = Handling.objects.filter(key=finding.key).first()
        if there is None:
            raise
        raise Stale(there, wish.fields()) from None


def handle_many(writer: Writer, findings: Sequence[Finding], wish: Wish, seen: Mapping[str, int]) -> list[Handling]:
    """Do the same with many findings: with all of them, or with none.

    Args:
        writer: who does it.
        findings: they, read with their clusters.
        wish: what is to become of each.
        seen: by key, the version that the writer saw in the preview; what isn't named was seen untouched.

    Raises:
        PermissionDenied, Refused, Stale: as for one; then nothing was done with any.
    """
    together = writer.as_one()
    with writing():
        return [handle(together, finding, wish, seen.get(finding.key, 0)) for finding in findings]


def undo(writer: Writer, batch: str) -> list[Handling]:
    """Take back what was done as one, as far as nobody did anything with the same findings since: all or nothing.

    Raises:
        PermissionDenied: the writer may not decide about one of them.
        Refused: there was no such act, it isn't the newest about one of the findings, or the writer sees only a part.
    """
    done = list(ActRecord.objects.filter(batch=batch).order_by("pk")) if batch else []
    acts = [each for each in done if each.subject.startswith("finding:")]
    if not acts:
        raise Refused("there is nothing to undo")
    if ActRecord._base_manager.filter(batch=batch).count() != len(done):
        raise Refused("some of it was done where you see nothing, so nothing was undone")
    together = writer.as_one()
    with writing():
        found = []
        for act in acts:
            key = act.subject.partition(":")[2]
            row = Handling.objects.select_for_update().filter(key=key).first()
            newest = ActRecord.objects.filter(subject=act.subject, act__in=_ACTS).order_by("-pk").first()
            if row is None or newest is None or newest.pk != act.pk:
                raise Refused(f"{key}: somebody did something else with it since, so nothing was undone")
            subject = finding_subject(row)
            require(writer, Act.DECIDE, subject)
            now = _told(row)
            blank = _told(Handling())
            was = {name: (act.before or blank)[name] for name in act.after or {}}
            for name, value in was.items():
                setattr(row, name, _read(name, value))
            row.version += 1
            row.changed_at = timezone.now()
            row.save()
            note(together, "undone", subject, {name: now[name] for name in was}, was)
            found.append(row)
        return found


def handlings_of(findings: Iterable[Finding]) -> dict[str, Handling]:
    """What people do with these findings, by key. One query."""
    keys = [finding.key for finding in findings]
    return {row.key: row for row in Handling.objects.filter(key__in=keys)} if keys else {}


_ACTS = ("owned", "decided", "handled", "undone")


def _act(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    owned = before["owner"] != after["owner"]
    decided = any(before[name] != after[name] for name in ("state", "reason", "expires_on"))
    return "handled" if owned and decided else "owned" if owned else "decided"


def _new(finding: Finding) -> Handling:
    return Handling(
        key=finding.key,
        cluster=finding.cluster.name,
        namespace=finding.namespace,
        kind=finding.kind,
        name=finding.name,
        component=finding.component,
        code=finding.code,
        about=finding.about,
        version=0,
    )


def _apply(row: Handling, wish: Wish, finding: Finding, writer: Writer, now: datetime) -> None:
    """Put a wish into a row.

    Raises:
        Refused: it can't be.
    """
    if wish.owner is not None and wish.owner != row.owner:
        row.owner = checked_owner(wish.owner.strip(), writer, finding.cluster.name, finding.namespace)
    if wish.state is None and wish.reason is None and wish.expires_on is None:
        return
    state = wish.state if wish.state is not None else row.state
    if state not in Handling.State.values:
        raise Refused(f"there is no state {state[:40]!r}; there are {', '.join(Handling.State.values)}", "state")
    reason = (wish.reason if wish.reason is not None else row.reason if state == row.state else "").strip()
    if len(reason) > LONGEST_REASON:
        raise Refused(f"a reason is at most {LONGEST_REASON:,} characters", "reason")
    if "\0" in reason:
        raise Refused("a reason holds no NUL", "reason")
    expires_on = wish.expires_on if wish.expires_on is not None else row.expires_on if state == row.state else None
    if state == Handling.State.ACCEPTED:
        check_acceptance(reason, expires_on, now.date())
        row.evidence = finding.evidence
    else:
        expires_on, row.evidence = None, ""
    same = (row.state, row.reason, row.expires_on) == (state, reason, expires_on)
    row.state, row.reason, row.expires_on = state, reason, expires_on
    if not same or state == Handling.State.ACCEPTED:
        row.decided_by, row.decided_at = writer.person.name, now


def check_acceptance(reason: str, expires_on: date | None, today: date) -> None:
    """See that a finding can be accepted with this reason until that day (UTC).

    Raises:
        Refused: it can't.
    """
    if not reason:
        raise Refused("accepting a finding needs a reason", "reason")
    if expires_on is None:
        raise Refused("accepting a finding needs a day until which that holds", "expires_on")
    if expires_on < today:
        raise Refused(f"{expires_on} is past", "expires_on")
    if expires_on - today > LONGEST_ACCEPTANCE:
        raise Refused(f"at most {LONGEST_ACCEPTANCE.days} days ahead: somebody should look again", "expires_on")


def checked_owner(name: str, writer: Writer, cluster: str, namespace: str) -> str:
    """The name of a user who sees what is there, or ``""``; in local mode, where there are no accounts, any name.

    Raises:
        Refused: there is no such account, or it doesn't see it.
    """
    if not name or writer.person.local:
        if len(name) > 150 or not name.isprintable():
            raise Refused("an owner's name is at most 150 printable characters", "owner")
        return name
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise Refused(f"there is no account {name[:80]!r}", "owner")
    if not may(Person(name, user), Act.SEE, cluster, namespace):
        raise Refused(f"{name} may not see this finding, so can't own it", "owner")
    return name


def _told(row: Handling) -> dict[str, Any]:
    """The fields that an act may change, as JSON."""
    values = {name: getattr(row, name) for name in _FIELDS}
    return {name: value.isoformat() if isinstance(value, date | datetime) else value for name, value in values.items()}


def _read(name: str, value: Any) -> Any:
    """A field's value from JSON."""
    if value is None:
        return None
    if name == "expires_on":
        return date.fromisoformat(value)
    return datetime.fromisoformat(value) if name == "decided_at" else value
