"""The address that asks what would be if an object were another one."""

from __future__ import annotations

from urllib.parse import urlencode

from django import template
from django.urls import reverse

from selection.faces.links import CLUSTER_SCOPE

__all__ = ["register", "what_if_link"]

register = template.Library()


@register.simple_tag
def what_if_link(cluster: str, kind: str, namespace: str, name: str) -> str:
    """The address of the what-if page with an object's manifest in the field: ``{% what_if_link … as url %}``.

    >>> what_if_link("prod", "ClusterServingRuntime", "", "fast")
    '/what-if/?cluster=prod&from=ClusterServingRuntime%2F-%2Ffast'
    """
    asked = {"cluster": cluster, "from": f"{kind}/{namespace or CLUSTER_SCOPE}/{name}"}
    return f"{reverse('what-if')}?{urlencode(asked)}"
