"""Every page of the demo fleet, by its name in ``urls.py``: what each test of all pages goes through."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["PAGES", "WITHOUT"]

#: What answers programs and scripts, and has no page.
WITHOUT = frozenset({"live", "metrics"})

PAGES: Mapping[str, tuple[str, ...]] = {
    "overview": ("/", "/?cluster=us-lab"),
    "search": ("/search/", "/search/?q=fathom", "/search/?q=nothing-has-this-name"),
    "services": ("/services/", "/services/?conflict=any&group=outcome", "/services/?q=nothing-has-this-name"),
    "service": (
        "/services/eu-prod/frontier/disagg-mixed/",
        "/services/eu-prod/frontier/reasoning-raw/?check=model-format",
        "/services/eu-prod/frontier/imported-bot/",
        "/services/eu-prod/frontier/no-such-service/",
    ),
    "candidate": (
        "/services/eu-prod/assistants/voice-notes/candidates/-/tei-embed/",
        "/services/eu-prod/retrieval/query-rewriter/candidates/-/vllm-qwen3/",
    ),
    "matrix": ("/matrix/",),
    "conflicts": ("/conflicts/", "/conflicts/?group=runtime"),
    "findings": ("/findings/", "/findings/?group=object"),
    "migration": ("/migration/", "/migration/?view=runtimes"),
    "runtimes": ("/runtimes/",),
    "runtime": ("/runtimes/eu-prod/-/sgl-fathom-multinode/", "/runtimes/eu-prod/-/sgl-loop/"),
    "models": ("/models/",),
    "model": ("/models/eu-prod/-/aurora-70b-instruct/",),
    "model-candidate": ("/models/eu-prod/-/aurora-70b-instruct/candidates/-/tei-embed/",),
    "clusters": ("/clusters/", "/clusters/?view=unreadable"),
    "object": ("/objects/eu-prod/InferenceService/frontier/imported-bot/",),
}
