"""Markdown that people write: what becomes of it, and that nothing in it can do anything."""

from __future__ import annotations

import time
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

from selection.people.markdown import LONGEST, as_html, mentioned

ELEMENTS = {
    "a", "blockquote", "br", "code", "del", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {"a": {"href", "title", "rel"}, "ol": {"start"}}

BAD_LINKS = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "\x01javascript:alert(1)",
    "javascript&colon;alert(1)",
    "javascript&#58;alert(1)",
    "&#106;avascript:alert(1)",
    "&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74&#x3A&#x61&#x6C&#x65&#x72&#x74",
    "java&Tab;script:alert(1)",
    "java&NewLine;script:alert(1)",
    "javascript%3Aalert(1)",
    "vbscript:msgbox(1)",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+",
    "data:image/png;base64,iVBORw0KGgo=",
    "DATA:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "blob:https://example.com/1",
    "feed:javascript:alert(1)",
    "view-source:javascript:alert(1)",
    "ftp://example.com/",
]

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src='javascript:alert(1)'></iframe>",
    "<style>*{display:none}</style>",
    "<form action=https://evil.example><input name=password></form>",
    "<a href='javascript:alert(1)' onclick='alert(1)'>x</a>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php echo 1 ?>",
    "<base href='https://evil.example/'>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<object data=x></object><embed src=x>",
    "<details open ontoggle=alert(1)>",
    "<p style='position:fixed;inset:0'>over everything</p>",
    '[x](https://example.com/ "\\" onmouseover=\\"alert(1)")',
    '[x](https://example.com/"onmouseover=alert(1)//)',
    '![x](x"onerror=alert(1)//)',
    "![<img src=x onerror=alert(1)>](https://example.com/a.png)",
    "![a](javascript:alert(1))",
    "[![a](javascript:alert(1))](javascript:alert(1))",
    "[![a](b)](c)",
    "<javascript:alert(1)>",
    '<https://example.com/"onclick=alert(1)>',
    "[a]: javascript:alert(1)\n\n[a]",
    "[a]: <javascript:alert(1)> 'x'\n\n[a][a] ![a]",
    "```<img src=x onerror=alert(1)>\n</code></pre><script>alert(1)</script>\n```",
    '```"onclick=alert(1) class="x\nx\n```',
    "`</code><script>alert(1)</script>`",
    "| <b onclick=alert(1)>a | b |\n| :-- | --: |\n| <script>x</script> | ![a](javascript:1) |",
    "# <script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u202e<script>\u202c \u0000 \ufeff <\u200bscript>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<\x00script>alert(1)</script>",
    "1. a\n<li onclick=alert(1)>b",
    "~~<del cite=javascript:alert(1)>~~",
    "<a name=getElementById id=main class=skip>clobber</a>",
    "{{ 7*7 }} {% include 'x' %} ${7*7} #{7*7}",
]


