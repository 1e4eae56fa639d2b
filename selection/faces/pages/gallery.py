"""Every component of the pages in every state, to look at when a style changes; only with OME_DASHBOARD_DEBUG."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from selection.faces.pictures import columns, parts, steps
from selection.faces.words import FAMILIES
from selection.rules.objects import ObjectRef
from selection.store.daily import Stand
from selection.store.models import Cluster, Finding
from selection.store.timeline import DayCount

__all__ = ["gallery"]

ICONS = ("check", "cross", "warn", "dash", "info", "theme", "menu")
COLOURS = ("canvas", "surface", "sunken", "line", "line-strong", "ink", "muted", "accent", "accent-soft")
COLOURS_OF_STATES = ("good", "good-soft", "warn", "warn-soft", "bad", "bad-soft", "plain", "plain-soft")
SIZES = ("xs", "s", "m", "l", "xl", "2xl", "3xl")
LONG = "a-name-as-long-as-kubernetes-lets-a-name-be-which-is-253-signs-and-so-it-breaks-where-it-stands"


@require_GET
def gallery(request: HttpRequest) -> HttpResponse:
    """The page ``/gallery/``; to everybody else there is no such page."""
    if not settings.DEBUG:
        raise Http404("The gallery is shown only with OME_DASHBOARD_DEBUG.")
    return render(request, "gallery/page.html", _values())


def _values() -> dict[str, Any]:
    now = timezone.now()
    today = date(2026, 5, 14)
    cluster = Cluster(name="prod", ome_version="1.3", ome_version_source="detected")
    modes = (
        ("RawDeployment", 26),
        ("OMENative", 11),
        ("MultiNode", 9),
        ("MultiNodeRayVLLM", 1),
        ("VirtualDeployment", 2),
    )
    return {
        "colours": COLOURS + COLOURS_OF_STATES,
        "sizes": SIZES,
        "icons": ICONS,
        "families": [(name, sorted(words)) for name, words in FAMILIES.items()],
        "refs": [
            ObjectRef("InferenceService", "team", "chat"),
            ObjectRef("ClusterServingRuntime", "", "vllm-llama"),
            ObjectRef("BaseModel", "team", LONG),
        ],
        "moments": [now - timedelta(seconds=seconds) for seconds in (0, 40, 600, 9000, 900000)],
        "tones": ("", "good", "warn", "bad"),
        "reason": "model format 'mt:safetensors:1.0.0' not in supported formats",
        "long": "one line of many\n" * 80,
        "cluster": cluster,
        "parts": parts(modes, 49),
        "modes": [mode for mode, _ in modes],
        "days": columns([DayCount(today - timedelta(days=back), 1, back * 7 % 11) for back in range(14)], 14, today),
        "progress": steps([Stand(today - timedelta(days=30 - day), 20 + day // 10, day // 2) for day in range(31)]),
        "findings": [
            Finding(
                severity=severity,
                code=code,
                kind="ServingRuntime",
                namespace="team",
                name="fast",
                path="spec",
                facts={},
            )
            for severity, code in (("error", "entry-without-format"), ("warning", "mode-ignored"), ("info", "shadowed"))
        ],
    }
