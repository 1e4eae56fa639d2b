"""Input that somebody made to hurt: each must be refused at once, whoever reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = ["HOSTILE"]

MIB = 1024 * 1024
FULL = 10 * MIB - 64
"""Almost as much as is read at all."""

_LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)

HOSTILE: Mapping[str, Callable[[], str | bytes]] = {
    "fifty-megabytes": lambda: b"- a\n" * (50 * MIB // 4),
    "fifty-megabytes-of-text": lambda: "é" * (25 * MIB),
    "billion-laughs": lambda: _LAUGHS,
    "quadratic-aliases": lambda: f"a: &a [{'x,' * 9000}]\n" + "".join(f"b{each}: *a\n" for each in range(5000)),
    "merged-mappings": lambda: (
        "a: &a {" + ",".join(f"k{each}: 1" for each in range(4000)) + "}\n" + "b: {<<: *a}\n" * 2000
    ),
    "alias-of-itself": lambda: "a: &a [*a]\n",
    "long-alias": lambda: f"a: *{'x' * FULL}",
    "many-values": lambda: "- a\n" * (FULL // 4),
    "many-keys": lambda: "".join(f"k{each}:\n" for each in range(1_000_000)),
    "many-anchors": lambda: "".join(f"k{each}: &k{each} x\n" for each in range(400_000)),
    "flow-list": lambda: f"a: [{'x,' * (FULL // 2)}]",
    "json-list": lambda: f"[{'1,' * (FULL // 2)}1]",
    "json-objects": lambda: f"[{'{},' * (FULL // 3)}1]",
    "json-open": lambda: "[" * FULL,
    "json-open-objects": lambda: '{"a":' * (FULL // 5),
    "json-hidden-behind-blanks": lambda: " " * 5000 + f"[{'{},' * (3 * MIB)}1]",
    "json-of-quotes": lambda: "[" + '"' * FULL,
    "json-escapes": lambda: '{"a": "' + '\\"' * (FULL // 2),
    "yaml-open": lambda: "a: " + "[" * FULL,
    "yaml-dashes": lambda: "- " * (FULL // 2),
    "yaml-questions": lambda: "? " * (FULL // 2),
    "yaml-indented": lambda: "".join(" " * each + "a:\n" for each in range(4000)),
    "long-scalar": lambda: f"a: {'x' * FULL}",
    "long-block": lambda: "a: |\n" + " x\n" * (FULL // 3),
    "long-quoted": lambda: 'a: "' + '\\"' * (FULL // 2) + '"',
    "separators": lambda: "---\n" * (FULL // 4),
    "directives": lambda: "%TAG !a! x\n" * (FULL // 11),
    "one-object-many-times": lambda: (
        "---\napiVersion: ome.io/v1beta1\nkind: BaseModel\nmetadata: {name: a}\n" * 100_000
    ),
    "items-of-nothing": lambda: '{"kind": "List", "items": [' + "{}," * (3 * MIB) + "{}]}",
    "lists-in-lists": lambda: '{"kind": "List", "items": [' * 90 + "]}" * 90,
    "nul": lambda: b"a: b\n" * MIB + b"\0",
    "nul-escaped": lambda: '{"a": "\\u0000"}',
    "half-a-surrogate": lambda: '{"a": "\\ud800"}',
    "not-utf-8": lambda: b"a: \xff\xfe\n" * MIB,
    "wrong-types": lambda: "---\n- 1\n" * MIB,
    "number-without-end": lambda: "a: .inf\n",
}
"""Makers of the input by name; made anew each time, for they are large."""
