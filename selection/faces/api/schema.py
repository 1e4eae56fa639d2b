"""The OpenAPI document, made from what the views say of themselves."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import uritemplate
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse

from selection.faces.api.examples import BAD_REQUEST, example_of
from selection.faces.api.parameters import IN_PATH, header
from selection.faces.api.problems import MEDIA_TYPE
from selection.faces.api.shapes import Problem

__all__ = ["BearerScheme", "ViewSchema", "with_problems"]

_TOLD: Mapping[int, str] = {
    400: "The request can't be answered as it was written; `errors` says what is wrong where.",
    404: "There is no such thing, or none that you may see.",
    409: "It doesn't go with how things are now.",
    412: "It isn't any more what `If-Match` names.",
    413: "The body is larger than what is read.",
    415: "The body isn't JSON.",
    422: "The body can be read, and what it says can't be.",
}
_DEFAULT = (
    "Any other problem: 401 without a sign-in or a token, 403 without the right, 406 for a form that there isn't, "
    "429 for asking too often, 500 for a fault of ours."
)
_SAME = header("If-None-Match", "The `ETag` of an earlier answer: when it still holds, the answer is a 304.")
_TAG = header("ETag", "Stands for this answer. It is weak: equal ones mean the same values.", response=[200, 304])


def with_problems(responses: Mapping[Any, Any], *statuses: int) -> dict[Any, Any]:
    """Responses of an operation, and the problems that it may answer with.

    Args:
        responses: by status, as ``extend_schema`` takes them.
        statuses: the statuses of problems that are worth a line of their own. All others are covered.
    """
    shown = {400: [BAD_REQUEST]}
    problems = {
        (status, MEDIA_TYPE): OpenApiResponse(Problem, _TOLD[status], examples=shown.get(status))
        for status in sorted(statuses)
    }
    return {**responses, **problems, ("default", MEDIA_TYPE): OpenApiResponse(Problem, _DEFAULT)}


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its registration
    """How a token is sent."""

    target_class = "ome_dashboard.permissions.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """The scheme's definition."""
        told = "A token that was made on the page of your tokens, or by `manage.py token`. Local mode needs none."
        return {"type": "http", "scheme": "bearer", "description": told}


class ViewSchema(AutoSchema):
    """Describes a view by its own attributes; ``extend_schema`` on a method goes before them."""

    view: Any

    def get_operation_id(self) -> str:
        """The view's ``operation``."""
        return getattr(self.view, "operation", "") or str(super().get_operation_id())

    def get_tags(self) -> list[str]:
        """The view's ``tag``."""
        return [self.view.tag]

    def get_summary(self) -> str:
        """The first line of the view's docstring."""
        return _docs(self.view)[0].rstrip(".")

    def get_description(self) -> str:
        """The rest of it."""
        return _docs(self.view)[1]

    def get_override_parameters(self) -> list[Any]:
        """What stands in the path, in the query, and the headers of what is read."""
        in_path = [IN_PATH[name] for name in uritemplate.variables(self.path) if name in IN_PATH]
        reads = self.method == "GET" and self.view.tagged
        return [*in_path, *self.view.parameters(), *([_SAME, _TAG] if reads else [])]

    def get_response_serializers(self) -> Any:
        """The view's shape, and the problems that it may answer with."""
        shape = getattr(self.view, "shape", None)
        if shape is None:
            return super().get_response_serializers()
        found: dict[Any, Any] = {200: OpenApiResponse(shape, self.get_summary())}
        if self.view.tagged:
            found[304] = OpenApiResponse(None, "It is what you have.")
        found.update({status: OpenApiResponse(*each) for status, each in self.view.further.items()})
        named = [404] if uritemplate.variables(self.path) else []
        return with_problems(found, 400, *named)

    def get_examples(self) -> list[Any]:
        """The view's ``examples``, or what the demo fleet answers."""
        return list(getattr(self.view, "examples", ())) or example_of(self.get_operation_id())


def _docs(view: Any) -> tuple[str, str]:
    first, _, rest = (inspect.getdoc(type(view)) or "").partition("\n")
    return first, rest.strip()
