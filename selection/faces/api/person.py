"""Who asks: so that a program can see for whom it acts, with which rights, and until when."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from selection.faces.api.shapes import Shape, Whole, flag, listed, moment, text, texts, whole
from selection.faces.api.views import ReadView
from selection.people.models import Token
from selection.people.persons import Person, person_of
from selection.people.rights import grants_of

__all__ = ["WhoAsks"]


class Acting(Whole):
    """The token of a request."""

    name = text("What it is for.")
    prefix = text("What it begins with.")
    scope = text("The most it may do: `read`, `review` or `admin`.")
    expires_at = moment("When it ends.")


class Given(Whole):
    """A role that was given."""

    role = text("`viewer`, `reviewer` or `admin`.")
    cluster = text("The cluster it is for; null for every one.", null=True)
    namespace = text("The namespace it is for; null for every one.", null=True)


class Asking(Shape):
    """Whoever asks."""

    name = text("The name that stands by what they write.")
    local = flag("Whether this is local mode, where nobody signs in and everybody may everything.")
    superuser = flag("Whether they may everything everywhere.")
    groups = texts("The groups of the account.")
    roles = listed(Given, "The roles of the account and of its groups.")
    token = whole(Acting, "The token they ask with; null for a session and in local mode.", null=True)


class WhoAsks(ReadView):
    """Read who asks.

    For whom a token acts, with which rights, and until when.
    """

    operation, tag, shape = "readPerson", "index", Asking

    def state(self, **names: str) -> Hashable:
        """No ETag: what it tells changes with rights and with time."""
        return None

    def value(self, wanted: frozenset[str] | None, **names: str) -> Any:
        """Whoever asks."""
        person = person_of(self.request)
        token: Token | None = getattr(self.request, "token", None)
        return {
            "name": person.name,
            "local": person.local,
            "superuser": person.local or bool(person.user and person.user.is_superuser),
            **_rights(person),
            "token": _told(token) if token is not None else None,
        }


def _rights(person: Person) -> dict[str, Any]:
    if person.user is None:
        return {"groups": [], "roles": []}
    return {
        "groups": list(person.user.groups.order_by("name").values_list("name", flat=True)),
        "roles": [
            {"role": grant.role, "cluster": grant.cluster or None, "namespace": grant.namespace or None}
            for grant in grants_of(person.user)
        ],
    }


def _told(token: Token) -> dict[str, Any]:
    return {"name": token.name, "prefix": token.prefix, "scope": token.scope, "expires_at": token.ends_at}
