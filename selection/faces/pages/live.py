"""What open pages ask once a second: is there anything new?"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import Resolver404, resolve
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from selection.faces.seen import NOTHING, Scope, Seen, page_changed, scope_of, seen_of
from selection.faces.strip import strip_values
from selection.store.freshness import recent_freshness

__all__ = ["live"]


@require_GET
@never_cache
@login_not_required  # it answers for itself: a page to sign in on is no answer to a script
def live(request: HttpRequest) -> HttpResponse:
    """Answer 204 while nothing differs from what the page has ``?seen=``, otherwise the strip anew.

    When what the page shows has changed too, the answer raises ``fleet-changed`` in it, and it fetches itself. Who has
    signed out is told so with 403. Nothing is written, neither to the database nor to the session.
    """
    if not settings.LOCAL and not request.user.is_authenticated:
        return HttpResponse("Sign in again.\n", status=403, content_type="text/plain")
    state = recent_freshness()
    then = Seen.parse(request.GET.get("seen", ""))
    frozen = then is not None and then.health == "x"
    scope = NOTHING if frozen else _scope(request.headers.get("HX-Current-URL", ""))
    now = seen_of(state, scope)
    changed = then is None or page_changed(state, scope, then)
    if then is not None and not changed and now.strip == then.strip:
        return HttpResponse(status=204)
    response = render(request, "components/freshness.html", strip_values(state, now))
    if changed and scope.live:
        response.headers["HX-Trigger"] = "fleet-changed"
    return response


def _scope(address: str) -> Scope:
    """What the page that asks shows; its address is where htmx says that it stands now."""
    try:
        parts = urlsplit(address)
        return scope_of(resolve(unquote(parts.path)), QueryDict(parts.query))
    except (ValueError, Resolver404):
        return NOTHING
