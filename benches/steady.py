"""Steady state, found by the program: a process replays until its compiler is quiet and its last rounds agree.

The rounds that count are those at the end. A figure stands on the rounds of several processes, which must agree as well.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benches.programs import Running

#: Nanoseconds in the timed sections of a round, at least.
ROUND_NS = 300_000_000
#: Seconds of a round with all that is not timed, from which on it has no more replays.
_ROUND_S = 1.0
#: Rounds that count, and the least of them where a round takes long.
WINDOW, _LEAST = 5, 3
#: Between the slowest and the fastest of the rounds that count, as a share of the fastest: while they are measured, and as a
#: result over all processes.
_AGREE, PUBLISHED = 0.10, 0.25
#: Between the median of the rounds that count and of as many before them: more is a change point.
_CHANGE = 0.05
#: Milliseconds that the compiler works in a second of these rounds, at most.
_COMPILING = 10.0


@dataclass(frozen=True)
class Effort:
    """Time and processes that a row may take."""

    #: Processes of Kafka's class and of ours.
    processes: int = 3
    #: Seconds of rounds in a process.
    most_s: float = 90.0
    #: Seconds after which the first replay is given up.
    limit_s: int = 30
    tail_rounds: int = 5


@dataclass(frozen=True)
class Round:
    """Some replays in a row."""

    #: Nanoseconds of a replay.
    ns: float
    seconds: float
    compiling_ms: float


def apart(values: Sequence[float]) -> float:
    """The slowest and the fastest, as a share of the fastest."""
    return max(values) / min(values) - 1


def is_steady(rounds: Sequence[Round]) -> bool:
    """Tell if the compiler is quiet in the last rounds, they agree, and nothing has changed since those before them."""
    last, before = rounds[-WINDOW:], rounds[-2 * WINDOW : -WINDOW]
    if len(before) < WINDOW:
        return False
    compiling = sum(one.compiling_ms for one in last)
    change = statistics.median(one.ns for one in last) / statistics.median(one.ns for one in before) - 1
    quiet = compiling <= _COMPILING * sum(one.seconds for one in last)
    return quiet and apart([one.ns for one in last]) <= _AGREE and abs(change) <= _CHANGE


def rounds(process: Running, most_s: float) -> dict[str, Any]:
    """The rounds of a process that count, by the nanoseconds of a replay, and what came before them."""
    found: list[Round] = []
    replays = 1
    last: dict[str, Any] = {}
    began = time.monotonic()
    while not is_steady(found) and (len(found) < _LEAST or time.monotonic() - began < most_s):
        started = time.monotonic()
        last = process.ask("replays", replays)
        seconds = time.monotonic() - started
        if last["ns"] >= ROUND_NS or seconds >= _ROUND_S:
            found.append(Round(last["ns"] / replays, seconds, last.get("compiling_ms", 0.0)))
        else:
            # A round that is too short warms up and tells how many replays one needs.
            wanted = ceil(replays * 1.2 * ROUND_NS / max(last["ns"], 1))
            replays = max(replays + 1, min(wanted, 10 * replays, ceil(replays * _ROUND_S / max(seconds, 1e-3))))
    kept = found[-WINDOW:]
    return {
        "rounds_ns": [round(one.ns) for one in kept],
        "replays_a_round": replays,
        "rounds_before": len(found) - len(kept),
        "seconds": round(time.monotonic() - began, 1),
        "compiling_ms": sum(one.compiling_ms for one in kept),
        "steady": is_steady(found),
    } | {name: value for name, value in last.items() if name not in ("ns", "compiling_ms")}


def figures(processes: list[dict[str, Any]], elements: int) -> dict[str, Any]:
    """Nanoseconds an element: the median over the processes of the median of each; how far all rounds lie apart."""
    if not processes:
        return {}
    timed = [spent for one in processes for spent in one["rounds_ns"]]
    return {
        "ns": statistics.median(statistics.median(one["rounds_ns"]) for one in processes) / elements,
        "spread": apart(timed),
        "rounds_ns": timed,
        "processes": processes,
    }


def published(found: dict[str, Any]) -> dict[str, Any]:
    """Part of a result that a page may show: no time where its rounds lie too far apart, or where nobody looked."""
    if "ns" not in found:
        return found
    if "processes" in found and isinstance(found["processes"], list):
        why = "not steady" if found["spread"] > PUBLISHED else ""
    else:
        why = "not measured again"
    if not why:
        return found
    return {name: value for name, value in found.items() if name not in ("ns", "spread")} | {"untold": why}
