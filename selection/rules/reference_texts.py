"""LeaderWorkerSet's names in free text: a command, an argument, a script, the value of a variable, a selector.

Follows OME: move from LeaderWorkerSet to OMENative. ``references`` walks a spec and asks here for each text; it
lists the codes.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "LABEL_PREFIX",
    "LEADERS",
    "RENAMED_VARIABLES",
    "WORKER_INDEX",
    "Mention",
    "Remedy",
    "mentions",
    "names_leader_worker_set",
    "rewritten_text",
]

Remedy = Literal["rename", "delete", "rework"]

RENAMED_VARIABLES: Mapping[str, str] = {
    "LWS_LEADER_ADDRESS": "OME_LEADER_ADDRESS",
    "LWS_GROUP_SIZE": "OME_INSTANCE_POD_COUNT",
    "LWS_WORKER_INDEX": "OME_INSTANCE_POD_RANK",
}
LABEL_PREFIX = "leaderworkerset.sigs.k8s.io/"
WORKER_INDEX = LABEL_PREFIX + "worker-index"
LEADERS = ("ome.io/runner", "leader")
"""The label that OMENative's leaders carry."""

_VARIABLE = re.compile(
    r"\$+\((?P<k8s>LWS_\w*)\)"  # $(X), and $$(X)
    r"|\$\{[#!]?(?P<braced>LWS_\w*)[^{}$\n]*\}"  # ${X}, ${X:-1}
    r"|\$(?P<shell>LWS_\w*)"
    r"|(?u:(?<!\w))(?P<bare>LWS_\w*)",  # a letter of any script makes it another word
    re.ASCII,
)
_MENTION = re.compile(r"leaderworkerset[\w./\\-]*", re.ASCII)
_IS_ZERO = re.compile(r"(==?)(\"0\"|'0'|0)(?![\w.-])")
_ARITHMETIC = re.compile(
    r"\b(?:expr|let|bc|awk|(?:declare|typeset|local)\s+-i)\b[^\n;|&]*"
    r"|(?:^|(?<=[\n;&|]))[^\n;&|]*\|\s*bc\b"
)
_SUMS = (("((", "))"), ("$[", "]"))
_REQUIREMENT = re.compile(r"[^-=!\s][^=!\s]*(?:==?|!=)[^=\s]*")
_WORD = re.compile(r"[^,\s\"']+")
_SELECTOR_FLAG = re.compile(r"(?<!\S)--?(?:[a-z]+-)*(?:selector|l)(?:\s*=\s*|\s+)[\"']?")


@dataclass(frozen=True, slots=True)
class Mention:
    """One name of LeaderWorkerSet in a text.

    Attributes:
        start: where it begins.
        end: where it ends.
        kind: ``variable``, ``selector`` or ``text``.
        replacement: what to write instead of the token; with remedy ``rework`` a guess that a person must check.
        remedy: ``rename`` and ``delete`` mend it; ``rework`` needs a person.
        explanation: why, as a code of :mod:`.references`.
        cut: for ``delete`` the span to cut, which takes a comma or space with it.
    """

    start: int
    end: int
    kind: str
    replacement: str | None
    remedy: Remedy
    explanation: str
    cut: tuple[int, int] | None = None


def names_leader_worker_set(text: str) -> bool:
    """Whether a text can name LeaderWorkerSet at all; quick, and never wrong when it says no."""
    return "LWS_" in text or "leaderworkerset" in text


def mentions(
    text: str, *, init_container: bool = False, router: bool = False, env_value: bool = False
) -> list[Mention]:
    """Every name of LeaderWorkerSet in a text, in order.

    Args:
        text: the text.
        init_container: whether it is an init container's, where OME sets no variables.
        router: whether it is the router's, which has neither kind of variables.
        env_value: whether it is the value of an environment variable.

    >>> [(each.explanation, each.replacement) for each in mentions("--rank=${LWS_WORKER_INDEX:-0}")]
    [('renamed', '${OME_INSTANCE_POD_RANK:-0}')]
    """
    sums = _joined(_arithmetic(text))
    cuts = _cuts(text) if LABEL_PREFIX in text else {}
    found = []
    for match in [*_VARIABLE.finditer(text), *_MENTION.finditer(text)]:
        if match.re is _MENTION:
            found.append(_label(text, *match.span(), cuts))
            continue
        explanation = "renamed"
        if match["k8s"] and match[0].index("(") % 2 == 0:
            explanation = "escaped"
        elif _within(sums, match.start()):
            explanation = "arithmetic"
        elif match["k8s"] and env_value:
            explanation = "env-value-order"
        if router:
            explanation = "router"
        found.append(_variable(match, explanation, init_container))
    return sorted(found, key=lambda mention: mention.start)


