"""Who may use the REST interface: by session, or by a token and within its scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission

from ome_dashboard.throttling import count_stranger
from selection.people.scopes import Scope

if TYPE_CHECKING:  # the views import this module by its name in the settings
    from rest_framework.request import Request
    from rest_framework.views import APIView

__all__ = ["BearerAuthentication", "ScopeOfToken", "SignedInUnlessLocal"]

REALM = 'Bearer realm="ome-dashboard"'


class TokenRefused(AuthenticationFailed):  # type: ignore[misc]  # the base has no types
    """A token that isn't taken, with a code that says why: ``token-`` and unknown, revoked, expired or inactive."""

    own_code = True


class ScopeTooSmall(PermissionDenied):  # type: ignore[misc]  # the base has no types
    """A token whose scope doesn't hold what was asked."""

    own_code = True


class BearerAuthentication(BaseAuthentication):  # type: ignore[misc]  # the base has no types
    """By the token that ``selection.people.bearer`` found. First in the settings, so that strangers get a 401."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """The user and the token; None when the request has no token.

        Raises:
            TokenRefused: it has one that isn't taken.
            Throttled: as before, and there were too many of those from this address.
        """
        refusal = getattr(request._request, "token_refusal", None)
        if refusal is not None:
            count_stranger(request)
            raise TokenRefused(refusal.detail, refusal.code)
        token = getattr(request._request, "token", None)
        return (token.user, token) if token is not None else None

    def authenticate_header(self, request: Request) -> str:
        """What a 401 says in ``WWW-Authenticate`` (RFC 6750, 3)."""
        refusal = getattr(request._request, "token_refusal", None)
        return f'{REALM}, error="invalid_token", error_description="{refusal.detail}"' if refusal else REALM


class SignedInUnlessLocal(BasePermission):  # type: ignore[misc]  # the base has no types
    """The same rule as for pages: in local mode everybody on this machine, otherwise who signed in or has a token."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Say whether this request may go on."""
        if settings.LOCAL or (request.user and request.user.is_authenticated):
            return True
        count_stranger(request)
        return False


class ScopeOfToken(BasePermission):  # type: ignore[misc]  # the base has no types
    """A token may do what its scope holds: ``read`` for safe methods, ``review`` for others.

    A view that needs another one says so in ``token_scopes``, by method: ``{"POST": Scope.READ}`` where posting only
    asks. Who has signed in needs no scope; what people may is decided elsewhere, for tokens too.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Say whether the token may.

        Raises:
            ScopeTooSmall: it may not; the message names the scope that is needed.
        """
        token = getattr(request._request, "token", None)
        if token is None:
            return True
        usual = Scope.READ if request.method in SAFE_METHODS else Scope.REVIEW
        wanted = Scope(getattr(view, "token_scopes", {}).get(request.method, usual))
        if Scope(token.scope).holds(wanted):
            return True
        raise ScopeTooSmall(f"This needs a token of the scope {wanted}; this one has {token.scope}.", "token-scope")
