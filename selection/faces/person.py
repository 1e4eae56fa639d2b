"""Who looks at a page, for its frame: the name stands at the top."""

from __future__ import annotations

from django.http import HttpRequest

from selection.people.persons import Person, person_or_none

__all__ = ["person"]


def person(request: HttpRequest) -> dict[str, Person | None]:
    """A context processor. There may be no user yet when a request is refused early."""
    return {"person": person_or_none(request)}
