"""The addresses of the interface, version 1."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter

from selection.faces.api.paths import Segment
from selection.faces.api.services import ServiceDetail, ServiceExplanation, ServiceList

__all__ = ["app_name", "urlpatterns"]

app_name = "api-v1"
register_converter(Segment, "segment")

OF_SERVICE = "<segment:cluster>/<segment:namespace>/<segment:name>"
OF_SCOPED = "<segment:cluster>/<segment:scope>/<segment:name>"

urlpatterns: list[URLPattern] = [
    path("services", ServiceList.as_view(), name="services"),
    path(f"services/{OF_SERVICE}", ServiceDetail.as_view(), name="service"),
    path(f"services/{OF_SERVICE}/explanation", ServiceExplanation.as_view(), name="service-explanation"),
]
