"""Run of a simulation: members at work on the engine's share partitions, in virtual time."""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from share_state._core import AcquiredRange, WriteState
from share_state.errors import InvalidRecordStateError
from share_state.operate.simulation.assigned import assigned
from share_state.operate.simulation.model import Model
from share_state.operate.simulation.partition import Partition
from share_state.operate.simulation.recorded import Place
from share_state.operate.simulation.result import Figures, Waits
from share_state.operate.simulation.settings import Settings
from share_state.types import AcknowledgeType

__all__ = ["Log", "Run", "World"]

_ACCEPT: Final = int(AcknowledgeType.ACCEPT)
_RELEASE: Final = int(AcknowledgeType.RELEASE)
_REJECT: Final = int(AcknowledgeType.REJECT)


class Run(NamedTuple):
    """Result of a run, and the way there."""

    figures: Figures
    #: For a picture: when how many records were not settled yet, in ms since the first fetch.
    open_records: list[tuple[float, int]]


class _Member(NamedTuple):
    """A member and the share partitions that it was assigned."""

    name: str
    partitions: deque[Partition]


#: Told of writes: ms since the first fetch, the share partition, the write.
Log = Callable[[float, Place, WriteState], object]
_Taken = list[tuple[Partition, list[AcquiredRange]]]


class World:
    """The events of one run, each at its time: a member has finished, locks are due, records come."""

    def __init__(self, model: Model, settings: Settings, seed: int, log: Log | None = None) -> None:
        """Begin; ``log`` is told of every write of state, and when it was made."""
        self._model = model
        self._settings = settings
        self._chance = random.Random(seed)  # noqa: S311  a simulation, not a secret
        config = settings.group_config()
        self._partitions = {place: Partition(model, place, settings, config, self._chance) for place in sorted(model.offsets)}
        self._processing = model.processing.resampled(self._chance)
        self._members = [
            _Member(name, deque(self._partitions[place] for place in places))
            for name, places in assigned(model.offsets, settings.members).items()
        ]
        self._idle = deque(range(len(self._members)))
        #: Heap of the members at work: the time of their end, and their records; the number keeps the order of equal times.
        self._busy: list[tuple[float, int, float, _Taken]] = []
        self._worked = 0.0
        self._log = log

    def run(self) -> Run:
        """Let everything happen until every record is settled."""
        now = 0.0
        path = [(now, self._model.records)]
        self._arrive(now)
        self._fetch(now)
        while not all(partition.drained for partition in self._partitions.values()):
            now = self._next(now)
            for partition in self._partitions.values():
                partition.expire(now)
            while self._busy and self._busy[0][0] <= now:
                _, member, begin, taken = heapq.heappop(self._busy)
                self._worked += now - begin
                self._answer(self._members[member], taken, now)
                self._idle.append(member)
            self._arrive(now)
            for place, partition in self._partitions.items():
                partition.note_start_offset(now)
                for write in partition.writes():
                    if self._log is not None:
                        self._log(now, place, write)
            left = self._model.records - sum(partition.settled() for partition in self._partitions.values())
            if left != path[-1][1]:
                path.append((now, left))
            self._fetch(now)
        # Who is not finished yet has worked until now.
        self._worked += sum(now - begin for _, _, begin, _ in self._busy)
        return Run(self._figures(now), path)

    def _next(self, now: float) -> float:
        """Return when something happens next."""
        moments = [self._busy[0][0]] if self._busy else []
        for partition in self._partitions.values():
            moments += partition.moments()
        if not moments:
            raise RuntimeError("nothing happens any more, and records are left: a bug")
        return max(now, min(moments))

    def _arrive(self, now: float) -> None:
        for partition in self._partitions.values():
            partition.arrive(now)

    def _fetch(self, now: float) -> None:
        """Let members that are free take what is available, in the order in which they became free."""
        empty: set[Place] = set()
        waiting: deque[int] = deque()
        while self._idle:
            member = self._idle.popleft()
            taken = self._take(self._members[member], now, empty)
            if taken:
                records = sum(one.last_offset - one.first_offset + 1 for _, ranges in taken for one in ranges)
                heapq.heappush(self._busy, (now + self._processing.draw(records, self._chance), member, now, taken))
            else:
                waiting.append(member)
            if len(empty) == len(self._partitions):
                break
        self._idle.extendleft(reversed(waiting))

    def _take(self, member: _Member, now: float, empty: set[Place]) -> _Taken:
        wanted = self._settings.max_poll_records
        taken: _Taken = []
        for partition in member.partitions:
            if wanted <= 0:
                break
            if partition.place in empty:
                continue
            ranges = partition.acquire(member.name, now, wanted)
            if ranges:
                taken.append((partition, ranges))
                wanted -= sum(one.last_offset - one.first_offset + 1 for one in ranges)
            else:
                empty.add(partition.place)
        # No share partition starves: each fetch begins with the next one.
        member.partitions.rotate(-1)
        return taken

    def _answer(self, member: _Member, taken: _Taken, now: float) -> None:
        for partition, ranges in taken:
            batches = [(one.first_offset, one.last_offset, bytes(self._outcomes(partition, one))) for one in ranges]
            try:
                partition.engine.acknowledge_batches(member.name, batches, now_ms=int(now))
            except InvalidRecordStateError:
                # The locks have expired, and the records are somebody else's, or will be.
                continue

    def _outcomes(self, partition: Partition, one: AcquiredRange) -> list[int]:
        failures = self._model.failures
        outcomes = []
        for offset in range(one.first_offset, one.last_offset + 1):
            drawn = self._chance.random()
            if offset in partition.poison or drawn < failures.release:
                outcomes.append(_RELEASE)
            else:
                outcomes.append(_REJECT if drawn < failures.release + failures.reject else _ACCEPT)
        return outcomes

    def _figures(self, now: float) -> Figures:
        counted = [partition.engine.counters() for partition in self._partitions.values()]
        total = {name: sum(counts[name] for counts in counted) for name in counted[0]}
        return Figures(
            deliveries=total["acquired"],
            redeliveries=total["acquired"] - self._model.records,
            accepted=total["acknowledged"],
            rejected=total["archived"] - total["delivery_limit_reached"],
            archived_at_limit=total["delivery_limit_reached"],
            lock_expiries=total["lock_timeouts"],
            drain_ms=now,
            waits=Waits.of(wait for partition in self._partitions.values() for wait in partition.waits),
            utilisation=self._worked / (now * len(self._members)) if now else None,
        )
