"""Which names say that their value is a secret, and which only sound like it."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["refers", "says_secret"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_ENDS = ("token", "secret", "password", "passwords", "passwd", "passphrase", "passcode", "apikey", "apikeys")
_WORDS = frozenset(
    {"pwd", "pw", "pat", "credential", "credentials", "secretkey", "accesskey", "privatekey", "authorization", "bearer"}
    | {"cookie", "dockerconfigjson", "htpasswd"}
)
_LAST = frozenset({"pass", "userpass"})
_BEFORE_KEY = frozenset(
    {"api", "secret", "access", "private", "auth", "signing", "encryption", "account", "client", "storage", "master"}
    | {"license", "ssh", "session", "subscription", "service"}
)
_BEFORE_TOKENS = frozenset({"api", "auth", "access", "bearer", "refresh", "hf", "secret", "github", "bot"})
_PAIRS = frozenset({("basic", "auth"), ("connection", "string")})

_REFERENCES = frozenset(
    {"name", "names", "ref", "reference", "path", "file", "mount", "namespace", "id", "ids", "type", "url", "uri"}
    | {"endpoint", "header", "provider", "class", "store", "version", "policy", "mode", "format", "audience", "issuer"}
    | {"length", "limit", "count", "size", "expiration", "seconds", "ttl", "timeout", "interval", "rate", "ratio"}
    | {"threshold", "budget", "bucket", "window", "usage", "map", "enabled", "required", "healing"}
)
"""A name that ends so points at a secret, or measures it, and isn't the secret itself."""

_OF_LANGUAGE = frozenset(
    {"bos", "eos", "pad", "unk", "sep", "cls", "mask", "stop", "start", "begin", "end", "image", "audio", "video"}
    | {"vision", "speech", "think", "thinking", "special", "tool", "first", "last", "per", "new", "draft", "max", "min"}
)
"""Tokens of this kind are words of a language model: ``--eos-token``, ``time-per-token``."""


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def refers(name: str) -> bool:
    """Whether a name says that its value points at something (``secretName``) and isn't the thing itself.

    >>> refers("secretName"), refers("HF_TOKEN_PATH"), refers("HF_TOKEN")
    (True, True, False)
    """
    words = _words(name)
    return bool(words) and words[-1] in _REFERENCES


@lru_cache(maxsize=4096)
def says_secret(name: str) -> bool:
    """Whether a name says that its value is a secret; names of things that refer to one don't.

    >>> [says_secret(name) for name in ("HF_TOKEN", "apiKey", "--api-key", "AWS_SECRET_ACCESS_KEY", "dbPassword")]
    [True, True, True, True, True]
    >>> [says_secret(name) for name in ("tokenizer", "secretName", "max_tokens", "TOKEN_LIMIT", "key", "eosToken")]
    [False, False, False, False, False, False]
    """
    if len(name) > 500:
        return True  # no name that anyone means; what it holds isn't known
    words = _words(name)
    if not words or words[-1] in _REFERENCES:
        return False
    if words[-1] in _LAST:
        return True
    before = ["", *words]
    return any(_secret_word(first, second) for first, second in zip(before, words, strict=False))


def _secret_word(before: str, word: str) -> bool:
    if word == "token":
        return before not in _OF_LANGUAGE
    if word in {"key", "keys"}:
        return before in _BEFORE_KEY
    if word == "tokens":
        return before in _BEFORE_TOKENS
    return word in _WORDS or word.endswith(_ENDS) or (before, word) in _PAIRS