def _arithmetic(text: str) -> Iterator[tuple[int, int]]:
    """Where a shell would compute, over several lines too."""
    for match in _ARITHMETIC.finditer(text):
        yield match.span()
    for opening, closing in _SUMS:
        start = text.find(opening)
        while start >= 0 and (end := text.find(closing, start)) >= 0:
            yield start, end + len(closing)
            start = text.find(opening, end)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


def _within(spans: list[tuple[int, int]], at: int) -> bool:
    place = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return place >= 0 and at < spans[place][1]


def _variable(match: re.Match[str], explanation: str, init_container: bool) -> Mention:
    name = next(found for found in match.groups() if found is not None)
    known = RENAMED_VARIABLES.get(name)
    if known is None or init_container:
        why = "init-container" if init_container else "unknown-variable"
        return Mention(*match.span(), "variable", None, "rework", why)
    remedy: Remedy = "rework" if explanation in {"router", "arithmetic", "escaped"} else "rename"
    return Mention(*match.span(), "variable", match[0].replace(name, known, 1), remedy, explanation)


def _label(text: str, start: int, end: int, cuts: Mapping[int, tuple[int, int]]) -> Mention:
    """A label's key, or another mention."""
    key = text[start:end].rstrip("./\\")
    end = start + len(key)
    zero = _IS_ZERO.match(text, end)
    if key == WORKER_INDEX and zero:
        new = f"{LEADERS[0]}{zero[1]}{zero[2].replace('0', LEADERS[1])}"
        return Mention(start, zero.end(), "selector", new, "rename", "leader-selector")
    if key == WORKER_INDEX:
        return Mention(start, end, "selector", None, "rework", "worker-index")
    if key.startswith(LABEL_PREFIX):
        cut = cuts.get(start)
        return Mention(start, end, "selector", None, "delete" if cut else "rework", "no-counterpart", cut)
    return Mention(start, end, "text", None, "rework", "text")


def _cuts(text: str) -> dict[int, tuple[int, int]]:
    """For each place where a ``key=value`` to delete begins, what to cut: where its selector keeps another.

    A selector is the whole text, or in a command line what follows a flag such as ``--prefill-selector``.
    """
    found: dict[int, tuple[int, int]] = {}
    for words in _selectors(text):
        goes = [word[0].startswith(LABEL_PREFIX) and re.split("[=!]", word[0])[0] != WORKER_INDEX for word in words]
        if all(goes):
            continue
        first = goes.index(False)
        for index, word in enumerate(words):
            if goes[index]:  # with the comma or space on the side of what stays
                after = index > first
                span = (words[index - 1].end(), word.end()) if after else (word.start(), words[index + 1].start())
                found[word.start()] = span
    return found


def _selectors(text: str) -> Iterator[list[re.Match[str]]]:
    """The requirements of each selector in a text."""
    flags = list(_SELECTOR_FLAG.finditer(text))
    if not flags:
        words = list(re.finditer(r"[^,\s]+", text))
        if "\n" not in text and all(_REQUIREMENT.fullmatch(word[0]) for word in words):
            yield words
        return
    for flag, later in zip(flags, [*flags[1:], None], strict=True):
        end = min(_quote_end(text, flag), later.start() if later else len(text))
        found = itertools.takewhile(lambda word: _REQUIREMENT.fullmatch(word[0]), _WORD.finditer(text, flag.end(), end))
        yield list(found)


def _quote_end(text: str, flag: re.Match[str]) -> int:
    """Where a flag's value ends at the latest: at its closing quote when it is quoted."""
    quote = text[flag.end() - 1 : flag.end()]
    if quote not in {'"', "'"}:
        return len(text)
    end = text.find(quote, flag.end())
    return len(text) if end < 0 else end


def rewritten_text(text: str, found: list[Mention]) -> str:
    """The text with what a rename or a cut mends; what needs a person stays.

    >>> rewritten_text("$LWS_GROUP_SIZE $LWS_NAME", mentions("$LWS_GROUP_SIZE $LWS_NAME"))
    '$OME_INSTANCE_POD_COUNT $LWS_NAME'
    """
    parts, taken = [], 0
    for mention in found:
        start, end = mention.cut or (mention.start, mention.end)
        if mention.remedy == "rework" or start < taken:  # not one inside another, such as a key in a default
            continue
        parts += [text[taken:start], mention.replacement or ""]
        taken = end
    return "".join([*parts, text[taken:]])
