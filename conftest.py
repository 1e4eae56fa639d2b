"""What all tests share: fixtures, and the rules of a run."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings

pytest_plugins = ["tests.apiserver.fixtures"]

#: In CI everything that a test needs is there: a test that is skipped is a test that is broken.
CI = os.environ.get("CI", "").lower() in {"1", "true"}

#: Tests with these marks share something costly that a worker starts once: one worker runs them all.
SHARED = ("apiserver", "browser")


def pytest_configure(config: pytest.Config) -> None:
    """Hash passwords cheaply; the real hasher takes a third of a second for each made-up user."""
    django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each shared thing its worker, and leave out what only means something on PostgreSQL."""
    for item in items:
        for name in SHARED:
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.xdist_group(name))
    if "postgresql" not in django_settings.DATABASES["default"]["ENGINE"]:
        left_out = [item for item in items if item.get_closest_marker("postgresql")]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item not in set(left_out)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failed one in CI. An expected failure stays what it is."""
    report = yield
    if CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Likewise for a whole module that skips itself."""
    report = yield
    if CI and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report


@pytest.fixture
def server_mode(settings: Settings) -> Settings:
    """The settings of server mode as far as views see them: who hasn't signed in is sent to do so."""
    drafts = "selection.faces.drafts.DraftMiddleware"  # what it stands behind in server mode
    middleware = list(settings.MIDDLEWARE)
    middleware.insert(middleware.index(drafts) + 1, "django.contrib.auth.middleware.LoginRequiredMiddleware")
    settings.MIDDLEWARE = middleware
    settings.MODE = "server"
    settings.LOCAL = False
    return settings
