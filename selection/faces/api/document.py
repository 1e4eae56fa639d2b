"""The OpenAPI document, made once in each process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import CharField, DictField, Serializer

from selection.faces.api.states import etag
from selection.faces.api.views import ApiView, holds

__all__ = ["Document", "document", "document_digest"]


@cache
def document() -> Mapping[str, Any]:
    """The document as a value. Nothing in it depends on who asks."""
    generator: Any = SchemaGenerator
    made: Mapping[str, Any] = generator(urlconf="selection.faces.api.served").get_schema(request=None, public=True)
    return made


@cache
def document_digest() -> str:
    """Stands for the document."""
    return hashlib.sha256(json.dumps(document(), sort_keys=True, default=str).encode()).hexdigest()


class _Json(OpenApiJsonRenderer):
    """As ``application/json``, unless the media type of OpenAPI is asked for."""

    media_type = "application/json"


class _OpenApiJson(OpenApiJsonRenderer):
    media_type = "application/vnd.oai.openapi+json"


class _Yaml(OpenApiYamlRenderer):
    media_type = "application/yaml"


class _OpenApiYaml(OpenApiYamlRenderer):
    media_type = "application/vnd.oai.openapi"


class OpenApi(Serializer):
    """An OpenAPI document, version 3.1."""

    openapi = CharField(help_text="The version of OpenAPI.")
    info = DictField(help_text="What it describes.")
    paths = DictField(help_text="The operations, by path and method.")
    components = DictField(help_text="What answers look like.")


class Document(ApiView):
    """Read the OpenAPI document.

    As JSON, or with `Accept: application/yaml` as YAML.
    """

    operation, tag, shape, tagged = "readSchema", "index", OpenApi, True
    renderer_classes = (_Json, _OpenApiJson, _Yaml, _OpenApiYaml)

    def get(self, request: Request) -> Response:
        """The document, unless the one who asks has it."""
        tag = etag(request, document_digest(), request.accepted_media_type)
        if holds(request.headers.get("If-None-Match", ""), tag):
            return Response(status=304, headers={"ETag": tag})
        return Response(document(), headers={"ETag": tag})
