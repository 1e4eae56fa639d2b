"""What the stages found, as one report: medians, ratios, and the limits that the design sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from bench.fleet import Size
from bench.measure import median
from bench.stages import CHANGED

__all__ = ["LIMITS", "kept", "report", "text"]

Found = dict[str, Any]

LIMITS: dict[str, float] = {
    "rules_full_s": 2,
    "store_sqlite_full_s": 10,
    "store_postgresql_full_s": 10,
    "older_full_s": 10,
    "older_one_runtime_s": 0.5,
    "older_one_model_s": 0.5,
    "older_one_service_s": 0.5,
    "one_runtime_s": 0.5,
    "one_model_s": 0.5,
    "one_service_s": 0.5,
    "rss_mb": 500,
    "server_rss_mb": 500,
    "page_p95_ms": 100,
    "page_queries_growth": 0,
    "growth": 1,
}
"""The most that each may be. ``growth`` 1 is in proportion to the fleet."""


def _seconds(runs: list[Found], *parts: str, clock: str = "seconds") -> float:
    return median([sum(run[part][clock] for part in parts) for run in runs])


def report(size: Size, runs: int, large: Found, small: Found, machine: Found) -> Found:
    """Everything that is printed.

    Args:
        size: of the fleet.
        runs: how often each full evaluation was measured.
        large: what the stages found on that fleet: ``rules`` (each run), and ``sqlite`` and ``postgresql``, which
            have their stages, or ``{"reason": why there are none}``.
        small: the same with a tenth of the services.
        machine: on what it was measured.
    """
    whole = ("parse", "explain")
    sqlite, rules = large["sqlite"], large["rules"]
    plain = median([run["plain"]["seconds"] / run["plain"]["services"] for run in rules]) * size.services
    found: Found = {
        "fleet": {**asdict(size), "objects": rules[0]["objects"], "workloads": rules[0]["workloads"]},
        "machine": machine,
        "runs": runs,
        "rules_full_s": _seconds(rules, *whole),
        "rules_full_cpu_s": _seconds(rules, *whole, clock="cpu"),
        "rules_parse_s": _seconds(rules, "parse"),
        "rules_explain_s": _seconds(rules, "explain"),
        "plain_explain_s": plain,
        "plain_ratio": plain / _seconds(rules, "explain"),
    }
    for name in ("sqlite", "postgresql"):
        found |= _stored(name, large[name])
    changes = sqlite["changes"]
    for what in CHANGED:
        found[f"one_{what}_s"] = median([each["evaluate"]["seconds"] for each in changes[what]])
    found["one_change"] = {"sqlite": _changes(sqlite), "postgresql": _changes(large["postgresql"])}
    found |= {
        "rss_mb": max(run["rss_mb"] for run in sqlite["full"]),
        "rules_rss_mb": max(run["rss_mb"] for run in rules),
        "growth_1k_to_10k": dict(_growth(large, small)),
        "pages": _pages(sqlite, small["sqlite"]),
        "pages_postgresql": _pages(large["postgresql"], small["postgresql"]),
        "first_look": sqlite["pages"]["first"],
        "server_rss_mb": sqlite["pages"]["rss_mb"],
        "older_full_s": _seconds([sqlite["older"]], "evaluate"),
        "older_full_cpu_s": _seconds([sqlite["older"]], "evaluate", clock="cpu"),
        "older_findings": sqlite["older"]["findings"],
        **{
            f"older_one_{what}_s": median([each["evaluate"]["seconds"] for each in sqlite["older"]["changes"][what]])
            for what in CHANGED
        },
        "older_one_runtime_cpu_s": median([each["evaluate"]["cpu"] for each in sqlite["older"]["changes"]["runtime"]]),
    }
    return {**_rounded(found), "limits": list(_limits(found))}


def _stored(name: str, of: Found) -> Found:
    """What a full evaluation with the store takes on one database; the reason instead when it wasn't measured."""
    if "reason" in of:
        return {f"store_{name}_full_s": None, f"store_{name}_reason": of["reason"]}
    return {
        f"store_{name}_full_s": _seconds(of["full"], "evaluate"),
        f"store_{name}_full_cpu_s": _seconds(of["full"], "evaluate", clock="cpu"),
        f"store_{name}_objects_s": of["fill"]["store"]["seconds"],
        f"store_{name}_objects_again_s": of["fill"]["store_again"]["seconds"],
        f"store_{name}_database_mb": of["database"]["mb"],
        f"store_{name}_database": of["database"]["name"],
    }


def _changes(of: Found) -> Found | None:
    """Of each kind: how long its consequences take, in the middle and at worst, and how far they reach."""
    if "reason" in of:
        return None
    return {
        what: {
            "evaluate_s": median([each["evaluate"]["seconds"] for each in runs]),
            "evaluate_cpu_s": median([each["evaluate"]["cpu"] for each in runs]),
            "worst_s": max(each["evaluate"]["seconds"] for each in runs),
            "store_kind_s": median([each["store"]["seconds"] for each in runs]),
            "services_judged": [each["services"] for each in runs],
            "rows_written": [each["rows"] for each in runs],
        }
        for what, runs in of["changes"].items()
    }


