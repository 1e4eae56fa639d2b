"""Finding objects by pieces of their names."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from selection.store.search import GROUPS, Asked, find_clusters, find_namespaces, find_objects, parse
from tests.faces.clusters import store
from tests.rules.manifests import a_model, a_runtime, a_service, deployed

pytestmark = pytest.mark.django_db


def names(text: str, group: str = "services", limit: int = 10) -> list[str]:
    """What is found of a group, in order."""
    hits = find_objects(parse(text), limit).get(group)
    return [f"{each.ref.namespace}/{each.ref.name}" for each in hits.rows] if hits else []


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("", Asked()),
        ("  chat  Bot ", Asked(("chat", "Bot"))),
        ("kind:services chat", Asked(("chat",), "services")),
        ("KIND:ClusterServingRuntime", Asked((), "runtimes")),
        ("namespace:team cluster:prod a", Asked(("a",), "", "team", "prod")),
        ("kind: ns: a", Asked(("a",))),
        ("kind:pod", Asked((), "none")),
        ("a\0b", Asked(("ab",))),
        (" ".join("abcdefghijkl"), Asked(tuple("abcdefgh"))),
    ],
)
def test_what_is_typed_is_words_and_prefixes(text: str, asked: Asked) -> None:
    assert parse(text) == asked


def test_the_exact_name_comes_first_then_beginnings_then_parts() -> None:
    store(*(a_service(name) for name in ("achatty", "my-chat", "chat-bot", "Chat", "other")))

    assert names("chat") == ["team/Chat", "team/chat-bot", "team/my-chat", "team/achatty"]


def test_every_word_must_be_in_the_name_or_the_namespace() -> None:
    store(a_service("chat", "apps"), a_service("chat", "labs"), a_service("bot", "apps"))

    assert names("chat app") == ["apps/chat"]
    assert names("lab/ch") == ["labs/chat"]
    assert names("app") == ["apps/bot", "apps/chat"]


def test_prefixes_narrow_to_a_kind_a_namespace_and_a_cluster() -> None:
    store(a_service("chat", "apps"), a_runtime("chat-runtime"), a_model("chat-model"), name="prod")
    store(a_service("chat", "labs"), name="test")

    assert set(find_objects(parse("chat"), 5)) == {"services", "runtimes", "models"}
    assert set(find_objects(parse("kind:model chat"), 5)) == {"models"}
    assert names("ns:la chat") == ["labs/chat"]
    assert names("cluster:pr chat") == ["apps/chat"]
    assert find_objects(parse("kind:pod chat"), 5) == {}
    assert find_objects(parse("kind:cluster chat"), 5) == {}


def test_kinds_without_a_group_of_their_own_are_found_too() -> None:
    store(a_service("chat"), deployed("Deployment", service="chat"))

    assert [each.ref.kind for each in find_objects(parse("chat"), 5)["workloads"].rows] == ["Deployment"]
    assert {kind for kinds in GROUPS.values() for kind in kinds} >= {"Deployment", "InferenceService"}


def test_a_group_says_how_many_there_are_beyond_its_limit() -> None:
    store(*(a_service(f"chat-{number:02}") for number in range(12)))
    hits = find_objects(parse("chat"), 5)["services"]

    assert (len(hits.rows), hits.count) == (5, 12)


@pytest.mark.parametrize("text", ["%", "_", "\\", "'; DROP TABLE", "a%b", "x" * 5000])
def test_signs_of_the_database_are_only_text(text: str) -> None:
    store(a_service("chat"))

    assert find_objects(parse(text), 5) == {}
    assert find_namespaces(parse(text), 5) == []


def test_namespaces_and_clusters_are_found_by_their_names() -> None:
    store(a_service("a", "apps"), a_service("b", "apps"), a_service("c", "apps-eu"), name="prod-apps")

    assert find_namespaces(parse("apps"), 5) == [("prod-apps", "apps", 2), ("prod-apps", "apps-eu", 1)]
    assert find_namespaces(parse("kind:model apps"), 5) == []
    assert find_clusters(parse("apps"), 5) == ["prod-apps"]
    assert find_clusters(parse("ns:apps"), 5) == []


def test_the_number_of_queries_does_not_grow_with_what_is_found(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    store(a_runtime("a-r"), a_model("a-m"), *(a_service(f"a-{number}", f"a-{number % 7}") for number in range(60)))

    with django_assert_max_num_queries(8):
        find_objects(parse("a"), 50)
        find_namespaces(parse("a"), 50)
        find_clusters(parse("a"), 50)
