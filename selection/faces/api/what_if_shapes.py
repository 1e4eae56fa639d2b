"""What a what-if is asked with and answers with, described for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from selection.faces.api.explanations import Admission, Explanation, ObjectProblem
from selection.faces.api.shapes import Ref, Whole, flag, listed, mapped, number, ref, text, texts, whole
from selection.rules.explanation import OUTCOMES
from selection.rules.semantics import VERSIONS
from selection.rules.what_if_answer import ACTS, CODES, TENDENCIES

__all__ = ["WhatIfAnswer", "WhatIfRequest"]


@extend_schema_field(
    {
        "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "object", "additionalProperties": True}}],
        "default": "",
    }
)
class Manifests(serializers.Field):
    """A text of YAML or JSON documents, or a list of objects."""

    default_error_messages = {"invalid": "It is neither a text nor a list of objects."}

    def to_internal_value(self, data: Any) -> Any:
        """The value as it is."""
        if not isinstance(data, (str, list)):
            self.fail("invalid")
        return data


class ToDelete(serializers.Serializer):
    """An object to delete."""

    kind = serializers.CharField(max_length=100, help_text="Its kind.")
    namespace = serializers.CharField(
        max_length=63, required=False, allow_null=True, allow_blank=True,
        help_text="Its namespace; of a namespaced object that says none it is `default`.",
    )  # fmt: skip
    name = serializers.CharField(max_length=253, help_text="Its name.")


class WhatIfRequest(serializers.Serializer):
    """What is given."""

    cluster = serializers.CharField(
        required=False, allow_null=True, max_length=253,
        help_text="On top of which cluster as it stands; null for nothing.",
    )  # fmt: skip
    ome_version = serializers.ChoiceField(
        sorted(VERSIONS), required=False, allow_null=True,
        help_text="The release line to judge nothing by; a cluster is judged by its own.",
    )  # fmt: skip
    manifests = Manifests(
        required=False, help_text="The objects to add or change: YAML or JSON as a text, or a list of objects."
    )
    delete = serializers.ListField(child=ToDelete(), required=False, help_text="The objects to delete.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse what nobody reads."""
        unknown = sorted(set(self.initial_data) - set(self.fields))[:5]
        if unknown:
            raise serializers.ValidationError({name[:80]: ["There is no such field here."] for name in unknown})
        if attrs.get("cluster") and attrs.get("ome_version"):
            raise serializers.ValidationError({"ome_version": ["A cluster is judged by its own release."]})
        return attrs


class Told(Whole):
    """What should be known of how the input was read."""

    code = text("`ignored`, `default-namespace`, `status`, `ome-manager` or `not-there`.")
    count = number("How often.")
    names = texts("The first ten that it is about.")


class CountedChange(Whole):
    """How many services have a change of one code."""

    code = text("The code.")
    tendency = text(f"One of {', '.join(TENDENCIES)}.")
    count = number("How many services.")


class ChangeOfService(Whole):
    """One thing that differs for a service."""

    code = text(f"One of {', '.join(CODES)}.")
    tendency = text(f"One of {', '.join(TENDENCIES)}.")
    component = text("The component; null for the whole service.", null=True)
    facts = mapped("What it is between.")


class StandingOfService(Whole):
    """What a service comes to."""

    outcome = text(f"One of {', '.join(OUTCOMES)}.")
    runtime = ref("The runtime that it gets.", null=True)
    model = ref("The model that is matched.", null=True)
    modes = mapped(
        "The mode that each component runs in, null where nothing is rendered.", serializers.CharField(allow_null=True)
    )
    conflicts = mapped("The codes of the mode conflicts, by component.", serializers.ListField(child=text("A code.")))
    admission = whole(Admission, "What the webhook would say of its next change.")


class ServiceThatDiffers(Whole):
    """A service whose answer differs."""

    service = ref("The service.")
    tendency = text(f"The worst of its changes: one of {', '.join(TENDENCIES)}.")
    given = flag("Whether it was itself given.")
    changes = listed(ChangeOfService, "What differs, what matters most first.")
    before = whole(StandingOfService, "As it stands; null when it isn't there.", null=True)
    after = whole(StandingOfService, "As it would stand; null when it would be gone.", null=True)
    reached_by = listed(Ref, "What of the input can have done it; at most ten.")
    reached_by_total = number("How many there are of them.")


class GivenObject(Whole):
    """One object of the input."""

    object = ref("The object.")
    act = text(f"One of {', '.join(ACTS)}.")
    problem = whole(ObjectProblem, "Why it can't be judged.", null=True)
    admission = whole(Admission, "What the webhook says of it; null where no webhook looks.", null=True)
    services_changed = number("How many services differ that it reaches, itself among them.")
    effects = listed(CountedChange, "Of those, by code.")
    explanation = whole(Explanation, "Of a service or model: the whole explanation as it would stand.", null=True)


class WhatIfAnswer(Whole):
    """What would be otherwise."""

    cluster = text("The cluster; null for nothing.", null=True)
    ome_version = text("The release line by whose rules both sides are judged.")
    told = listed(Told, "What should be known of how the input was read.")
    worse = flag("Whether a service is worse off, or an object of the input wouldn't get into the cluster.")
    services_before = number("How many services there are.")
    services_after = number("How many there would be.")
    services_judged = number("How many were judged; no other one can differ.")
    services_changed = number("For how many the answer differs.")
    tendencies = mapped("How many services by tendency.", number("How many."))
    counts = listed(CountedChange, "By code, what matters most first.")
    objects = listed(GivenObject, "The objects of the input, then what is deleted.")
    services = listed(ServiceThatDiffers, "The services whose answer differs: those from `offset` on, at most `limit`.")
