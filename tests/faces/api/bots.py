"""Programs with tokens, for tests of what they write through the interface."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from selection.people.models import Role
from selection.people.scopes import Scope
from selection.people.tokens import create_token
from selection.store.models import Finding
from tests.faces.api.contract import answer_schema, complaints, operations
from tests.people.cast import somebody
from tests.people.writers import by

from .test_problems import problem

__all__ = ["ROOT", "SERVICE", "Bot", "answer_all", "items_of", "key_of", "opened", "soon"]

ROOT = "/api/v1"
SERVICE = "object:InferenceService/apps/chat/lab"


class Bot:
    """A program with a token; each answer is held against the OpenAPI document."""

    def __init__(self, name: str, role: Role | None, namespace: str = "apps", *, scope: Scope = Scope.REVIEW) -> None:
        user = somebody(name, role, cluster="lab", namespace=namespace)
        _, secret = create_token(user, f"{name}'s token", scope=scope, days=1, by=by("root"))
        self.client = Client(headers={"Authorization": f"Bearer {secret}"}, enforce_csrf_checks=True)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The response."""
        text = "" if body is None else json.dumps(body, default=str)
        return self.client.generic(method, f"{ROOT}{path}", text, "application/json")

    def done(self, method: str, path: str, body: Any = None, *, operation: str, status: int = 200) -> Any:
        """The answer of a success."""
        response = self.ask(method, path, body)
        assert response.status_code == status, response.content
        value = json.loads(response.content)
        told = next(each for name, _, each in operations(method.lower()) if name == operation)
        assert complaints(answer_schema(told, str(status), "application/json"), value) == []
        return value

    def refused(self, method: str, path: str, body: Any = None, *, status: int) -> dict[str, Any]:
        """The problem of a refusal."""
        return problem(self.ask(method, path, body), status)


def key_of(namespace: str) -> str:
    """The key of a finding of a namespace."""
    return str(
        Finding.objects.filter(namespace=namespace, gone_at=None).order_by("key").values_list("key", flat=True)[0]
    )


def soon() -> str:
    """A day to accept something until."""
    return (timezone.now().date() + timedelta(days=30)).isoformat()


def opened(bot: Bot, **more: Any) -> Any:
    """A review that the bot has opened of its namespace."""
    body = {"name": "Nightly", "places": [{"cluster": "lab", "namespace": "apps"}], **more}
    return bot.done("POST", "/reviews", body, operation="openReview", status=201)


def items_of(bot: Bot, review: Any) -> list[dict[str, Any]]:
    """The items of a review."""
    path = f"/reviews/{review['id']}/items?limit=500"
    return list(bot.done("GET", path, operation="listReviewItems")["items"])


def answer_all(bot: Bot, review: Any) -> None:
    """Everything is fine."""
    for item in items_of(bot, review):
        body = {"answer": "fine", "version": item["version"], "evidence": item["evidence"]}
        path = item["self"].removeprefix(ROOT)
        bot.done("PUT", f"{path}/answer", body, operation="answerReviewItem")
