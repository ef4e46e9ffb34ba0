"""Fits the model to a history."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from share_state.operate.simulation.processing import FittedProcessing
from share_state.operate.simulation.reconstruction import Reconstruction

__all__ = ["fit_processing"]

#: Multiple of the usual time from which on work counts as a stall and its usual part.
_STALL: Final = 4.0
#: Without a fetch that was answered in time, a record takes this part of a lock.
_UNKNOWN: Final = 0.5
#: A member that does not come back by the end of the log is away for so many locks.
_AWAY: Final = 2.0


def fit_processing(told: Reconstruction, lock_duration_ms: int) -> FittedProcessing:
    """Split the times of fetches into what is usual and stalls."""
    if not told.worked:
        return FittedProcessing(lock_duration_ms * _UNKNOWN, 0.0, (1.0,), 1, *_stalls(told, [], lock_duration_ms, 0.0))
    fetch, record = _line(told.worked)
    size = round(median(records for records, _ in told.worked))
    usual, stalled = [], []
    for records, duration in told.worked:
        expected = fetch + record * records
        if duration > _STALL * expected:
            stalled.append(duration - expected)
        elif 2 * records >= size:
            # Few records differ more from what is usual than many do.
            usual.append(duration / expected)
    chance, stalls = _stalls(told, stalled, lock_duration_ms, fetch + record * size)
    return FittedProcessing(fetch, record, sorted(usual) or (1.0,), size, chance, stalls)


def _stalls(
    told: Reconstruction, within: Sequence[float], lock_duration_ms: int, usual: float
) -> tuple[float, tuple[float, ...]]:
    """Return the chance of a record to bring a stall, and how long stalls last beyond what is usual."""
    seen = [*within, *(max(0.0, away - usual) for _, away in told.stalls if away is not None)]
    beyond = [away for away in seen if away + usual >= lock_duration_ms]
    # Of who never came back it is only known that it took longer than the lock: as long as others that did.
    unknown = len([away for _, away in told.stalls if away is None])
    beyond = sorted(beyond) or [_AWAY * lock_duration_ms]
    seen += [beyond[at % len(beyond)] for at in range(unknown)]
    records = sum(records for records, _ in told.worked) + sum(records for records, _ in told.stalls)
    return (len(seen) / records if records else 0.0), tuple(sorted(seen))


def _line(worked: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return what a fetch costs and what each of its records adds, both 0 or more: a line through medians.

    A line through all points would follow the stalls.
    """
    by_size: dict[int, list[float]] = {}
    for records, duration in worked:
        by_size.setdefault(records, []).append(duration)
    points = [(size, median(durations), len(durations)) for size, durations in by_size.items()]
    weight = sum(count for *_, count in points)
    x = sum(size * count for size, _, count in points) / weight
    y = sum(middle * count for _, middle, count in points) / weight
    spread = sum(count * (size - x) ** 2 for size, _, count in points)
    slope = sum(count * (size - x) * (middle - y) for size, middle, count in points) / spread if spread else y / x
    slope = min(max(slope, 0.0), y / x)
    return y - slope * x, slope
