"""What ``/metrics`` tells, and how long the pages of this process take.

What the processes that sync have done stands in the database, so that one scrape of any web process tells all of it.
Page times are this process's own.
"""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from ome_dashboard import __version__
from selection.rules.conflicts import CODES
from selection.rules.explanation import OUTCOMES
from selection.store.metrics import Labels, Measured, measure

__all__ = ["REGISTRY", "ClusterCollector", "TimingMiddleware"]

logger = logging.getLogger(__name__)

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds. A page should take less than 0.1."""

UNMEASURED = frozenset({"live", "metrics"})
"""What programs ask for again and again; it would hide what people wait for."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
PAGE_SECONDS = Histogram(
    "ome_dashboard_page_seconds",
    "Time from a request to the beginning of its answer.",
    ["page", "method", "status"],
    buckets=BUCKETS,
    registry=REGISTRY,
)


class ClusterCollector(Collector):
    """Reads the database when it is scraped."""

    def collect(self) -> Iterator[Metric]:
        """Every metric of the clusters; of a database that doesn't answer only that it doesn't."""
        build = GaugeMetricFamily(
            "ome_dashboard_build_info", "What runs here.", labels=["version", "python", "database"]
        )
        build.add_metric([__version__, platform.python_version(), connection.vendor], 1)
        yield build
        try:
            measured = measure()
        except DatabaseError as error:
            logger.warning("metrics can't read the database", extra={"error": type(error).__name__})
            measured = None
        up = "Whether the database answered this scrape."
        yield GaugeMetricFamily("ome_dashboard_database_up", up, value=measured is not None)
        if measured is not None:
            yield from _clusters(measured)
            yield from _kinds(measured)
            yield from _counts(measured)
            yield from _tallies(measured)


REGISTRY.register(ClusterCollector())


def _clusters(measured: Measured) -> Iterable[Metric]:
    live = _gauge("cluster_live", "Whether every kind that was read is watched.", "cluster")
    followed = _gauge("cluster_followed", "Whether a process is to watch the cluster.", "cluster")
    lag = _gauge("cluster_lag_seconds", "From the arrival of the last event to its answers.", "cluster")
    stale = _gauge("cluster_stale", "Whether objects are newer than the answers.", "cluster")
    for each in measured.clusters:
        name = [each.cluster.name]
        live.add_metric(name, each.live)
        followed.add_metric(name, each.cluster.followed)
        stale.add_metric(name, each.stale)
        if each.cluster.lag_ms is not None:
            lag.add_metric(name, each.cluster.lag_ms / 1000)
    return live, followed, stale, lag


def _kinds(measured: Measured) -> Iterable[Metric]:
    labels = ("cluster", "kind")
    watching = _gauge("kind_watching", "Whether a watch of the kind is open.", *labels)
    confirmed = _gauge(
        "kind_confirmed_timestamp_seconds", "When what is stored was last known to be what the cluster has.", *labels
    )
    event = _gauge("kind_last_event_timestamp_seconds", "When the last event came.", *labels)
    unread = _gauge("kind_unread", "Whether the last attempt to list the kind failed or was refused.", *labels)
    events = CounterMetricFamily("ome_dashboard_events", "Events received.", labels=labels)
    held = {each.cluster.pk for each in measured.clusters if each.held}
    for each in measured.kinds:
        of = [each.cluster.name, each.kind]
        watching.add_metric(of, each.watching and each.cluster_id in held)
        unread.add_metric(of, each.outcome in {"failed", "forbidden"})
        events.add_metric(of, each.events)
        for metric, moment in ((confirmed, _latest(each.confirmed_at, each.listed_at)), (event, each.last_event_at)):
            if moment is not None:
                metric.add_metric(of, moment.timestamp())
    return watching, unread, confirmed, event, events


def _latest(*moments: datetime | None) -> datetime | None:
    return max((each for each in moments if each is not None), default=None)


def _counts(measured: Measured) -> Iterable[Metric]:
    clusters = [each.cluster.name for each in measured.clusters]
    for name, text, label, counts, values in (
        ("objects", "Objects stored.", "kind", measured.objects, ()),
        ("services", "InferenceServices by what OME makes of them.", "outcome", measured.services, OUTCOMES),
        ("conflicts", "Mode conflicts.", "code", measured.conflicts, CODES),
    ):
        metric = _gauge(name, text, "cluster", label)
        # What there is none of is 0, and not unknown: an alert can wait for it.
        told: dict[Labels, int] = {(cluster, each): 0 for cluster in clusters for each in values}
        told.update(counts)
        for labels, count in told.items():
            metric.add_metric(labels, count)
        yield metric


def _tallies(measured: Measured) -> Iterable[Metric]:
    failures = CounterMetricFamily(
        "ome_dashboard_sync_failures", "Lists and watches that failed.", labels=["cluster", "reason"]
    )
    evaluations = SummaryMetricFamily(
        "ome_dashboard_evaluation_seconds", "Judging a cluster, in full or in part.", labels=["cluster", "scope"]
    )
    batches = SummaryMetricFamily(
        "ome_dashboard_batch_seconds", "Storing a batch of events and judging what it reaches.", labels=["cluster"]
    )
    for each in measured.tallies:
        if each.name == "sync_failures":
            failures.add_metric([each.cluster.name, each.label], each.count)
        elif each.name == "evaluations":
            evaluations.add_metric([each.cluster.name, each.label], each.count, each.total)
        elif each.name == "batches":
            batches.add_metric([each.cluster.name], each.count, each.total)
    return failures, evaluations, batches


def _gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"ome_dashboard_{name}", text, labels=labels)


class TimingMiddleware:
    """Measure every page, and log it: a line each in server mode, on one's own machine only when debugging.

    The line has the path without its query, in which people write what they look for.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Hand the request on and look at the clock."""
        began = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - began
        match = request.resolver_match
        page = (match.url_name or "unnamed") if match else "none"
        if page not in UNMEASURED and not request.path_info.startswith(settings.STATIC_URL):
            method = request.method if request.method in METHODS else "other"
            PAGE_SECONDS.labels(page, method, f"{response.status_code // 100}xx").observe(seconds)
            fields = {"page": page, "status": response.status_code, "ms": round(seconds * 1000, 1)}
            level = logging.DEBUG if settings.LOCAL else logging.INFO
            logger.log(level, "%s %s", method, request.path_info, extra=fields)
        return response
