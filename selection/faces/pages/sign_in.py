"""Signing in, and the answer to who has tried it too often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

__all__ = ["locked_out", "sign_in"]


def _no_account_yet() -> bool:
    return not User.objects.exists()


sign_in = LoginView.as_view(
    redirect_authenticated_user=True,
    extra_context={"no_account_yet": _no_account_yet},  # asked by the template
)
"""The page at ``/login/``. On a new server it says how the first account is made."""


def locked_out(
    request: HttpRequest, response: HttpResponse | None = None, credentials: Mapping[str, Any] | None = None
) -> HttpResponse:
    """The sign-in page again, which says for how long this name has to wait from this address (429)."""
    wait = int(settings.AXES_COOLOFF_TIME.total_seconds())
    values = {
        "form": AuthenticationForm(request),
        "next": request.POST.get("next", ""),
        "name": str((credentials or {}).get("username") or ""),
        "tries": settings.AXES_FAILURE_LIMIT,
        "wait_minutes": wait // 60,
    }
    page = render(request, "registration/login.html", values, status=429)
    page.headers["Retry-After"] = str(wait)
    return page