class _Seen(HTMLParser):
    """Every element and attribute of a text, and what isn't allowed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.links: list[str] = []
        self.elements: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        if tag not in ELEMENTS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES.get(tag, set()):
                self.wrong.append(f"{tag}[{name}]")
            if name == "href":
                self.links.append(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.wrong.append("a comment")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append("a declaration")

    def handle_pi(self, data: str) -> None:
        self.wrong.append("an instruction")


def scheme(link: str) -> str:
    """The scheme as a browser reads it: it leaves out blanks in front, and tabs and line breaks anywhere."""
    told = link.lstrip("".join(map(chr, range(33)))).translate({9: None, 10: None, 13: None})
    return urlsplit(told).scheme if ":" in told.split("/")[0] else ""


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_has_no_element_and_no_attribute_that_is_not_allowed(text: str) -> None:
    for each in (text, f"> {text}", f"- {text}", f"**{text}**", f"a {text} b", f"\n\n{text}\n\n{text}"):
        seen = _Seen(as_html(each))
        assert not seen.wrong, each
        assert all(scheme(link) in {"", "http", "https", "mailto"} for link in seen.links), each


@pytest.mark.parametrize("link", BAD_LINKS)
def test_no_link_leads_into_a_script_or_data_in_any_spelling(link: str) -> None:
    for text in (
        f"[a]({link})", f"[a](<{link}>)", f"![a]({link})", f"<{link}>", f"[a]\n\n[a]: {link}", f"[a]: <{link}>\n\n[a]",
        f"<a href='{link}'>a</a>", f"[![a]({link})]({link})",
    ):  # fmt: skip
        seen = _Seen(as_html(text))
        assert not seen.wrong, text
        assert all(scheme(each) in {"", "http", "https", "mailto"} for each in seen.links), (text, seen.links)


def test_html_shows_as_the_text_that_it_is() -> None:
    assert _Seen(as_html("<script>alert(1)</script> & <b>x</b>")).text.strip() == (
        "<script>alert(1)</script> & <b>x</b>"
    )


def test_what_people_use_is_drawn() -> None:
    text = (
        "# Head\n\nsome *em* **strong** ~~gone~~ `code`\nnext line\n\n> said\n\n- a\n- b\n\n3. c\n\n"
        "```yaml\na: <b>\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n---\n\n[page](/services/) "
        '[there](https://example.com/ "title") [mail](mailto:a@example.com)'
    )
    seen = _Seen(as_html(text))
    assert seen.elements >= ELEMENTS - {"h5", "h6", "del"}
    assert seen.links == ["/services/", "https://example.com/", "mailto:a@example.com"]
    assert 'rel="noopener noreferrer nofollow"' in as_html(text)
    assert '<ol start="3">' in as_html(text)


def test_headings_begin_below_those_of_the_page() -> None:
    assert _Seen(as_html("# a\n\n## b\n\n###### c")).elements == {"h4", "h5", "h6"}


def test_a_picture_is_a_link_for_nothing_is_fetched() -> None:
    seen = _Seen(as_html("![a map](https://example.com/map.png) ![](https://example.com/no-words.png)"))
    assert seen.elements == {"p", "a"}
    assert seen.links == ["https://example.com/map.png", "https://example.com/no-words.png"]
    assert seen.text.split() == ["a", "map", "https://example.com/no-words.png"]


@pytest.mark.parametrize(
    "text",
    [
        "[" * LONGEST,
        "*" * LONGEST,
        "> " * (LONGEST // 2),
        "- " * (LONGEST // 2),
        "`" * LONGEST,
        "![" * (LONGEST // 2),
        "[a](" * (LONGEST // 4),
        "|a" * (LONGEST // 4) + "\n" + "|-" * (LONGEST // 4),
        "<" * LONGEST,
        "&" * LONGEST,
        "_a*" * (LONGEST // 3),
        "@a" * (LONGEST // 2),
        "@" + "." * (LONGEST - 1),
    ],
)
def test_the_longest_text_of_the_worst_kind_takes_a_moment(text: str) -> None:
    begun = time.process_time()
    seen = _Seen(as_html(text))
    mentioned(text, {"a", "ada"})
    assert time.process_time() - begun < 3
    assert not seen.wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@ada", ["ada"]),
        ("(@ada) *@bob* **@carl.d**", ["ada", "bob", "carl.d"]),
        ("- @bob\n- @ada\n\n> @bob", ["bob", "ada"]),
        ("[@ada](/x) ![@bob](y)", ["ada"]),
        ("`@ada`\n\n```\n@bob\n```\n\n    @bob", []),
        ("x@ada @@ada ada@bob /@ada", []),
        ("@ada's @bob, @carl.d.", ["ada", "bob", "carl.d"]),
        ("@ADA @adam @ad", []),
        ("\\@ada", ["ada"]),
        ("<b>@ada</b>", ["ada"]),
        ("https://example.com/@ada", []),
    ],
)
def test_who_is_named(text: str, expected: list[str]) -> None:
    assert mentioned(text, {"ada", "bob", "carl.d"}) == expected
