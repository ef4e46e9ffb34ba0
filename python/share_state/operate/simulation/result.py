"""Result of a run, in figures that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from share_state.operate.simulation.polls import Poll
from share_state.operate.simulation.recorded import End, Recorded

__all__ = ["Figures", "Spread", "Waits", "recorded_figures"]


class Waits(NamedTuple):
    """For how long the start offset stood at each of its places, in ms."""

    moves: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    longest_ms: float

    @classmethod
    def of(cls, waits: Iterable[float]) -> Self:
        """Summarise."""
        found = sorted(waits)
        if not found:
            return cls(0, 0.0, 0.0, 0.0, 0.0)
        p50, p90, p99 = (found[min(len(found) - 1, len(found) * part // 100)] for part in (50, 90, 99))
        return cls(len(found), p50, p90, p99, found[-1])


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of the records in one run.

    Attributes:
        deliveries: how often records were delivered.
        redeliveries: how many of these were not the first of their record.
        accepted: records that were accepted.
        rejected: records that were rejected.
        archived_at_limit: records that were archived because they had been delivered as often as allowed.
        lock_expiries: deliveries that ended because the lock expired.
        drain_ms: from the first fetch until every record was settled; None where that did not happen.
        waits: for how long the start offset stood.
        utilisation: the part of the members' time in which they worked; None where that is not known.
    """

    deliveries: int
    redeliveries: int
    accepted: int
    rejected: int
    archived_at_limit: int
    lock_expiries: int
    drain_ms: float | None
    waits: Waits
    utilisation: float | None = None


class Spread(NamedTuple):
    """A figure over several runs of one simulation."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Summarise."""
        return cls(sum(values) / len(values), min(values), max(values))


def recorded_figures(recorded: Recorded, expired: Sequence[Poll], delivery_limit: int, begin_ms: float) -> Figures:
    """Return the figures of what was recorded."""
    deliveries = sum(count for counts in recorded.counts.values() for count in counts.values())
    records = sum(map(len, recorded.counts.values()))
    ends = dict.fromkeys(End, 0)
    at_limit = 0
    for _, ending in recorded:
        size = ending.last_offset - ending.first_offset + 1
        if ending.end is End.ARCHIVED and ending.delivery_count >= delivery_limit:
            at_limit += size
        else:
            ends[ending.end] += size
    settled = [at for times in recorded.settled_ms.values() for at in times.values()]
    return Figures(
        deliveries=deliveries,
        redeliveries=deliveries - records,
        accepted=ends[End.ACCEPTED],
        rejected=ends[End.ARCHIVED],
        archived_at_limit=at_limit,
        lock_expiries=sum(poll.records for poll in expired),
        drain_ms=max(settled) - begin_ms if len(settled) == records else None,
        waits=Waits.of(recorded.start_offset_waits(begin_ms)),
    )
