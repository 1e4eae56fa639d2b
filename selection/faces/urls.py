"""The addresses of the pages."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from selection.faces.api.page import api_docs
from selection.faces.pages.account import account, password, set_password
from selection.faces.pages.accounts import account_of, accounts
from selection.faces.pages.acts import acts
from selection.faces.pages.candidate import candidate, model_candidate
from selection.faces.pages.changes import changes
from selection.faces.pages.clusters import clusters
from selection.faces.pages.comments import change_comment, say_comment
from selection.faces.pages.compare import compare_models, compare_runtimes, compare_services
from selection.faces.pages.compare_candidates import compare_candidates
from selection.faces.pages.conflicts import conflicts
from selection.faces.pages.declare import add_cluster, cluster_settings, forget_cluster
from selection.faces.pages.findings import finding, findings
from selection.faces.pages.handling import handling
from selection.faces.pages.live import live
from selection.faces.pages.matrix import matrix
from selection.faces.pages.metrics import metrics
from selection.faces.pages.migration import migration
from selection.faces.pages.mine import mine
from selection.faces.pages.model import model
from selection.faces.pages.models import models
from selection.faces.pages.objects import object_page
from selection.faces.pages.overview import overview
from selection.faces.pages.plan_order import migration_order
from selection.faces.pages.plan_runtime import runtime_plan
from selection.faces.pages.plan_service import service_plan
from selection.faces.pages.review import review, review_participants
from selection.faces.pages.review_acts import review_act
from selection.faces.pages.review_compare import review_compare
from selection.faces.pages.review_item import review_item
from selection.faces.pages.reviews import new_review, reviews
from selection.faces.pages.rights import rights
from selection.faces.pages.runtime import runtime
from selection.faces.pages.runtimes import runtimes
from selection.faces.pages.search import search
from selection.faces.pages.service import service
from selection.faces.pages.services import services
from selection.faces.pages.severities import severities
from selection.faces.pages.together import done_together, together
from selection.faces.pages.tokens import revoke_token, tokens
from selection.faces.pages.upgrade import upgrade
from selection.faces.pages.what_if import what_if

__all__ = ["urlpatterns"]

# A cluster is often called by its context in a kubeconfig, and those may have slashes.

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview, name="overview"),
    path("live/", live, name="live"),
    path("search/", search, name="search"),
    path("metrics", metrics, name="metrics"),
    path("api/", api_docs, name="api-docs"),
    path("services/", services, name="services"),
    # Before the page of a service: a cluster's name may look like the start of a longer address.
    path(
        "services/<path:cluster>/<str:namespace>/<str:name>/candidates/<str:scope>/<str:runtime>/",
        candidate,
        name="candidate",
    ),
    path("services/<path:cluster>/<str:namespace>/<str:name>/compare/", compare_candidates, name="compare-candidates"),
    path("services/<path:cluster>/<str:namespace>/<str:name>/", service, name="service"),
    path("compare/services/", compare_services, name="compare-services"),
    path("compare/models/", compare_models, name="compare-models"),
    path("compare/runtimes/", compare_runtimes, name="compare-runtimes"),
    path("matrix/", matrix, name="matrix"),
    path("conflicts/", conflicts, name="conflicts"),
    path("findings/", findings, name="findings"),
    path("findings/severities/", severities, name="severities"),
    path("findings/together/", together, name="together"),
    path("findings/together/<slug:batch>/", done_together, name="done-together"),
    path("findings/<slug:key>/", finding, name="finding"),
    path("findings/<slug:key>/handling/", handling, name="handling"),
    path("comments/", say_comment, name="say"),
    path("comments/<uuid:number>/", change_comment, name="comment"),
    path("acts/", acts, name="acts"),
    path("mine/", mine, name="mine"),
    path("migration/", migration, name="migration"),
    path("migration/order/", migration_order, name="migration-order"),
    path("migration/services/<path:cluster>/<str:namespace>/<str:name>/", service_plan, name="service-plan"),
    path("migration/runtimes/<path:cluster>/<str:scope>/<str:name>/", runtime_plan, name="runtime-plan"),
    path("upgrade/", upgrade, name="upgrade"),
    path("what-if/", what_if, name="what-if"),
    path("reviews/", reviews, name="reviews"),
    path("reviews/new/", new_review, name="review-new"),
    path("reviews/<uuid:number>/", review, name="review"),
    path("reviews/<uuid:number>/items/<int:place>/", review_item, name="review-item"),
    path("reviews/<uuid:number>/participants/", review_participants, name="review-participants"),
    path("reviews/<uuid:number>/compare/", review_compare, name="review-compare"),
    path("reviews/<uuid:number>/<slug:act>/", review_act, name="review-act"),
    path("changes/", changes, name="changes"),
    path("runtimes/", runtimes, name="runtimes"),
    path("runtimes/<path:cluster>/<str:scope>/<str:name>/", runtime, name="runtime"),
    path("models/", models, name="models"),
    path(
        "models/<path:cluster>/<str:scope>/<str:name>/candidates/<str:runtime_scope>/<str:runtime>/",
        model_candidate,
        name="model-candidate",
    ),
    path("models/<path:cluster>/<str:scope>/<str:name>/", model, name="model"),
    path("clusters/", clusters, name="clusters"),
    path("clusters/add/", add_cluster, name="cluster-add"),
    path("clusters/<path:cluster>/settings/", cluster_settings, name="cluster-settings"),
    path("clusters/<path:cluster>/forget/", forget_cluster, name="cluster-forget"),
    path("account/", account, name="account"),
    path("account/password/", password, name="password"),
    path("account/set-password/<str:uidb64>/<str:token>/", set_password, name="set-password"),
    path("account/tokens/", tokens, name="tokens"),
    path("account/tokens/<int:token>/revoke/", revoke_token, name="token-revoke"),
    path("rights/", rights, name="rights"),
    path("accounts/", accounts, name="accounts"),
    path("accounts/<str:name>/", account_of, name="account-of"),
    path("objects/<path:cluster>/<str:kind>/<str:scope>/<str:name>/", object_page, name="object"),
]