def _growth(large: Found, small: Found) -> Iterator[tuple[str, float | None]]:
    """Time with all services over ten times that with a tenth of them: 1 grows in proportion, below 1 slower."""
    whole = ("parse", "explain")
    yield "rules", _seconds(large["rules"], *whole, clock="cpu") / _seconds(small["rules"], *whole, clock="cpu") / 10
    for name in ("sqlite", "postgresql"):
        if "reason" in large[name]:
            yield f"store_{name}", None
            continue
        times = [_seconds(of[name]["full"], "evaluate") for of in (large, small)]
        yield f"store_{name}", times[0] / times[1] / 10
    memory = [max(run["rss_mb"] for run in of["sqlite"]["full"]) for of in (large, small)]
    yield "rss", memory[0] / memory[1] / 10


def _pages(large: Found, small: Found) -> Found | None:
    """Each page on the fleet, beside a tenth of the services: the same number of queries, however many there are."""
    if "reason" in large:
        return None
    return {
        name: {
            **told,
            "p50_ms_at_1k": small["pages"]["pages"][name]["p50_ms"],
            "queries_at_1k": small["pages"]["pages"][name]["queries"],
        }
        for name, told in large["pages"]["pages"].items()
    }


def _limits(found: Found) -> Iterator[Found]:
    def limit(what: str, value: float | None, of: str) -> Iterator[Found]:
        if value is not None:
            yield {"what": what, "value": _rounded(value), "limit": LIMITS[of], "kept": value <= LIMITS[of]}

    for name, value in found.items():
        if name in LIMITS:
            yield from limit(name, value, name)
    for what, told in (found["one_change"]["postgresql"] or {}).items():
        yield from limit(f"one_{what}_s on PostgreSQL", told["evaluate_s"], f"one_{what}_s")
    for name, value in found["growth_1k_to_10k"].items():
        yield from limit(f"growth of {name}", value, "growth")
    for pages, where in (("pages", ""), ("pages_postgresql", " on PostgreSQL")):
        for name, told in (found[pages] or {}).items():
            yield from limit(f"page {name}{where}, p95 in ms", told["p95_ms"], "page_p95_ms")
            more = told["queries"] - told["queries_at_1k"]
            yield from limit(
                f"page {name}{where}, more queries than with a tenth of the services", more, "page_queries_growth"
            )


def kept(found: Found) -> bool:
    """Whether every limit is."""
    return all(limit["kept"] for limit in found["limits"])


def _rounded(value: Any) -> Any:
    """Numbers with as many digits as mean something."""
    if isinstance(value, float):
        return round(value, 3) if value < 100 else round(value, 1)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return value


def text(found: Found) -> str:
    """The report for people: a line for each number, and the limits that aren't kept at the end."""
    fleet, lines = found["fleet"], []
    lines.append(
        "{services:,} services, {runtimes:,} runtimes, {models:,} models, {namespaces} namespaces; ".format(**fleet)
    )
    lines[0] += f"{fleet['objects']:,} objects with what runs; medians of {found['runs']} runs"
    plain = [(name, value) for name, value in found.items() if isinstance(value, (int, float)) and name != "runs"]
    width = max(len(name) for name, _ in plain)
    for name, value in plain:
        lines.append(f"{name:<{width}}  {value:>8}{_limit(name)}")
    for name, value in found.items():
        if name.endswith("_reason"):
            lines.append(f"{name:<{width}}  {value}")
    for name, value in found["growth_1k_to_10k"].items():
        lines.append(f"{'growth of ' + name:<{width}}  {'-' if value is None else value:>8}{_limit('growth')}")
    for name, value in found["first_look"].items():
        lines.append(f"{'first look, ' + name:<{width}}  {value:>8}")
    for key, where in (("pages", "SQLite"), ("pages_postgresql", "PostgreSQL")):
        lines += _page_table(found[key], where) if found[key] else []
    broken = [f"{each['what']}: {each['value']}, limit {each['limit']}" for each in found["limits"] if not each["kept"]]
    return "\n".join([*lines, "", *(["Limits that are not kept:", *broken] if broken else ["Every limit is kept."])])


def _limit(name: str) -> str:
    return f"  (limit {LIMITS[name]:g})" if name in LIMITS else ""


def _page_table(pages: Found, where: str) -> list[str]:
    width = max(map(len, pages))
    lines = ["", f"{'page on ' + where:<{width}}  queries  p50 ms  p95 ms  p50 cpu  p95 cpu  p50 ms at a tenth"]
    for name, told in pages.items():
        numbers = (told[key] for key in ("p50_ms", "p95_ms", "cpu_p50_ms", "cpu_p95_ms"))
        middle = "  ".join(f"{number:>{6 + (place > 1)}.0f}" for place, number in enumerate(numbers))
        lines.append(f"{name:<{width}}  {told['queries']:>7}  {middle}  {told['p50_ms_at_1k']:>17.0f}")
    return lines
