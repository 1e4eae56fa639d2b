"""Every address of the dashboard, by its name: who may ask it with which method, of which place.

A new address has no row here, and :mod:`tests.faces.test_url_table` fails until it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from selection.people.models import ActRecord, Comment, Review, ReviewItem
from selection.people.subjects import object_subject
from selection.rules.objects import ObjectRef
from selection.store.models import Change, Finding

__all__ = ["OWNER", "ROWS", "TOKEN", "Row", "names_of_urls"]

OWNER = "ola"
"""Somebody whose account and token others ask for."""

TOKEN = 1
"""The primary key of that token."""

Names = Mapping[str, Any]
Of = Callable[[str, str], Names]
"""From a cluster and a namespace to the names in an address."""


@dataclass(frozen=True)
class Row:
    """An address.

    Attributes:
        of: the names in the address of a place's object; None when it is about no place.
        query: its query, of a place.
        clustered: whether the object is the cluster's, so that every namespace of the cluster sees it.
        get: who may look: ``anybody``, ``signed-in`` (with or without a right), ``seer`` (who sees the place, or
            anything when it is about none), ``reviewer``, ``place-admin`` and ``admin`` (of the
            place, and of the whole cluster), ``reviewing`` and ``granter`` (a
            reviewer or an admin of anything), ``root`` (an admin everywhere), ``""`` for nobody.
        post, put, patch, delete: who may write, likewise; with ``body``. ``author`` is nobody who asks.
        stranger: the status for who hasn't signed in, where it isn't the usual one.
    """

    of: Of | None = None
    query: Callable[[str, str], str] | None = None
    clustered: bool = False
    get: str = "seer"
    post: str = ""
    put: str = ""
    patch: str = ""
    delete: str = ""
    body: Mapping[str, Any] | Of = field(default_factory=dict)
    stranger: int | None = None

    def sent(self, cluster: str, namespace: str) -> Names:
        """What is sent, of a place."""
        return self.body(cluster, namespace) if callable(self.body) else self.body

    def address(self, name: str, cluster: str, namespace: str) -> str:
        """The address of a place."""
        kwargs = self.of(cluster, namespace) if self.of else {}
        query = f"?{self.query(cluster, namespace)}" if self.query else ""
        return reverse(name, kwargs=dict(kwargs)) + query


def _cluster(cluster: str, namespace: str) -> Names:
    return {"cluster": cluster}


def _service(cluster: str, namespace: str) -> Names:
    return {"cluster": cluster, "namespace": namespace, "name": "chat"}


def _own(cluster: str, namespace: str) -> Names:
    return {"cluster": cluster, "scope": namespace, "name": "own"}


def _object(cluster: str, namespace: str) -> Names:
    return {"cluster": cluster, "kind": "InferenceService", "scope": namespace, "name": "chat"}


def _candidate(cluster: str, namespace: str) -> Names:
    return {**_service(cluster, namespace), "scope": "-", "runtime": "small"}


def _model_candidate(cluster: str, namespace: str) -> Names:
    return {**_own(cluster, namespace), "runtime_scope": "-", "runtime": "small"}


def _kind(cluster: str, namespace: str) -> Names:
    return {"cluster": cluster, "kind": "InferenceService"}


def _change(cluster: str, namespace: str) -> Names:
    row = Change.objects.filter(cluster__name=cluster, namespace=namespace, service="chat").first()
    assert row is not None
    return {"id": row.pk}


def _finding(cluster: str, namespace: str) -> Names:
    row = Finding.objects.filter(cluster__name=cluster, namespace=namespace).first()
    assert row is not None
    return {"key": row.key}


def _review(cluster: str, namespace: str) -> Names:
    return {"number": Review.objects.get(places__cluster=cluster, places__namespace=namespace).pk}


def _item(cluster: str, namespace: str) -> Names:
    return {**_review(cluster, namespace), "place": 1}


def _answer(cluster: str, namespace: str) -> Names:
    item = ReviewItem.objects.get(review=_review(cluster, namespace)["number"], place=1)
    return {"key": item.key, "answer": "fine", "version": item.version, "evidence": item.evidence}


def _act(cluster: str, namespace: str) -> Names:
    return {**_review(cluster, namespace), "act": "close"}


def _comment(cluster: str, namespace: str) -> Names:
    return {"number": Comment.objects.get(cluster=cluster, namespace=namespace).pk}


def _batch(cluster: str, namespace: str) -> Names:
    rows = ActRecord.objects.filter(cluster=cluster, namespace=namespace).exclude(batch="")
    return {"batch": rows.values_list("batch", flat=True)[0]}


def _api_review(cluster: str, namespace: str) -> Names:
    return {"review": _review(cluster, namespace)["number"]}


def _api_item(cluster: str, namespace: str) -> Names:
    return {**_api_review(cluster, namespace), "item": "1"}


def _api_answer(cluster: str, namespace: str) -> Names:
    return {"answer": "fine", "version": _answer(cluster, namespace)["version"]}


def _api_participant(cluster: str, namespace: str) -> Names:
    return {**_api_review(cluster, namespace), "person": "a test"}


def _api_comment(cluster: str, namespace: str) -> Names:
    return {"comment": _comment(cluster, namespace)["number"]}


def _api_with(cluster: str, namespace: str) -> str:
    return urlencode({"with": _review(cluster, namespace)["number"]})


def _new_review(cluster: str, namespace: str) -> Names:
    return {"name": "another", "places": [{"cluster": cluster, "namespace": namespace}]}


def _new_comment(cluster: str, namespace: str) -> Names:
    return {"subject": object_subject(cluster, ObjectRef("InferenceService", namespace, "chat")).text, "text": "Yes."}


def _many(cluster: str, namespace: str) -> Names:
    return {"keys": [_finding(cluster, namespace)["key"]], "owner": "", "dry_run": True}


def _subject(cluster: str, namespace: str) -> str:
    return urlencode({"subject": object_subject(cluster, ObjectRef("InferenceService", namespace, "chat")).text})


def _pair(cluster: str, namespace: str) -> str:
    return f"a={cluster}/{namespace}/chat&b={cluster}/{namespace}/long"


def _pair_of_own(cluster: str, namespace: str) -> str:
    return f"a={cluster}/{namespace}/own&b={cluster}/{namespace}/own-too"


def _in_cluster(cluster: str, namespace: str) -> str:
    return f"cluster={cluster}"


_OF_CLUSTER: dict[str, Any] = {"of": _cluster, "clustered": True}

ROWS: Mapping[str, Row] = {
    # people
    "login": Row(get="anybody", post="anybody"),
    "logout": Row(get="", post="anybody"),
    "account": Row(get="signed-in"),
    "password": Row(get="signed-in", post="signed-in"),
    "set-password": Row(lambda *_: {"uidb64": "Mg", "token": "used-link"}, get="anybody", post="anybody"),
    "tokens": Row(get="signed-in", post="signed-in"),
    "token-revoke": Row(lambda *_: {"token": TOKEN}, get="", post="root"),
    "rights": Row(get="granter", post="granter"),
    "accounts": Row(get="root", post="root"),
    "account-of": Row(lambda *_: {"name": OWNER}, get="root", post="root", body={"do": "link"}),
    # programs and frames
    "live": Row(get="signed-in", stranger=403),
    "metrics": Row(get="signed-in", stranger=401),
    "gallery": Row(get=""),
    # pages about everything
    "overview": Row(),
    "search": Row(),
    "services": Row(),
    "matrix": Row(),
    "conflicts": Row(),
    "findings": Row(),
    "severities": Row(post="root"),
    "together": Row(get="reviewing", post="reviewing"),
    "acts": Row(),
    "mine": Row(),
    "reviews": Row(),
    "review-new": Row(get="reviewing", post="reviewing"),
    "migration": Row(),
    "migration-order": Row(),
    "upgrade": Row(query=_in_cluster, clustered=True),
    "changes": Row(),
    "runtimes": Row(),
    "models": Row(),
    "clusters": Row(),
    "what-if": Row(post="seer"),
    "api-docs": Row(get="signed-in"),
    # pages about one thing
    "service": Row(_service),
    "candidate": Row(_candidate),
    "compare-candidates": Row(_service),
    "compare-services": Row(query=_pair),
    "compare-models": Row(query=_pair_of_own),
    "compare-runtimes": Row(query=_pair_of_own),
    "service-plan": Row(_service),
    "runtime-plan": Row(_own),
    "runtime": Row(_own),
    "model": Row(_own),
    "model-candidate": Row(_model_candidate),
    "object": Row(_object),
    "finding": Row(_finding),
    "handling": Row(_finding, post="reviewer", body={"do": "take"}),
    "done-together": Row(_batch, post="reviewer"),
    "say": Row(query=_subject, post="reviewer"),
    "comment": Row(_comment, get="place-admin", post="place-admin"),
    "review": Row(_review),
    "review-item": Row(_item, post="reviewer", body=_answer),
    "review-participants": Row(_review, get="", post="reviewer", body={"add": OWNER}),
    "review-compare": Row(_review),
    "review-act": Row(_act, get="reviewer", post="reviewer"),
    "cluster-add": Row(get="root", post="root"),
    "cluster-settings": Row(**_OF_CLUSTER, get="admin", post="admin", body={"do": "stop"}),
    "cluster-forget": Row(**_OF_CLUSTER, get="admin", post="admin"),
    # the interface for programs
    "api-v1:root": Row(get="signed-in"),
    "api-v1:person": Row(get="signed-in"),
    "api-v1:schema": Row(get="signed-in"),
    "api-v1:clusters": Row(get="signed-in"),
    "api-v1:cluster": Row(**_OF_CLUSTER),
    "api-v1:kinds": Row(get="signed-in"),
    "api-v1:kind": Row(_kind, clustered=True),
    "api-v1:objects": Row(get="signed-in"),
    "api-v1:object": Row(_object),
    "api-v1:services": Row(get="signed-in"),
    "api-v1:service": Row(_service),
    "api-v1:service-explanation": Row(_service),
    "api-v1:runtimes": Row(get="signed-in"),
    "api-v1:runtime": Row(_own),
    "api-v1:runtime-services": Row(_own),
    "api-v1:models": Row(get="signed-in"),
    "api-v1:model": Row(_own),
    "api-v1:model-explanation": Row(_own),
    "api-v1:model-services": Row(_own),
    "api-v1:conflicts": Row(get="signed-in"),
    "api-v1:findings": Row(get="signed-in"),
    "api-v1:finding": Row(_finding),
    "api-v1:finding-handling": Row(_finding, put="reviewer", patch="reviewer", body={"state": "open", "version": 0}),
    "api-v1:handlings": Row(get="", post="reviewer", body=_many),
    "api-v1:comments": Row(get="signed-in", post="reviewer", body=_new_comment),
    "api-v1:comment": Row(_api_comment, patch="author", delete="place-admin", body={"text": "No.", "version": 1}),
    "api-v1:reviews": Row(get="signed-in", post="reviewer", body=_new_review),
    "api-v1:review": Row(_api_review),
    "api-v1:review-items": Row(_api_review),
    "api-v1:review-item": Row(_api_item),
    "api-v1:review-answer": Row(_api_item, get="", put="reviewer", body=_api_answer),
    "api-v1:review-refresh": Row(_api_review, post="reviewer", body={"version": 1}),
    "api-v1:review-sign": Row(_api_review, get="", post="reviewer", body={"version": 1, "answers": "other"}),
    "api-v1:review-unsign": Row(_api_review, get="", post="reviewer"),
    "api-v1:review-close": Row(_api_review, get="", post="reviewer", body={"version": 1}),
    "api-v1:review-reopen": Row(_api_review, get="", post="reviewer", body={"version": 1}),
    "api-v1:review-participants": Row(_api_review, get="", post="reviewer", body={"names": [OWNER]}),
    "api-v1:review-participant": Row(_api_participant, get="", delete="reviewer"),
    "api-v1:review-compare": Row(_api_review, query=_api_with),
    "api-v1:acts": Row(get="signed-in"),
    "api-v1:undo": Row(_batch, get="", post="reviewer"),
    "api-v1:changes": Row(get="signed-in"),
    "api-v1:change": Row(_change),
    "api-v1:migration-components": Row(get="signed-in"),
    "api-v1:migration-runtimes": Row(get="signed-in"),
    "api-v1:service-plan": Row(_service),
    "api-v1:runtime-plan": Row(_own),
    "api-v1:migration-order": Row(**_OF_CLUSTER),
    "api-v1:migration-order-services": Row(**_OF_CLUSTER),
    "api-v1:migration-order-runtimes": Row(**_OF_CLUSTER),
    "api-v1:upgrade": Row(**_OF_CLUSTER),
    "api-v1:upgrade-services": Row(**_OF_CLUSTER),
    "api-v1:upgrade-runtimes": Row(**_OF_CLUSTER),
    "api-v1:upgrade-objects": Row(**_OF_CLUSTER),
    "api-v1:upgrade-changes": Row(**_OF_CLUSTER),
    "api-v1:what-if": Row(get="", post="signed-in", body={"manifests": []}),
}


def names_of_urls() -> list[str]:
    """The name of every address that the resolver knows; one without a name is an error."""
    return sorted(set(_names(get_resolver(), "")))


def _names(resolver: URLResolver, prefix: str) -> Iterator[str]:
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            yield from _names(each, f"{prefix}{each.namespace}:" if each.namespace else prefix)
        else:
            assert isinstance(each, URLPattern)
            assert each.name, f"{each.pattern} has no name"
            yield prefix + each.name
