"""The OpenAPI document as tests hold answers against it."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from jsonschema import Draft202012Validator

from selection.faces.api.document import document

__all__ = ["ADDRESSES", "address_of", "answer_schema", "complaints", "in_path", "operations", "parameters"]

#: An address for each operation that has names in its path, in the demo fleet.
ADDRESSES: Mapping[str, str] = {
    "readCluster": "/api/v1/clusters/eu-prod",
    "readKind": "/api/v1/kinds/eu-prod/InferenceService",
    "readObject": "/api/v1/objects/eu-prod/ClusterServingRuntime/-/sgl-loop",
    "readService": "/api/v1/services/eu-prod/frontier/research-chat",
    "explainService": "/api/v1/services/eu-prod/frontier/research-chat/explanation",
    "readRuntime": "/api/v1/runtimes/eu-prod/-/sgl-fathom-multinode",
    "listServicesOfRuntime": "/api/v1/runtimes/eu-prod/-/sgl-fathom-multinode/services",
    "readModel": "/api/v1/models/eu-prod/-/aurora-70b-instruct",
    "explainModel": "/api/v1/models/eu-prod/-/aurora-70b-instruct/explanation",
    "listServicesOfModel": "/api/v1/models/eu-prod/-/aurora-70b-instruct/services",
    "planService": "/api/v1/migration/services/eu-prod/frontier/research-chat/plan",
    "planRuntime": "/api/v1/migration/runtimes/eu-prod/-/sgl-fathom-pd/plan",
    "readMigrationOrder": "/api/v1/migration/order/eu-prod",
    "listServicesOfMigrationOrder": "/api/v1/migration/order/eu-prod/services",
    "listRuntimesOfMigrationOrder": "/api/v1/migration/order/eu-prod/runtimes",
    "previewUpgrade": "/api/v1/upgrade/us-lab",
    "listUpgradeServices": "/api/v1/upgrade/us-lab/services",
    "listUpgradeRuntimes": "/api/v1/upgrade/us-lab/runtimes",
    "listUpgradeObjects": "/api/v1/upgrade/us-lab/objects",
    "listUpgradeChanges": "/api/v1/upgrade/us-lab/changes",
}


def operations(method: str = "get") -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Every operation that is asked with this method: its id, its path, and what the document says of it."""
    for path, methods in document()["paths"].items():
        if method in methods:
            yield methods[method]["operationId"], path, methods[method]


def parameters(operation: Mapping[str, Any], where: str) -> list[str]:
    """The names of an operation's parameters in the path, the query or the headers."""
    return [each["name"] for each in operation.get("parameters", ()) if each["in"] == where]


def address_of(operation: str, **names: str) -> str:
    """Where an operation is, with these names in its path; those that it doesn't have are left out."""
    path = next(path for name, path, _ in operations() if name == operation)
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", in_path(value))
    return path


def answer_schema(operation: Mapping[str, Any], status: str, media_type: str) -> Mapping[str, Any]:
    """The schema of an answer; the one for ``default`` where the status has none of its own."""
    responses: Mapping[str, Any] = operation["responses"]
    told = responses.get(status) or responses["default"]
    found: Mapping[str, Any] = told["content"][media_type]["schema"]
    return found


def complaints(schema: Mapping[str, Any], value: Any) -> list[str]:
    """Where a value isn't what the schema says, also where it has more than the schema tells of."""
    return [f"{each.json_path}: {each.message[:300]}" for each in _validator(schema).iter_errors(value)]


_STRICT: dict[str, Any] = {}


def _validator(schema: Mapping[str, Any]) -> Any:
    if not _STRICT:
        _STRICT.update(_closed(copy.deepcopy(dict(document()["components"]["schemas"]))))
    whole = {**schema, "components": {"schemas": _STRICT}}
    return Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER)


def _closed(node: Any) -> Any:
    """The schema with every object closed that names its fields."""
    if isinstance(node, dict):
        for each in node.values():
            _closed(each)
        if isinstance(node.get("properties"), dict) and "additionalProperties" not in node:
            node["additionalProperties"] = False
    elif isinstance(node, list):
        for each in node:
            _closed(each)
    return node


def in_path(text: str) -> str:
    """A name as it stands in a path."""
    return quote(re.sub("/", "~1", re.sub("~", "~0", text)), safe="")
