"""Changes: what became different for services, from what to what, and which object's change caused it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from django.db.models import Max, Min, QuerySet

from selection.faces.api.lists import ListView, More, list_shape, row_value
from selection.faces.api.paths import address
from selection.faces.api.problems import NotFound
from selection.faces.api.shapes import Shape, Whole, anything, listed, moment, number, text
from selection.faces.api.states import of_answers
from selection.faces.api.views import ReadView
from selection.faces.pages.changes import CHANGES
from selection.store.models import Change
from selection.store.timeline import changes as all_changes

__all__ = ["ChangeDetail", "ChangeList"]


class OtherCause(Whole):
    """Something else that changed, and can have caused it."""

    kind = text("The object's kind.")
    namespace = text("Its namespace.")
    name = text("Its name.")
    act = text("What became of it.")


class ChangeRow(Shape):
    """One thing about a service that became another."""

    at = moment("When.")
    cluster = text("The cluster.")
    namespace = text("The service's namespace.")
    service = text("The service's name.")
    what = text("`service` (it came or went), `outcome`, `runtime`, `mode` or `conflict`.")
    component = text('The component, `""` for the whole service.')
    before = text('From what: a code, or `kind/namespace/name` of a runtime; `""` for nothing.')
    after = text("To what.")
    cause_kind = text('The kind of the object whose change caused it, `""` when none did.')
    cause_namespace = text("Its namespace.")
    cause_name = text("Its name.")
    cause_act = text("What became of it: `created`, `changed`, `recreated` or `deleted`.")
    cause_at = anything('When that was; `""` without a cause.')
    cause_old_version = text("Its resourceVersion before.")
    cause_new_version = text("Its resourceVersion after.")
    differences = anything("The deciding fields that differ, each with `path`, `before` and `after`.")
    more_differences = anything("How many more of them there are.")
    other_causes = listed(OtherCause, "What else changed that can have caused it.")
    reason = text("The cause in words, where no object is one.")
    id = number("Stands for this change.")
    self = text("The path of this resource.")


def _address(row: Change) -> str:
    return address("change", {"id": row.pk})


MORE: More = {"id": lambda row: row.pk, "self": _address}


class ChangeList(ListView):
    """List changes of services.

    The newest first unless `sort` says otherwise. What happened is kept for a time (`OME_DASHBOARD_KEEP_CHANGES_DAYS`).
    """

    operation, tag = "listChanges", "changes"
    row, shape = ChangeRow, list_shape(ChangeRow)
    listing, more = CHANGES, MORE
    identity, by = ("-at", "-pk"), "time, the newest first"

    def state(self, **names: str) -> Hashable:
        """What is kept; None where the query counts back from now."""
        if {"since", "until"} & set(self.request.query_params):
            return None
        ends = Change.objects.order_by().aggregate(Min("pk"), Max("pk"))
        return of_answers(), tuple(ends.values())

    def rows(self, **names: str) -> QuerySet[Change]:
        """Every change that is kept and seen."""
        return all_changes()


class ChangeDetail(ReadView):
    """Read a change."""

    operation, tag, shape = "readChange", "changes", ChangeRow

    def value(self, wanted: frozenset[str] | None, **names: Any) -> Any:
        """The change's row."""
        found = all_changes().filter(pk=names["id"]).first()
        if found is None:
            raise NotFound(f"There is no change {names['id']}, or it isn't kept any more.")
        return row_value(found, CHANGES, wanted, MORE)
