"""Deliveries in the history of a share group: how often, and when, each of them ended, and how."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from share_state.errors import ConfigError
from share_state.operate.analysis.history_row import HistoryCause, HistoryRow
from share_state.types import RecordState

__all__ = ["EmptyHistoryError", "End", "Ending", "Place", "Recorded", "Write"]

#: Topic id and partition.
Place = tuple[str, int]

#: A log may tell of any number of offsets in a few bytes; each record is simulated by itself.
_MOST_RECORDS: Final = 2_000_000
_FORGETS: Final = frozenset({HistoryCause.INITIALISED, HistoryCause.DELETED})


class EmptyHistoryError(ConfigError):
    """The history has no delivery that ended: there is nothing to replay."""


class End(IntEnum):
    """Ending of a delivery, according to the log."""

    ACCEPTED = 0
    #: Released, or its lock expired: the log does not tell which.
    RETURNED = 1
    #: Archived: rejected, or returned at the delivery limit.
    ARCHIVED = 2


_ENDS: Final = {
    int(RecordState.AVAILABLE): End.RETURNED,
    int(RecordState.ACKNOWLEDGED): End.ACCEPTED,
    int(RecordState.ARCHIVING): End.ARCHIVED,
    int(RecordState.ARCHIVED): End.ARCHIVED,
}


class Ending(NamedTuple):
    """A delivery of neighbouring records ended."""

    first_offset: int
    last_offset: int
    delivery_count: int
    end: End


@dataclass(slots=True)
class Write:
    """The deliveries that ended with one record of the state topic."""

    place: Place
    #: ms since the epoch.
    at_ms: int
    endings: list[Ending] = field(default_factory=list)


class Recorded:
    """The deliveries of one share group, in all its share partitions or in some of them.

    A share partition whose state was made again, or deleted, begins again: of its lives, the last one with deliveries is told.

    Attributes:
        group: the id of the group.
        writes: what ended and when, in order of time.
        counts: of each share partition, how often each record was delivered, by offset, as far as that ended.
        settled_ms: of each share partition, when each record was settled, by offset.
    """

    def __init__(self, rows: Iterable[HistoryRow]) -> None:
        """Take the rows of the history of one group.

        Raises:
            EmptyHistoryError: no delivery ended in them.
            ConfigError: they tell of more records than can be simulated.
        """
        self.group = ""
        found: dict[Place, list[Write]] = {}
        self.counts: dict[Place, dict[int, int]] = defaultdict(dict)
        self.settled_ms: dict[Place, dict[int, int]] = defaultdict(dict)
        over: set[Place] = set()
        before: tuple[Place, int] | None = None
        for row in rows:
            self.group, place = row.group, (row.topic_id, row.partition)
            if row.cause in _FORGETS:
                over.add(place)
            ending = _ending(row)
            if ending is None:
                continue
            if place in over:
                over.remove(place)
                for forgotten in (found, self.counts, self.settled_ms):
                    forgotten.pop(place, None)
            if before != (place, row.at_offset):
                found.setdefault(place, []).append(Write(place, row.at_timestamp))
                before = (place, row.at_offset)
            found[place][-1].endings.append(ending)
            self._note(place, ending, row.at_timestamp)
        self.writes = sorted((write for writes in found.values() for write in writes), key=lambda write: write.at_ms)
        if not self.writes:
            raise EmptyHistoryError("the history has no delivery that ended", field="group", value=self.group or None)

    def _note(self, place: Place, ending: Ending, at_ms: int) -> None:
        more = ending.last_offset - ending.first_offset + 1
        if more + sum(map(len, self.counts.values())) > _MOST_RECORDS:
            span = (ending.first_offset, ending.last_offset)
            told = f"offsets {span[0]} to {span[1]} are too many; at most {_MOST_RECORDS} records can be simulated"
            raise ConfigError(told, field="offsets", value=span, maximum=_MOST_RECORDS)
        for offset in range(ending.first_offset, ending.last_offset + 1):
            self.counts[place][offset] = ending.delivery_count
            if ending.end is not End.RETURNED:
                self.settled_ms[place][offset] = at_ms

    def places(self) -> list[Place]:
        """Return the share partitions, sorted."""
        return sorted(self.counts)

    def offsets(self, place: Place) -> list[int]:
        """Return the offsets that were delivered, ascending."""
        return sorted(self.counts[place])

    def highest_count(self) -> int:
        """Return how often the record was delivered that was delivered most often."""
        return max(count for counts in self.counts.values() for count in counts.values())

    def delivery_limit(self) -> int | None:
        """Return the limit as far as the log shows it: one more than the highest count with which a record was returned."""
        returned = Counter(
            ending.delivery_count for write in self.writes for ending in write.endings if ending.end is End.RETURNED
        )
        return max(returned) + 1 if returned else None

    def start_offset_waits(self, begin_ms: float) -> list[float]:
        """Return for how long the start offset stood at each of its places, in ms.

        It is where the first record is that is not settled. What the log says of it comes one write late.
        """
        waits: list[float] = []
        for place, settled in self.settled_ms.items():
            passed = accumulate((settled.get(offset, _NEVER) for offset in self.offsets(place)), max)
            moves = [begin_ms, *dict.fromkeys(at for at in passed if at < _NEVER)]
            waits += [after - before for before, after in pairwise(moves)]
        return waits

    def __iter__(self) -> Iterator[tuple[Write, Ending]]:
        """Return every ending with its write, in order of time."""
        for write in self.writes:
            for ending in write.endings:
                yield write, ending


_NEVER: Final = float("inf")


def _ending(row: HistoryRow) -> Ending | None:
    """Return the delivery that ended. Each one has a count of its own: what keeps its count is only told again."""
    if row.first_offset is None or row.last_offset is None or row.to_state is None or row.to_count is None:
        return None
    if row.cause == HistoryCause.FOUND or row.to_count <= (row.from_count or 0) or row.to_state not in _ENDS:
        return None
    return Ending(row.first_offset, row.last_offset, row.to_count, _ENDS[row.to_state])
