"""Naming what is to be deleted."""

from __future__ import annotations

import pytest

from selection.cluster.deletions import deletion_of, read_deletion
from selection.cluster.identities import Unusable

CHAT = ("InferenceService", "team", "chat", False)


@pytest.mark.parametrize(
    "text",
    [
        "InferenceService team/chat",
        "InferenceService/team/chat",
        "inferenceservice team/chat",
        "inferenceservices team/chat",
        "isvc team/chat",
        "  InferenceService   team / chat ",
    ],
)
def test_an_object_is_named_as_kubectl_names_it(text: str) -> None:
    assert read_deletion(text) == CHAT


def test_a_namespaced_object_without_a_namespace_stands_in_the_default_one() -> None:
    assert read_deletion("BaseModel llama") == ("BaseModel", "default", "llama", True)
    assert deletion_of("BaseModel", "", "llama") == ("BaseModel", "default", "llama", True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not KIND NAMESPACE/NAME or KIND NAME"),
        ("InferenceService", "is not KIND NAMESPACE/NAME or KIND NAME"),
        ("InferenceService a/b/c", "is not KIND NAMESPACE/NAME or KIND NAME"),
        ("ConfigMap team/a", "'ConfigMap' is no kind that is read"),
        ("ClusterServingRuntime team/fast", "ClusterServingRuntime is cluster-scoped: name it without a namespace"),
        ("InferenceService team/Chat", "metadata.name 'Chat' is not a name that Kubernetes takes"),
        ("InferenceService TEAM/chat", "metadata.namespace 'TEAM' is not a name that Kubernetes takes"),
        (f"{'x' * 5000} a", f"{'x' * 80!r} is no kind that is read"),
    ],
)
def test_what_cant_be_meant_is_refused_in_words(text: str, told: str) -> None:
    with pytest.raises(Unusable) as error:
        read_deletion(text)
    assert told in str(error.value)
