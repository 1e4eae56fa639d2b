"""The pieces that answers are described with: each names what it holds, and the OpenAPI document is made from them.

They describe; nothing is made through them. What an answer holds are the values of the store's rows and the rules, and
a test holds both against each other to the last field.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

__all__ = [
    "Fault",
    "Problem",
    "Ref",
    "Shape",
    "Whole",
    "anything",
    "flag",
    "listed",
    "mapped",
    "moment",
    "number",
    "ref",
    "text",
    "texts",
    "whole",
]


class Whole(serializers.Serializer):
    """A value that always has all of its fields."""


class Shape(serializers.Serializer):
    """A value of which a reader may ask for some fields only, so that none of them is certain."""

    def get_fields(self) -> dict[str, Any]:
        """The fields, none required."""
        found: dict[str, Any] = super().get_fields()
        for each in found.values():
            each.required = False
        return found


def text(told: str, *, null: bool = False) -> Any:
    """A text."""
    return serializers.CharField(help_text=told, allow_null=null)


def number(told: str, *, null: bool = False, whole: bool = True) -> Any:
    """A number, whole unless told."""
    kind = serializers.IntegerField if whole else serializers.FloatField
    return kind(help_text=told, allow_null=null)


def flag(told: str, *, null: bool = False) -> Any:
    """True or false."""
    return serializers.BooleanField(help_text=told, allow_null=null)


def moment(told: str, *, null: bool = False) -> Any:
    """A moment, in UTC, to the millisecond."""
    return serializers.DateTimeField(help_text=told, allow_null=null)


def texts(told: str) -> Any:
    """A list of texts."""
    return serializers.ListField(child=serializers.CharField(), help_text=told)


def anything(told: str) -> Any:
    """Any JSON value."""
    return serializers.JSONField(help_text=told)


def mapped(told: str, of: Any = None, *, null: bool = False) -> Any:
    """An object whose keys are data: names, codes, or what a code's facts are called."""
    return serializers.DictField(child=of, help_text=told, allow_null=null) if of else _free(told, null)


def _free(told: str, null: bool) -> Any:
    return serializers.DictField(help_text=told, allow_null=null)


def whole(shape: type[serializers.Serializer], told: str, *, null: bool = False) -> Any:
    """A nested value."""
    return shape(help_text=told, allow_null=null)


def listed(shape: type[serializers.Serializer], told: str) -> Any:
    """A list of nested values."""
    return shape(many=True, help_text=told)


class Ref(Whole):
    """An object of a cluster."""

    kind = text("Its kind.")
    namespace = text("Its namespace; null for a cluster-scoped object.", null=True)
    name = text("Its name.")


def ref(told: str, *, null: bool = False) -> Any:
    """A reference to an object."""
    return Ref(help_text=told, allow_null=null)


class Fault(serializers.Serializer):
    """What is wrong in one place of a request."""

    parameter = serializers.CharField(required=False, help_text="The parameter of the query.")
    pointer = serializers.CharField(required=False, help_text="The place in the body, as a JSON Pointer (RFC 6901).")
    code = serializers.CharField(help_text="A code that stays as it is.")
    detail = serializers.CharField(help_text="What is wrong, in words.")


class Problem(serializers.Serializer):
    """What went wrong (RFC 9457)."""

    type = serializers.CharField(help_text="`about:blank`: the status says the kind, `code` says which.")
    title = serializers.CharField(help_text="The status in words.")
    status = serializers.IntegerField(help_text="The HTTP status.")
    code = serializers.CharField(help_text="A code that stays as it is.")
    detail = serializers.CharField(required=False, help_text="What is wrong, in a sentence.")
    instance = serializers.CharField(required=False, help_text="The path that was asked for.")
    errors = serializers.ListField(child=Fault(), required=False, help_text="What is wrong where.")
