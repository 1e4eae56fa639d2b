"""How values become JSON: as the pages' exports write them, so that both say the same to the letter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from selection.faces.api.problems import BadRequest, TooLarge

__all__ = ["MOST", "BodyParser", "Renderer"]

MOST = 16 * 1024 * 1024
"""So many bytes of a body are read, unless a view says less."""


class Renderer(JSONRenderer):
    """Compact JSON in UTF-8. Text that has no UTF-8, as half a surrogate pair in a manifest, is escaped."""

    encoder_class = DjangoJSONEncoder

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """The value as bytes; nothing for an answer without a body."""
        if data is None:
            return b""
        try:
            return json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            return json.dumps(data, cls=DjangoJSONEncoder, separators=(",", ":")).encode()


class BodyParser(BaseParser):
    """Reads a body as JSON, up to a limit: the view's ``most`` bytes, or :data:`MOST`."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """The body as a value.

        Raises:
            TooLarge: it is larger than the limit.
            BadRequest: it isn't JSON in UTF-8, or nested deeper than Python reads.
        """
        limit = getattr((parser_context or {}).get("view"), "most", MOST)
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise TooLarge(limit)
        try:
            return json.loads(body.decode("utf-8"), parse_constant=_refuse)
        except UnicodeDecodeError as error:
            raise BadRequest(f"The body isn't UTF-8: byte {error.start} can't be read.", "bad-json") from None
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise BadRequest(f"The body isn't JSON: {error.msg}, {place}.", "bad-json") from None
        except (ValueError, RecursionError) as error:
            told = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise BadRequest(f"The body isn't JSON: {told}.", "bad-json") from None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")
