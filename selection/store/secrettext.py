"""Finds secrets inside text: options, assignments, headers, URLs, and values with a secret's shape.

Every pattern begins where a word begins and goes over the text once, so that no text can take long. What was
replaced already is met again as one word, so that a second pass changes nothing.
"""

from __future__ import annotations

import re

from .secretnames import says_secret

__all__ = ["PLACEHOLDER", "hidden_text", "shapes_hidden", "storable", "without_secrets"]

PLACEHOLDER = "«secret replaced»"

_REFERENCE = r"\$\([A-Za-z_][\w.-]*\)|\$\{[A-Za-z_]\w*\}|\$[A-Za-z_]\w*"
_ONLY_REFERENCES = re.compile(rf"\s*(?:(?:bearer|basic|token)\s+)?(?:(?:{_REFERENCE})[\s:/@,;.-]*)+", re.IGNORECASE)
_PLAIN = re.compile(r"(?:true|false|yes|no|none|null|auto|[+-]?[0-9.]{1,5})?", re.IGNORECASE)

_OPTION = re.compile(r"(?<![\w$./@-])--?([A-Za-z][\w.-]*)(?:=|[\"']?(?:[ \t]*,[ \t]*|[ \t]+)(?![\"']?-))")
_VARIABLE = re.compile(r"(?<![\w$.-])([A-Za-z_][\w.-]*)=")
_FIELD = re.compile(r"(?<![\w$./@-])([A-Za-z_][\w.-]*)\\*[\"']?[ \t]*:[ \t]*(?!//)")

_DONE = rf"[\\\"']*{PLACEHOLDER}"
_SCHEME = r"(?:(?:[Bb]earer|[Bb]asic|[Tt]oken)[ ]+)?"
_QUOTED = r"\\+\"[^\"\n]*\"?|\"(?:[^\"\\\n]|\\.)*\"?|\\+'[^'\n]*'?|'[^'\n]*'?"
_COMPUTED = r"\$\([^()\n]*\)|\$\{[^{}\n]*\}"
_SHELL_VALUE = re.compile(rf"{_DONE}|{_COMPUTED}|{_QUOTED}|{_SCHEME}[^\s\"';|&]+")
_FIELD_VALUE = re.compile(rf"{_DONE}|{_COMPUTED}|{_QUOTED}|{_SCHEME}[^\s\"',;{{}}\[\]&\\]+")
_WHOLE_OPTION = re.compile(r"--?([A-Za-z][A-Za-z0-9_.-]*)=(?!.*\s-)(.+)")

_SHAPES = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"(?:hf|api_org)_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,}"
    r"|sk-(?:(?=[\w-]*[A-Z])(?=[\w-]*[0-9])[\w-]{20,}|[0-9a-f]{32,})|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|(?:gsk|r8|dckr_pat)_[\w-]{20,}|(?:AKIA|ASIA)[0-9A-Z]{16}|xox[abeprs]-[A-Za-z0-9-]{10,}|AIza[\w-]{30,}"
    r"|ya29\.[\w-]{20,}|nvapi-[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
    r"|(?i:bearer|basic)[ ]+(?=\S*[0-9A-Z=+/])[\w.~+/=-]{16,}"
    r")"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|(?<=hooks\.slack\.com/services/)[\w/]+"
)
_URL_PASSWORD = re.compile(r"(?<=://)([^\s/@:]*:)([^\s/]+)(?=@)")
_URL_USER = re.compile(r"(?<=://)[A-Za-z0-9_~.%-]{20,}(?=@)")
_URL_SIGNATURE = re.compile(
    rf"(?i)(?<=[?&])((?:sig|signature|x-[a-z]+-signature|x-[a-z]+-credential)=)({PLACEHOLDER}|[^\s&\"'#]+)"
)
_USER = re.compile(rf"(?<!\S)((?:-u|--user)(?:=|[ \t]+)[\"']?[^\s:\"'=]+:)({PLACEHOLDER}|[^\s\"']+)")


def storable(text: str) -> str:
    """Text that both databases take: neither NUL nor half of a surrogate pair."""
    if "\x00" in text:
        text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def hidden_text(value: str) -> str:
    """The value of something that says it is secret: only references and plain words (``true``, ``8``) stay.

    >>> [hidden_text(value) for value in ("hunter2", "$(HF_TOKEN)", "Bearer ${TOKEN}", "false", "")]
    ['«secret replaced»', '$(HF_TOKEN)', 'Bearer ${TOKEN}', 'false', '']
    """
    value = storable(value)
    return value if _ONLY_REFERENCES.fullmatch(value) or _PLAIN.fullmatch(value) else PLACEHOLDER


def shapes_hidden(value: str) -> str:
    """Text without values that have the shape of a well-known provider's secret, whatever is around them."""
    return _SHAPES.sub(PLACEHOLDER, value)


def without_secrets(value: str) -> str:
    """Text with the secrets inside it replaced.

    >>> without_secrets("export HF_TOKEN=abc; serve --api-key 'a b' --tokenizer x")
    "export HF_TOKEN=«secret replaced»; serve --api-key '«secret replaced»' --tokenizer x"
    >>> without_secrets("https://me:pw@host/path?sig=abc")
    'https://me:«secret replaced»@host/path?sig=«secret replaced»'
    """
    value = shapes_hidden(value)
    if "://" in value:
        value = _URL_PASSWORD.sub(lambda match: match[1] + hidden_text(match[2]), value)
        value = _URL_USER.sub(PLACEHOLDER, value)
        value = _URL_SIGNATURE.sub(lambda match: match[1] + hidden_text(match[2]), value)
    if "-" in value:
        whole = _WHOLE_OPTION.fullmatch(value)
        if whole and says_secret(whole[1]):
            return value[: whole.start(2)] + _hidden(whole[2])
        value = _hide_after(_OPTION, _SHELL_VALUE, value)
        value = _USER.sub(lambda match: match[1] + hidden_text(match[2]), value)
    if "=" in value:
        value = _hide_after(_VARIABLE, _SHELL_VALUE, value)
    return _hide_after(_FIELD, _FIELD_VALUE, value) if ":" in value else value


def _hide_after(names: re.Pattern[str], values: re.Pattern[str], text: str) -> str:
    """Hide the value that follows each name that says secret."""
    parts: list[str] = []
    done = position = 0
    while found := names.search(text, position):
        position = found.end()
        value = values.match(text, position) if says_secret(found[1]) else None
        if value is not None:
            parts += [text[done:position], _hidden(value[0])]
            done = position = value.end()
    return "".join([*parts, text[done:]])


def _hidden(text: str) -> str:
    """A value, hidden within its quotes: a command stays a command, and JSON stays JSON."""
    inner = text.strip("\\\"'")
    start = text.index(inner)
    return text[:start] + hidden_text(inner) + text[start + len(inner) :]
