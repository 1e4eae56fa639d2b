"""Every page of the demo fleet, by its name in ``urls.py``: what each test of all pages goes through."""

from __future__ import annotations

from collections.abc import Mapping

from tests.browser.reviewed import EARLIER, REVIEW

__all__ = ["PAGES", "WITHOUT"]

#: What answers programs and scripts, and has no page.
WITHOUT = frozenset(
    {"live", "metrics", "token-revoke", "review-participants", "handling", "done-together", "say", "comment"}
)

PAGES: Mapping[str, tuple[str, ...]] = {
    "overview": ("/", "/?cluster=us-lab"),
    "search": ("/search/", "/search/?q=fathom", "/search/?q=nothing-has-this-name"),
    "services": ("/services/", "/services/?conflict=any&group=outcome", "/services/?q=nothing-has-this-name"),
    "service": (
        "/services/eu-prod/frontier/disagg-mixed/",
        "/services/eu-prod/frontier/reasoning-raw/?check=model-format",
        "/services/eu-prod/frontier/imported-bot/",
        "/services/eu-prod/frontier/research-chat/",
        "/services/eu-prod/frontier/no-such-service/",
    ),
    "candidate": (
        "/services/eu-prod/assistants/voice-notes/candidates/-/tei-embed/",
        "/services/eu-prod/retrieval/query-rewriter/candidates/-/vllm-qwen3/",
    ),
    "matrix": (
        "/matrix/",
        "/matrix/?cluster=eu-prod&namespace=frontier",
        "/matrix/?cluster=eu-prod&model=aurora-70b-instruct&also=excluded",
    ),
    "compare-services": (
        "/compare/services/?a=eu-prod/frontier/research-chat&b=eu-prod/frontier/disagg-chat",
        "/compare/services/?a=eu-prod/frontier/research-chat",
        "/compare/services/?q=chat",
    ),
    "compare-models": ("/compare/models/?a=eu-prod/-/aurora-70b-instruct&b=eu-prod/-/fathom-moe-480b",),
    "compare-runtimes": ("/compare/runtimes/?a=eu-prod/-/sgl-fathom-multinode&b=eu-prod/-/sgl-fathom-pd",),
    "compare-candidates": (
        "/services/eu-prod/frontier/research-chat/compare/?a=-/sgl-fathom-multinode&b=-/sgl-fathom-pd",
        "/services/eu-prod/frontier/research-chat/compare/",
    ),
    "conflicts": ("/conflicts/", "/conflicts/?group=runtime"),
    "findings": ("/findings/", "/findings/?group=object", "/findings/?state=gone"),
    "finding": (
        "/findings/overlap-8137ad2791ef0202a2218c1c6b91199d/",
        "/findings/breaks-lws-4a2aa84004cd8d146e68f9f2d0c0c26c/",
        "/findings/no-such-finding/",
    ),
    "severities": ("/findings/severities/",),
    "together": ("/findings/together/?all=1&code=overlap", "/findings/together/"),
    "acts": ("/acts/", "/acts/?group=subject"),
    "mine": ("/mine/",),
    "migration": ("/migration/", "/migration/?view=runtimes"),
    "migration-order": ("/migration/order/", "/migration/order/?cluster=us-lab", "/migration/order/?wave=together"),
    "service-plan": (
        "/migration/services/eu-prod/frontier/research-chat/",
        "/migration/services/eu-prod/frontier/disagg-chat/",
        "/migration/services/eu-prod/frontier/disagg-chat-next/",
        "/migration/services/eu-prod/frontier/no-such-service/",
    ),
    "runtime-plan": (
        "/migration/runtimes/eu-prod/-/sgl-fathom-pd/",
        "/migration/runtimes/eu-prod/-/vllm-aurora-two-node/",
        "/migration/runtimes/eu-prod/-/tei-embed/",
    ),
    "upgrade": (
        "/upgrade/?cluster=us-lab",
        "/upgrade/?cluster=us-lab&view=runtimes",
        "/upgrade/?cluster=eu-prod&view=objects",
    ),
    "what-if": ("/what-if/", "/what-if/?cluster=eu-prod&from=InferenceService/frontier/research-chat"),
    "reviews": ("/reviews/", "/reviews/?q=nothing-has-this-name"),
    "review-new": ("/reviews/new/", "/reviews/new/?cluster=eu-prod&family=upgrade&q=chat"),
    "review": (f"/reviews/{REVIEW}/", f"/reviews/{REVIEW}/?answer=needs-change", f"/reviews/{REVIEW}/?format=page"),
    "review-item": (f"/reviews/{REVIEW}/items/1/", f"/reviews/{REVIEW}/items/3/", f"/reviews/{EARLIER}/items/1/"),
    "review-act": (f"/reviews/{REVIEW}/sign/", f"/reviews/{REVIEW}/refresh/", f"/reviews/{EARLIER}/reopen/"),
    "review-compare": (f"/reviews/{REVIEW}/compare/", f"/reviews/{EARLIER}/compare/"),
    "runtimes": ("/runtimes/",),
    "runtime": (
        "/runtimes/eu-prod/-/sgl-fathom-multinode/",
        "/runtimes/eu-prod/-/sgl-loop/",
        "/runtimes/eu-prod/-/sgl-common-profile/",
    ),
    "models": ("/models/",),
    "model": ("/models/eu-prod/-/aurora-70b-instruct/",),
    "model-candidate": ("/models/eu-prod/-/aurora-70b-instruct/candidates/-/tei-embed/",),
    "changes": ("/changes/", "/changes/?group=cause&since=soon"),
    "clusters": ("/clusters/", "/clusters/?view=unreadable"),
    "cluster-add": ("/clusters/add/",),
    "cluster-settings": ("/clusters/eu-prod/settings/",),
    "cluster-forget": ("/clusters/eu-prod/forget/",),
    "account": ("/account/",),
    "password": ("/account/password/",),
    "set-password": ("/account/set-password/Mg/used-link/",),
    "tokens": ("/account/tokens/",),
    "rights": ("/rights/",),
    "accounts": ("/accounts/", "/accounts/?q=nobody-has-this-name"),
    "account-of": ("/accounts/mara/",),
    "object": ("/objects/eu-prod/InferenceService/frontier/imported-bot/",),
    "api-docs": ("/api/",),
}
