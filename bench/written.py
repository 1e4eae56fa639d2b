"""What people wrote about the made-up fleet: accounts, roles, tokens, decisions, comments, reviews, and the record."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import accumulate, islice
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count
from django.utils import timezone

from bench.fleet import Size
from selection.people.freezing import MOST_ITEMS, Scope
from selection.people.models import ActRecord, Comment, Grant, Handling, Mention, Review, ReviewItem, Role, Token
from selection.people.persons import local_person
from selection.people.reviews import open_review
from selection.people.subjects import finding_subject
from selection.people.writing import Writer
from selection.store.models import Cluster, Finding

__all__ = ["ADMIN", "VIEWER", "fill_written"]

ADMIN, VIEWER = "person-000", "person-001"
"""The account that may everything, and one of those that have a role in five namespaces each."""
PEOPLE = 200
HANDLED, SAID, DONE = 2, 5, 5
"""Findings that people did something with, comments and acts, for each service."""
SMALL = 500
"""The items of the review that is smaller."""
ANSWERED = 0.8
BUSY = 200
"""So many comments there are about one finding; about most others one or two."""

TEXT = """The **engine** asks for one mode and the runtime declares another, see `spec.engineConfig`.

- changed in the chart, comes with the next release
- agreed with @{name}
"""


def fill_written(cluster: Cluster, size: Size) -> None:
    """Write it in bulk; reviews by the function that opens one. Call it when the cluster was judged."""
    dice = random.Random(7)
    people = _people(cluster, size, dice)
    findings = list(Finding.objects.select_related("cluster").filter(cluster=cluster).defer("facts").order_by("key"))
    dice.shuffle(findings)
    _handlings(findings[: size.services * HANDLED], people, dice)
    _comments(findings, people, size.services * SAID, dice)
    for name, most in (("One team's", SMALL), ("Before the release", MOST_ITEMS)):
        _review(cluster, name, most, people, dice)
    _acts(findings, people, size.services * DONE, dice)


def _people(cluster: Cluster, size: Size, dice: random.Random) -> list[str]:
    """Accounts without a password, each with a role in a namespace and a token; and whoever is on the machine."""
    now = timezone.now()
    rows = [User(username=f"person-{number:03}", is_superuser=number == 0) for number in range(PEOPLE)]
    users = User.objects.bulk_create(rows)
    places = [(cluster.name, f"team-{number:02}") for number in range(size.namespaces)]
    Grant.objects.bulk_create(
        Grant(user=user, role=dice.choice(Role.values), cluster=name, namespace=team, created_at=now, created_by=ADMIN)
        for user in users[1:]
        for name, team in dice.sample(places, min(5, len(places)))
    )
    Token.objects.bulk_create(
        Token(
            user=user,
            name="nightly",
            prefix=f"bench_{number:03}",
            digest=f"{number:064x}",
            created_at=now,
            created_by=user.username,
            expires_at=now + timedelta(days=30),
        )
        for number, user in enumerate(users)
    )
    return [local_person().name, *(user.username for user in users)]


def _handlings(findings: Sequence[Finding], people: Sequence[str], dice: random.Random) -> None:
    now = timezone.now()
    rows: list[Handling] = []
    for finding in findings:
        state = dice.choice(Handling.State.values)
        accepted = state == Handling.State.ACCEPTED
        decided = now - timedelta(days=90) * dice.random()
        holds = dice.random()
        rows.append(
            Handling(
                cluster=finding.cluster.name,
                namespace=finding.namespace,
                key=finding.key,
                kind=finding.kind,
                name=finding.name,
                component=finding.component,
                code=finding.code,
                about=finding.about,
                owner=dice.choice(people) if dice.random() < 0.7 else "",
                state=state,
                reason="Agreed with the team until the next release" if accepted else "",
                # A fifth of what was accepted has lapsed: its date is over, or its evidence is another one.
                expires_on=(now + timedelta(days=-9 if holds < 0.1 else 60)).date() if accepted else None,
                evidence="another" if holds > 0.9 else finding.evidence,
                decided_by=dice.choice(people),
                decided_at=decided,
                changed_at=decided,
            )
        )
    Handling.objects.bulk_create(rows, batch_size=500)


def _comments(findings: Sequence[Finding], people: Sequence[str], count: int, dice: random.Random) -> None:
    now = timezone.now()
    rows: list[Comment] = []
    mentions: list[Mention] = []
    for number in range(count):
        finding = findings[0] if number < BUSY else dice.choice(findings)
        named = dice.choice(people)
        place = {"cluster": finding.cluster.name, "namespace": finding.namespace}
        row = Comment(
            subject=finding_subject(finding).text,
            author=dice.choice(people),
            text=TEXT.format(name=named),
            created_at=now - timedelta(days=90) * dice.random(),
            **place,
        )
        rows.append(row)
        if dice.random() < 0.2:
            mentions.append(Mention(comment=row, name=named, **place))
    Comment.objects.bulk_create(rows, batch_size=500)
    Mention.objects.bulk_create(mentions, batch_size=500)


def _review(cluster: Cluster, name: str, most: int, people: Sequence[str], dice: random.Random) -> Review:
    """A review of as many namespaces as it has room for, mostly answered."""
    rows = Finding.objects.filter(cluster=cluster, gone_at=None).exclude(namespace="").order_by()
    counts = sorted(rows.values_list("namespace").annotate(rows=Count("pk")), key=lambda each: each[1])
    totals = accumulate(count for _, count in counts)
    places = [(cluster.name, each) for (each, _), total in zip(counts, totals, strict=True) if total <= most]
    scope = Scope(tuple(places) or ((cluster.name, counts[0][0]),))
    me = Writer(local_person(), "command")
    review = open_review(me, name, scope, signatures_needed=2, participants=people[1:4])
    now = timezone.now()
    items = [item for item in ReviewItem.objects.filter(review=review) if dice.random() < ANSWERED]
    for item in items:
        item.answer = dice.choice(ReviewItem.Answer.values)
        item.owner = dice.choice(people[:4]) if item.answer == ReviewItem.Answer.CHANGE else ""
        if item.answer == ReviewItem.Answer.ACCEPTED:
            item.reason, item.expires_on = "Agreed", (now + timedelta(days=30)).date()
        item.answered_by, item.answered_at = dice.choice(people[:4]), now
        item.version = 2
    fields = ["answer", "owner", "reason", "expires_on", "answered_by", "answered_at", "version"]
    ReviewItem.objects.bulk_update(items, fields, batch_size=200)
    return review


def _acts(findings: Sequence[Finding], people: Sequence[str], count: int, dice: random.Random) -> None:
    made = islice(_done(findings, people, dice), count)
    while batch := list(islice(made, 5_000)):
        ActRecord.objects.bulk_create(batch, batch_size=500)


def _done(findings: Sequence[Finding], people: Sequence[str], dice: random.Random) -> Iterator[ActRecord]:
    """Acts about findings without end, some of a hundred at once."""
    now = timezone.now()
    told: tuple[tuple[str, dict[str, Any] | None, dict[str, Any]], ...] = (
        ("commented", None, {"text": TEXT}),
        ("decided", {"state": "open"}, {"state": "accepted", "reason": "Agreed", "expires_on": "2030-01-01"}),
        ("owned", {"owner": ""}, {"owner": people[-1]}),
    )
    while True:
        act, before, after = dice.choice(told)
        many = 100 if dice.random() < 0.01 else 1
        batch = uuid.UUID(int=dice.getrandbits(128)).hex if many > 1 else ""
        at, actor = now - timedelta(days=90) * dice.random(), dice.choice(people)
        for _ in range(many):
            finding = dice.choice(findings)
            yield ActRecord(
                at=at,
                actor=actor,
                via=dice.choice(ActRecord.Via.values),
                act=act,
                subject=finding_subject(finding).text,
                cluster=finding.cluster.name,
                namespace=finding.namespace,
                before=before,
                after=after,
                batch=batch,
            )
