"""Markdown that people write, as HTML that can do nothing: CommonMark and tables; all else is taken out.

Links lead to this site or to http(s), mail aside; pictures are links, for nothing is fetched from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

__all__ = ["LONGEST", "as_html", "mentioned"]

LONGEST = 20_000
"""Characters of one text."""

_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_MENTION = re.compile(r"(?<![\w@.+/-])@([\w.@+-]{1,150})")
_TRAILING = ".-+@_"


def as_html(text: str) -> SafeString:
    """The text as HTML that is safe to put into a page. Headings begin below those of pages."""
    html = _parser().render(text)
    return mark_safe(  # noqa: S308 - this is what nh3 is for
        nh3.clean(
            html,
            tags=_TAGS,
            attributes={"a": {"href", "title"}, "ol": {"start"}},
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer nofollow",
        )
    )


def mentioned(text: str, known: Collection[str]) -> list[str]:
    """Those of the known user names that a text names with ``@``, in their order, each once; none inside of code.

    >>> mentioned("@ada see `@bob`, mail@carl, and @dora.", {"ada", "bob", "carl", "dora"})
    ['ada', 'dora']
    """
    found: dict[str, None] = {}
    for block in _parser().parse(text):
        for token in block.children or ():
            if token.type == "text":
                for match in _MENTION.finditer(token.content):
                    name = match[1]
                    while name not in known and name and name[-1] in _TRAILING:
                        name = name[:-1]
                    if name in known:
                        found[name] = None
    return list(found)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 30, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.push("demote", _demote)
    parser.add_render_rule("image", _image)
    return parser


def _demote(state: StateCore) -> None:
    """A page has its own headings down to the third."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 3)}"


def _image(_: RendererHTML, tokens: list[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    """A link to the picture."""
    token = tokens[place]
    shown = nh3.clean_text(token.content or str(token.attrGet("src") or ""))
    return f'<a href="{nh3.clean_text(str(token.attrGet("src") or ""))}">{shown}</a>'
