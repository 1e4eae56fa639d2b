"""The addresses of the pages of what people write, and of accounts: which are measured, as whom, and which can't be."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import cycle, islice
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Count
from django.urls import reverse

from selection.people.models import ActRecord, Comment, Grant, Handling, Review
from selection.people.persons import local_person
from selection.store.models import Cluster, Finding, ServiceResult

__all__ = ["NOT_MEASURED", "SIGNED_IN", "signed_in_addresses", "viewer_addresses", "written_addresses"]

NOT_MEASURED: Mapping[str, str] = {
    "handling": "leads to the finding's page, and takes forms",
    "say": "leads to the page of what is discussed, and takes forms",
    "review-participants": "takes forms",
    "token-revoke": "takes forms",
    "set-password": "takes a link that holds once; it reads one account",
}
"""Pages that aren't measured, and why not."""

SIGNED_IN = ("account", "password", "tokens", "rights", "accounts", "account-of")
"""Pages of accounts, which are asked for by one that may everything."""

AS_VIEWER = ("overview", "services", "findings", "changes", "runtimes", "models", "migration", "mine", "acts")
"""Pages that are asked for once more by somebody who sees some namespaces: there counts are made anew."""

TOGETHER = 50
"""As many findings are chosen as a page of the list shows."""


def written_addresses(cluster: Cluster, rounds: int) -> dict[str, list[str]]:
    """``rounds`` addresses of each page of what people wrote, by the page's name and how it is asked for."""
    dice = random.Random(3)

    def some(rows: Any) -> list[Any]:
        found = sorted(rows)
        dice.shuffle(found)
        return list(islice(cycle(found), rounds))

    stream = Finding.objects.filter(cluster=cluster)
    handled = Handling.objects.filter(cluster=cluster.name).order_by().values_list("key", flat=True)
    keys = some(handled.filter(key__in=stream.filter(gone_at=None).values("key")))
    chosen = urlencode({"key": list(dict.fromkeys(handled[:TOGETHER]))}, doseq=True)
    batches = ActRecord.objects.exclude(batch="").order_by().values_list("batch", flat=True).distinct()
    comments = Comment.objects.filter(author=local_person().name).order_by().values_list("pk", flat=True)
    large, small = _review(), _review(last=True)
    items = [reverse("review-item", args=[large.pk, place]) for place in range(1, large.items.count() + 1)]
    found = {
        "finding": [reverse("finding", args=[key]) for key in some(stream.order_by().values_list("key", flat=True))],
        "finding, decided": [reverse("finding", args=[key]) for key in keys],
        "finding, much discussed": [reverse("finding", args=[_busiest()])] * rounds,
        "together": [f"{reverse('together')}?{chosen}"] * rounds,
        "together, all that a filter leaves": [f"{reverse('together')}?all=1&severity=error"] * rounds,
        "done-together": [reverse("done-together", args=[batch]) for batch in some(batches)],
        "comment": [reverse("comment", args=[number]) for number in some(comments)],
        "review": [reverse("review", args=[large.pk])] * rounds,
        "review, of one team": [reverse("review", args=[small.pk])] * rounds,
        "review, last page": [f"{reverse('review', args=[large.pk])}?page=100000"] * rounds,
        "review-item": some(items),
        "review-compare": [f"{reverse('review-compare', args=[large.pk])}?with={small.pk}"] * rounds,
    }
    for act in ("sign", "refresh", "close"):
        name = "review-act" if act == "sign" else f"review-act, {act}"
        found[name] = [reverse("review-act", args=[large.pk, act])] * rounds
    return found


def signed_in_addresses(rounds: int) -> Iterator[tuple[str, list[str]]]:
    """``rounds`` addresses of each page of accounts."""
    names = list(islice(cycle(User.objects.order_by("username").values_list("username", flat=True)), rounds))
    for name in SIGNED_IN:
        yield name, [reverse(name, args=[each]) for each in names] if name == "account-of" else [reverse(name)] * rounds


def viewer_addresses(cluster: Cluster, viewer: str, rounds: int) -> Iterator[tuple[str, list[str]]]:
    """``rounds`` addresses of pages, as somebody asks for them who sees some namespaces."""
    for name in AS_VIEWER:
        yield f"{name}, as a viewer", [reverse(name)] * rounds
    seen = Grant.objects.filter(user__username=viewer).values("namespace")
    rows = ServiceResult.objects.filter(cluster=cluster, namespace__in=seen).order_by("name")
    services = islice(cycle(rows.values_list("namespace", "name")), rounds)
    yield "service, as a viewer", [reverse("service", args=[cluster.name, *of]) for of in services]


def _busiest() -> str:
    """The key of the finding about which most was said."""
    counted = Comment.objects.order_by().values_list("subject").annotate(rows=Count("pk")).order_by("-rows")
    return str(counted[0][0]).removeprefix("finding:")


def _review(*, last: bool = False) -> Review:
    """The larger of the reviews, or the other one."""
    return Review.objects.annotate(rows=Count("items")).order_by("rows" if last else "-rows", "pk")[0]
