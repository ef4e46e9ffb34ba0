"""Figures as the report shows them: a time, a ratio, an amount."""

from __future__ import annotations

from typing import Any


def time(found: dict[str, Any]) -> str:
    """Time of an element, as an engine measured it. A result that was given up or is not published has none."""
    if "ns" in found:
        return ns(found["ns"])
    if "untold" in found:
        return str(found["untold"])
    if found.get("stopped") is not None or "stopped_at_size" in found:
        return "stopped"
    return ""


def beside(found: dict[str, Any], other: dict[str, Any]) -> str:
    """The time, and how many times as fast that is as the other; no ratio where one of them was not measured."""
    if found.get("wrong"):
        return "WRONG"
    if "ns" not in found or "ns" not in other:
        return time(found)
    return f"{time(found)}, {ratio(other['ns'] / found['ns'])}"


def ns(value: float) -> str:
    """Nanoseconds, in the unit that reads best."""
    for scale, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value:.3g} ns"


def ratio(value: float) -> str:
    return f"{value:,.0f}×" if value >= 10 else f"{value:.2g}×"


def amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
