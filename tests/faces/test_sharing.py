"""Pages that fetch themselves again are drawn once for all who look at the same thing."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import Settings

from selection.faces import sharing
from selection.faces.sharing import SharedPages
from selection.store.freshness import freshness
from selection.store.models import Cluster, KindSync
from tests.faces.clusters import text_of
from tests.faces.small_fleet import load
from tests.people.cast import somebody

LIVE = {"X-Live": "1"}
PAGE = (
    '<html><head><title>T</title></head><nav>rail</nav><main id="main" class="main">{}</main><footer></footer></html>'
)


@pytest.fixture
def fleet(db: None) -> Cluster:
    return load()


class Drawing:
    """Draws a page and counts how often."""

    def __init__(self, inside: str = "content", status: int = 200) -> None:
        self.times, self.inside, self.status = 0, inside, status

    def __call__(self) -> HttpResponse:
        self.times += 1
        return HttpResponse(PAGE.format(f"{self.inside} {self.times}"), status=self.status)


def asked(path: str = "/services/") -> HttpRequest:
    return RequestFactory().get(path)


def test_it_answers_with_the_title_and_the_content_alone(client: Client, fleet: Cluster) -> None:
    whole, part = client.get("/services/"), client.get("/services/", headers=LIVE)
    text = part.content.decode()
    assert text.startswith("<title>Services")
    assert text.endswith("</main>")
    assert "freshness" not in text
    assert text.partition("<main")[2] in whole.content.decode()
    assert "no-store" in part.headers["Cache-Control"]
    assert "X-Live" in part.headers["Vary"]


def test_one_draws_for_all_while_nothing_changes(fleet: Cluster) -> None:
    pages, draw = SharedPages(), Drawing()
    answers = {pages.answer(asked(), freshness(), draw).content for _ in range(5)}  # type: ignore[attr-defined]
    assert answers == {b'<title>T</title><main id="main" class="main">content 1</main>'}
    pages.answer(asked("/services/?page=2"), freshness(), draw)
    assert draw.times == 2


def test_a_picture_in_the_page_may_have_a_title_of_its_own(fleet: Cluster) -> None:
    draw = Drawing("<svg><title>a picture</title></svg>")
    content = SharedPages().answer(asked("/"), freshness(), draw).content  # type: ignore[attr-defined]
    assert content.startswith(b'<title>T</title><main id="main"')
    assert content.count(b"<svg>") == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda: Cluster.objects.update(generation=99),
        lambda: Cluster.objects.update(answers_generation=99),
        lambda: Cluster.objects.update(sync_error="gone"),
        lambda: Cluster.objects.update(ome_version="1.2"),
        lambda: KindSync.objects.filter(kind="BaseModel").update(outcome="failed"),
        lambda: KindSync.objects.filter(kind="BaseModel").update(last_event_at=timezone.now()),
        lambda: load([], name="another"),
        lambda: Cluster.objects.all().delete(),
    ],
)
def test_whatever_changes_has_it_drawn_anew(fleet: Cluster, change: Any) -> None:
    pages, draw = SharedPages(), Drawing()
    pages.answer(asked(), freshness(), draw)
    change()
    pages.answer(asked(), freshness(), draw)
    assert draw.times == 2


def test_it_is_not_kept_for_long(fleet: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    pages, draw = SharedPages(), Drawing()
    pages.answer(asked(), freshness(), draw)
    monkeypatch.setattr(sharing, "FOR", -1.0)
    pages.answer(asked(), freshness(), draw)
    assert draw.times == 2


@pytest.mark.parametrize(
    "mark", ["<input name='csrfmiddlewaretoken'>", "<div data-keep>Saved</div>", "<p data-own>Yours</p>"]
)
def test_what_is_one_persons_own_is_not_shared(fleet: Cluster, mark: str) -> None:
    pages, draw = SharedPages(), Drawing(mark)
    for _ in range(2):
        pages.answer(asked(), freshness(), draw)
    assert draw.times == 2


def test_an_answer_that_is_no_page_is_passed_on_and_not_kept(fleet: Cluster) -> None:
    pages, draw = SharedPages(), Drawing(status=404)
    for _ in range(2):
        response = pages.answer(asked(), freshness(), draw)
        assert response.status_code == 404
        assert b"rail" in response.content  # type: ignore[attr-defined]
    assert draw.times == 2


def test_an_error_leaves_nothing_behind(fleet: Cluster) -> None:
    pages, draw = SharedPages(), Drawing()

    def broken() -> HttpResponse:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        pages.answer(asked(), freshness(), broken)
    assert pages.answer(asked(), freshness(), draw).status_code == 200


def test_those_who_come_together_wait_for_one(fleet: Cluster) -> None:
    pages, state, draw, begun, go = SharedPages(), freshness(), Drawing(), threading.Event(), threading.Event()

    def slowly() -> HttpResponse:
        begun.set()
        assert go.wait(10)
        return draw()

    threads = [threading.Thread(target=pages.answer, args=(asked(), state, slowly)) for _ in range(6)]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    go.set()
    for thread in threads:
        thread.join(10)
    assert draw.times == 1


def test_memory_is_bounded(fleet: Cluster) -> None:
    pages, state, draw = SharedPages(), freshness(), Drawing()
    for number in range(3 * SharedPages.KEPT):
        pages.answer(asked(f"/services/?page={number}"), state, draw)
    assert len(pages._pages) == SharedPages.KEPT


def test_nobody_gets_a_page_without_signing_in(client: Client, fleet: Cluster, server_mode: Settings) -> None:
    assert client.get("/services/", headers=LIVE).status_code == 302
    client.force_login(somebody("ann"))
    assert "chat" in text_of(client.get("/services/", headers=LIVE))
    client.logout()
    assert client.get("/services/", headers=LIVE).status_code == 302


def test_what_is_gone_is_answered_with_the_page_that_says_so(client: Client, fleet: Cluster) -> None:
    response = client.get("/services/lab/apps/no-such/", headers=LIVE)
    assert response.status_code == 404
    assert "There is no such InferenceService" in text_of(response)
