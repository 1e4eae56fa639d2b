"""What the documents lead to is there: every file, picture and heading that they link to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEAVIEST = 300 * 1024
"""A picture has so many bytes at most: the repository keeps every version of it."""


def without_code(text: str) -> str:
    """The text without what stands in backticks, where brackets mean something else."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def links(document: Path) -> Iterator[str]:
    """What a document links to, but other sites."""
    for target in LINK.findall(without_code(document.read_text())):
        if not re.match(r"[a-z]+:", target):
            yield target


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, made as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    for link in links(document):
        name, _, anchor = link.partition("#")
        target = document.parent / name if name else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_picture_is_shown_and_light() -> None:
    pictures = set((ROOT / "docs" / "images").iterdir())
    shown = {(document.parent / link).resolve() for document in DOCUMENTS for link in links(document)}
    assert pictures <= shown
    assert [path.name for path in pictures if path.stat().st_size > HEAVIEST] == []
