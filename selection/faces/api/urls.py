"""The addresses of the interface, version 1."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter

from selection.faces.api.acts import ActList
from selection.faces.api.changes import ChangeDetail, ChangeList
from selection.faces.api.clusters import ClusterDetail, ClusterList
from selection.faces.api.comments import CommentDetail, CommentList
from selection.faces.api.conflicts import ConflictList
from selection.faces.api.document import Document
from selection.faces.api.findings import FindingDetail, FindingList
from selection.faces.api.handlings import FindingHandling, HandlingsTogether, UndoActs
from selection.faces.api.kinds import KindDetail, KindList
from selection.faces.api.migration import (
    MigrationComponentList,
    MigrationOrder,
    MigrationOrderRuntimes,
    MigrationOrderServices,
    MigrationRuntimeList,
    RuntimePlanDetail,
    ServicePlanDetail,
)
from selection.faces.api.models import ModelDetail, ModelExplanation, ModelList, ModelServices
from selection.faces.api.objects import ObjectDetail, ObjectList
from selection.faces.api.paths import Number, Segment
from selection.faces.api.person import WhoAsks
from selection.faces.api.review_acts import (
    ReviewClose,
    ReviewCompare,
    ReviewParticipant,
    ReviewParticipants,
    ReviewRefresh,
    ReviewReopen,
    ReviewSign,
    ReviewUnsign,
)
from selection.faces.api.review_items import ItemAnswer, ItemDetail, ItemList
from selection.faces.api.reviews import ReviewDetail, ReviewList
from selection.faces.api.root import Root
from selection.faces.api.runtimes import RuntimeDetail, RuntimeList, RuntimeServices
from selection.faces.api.services import ServiceDetail, ServiceExplanation, ServiceList
from selection.faces.api.upgrade import (
    UpgradeChanges,
    UpgradeObjects,
    UpgradeRuntimes,
    UpgradeServices,
    UpgradeSummary,
)
from selection.faces.api.what_if import WhatIf

__all__ = ["app_name", "urlpatterns"]

app_name = "api-v1"
register_converter(Segment, "segment")
register_converter(Number, "change")

CLUSTER = "<segment:cluster>"
OF_SERVICE = f"{CLUSTER}/<segment:namespace>/<segment:name>"
REVIEW = "reviews/<uuid:review>"
OF_SCOPED = f"{CLUSTER}/<segment:scope>/<segment:name>"

urlpatterns: list[URLPattern] = [
    path("", Root.as_view(), name="root"),
    path("schema", Document.as_view(), name="schema"),
    path("person", WhoAsks.as_view(), name="person"),
    path("clusters", ClusterList.as_view(), name="clusters"),
    path(f"clusters/{CLUSTER}", ClusterDetail.as_view(), name="cluster"),
    path("kinds", KindList.as_view(), name="kinds"),
    path(f"kinds/{CLUSTER}/<segment:kind>", KindDetail.as_view(), name="kind"),
    path("objects", ObjectList.as_view(), name="objects"),
    path(f"objects/{CLUSTER}/<segment:kind>/<segment:scope>/<segment:name>", ObjectDetail.as_view(), name="object"),
    path("services", ServiceList.as_view(), name="services"),
    path(f"services/{OF_SERVICE}", ServiceDetail.as_view(), name="service"),
    path(f"services/{OF_SERVICE}/explanation", ServiceExplanation.as_view(), name="service-explanation"),
    path("runtimes", RuntimeList.as_view(), name="runtimes"),
    path(f"runtimes/{OF_SCOPED}", RuntimeDetail.as_view(), name="runtime"),
    path(f"runtimes/{OF_SCOPED}/services", RuntimeServices.as_view(), name="runtime-services"),
    path("models", ModelList.as_view(), name="models"),
    path(f"models/{OF_SCOPED}", ModelDetail.as_view(), name="model"),
    path(f"models/{OF_SCOPED}/explanation", ModelExplanation.as_view(), name="model-explanation"),
    path(f"models/{OF_SCOPED}/services", ModelServices.as_view(), name="model-services"),
    path("conflicts", ConflictList.as_view(), name="conflicts"),
    path("findings", FindingList.as_view(), name="findings"),
    path("findings/handlings", HandlingsTogether.as_view(), name="handlings"),
    path("findings/<segment:key>", FindingDetail.as_view(), name="finding"),
    path("findings/<segment:key>/handling", FindingHandling.as_view(), name="finding-handling"),
    path("comments", CommentList.as_view(), name="comments"),
    path("comments/<uuid:comment>", CommentDetail.as_view(), name="comment"),
    path("reviews", ReviewList.as_view(), name="reviews"),
    path(REVIEW, ReviewDetail.as_view(), name="review"),
    path(f"{REVIEW}/items", ItemList.as_view(), name="review-items"),
    path(f"{REVIEW}/items/<segment:item>", ItemDetail.as_view(), name="review-item"),
    path(f"{REVIEW}/items/<segment:item>/answer", ItemAnswer.as_view(), name="review-answer"),
    path(f"{REVIEW}/refresh", ReviewRefresh.as_view(), name="review-refresh"),
    path(f"{REVIEW}/sign", ReviewSign.as_view(), name="review-sign"),
    path(f"{REVIEW}/unsign", ReviewUnsign.as_view(), name="review-unsign"),
    path(f"{REVIEW}/close", ReviewClose.as_view(), name="review-close"),
    path(f"{REVIEW}/reopen", ReviewReopen.as_view(), name="review-reopen"),
    path(f"{REVIEW}/participants", ReviewParticipants.as_view(), name="review-participants"),
    path(f"{REVIEW}/participants/<segment:person>", ReviewParticipant.as_view(), name="review-participant"),
    path(f"{REVIEW}/compare", ReviewCompare.as_view(), name="review-compare"),
    path("acts", ActList.as_view(), name="acts"),
    path("acts/<segment:batch>/undo", UndoActs.as_view(), name="undo"),
    path("changes", ChangeList.as_view(), name="changes"),
    path("changes/<change:id>", ChangeDetail.as_view(), name="change"),
    path("migration/components", MigrationComponentList.as_view(), name="migration-components"),
    path("migration/runtimes", MigrationRuntimeList.as_view(), name="migration-runtimes"),
    path(f"migration/services/{OF_SERVICE}/plan", ServicePlanDetail.as_view(), name="service-plan"),
    path(f"migration/runtimes/{OF_SCOPED}/plan", RuntimePlanDetail.as_view(), name="runtime-plan"),
    path(f"migration/order/{CLUSTER}", MigrationOrder.as_view(), name="migration-order"),
    path(f"migration/order/{CLUSTER}/services", MigrationOrderServices.as_view(), name="migration-order-services"),
    path(f"migration/order/{CLUSTER}/runtimes", MigrationOrderRuntimes.as_view(), name="migration-order-runtimes"),
    path(f"upgrade/{CLUSTER}", UpgradeSummary.as_view(), name="upgrade"),
    path(f"upgrade/{CLUSTER}/services", UpgradeServices.as_view(), name="upgrade-services"),
    path(f"upgrade/{CLUSTER}/runtimes", UpgradeRuntimes.as_view(), name="upgrade-runtimes"),
    path(f"upgrade/{CLUSTER}/objects", UpgradeObjects.as_view(), name="upgrade-objects"),
    path(f"upgrade/{CLUSTER}/changes", UpgradeChanges.as_view(), name="upgrade-changes"),
    path("what-if", WhatIf.as_view(), name="what-if"),
]
