"""Nothing that is answered tells a viewer of what they may not see.

The demo fleet is loaded with much that is hidden from the viewer, and once more without it. Every answer must be the
same both times, to the byte but for moments and primary keys: then no name, no count and no order tells of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from selection.faces import orders
from selection.store import evaluate, fleets, freshness, upgrades
from selection.store.models import Cluster, Finding
from tests.browser.pages import PAGES
from tests.faces.hidden_fleet import MARK, NAMESPACES, load_demo, write_of_hidden
from tests.faces.url_table import ROWS
from tests.people.cast import somebody

pytestmark = pytest.mark.django_db

LISTS = ("services", "runtimes", "models", "conflicts", "findings", "migration", "changes", "clusters")
#: Clusters and namespaces that the interface is asked about, each with a service and a runtime of theirs.
API_PLACES = (
    ("eu-prod", "frontier", "research-chat", "-", "sgl-fathom-pd", "fathom-moe-480b"),
    ("eu-prod", f"{MARK}frontier", f"{MARK}-research-chat", f"{MARK}retrieval", "sgl-fathom-pd", "fathom-moe-480b"),
    (f"{MARK}-dark", "evals", "judge", "-", "sgl-fathom-pd", "fathom-moe-480b"),
)
ASKED_OTHERWISE = {"api-v1:schema", "gallery", "login", *PAGES}
#: What is named by a number that only those know who see it, and findings, of which one is asked for.
NUMBERED = {
    "api-v1:schema",
    *(f"api-v1:{name}" for name in ("change", "comment", "finding", "finding-handling", "review", "review-items")),
    *(f"api-v1:review-{name}" for name in ("item", "refresh", "compare")),
}
QUERIES = (
    f"q={MARK}",
    f"namespace={MARK}frontier",
    f"cluster={MARK}-dark",
    "sort=-name",
    "page=2",
    f"cause_name={MARK}",
)

#: What differs from one look to the next: moments, ages, the keys of rows and forms, and what stands for a state.
_PASSING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00| UTC)?"), "MOMENT"),
    (re.compile(r"\b\d\d:\d\d(:\d\d)? UTC"), "MOMENT"),
    (re.compile(r"\b(just now|less than a second ago|\d+ (second|minute|s|min)s?( ago)?)\b"), "AGE"),
    (re.compile(r'name="csrfmiddlewaretoken" value="\w+"'), "TOKEN"),
    (re.compile(r"[0-9a-f]{12}\.([0-9a-f]{12}|x)\.[\d_-]*"), "SEEN"),
    (re.compile(r"\bedit=\d+"), "EDIT"),
    (re.compile(r'\bid="(change|kind)-\d+"'), "ROW"),
    (re.compile(r'"id": ?\d+|/changes/\d+"|"next": ?"[^"]*"'), "KEY"),
    (re.compile(r'"(evaluated_)?generation": ?\d+'), "STATE"),
    (re.compile(r"^(# .* )?(process|python|ome_dashboard_page)_.*\n", re.MULTILINE), ""),
    (re.compile(r"_(timestamp_seconds|seconds_sum)(\{[^}]*\})? \S+"), "MOMENT"),
)


def addresses() -> Iterator[str]:
    """What is asked for: every page of the browser's tests, exports of each, and whatever may tell of the hidden."""
    for name, found in PAGES.items():
        for address in found:
            yield address
            for form in ("json", *(["markdown"] if name.endswith(("plan", "order", "upgrade")) else [])):
                yield f"{address}{'&' if '?' in address else '?'}format={form}"
    for name, row in ROWS.items():
        if name.startswith("api-v1:") and row.get and name not in NUMBERED:
            yield from dict.fromkeys(_of(name, place) for place in API_PLACES)
    seen = Finding.objects.filter(cluster__name="eu-prod", namespace="frontier").order_by("key")[0]
    yield from (reverse(f"api-v1:{name}", kwargs={"key": seen.key}) for name in ("finding", "finding-handling"))
    for page in LISTS:
        for query in QUERIES:
            yield f"/{page}/?{query}"
    yield from (f"/search/?q={word}" for word in (MARK, f"ns:{MARK}frontier", "kind:namespace ns:f", "kind:cluster q"))
    yield f"/matrix/?cluster=eu-prod&namespace={MARK}frontier"
    yield f"/compare/services/?a=eu-prod/{MARK}frontier/{MARK}-research-chat&b=eu-prod/frontier/research-chat"
    yield f"/models/eu-prod/-/fathom-moe-480b/?namespace={MARK}frontier"
    yield f"/services/eu-prod/{MARK}frontier/{MARK}-research-chat/"
    yield "/services/eu-prod/frontier/zq7-research-chat/"
    yield f"/runtimes/eu-prod/{MARK}assistants/team-borealis/"
    yield f"/objects/eu-prod/InferenceService/{MARK}frontier/{MARK}-research-chat/"
    yield f"/services/{MARK}-dark/evals/judge/"
    yield f"/clusters/{MARK}-dark/settings/"
    yield f"/upgrade/?cluster={MARK}-dark"
    yield f"/?cluster={MARK}-dark"
    yield from (
        reverse(name) for name, row in ROWS.items() if row.get and row.of is None and name not in ASKED_OTHERWISE
    )


def _of(name: str, place: tuple[str, ...]) -> str:
    """An address of the interface, about a place."""
    cluster, namespace, service, scope, runtime, model = place
    names = {
        "cluster": cluster,
        "namespace": namespace,
        "kind": "InferenceService",
        "scope": namespace if name == "api-v1:object" else scope,
        "name": runtime if ":runtime" in name else model if ":model" in name else service,
    }
    of = ROWS[name].of
    return reverse(name, kwargs={key: names[key] for key in of("", "")} if of else {})


def body(response: HttpResponseBase) -> str:
    """The status and the text of an answer, read to its end as a server does, without what passes."""
    content = b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
    text = f"{response.status_code} {response.headers.get('Location', '')}\n{content.decode()}"
    for pattern, word in _PASSING:
        text = pattern.sub(word, text)
    return text


def forget() -> None:
    """Begin anew, as another process with another database would."""
    Cluster.objects.all().delete()
    fleets._loaded.clear()
    evaluate._seen.clear()
    upgrades._kept.clear()
    orders.forget_orders()
    freshness._recent = None


def asked(client: Client, *, hidden: bool) -> dict[str, str]:
    """Every answer to the viewer."""
    forget()
    load_demo(hidden=hidden)
    if hidden:
        write_of_hidden("ann")
    return {address: body(client.get(address)) for address in addresses()}


def test_every_answer_is_the_same_as_if_what_is_hidden_were_not_there(
    client: Client, server_mode: Settings, settings: Settings
) -> None:
    settings.API_LIMITS = dict.fromkeys(settings.API_LIMITS, 0)
    for cluster, namespaces in NAMESPACES.items():
        for namespace in namespaces:
            somebody("ann", cluster=cluster, namespace=namespace)
    client.force_login(somebody("ann", None))
    without, among = asked(client, hidden=False), asked(client, hidden=True)
    client.force_login(somebody("kim"))
    for page in ("services", "runtimes", "models", "conflicts", "changes"):
        assert MARK in body(client.get(f"/{page}/?format=json")), f"nothing is hidden on {page}"
    found = []
    for address in without:
        if without[address] != among[address]:
            lines = list(unified_diff(without[address].splitlines(), among[address].splitlines(), lineterm="", n=0))
            found.append("\n".join([address, *(line[:600] for line in lines[2:10])]))
    assert not found, "\n\n".join(found)
