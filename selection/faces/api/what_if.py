"""What-if: manifests to add, change or delete, on top of a cluster as it stands or on nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from selection.cluster.pasted import Refusal, read_body, read_pasted
from selection.cluster.yamltext import DocumentError
from selection.faces.api.parameters import query, refused
from selection.faces.api.problems import BadRequest, NotFound, TooLarge
from selection.faces.api.rendering import MOST, BodyParser
from selection.faces.api.schema import with_problems
from selection.faces.api.views import ApiView
from selection.faces.api.what_if_shapes import WhatIfAnswer, WhatIfRequest
from selection.faces.supposing import Deletions, deletions_of, limits
from selection.rules.what_if_answer import EXPLAINED
from selection.store.lookup import find_cluster
from selection.store.what_if import Supposed, suppose

__all__ = ["WhatIf", "WhatIfParser"]


class Refused(BadRequest):
    """What was given can be read as JSON, and isn't used."""

    status_code = 422


class WhatIfParser(BodyParser):
    """Reads the body within the limits of pasted manifests, so that none grows in memory beyond its size."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """The body as a value.

        Raises:
            TooLarge: it is larger than what is read.
            BadRequest: it isn't JSON, or goes beyond a limit.
        """
        body = stream.read(MOST + 1)
        if len(body) > MOST:
            raise TooLarge(MOST)
        try:
            return read_body(body, replace(limits(), file_bytes=MOST))
        except DocumentError as error:
            place = f", line {error.line}" if error.line is not None else ""
            raise BadRequest(f"The body can't be used: {error}{place}.", "bad-json") from None


_EXAMPLES = [
    OpenApiExample(
        "A runtime and a service on top of a cluster, another runtime deleted",
        request_only=True,
        value={
            "cluster": "eu-prod",
            "manifests": "apiVersion: ome.io/v1beta1\nkind: InferenceService\n"
            "metadata: {name: try, namespace: frontier}\n"
            "spec: {model: {name: fathom-moe-480b}, engine: {}}\n",
            "delete": [{"kind": "ClusterServingRuntime", "name": "sgl-fathom-multinode"}],
        },
    ),
    OpenApiExample(
        "Objects on nothing, by the rules of v1.2",
        request_only=True,
        value={
            "ome_version": "1.2",
            "manifests": [
                {
                    "apiVersion": "ome.io/v1beta1",
                    "kind": "ClusterBaseModel",
                    "metadata": {"name": "llama"},
                    "spec": {"modelFormat": {"name": "safetensors"}},
                }
            ],
        },
    ),
]


_NUMBERS = {
    "limit": ("How many services at most.", 1, 10_000, 1_000),
    "offset": ("How many services to leave out first.", 0, 1_000_000, 0),
    "explain": ("How many of the services and models given are explained whole.", 0, 100, EXPLAINED),
}
"""Parameters: what each is, the least, the most, and what it is when it isn't given."""


def _parameter(name: str) -> OpenApiParameter:
    told, least, most, default = _NUMBERS[name]
    return query(name, told, {"type": "integer", "minimum": least, "maximum": most, "default": default})


class WhatIf(ApiView):
    """Ask what would be if objects were there, other ones, or gone.

    Judges the objects on top of a cluster as it stands, or on nothing, and says for every service whose answer differs
    what it comes to before and after. Nothing is stored, and nothing is written to a cluster. Values that look secret
    are replaced before they are looked at. What can't be used is refused as a whole, each place named.
    """

    operation, tag = "askWhatIf", "what-if"
    throttle_scope = "what-if"
    token_scopes = {"POST": "read"}  # it only asks
    parser_classes = [WhatIfParser]
    takes = tuple(map(_parameter, _NUMBERS))

    @extend_schema(
        request=WhatIfRequest,
        responses=with_problems({200: WhatIfAnswer}, 400, 404, 413, 415, 422),
        examples=_EXAMPLES,
    )
    def post(self, request: Request) -> Response:
        """The answer, or why there is none."""
        rows, offset, explained = (_number(request, name) for name in _NUMBERS)
        body = WhatIfRequest(data=request.data)
        body.is_valid(raise_exception=True)
        asked: dict[str, Any] = body.validated_data
        name = asked.get("cluster")
        cluster = find_cluster(name) if name else None
        if name and cluster is None:
            raise NotFound(f"There is no cluster {name}.")
        given = asked.get("manifests", "")
        text, values = (given, ()) if isinstance(given, str) else ("", given)
        pasted = read_pasted(text, values, limits=limits())
        named = [(each["kind"], each.get("namespace") or "", each["name"]) for each in asked.get("delete", ())]
        gone = deletions_of(named)
        _refuse([*_errors(pasted.refusals), *_errors_of(gone)])
        supposed = suppose(cluster, pasted, gone.refs, version=asked.get("ome_version"), told=gone.told)
        _refuse(_errors(supposed.refusals))
        return Response(_value(name or None, supposed, rows, offset, explained))


def _number(request: Request, name: str) -> int:
    _, least, most, default = _NUMBERS[name]
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and least <= int(text) <= most):
        raise refused(name, f"It is a whole number from {least} to {most}.")
    return int(text)


def _errors(refusals: Iterable[Refusal]) -> list[dict[str, str]]:
    return [
        {
            "pointer": "/manifests" if each.item is None else f"/manifests/{each.item - 1}",
            "code": each.code,
            "detail": str(each),
        }
        for each in refusals
    ]


def _errors_of(gone: Deletions) -> list[dict[str, str]]:
    return [
        {"pointer": f"/delete/{place}", "code": each.code, "detail": str(each)}
        for each, place in zip(gone.refusals, gone.places, strict=True)
    ]


def _refuse(errors: list[dict[str, str]]) -> None:
    """Refuse the input when something is wrong with it.

    Raises:
        Refused: it is.
        TooLarge: by its size.
    """
    if not errors:
        return
    if errors[0]["code"] == "too-large":
        raise TooLarge(limits().file_bytes)
    count = len(errors)
    told = f"The input is refused: {errors[0]['detail']}" if count == 1 else f"The input is refused in {count} places"
    raise Refused(f"{told}.", "refused", errors)


def _value(cluster: str | None, supposed: Supposed, rows: int, offset: int, explained: int) -> dict[str, Any]:
    assert supposed.answer is not None  # noqa: S101 - it is None only beside refusals
    told = supposed.answer.to_dict(explained, slice(offset, offset + rows))
    return {"cluster": cluster, "told": [each.to_dict() for each in supposed.told], **told}
