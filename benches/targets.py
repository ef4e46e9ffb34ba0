"""Targets beside what was measured: met, missed, wrong or not measured, and what stands in the way."""

from __future__ import annotations

from typing import Any

from benches import text
from benches.plan import TARGETS, Target
from benches.programs import COLUMNAR, KAFKA, SCALAR, TREE

#: By the name of a row, what was measured of it.
Results = dict[str, dict[str, Any]]

_FACES = {TREE: "Rust", SCALAR: "scalar", COLUMNAR: "columnar"}


def table(results: Results) -> list[str]:
    """Every target and what each face makes of it."""
    rows = [
        "| workload | to reach | Kafka | Rust | Python scalar | Python columnar | |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    return rows + ["| " + " | ".join(row(target, results)) + " |" for target in TARGETS]


def row(target: Target, results: Results) -> list[str]:
    """The cells of a target: what is asked, the time compared with, those of our faces, whether it is met."""
    asked = _asked(target)
    engines = results.get(target.row, {}).get("engines")
    if engines is None:
        return [target.text, asked, "", "", "", "", "not measured"]
    other = engines.get(target.against, {})
    cells, verdicts = _judged(target, engines, results)
    untold = [str(found["untold"]) for found in engines.values() if "untold" in found]
    conclusion = _conclusion(verdicts) if verdicts or not untold else untold[0]
    compared = text.time(other) if target.ratios else ""
    if target.figure and target.figure in other and target.against == KAFKA:
        compared = text.amount(other[target.figure])
    return [target.text, asked, compared, *cells, conclusion]


def limits(results: Results) -> list[str]:
    """For each target that is missed why."""
    page = []
    for target in TARGETS:
        engines = results.get(target.row, {}).get("engines", {})
        _, verdicts = _judged(target, engines, results)
        missed = [face for face, verdict in verdicts.items() if not verdict]
        if not missed:
            continue
        page.append(f"- **{target.text}**, missed by {', '.join(missed)}. {target.limit}")
    return page or ["Nothing: every target that was measured is met."]


def _judged(target: Target, engines: dict[str, Any], results: Results) -> tuple[list[str], dict[str, bool]]:
    """The cell of each face, and whether the target is met by those that it asks something of."""
    other = engines.get(target.against, {})
    judged = [(face, *_cell(target, face, engines.get(face, {}), other, results)) for face in _FACES]
    verdicts = {_FACES[face]: verdict for face, _, verdict in judged if verdict is not None}
    return [cell for _, cell, _ in judged], verdicts


def _conclusion(verdicts: dict[str, bool]) -> str:
    if not verdicts:
        return "not measured"
    if len(set(verdicts.values())) == 1:
        return "met" if all(verdicts.values()) else "MISSED"
    met = ", ".join(face for face, verdict in verdicts.items() if verdict)
    missed = ", ".join(face for face, verdict in verdicts.items() if not verdict)
    return f"met by {met}; MISSED by {missed}"


def _cell(target: Target, face: str, found: dict[str, Any], other: dict[str, Any], results: Results) -> tuple[str, bool | None]:
    if found.get("wrong"):
        return "WRONG", False
    if target.figure:
        if target.figure not in found:
            return "", None
        value = found[target.figure]
        most, least = target.most, target.least
        return text.amount(value), (most is None or value <= most) and (least is None or value >= least)
    if target.growth:
        base = results.get(target.base, {}).get("engines", {}).get(face, {})
        if "ns" not in found or "ns" not in base:
            return text.time(found), None
        growth = found["ns"] / base["ns"]
        return f"{text.time(found)}, {growth:.2g}×", growth <= target.growth[face]
    if "ns" not in found or "ns" not in other:
        return text.time(found), None
    ratio = other["ns"] / found["ns"]
    if face not in target.ratios:
        return f"{text.time(found)}, {text.ratio(ratio)}", None
    return f"{text.time(found)}, {text.ratio(ratio)}", ratio >= target.ratios[face]


def _asked(target: Target) -> str:
    if target.figure:
        return f"≤ {target.most:,.0f}" if target.most is not None else f"≥ {text.amount(target.least or 0)}"
    wanted = target.growth or target.ratios
    sign = "≤ " if target.growth else ""
    values = [f"{sign}{wanted[face]:,.0f}×" for face in _FACES if face in wanted]
    return values[0] if len(set(values)) == 1 else " / ".join(values)
