"""What a page weighs over the wire, everything that it needs included, for somebody who comes for the first time."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Visitor
from tests.browser.pages import PAGES

# The second mark has the test database made, also when nothing else runs that needs one.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

MOST = 150_000

#: The page, its styles and its scripts as they came, and what is said about each.
WEIGHT = """() => performance.getEntriesByType("navigation").concat(performance.getEntriesByType("resource"))
  .filter((each) => !each.name.includes("/live/")).reduce((sum, each) => sum + each.encodedBodySize + 300, 0)"""


def test_no_page_is_heavier_than_150_kilobytes(visitor: Visitor) -> None:
    for path, *_ in PAGES.values():
        page = visitor.opens(path)  # a context of its own, and so an empty cache
        page.wait_for_load_state("load")
        weight = page.evaluate(WEIGHT)
        page.context.close()
        assert 10_000 < weight < MOST, f"{path}: {weight:,} bytes"
