"""Beginnings of the fetches, and the fetches that lasted longer than their lock.

An acquisition is never written. But a member fetches again when it has answered, a free member takes the first records that
are available, and a lock expires when its duration is over. With a known number of members, the ends alone tell most of the
beginnings: each end sets a member free, and that member takes the next fetch in the order of offsets. A member whose lock expired
is not free then. Its return shows in the first fetch that nobody else can have taken.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from share_state.operate.simulation.arrivals import Arrivals
from share_state.operate.simulation.polls import Poll
from share_state.operate.simulation.recorded import End, Place

__all__ = ["Reconstruction", "all_ran_out", "merged", "reconstruct"]

#: A lock expires so much early or late at most: the broker's timer, and the write.
_TOLERANCE: Final = 0.03
#: A fetch that would have taken less than this part of what is usual was taken by somebody else.
_TOO_SHORT: Final = 0.3
#: Likelihood below which a fetch with only released records is taken for an expired lock.
_UNLIKELY: Final = 0.01
#: Two rounds: the second knows what is usual.
_ROUNDS: Final = 2


@dataclass(slots=True)
class Reconstruction:
    """Reconstruction of the beginnings of the fetches.

    Attributes:
        begin_ms: when the first fetch began, in ms since the epoch.
        worked: the records and the duration in ms of each fetch that was answered in time.
        stalls: the records of each fetch whose lock expired, and after how many ms its member came back; None where it did not.
        expired: those fetches.
        unexplained: fetches whose beginning does not fit: they count for nothing.
    """

    begin_ms: float = 0.0
    worked: list[tuple[int, float]] = field(default_factory=list)
    stalls: list[tuple[int, float | None]] = field(default_factory=list)
    expired: list[Poll] = field(default_factory=list)
    unexplained: int = 0


def merged(parts: Iterable[Reconstruction]) -> Reconstruction:
    """Put together what is known of members that do not share work."""
    told = Reconstruction(begin_ms=float("inf"))
    for part in parts:
        told.begin_ms = min(told.begin_ms, part.begin_ms)
        told.worked += part.worked
        told.stalls += part.stalls
        told.expired += part.expired
        told.unexplained += part.unexplained
    return told


def reconstruct(found: Sequence[Poll], members: int, lock_duration_ms: int, arrivals: Mapping[Place, Arrivals]) -> Reconstruction:
    """Find the beginnings of fetches from their ends, which are in order of time."""
    usual = 0.0
    begin = found[0].end_ms
    told = Reconstruction()
    for _ in range(_ROUNDS):
        free = [begin - usual * found[0].records] * members
        told = _Round(found, free, lock_duration_ms, arrivals, usual).run()
        usual = median([duration / records for records, duration in told.worked[members:] or told.worked] or [0.0])
        begin = min([begin, *(poll.end_ms - lock_duration_ms for poll in told.expired)])
    return told


def all_ran_out(found: Sequence[Poll], lock_duration_ms: int, *, is_answered: bool) -> bool:
    """Return whether the lock of each fetch may have expired, and of each redelivery has lasted as long as one.

    Args:
        found: the fetches.
        lock_duration_ms: how long a lock lasts.
        is_answered: whether some of them seem to have been answered in time, which first deliveries may by chance.
    """
    again = [poll for poll in found if poll.is_redelivery]
    lasting = all(poll.end_ms - poll.earliest_ms >= lock_duration_ms * (1 - _TOLERANCE) for poll in again)
    return all(poll.returned for poll in found) and lasting and bool(again or not is_answered)


class _Round:
    """Pass over the fetches."""

    def __init__(
        self, found: Sequence[Poll], free: list[float], lock: int, arrivals: Mapping[Place, Arrivals], usual: float
    ) -> None:
        self.lock = lock
        #: Usual time of a record, in ms; 0 where it is not known yet.
        self.usual = usual
        self.arrivals = arrivals
        self.told = Reconstruction(begin_ms=free[0])
        #: Times at which members become free.
        self.free = free
        #: Times at which members took records that they did not answer in time, with their number.
        self.away: list[tuple[float, int]] = []
        self.queue = _Queue(found)
        #: Likelihood that a record is released, by fetches whose member has certainly answered.
        answered = [ending for poll in found if not poll.returned for _, ending in poll.endings]
        returns = sum(one.last_offset - one.first_offset + 1 for one in answered if one.end is End.RETURNED)
        self.release = returns / max(1, sum(one.last_offset - one.first_offset + 1 for one in answered))

    def run(self) -> Reconstruction:
        while self.queue:
            now = heapq.heappop(self.free) if self.free else None
            poll = self.queue.next(float("inf") if now is None else now)
            if poll is None:
                # All that is left can only begin later.
                if now is not None:
                    heapq.heappush(self.free, max(now, self.queue.earliest()))
                continue
            self._take(poll, now)
        self.told.stalls += [(records, None) for _, records in self.away]
        return self.told

    def _take(self, poll: Poll, now: float | None) -> None:
        if self._surely_expired(poll):
            self._taken_at(poll.end_ms - self.lock, now)
            self._expired(poll)
            return
        usual = self.usual * poll.records
        if now is None or (self.away and poll.end_ms - now < _TOO_SHORT * usual) or poll.end_ms < now:
            # Nobody who is known to be free can have taken it.
            if now is not None:
                heapq.heappush(self.free, now)
            if self.away:
                self._back(poll, usual)
            else:
                self.told.unexplained += 1
            return
        begin = max(now, poll.earliest_ms, *(self._arrived(poll)))
        if poll.returned and poll.end_ms - begin >= self.lock * (1 - _TOLERANCE):
            self._expired(poll)
            return
        self._answered(poll, begin)

    def _surely_expired(self, poll: Poll) -> bool:
        """Return whether nobody can have released so many records at once, and the lock can have begun a lock ago."""
        slack = self.lock * _TOLERANCE
        possible = poll.end_ms - self.lock >= max(poll.earliest_ms, self.told.begin_ms) - slack
        return poll.returned and possible and self.release**poll.records < _UNLIKELY

    def _taken_at(self, begin: float, now: float | None) -> None:
        """Find who took a fetch at a known time: who is free since `now`, or else one who was away."""
        if now is not None and now <= begin + self.lock * _TOLERANCE:
            return
        if self.away and (now is None or self.away[0][0] + self.lock <= begin):
            since, held = heapq.heappop(self.away)
            self.told.stalls.append((held, max(begin - since, float(self.lock))))
            if now is not None:
                heapq.heappush(self.free, now)
        else:
            self.told.unexplained += 1

    def _back(self, poll: Poll, usual: float) -> None:
        """Take a fetch as the first of a member that was away."""
        since, records = heapq.heappop(self.away)
        back = max(poll.end_ms - usual, poll.earliest_ms, since + self.lock)
        self.told.stalls.append((records, back - since))
        if poll.returned and self.usual and usual < self.lock <= poll.end_ms - max(since + self.lock, poll.earliest_ms):
            self._expired(poll)
        else:
            heapq.heappush(self.free, poll.end_ms)

    def _expired(self, poll: Poll) -> None:
        self.told.expired.append(poll)
        heapq.heappush(self.away, (poll.end_ms - self.lock, poll.records))

    def _answered(self, poll: Poll, begin: float) -> None:
        duration = poll.end_ms - begin
        if 0 < duration <= self.lock * (1 + _TOLERANCE):
            self.told.worked.append((poll.records, duration))
        else:
            # Longer than a lock lasts: the member was idle, or renewed it.
            self.told.unexplained += 1
        heapq.heappush(self.free, poll.end_ms)

    def _arrived(self, poll: Poll) -> Iterable[float]:
        for place, ending in poll.endings:
            yield self.arrivals[place].of(ending.last_offset) if place in self.arrivals else float("-inf")


class _Queue:
    """Fetches that have not begun: what was returned comes first, then what is new, by offset."""

    def __init__(self, found: Sequence[Poll]) -> None:
        self.new = sorted((poll for poll in found if not poll.is_redelivery), key=lambda poll: poll.order, reverse=True)
        self.later = sorted((poll for poll in found if poll.is_redelivery), key=lambda poll: poll.earliest_ms, reverse=True)
        self.again: list[tuple[tuple[Place, int], float, int, Poll]] = []

    def __bool__(self) -> bool:
        return bool(self.new or self.later or self.again)

    def earliest(self) -> float:
        """Return when the first of those begins that can only begin later."""
        return self.later[-1].earliest_ms if self.later else float("-inf")

    def next(self, now: float) -> Poll | None:
        """Take what a member takes that is free now."""
        if not self.again and not self.new and self.later and now == float("inf"):
            now = self.later[-1].earliest_ms
        if now < float("inf"):
            while self.later and self.later[-1].earliest_ms <= now:
                poll = self.later.pop()
                heapq.heappush(self.again, (poll.order, poll.end_ms, len(self.later), poll))
        else:
            return self._first_to_end()
        if self.again:
            return heapq.heappop(self.again)[-1]
        return self.new.pop() if self.new else None

    def _first_to_end(self) -> Poll | None:
        """Nobody is free: whoever comes back takes what ends first."""
        choices = [(poll.end_ms, -1) for poll in self.new[-1:]]
        choices += [(entry[1], at) for at, entry in enumerate(self.again)]
        choices += [(poll.end_ms, len(self.again)) for poll in self.later[-1:]]
        if not choices:
            return None
        _, at = min(choices)
        if at == -1:
            return self.new.pop()
        if at == len(self.again):
            return self.later.pop()
        poll = self.again.pop(at)[-1]
        heapq.heapify(self.again)
        return poll
