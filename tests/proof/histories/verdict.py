"""A run from its seed to its verdict: played, kept, checked and told."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from share_state.operate.histories import Violation, check_history
from tests.proof.histories.recorded import write
from tests.proof.histories.system import Line, Order, System


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a run."""

    system: str
    #: Kinds of its members.
    kinds: tuple[str, ...]
    seed: int
    #: Path of the history.
    history: str
    events: int
    members: int
    #: Records that were produced, and deliveries, confirmed and other acknowledgements of records.
    produced: int
    deliveries: int
    confirmed: int
    refused: int
    unknown: int
    faults: dict[str, int]
    #: Violations by check.
    found: dict[str, int]
    #: Faults that no event can tell.
    besides: list[str]

    @property
    def is_clean(self) -> bool:
        return not self.found and not self.besides

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


def judge(
    system: System,
    seed: int,
    seconds: float,
    faults: Iterable[str],
    history: Path,
    *,
    kinds: tuple[str, ...] = ("confluent", "bare"),
) -> tuple[Verdict, list[Violation]]:
    """Play a run, keep its history and check it."""
    rng = random.Random(seed)  # noqa: S311 - a workload
    with tempfile.TemporaryDirectory() as directory:
        played = system.play(Order(rng, seconds, tuple(faults), Path(directory), kinds))
    events = write(history, played.lines)
    with history.open("rb") as lines:
        report = check_history(lines)
    verdict = Verdict(
        system=system.name,
        kinds=kinds,
        seed=seed,
        history=str(history),
        events=events,
        members=played.members,
        faults=dict(played.faults),
        found=dict(Counter(violation.check for violation in report.violations)),
        besides=played.besides,
        **tally(played.lines),
    )
    return verdict, list(report.violations)


def tally(lines: Iterable[Line]) -> dict[str, int]:
    """Count records: produced, delivered, and acknowledged by outcome."""
    counts = Counter[str]()
    for line in lines:
        if line["type"] in {"produce", "grant"}:
            counts[line["type"]] += line["last"] - line["first"] + 1
        elif line["type"] == "ack":
            counts[line["outcome"]] += sum(last - first + 1 for first, last, _ in line["ranges"])
    return {
        "produced": counts["produce"],
        "deliveries": counts["grant"],
        "confirmed": counts["ok"],
        "refused": counts["refused"],
        "unknown": counts["unknown"],
    }


def table(verdicts: Iterable[Verdict]) -> str:
    """Table with a row for each run."""
    head = ("system", "members", "seed", "events", "deliveries", "ok", "refused", "unknown", "faults", "found")
    rows: list[tuple[str, ...]] = [head]
    for one in verdicts:
        faults = " ".join(f"{name}:{count}" for name, count in sorted(one.faults.items())) or "-"
        found = " ".join(f"{check}:{count}" for check, count in sorted(one.found.items()))
        found = " ".join(filter(None, [found, *(f"({text})" for text in one.besides)])) or "nothing"
        figures = (one.events, one.deliveries, one.confirmed, one.refused, one.unknown)
        rows.append((one.system, " ".join(one.kinds), str(one.seed), *(f"{figure:,}" for figure in figures), faults, found))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
