"""Choice of records of a share partition: the one at its head, those near the delivery limit, those archived of late."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from share_state.operate.analysis.history_row import HistoryCause, HistoryRow
from share_state.operate.analysis.read_states import StateRow
from share_state.operate.analysis.start_offset_reason import head_offset
from share_state.types import RecordState

__all__ = ["ArchivedLately", "Place", "head", "poison"]


class Place(NamedTuple):
    """A record of a topic."""

    partition: int
    offset: int


def head(states: Iterable[StateRow]) -> Iterator[Place]:
    """Return the record that holds each start offset: the first that is not settled, or that comes next."""
    for state in states:
        if state.start_offset >= 0:
            yield Place(state.partition, head_offset(state.start_offset, state.batches))


def poison(states: Iterable[StateRow], near: int, limit: int) -> Iterator[Place]:
    """Return the records in the window that are available after `near` deliveries or more, or archived at the limit."""
    for state in states:
        for first, last, delivery_state, count in state.batches:
            is_near = delivery_state == RecordState.AVAILABLE and count >= near
            is_over = delivery_state in {RecordState.ARCHIVING, RecordState.ARCHIVED} and count >= limit
            if is_near or is_over:
                yield from (Place(state.partition, offset) for offset in range(first, last + 1))


class ArchivedLately:
    """Keeps the records that were archived last, from the rows of a history.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        #: Latest places in each state partition, whose rows come in the order of their times.
        self._last: dict[int, deque[tuple[int, Place]]] = {}

    def see(self, row: HistoryRow) -> None:
        """Take a row."""
        if row.cause != HistoryCause.ARCHIVED or row.first_offset is None or row.last_offset is None:
            return
        kept = self._last.setdefault(row.state_partition, deque(maxlen=self._most))
        first = max(row.first_offset, row.last_offset - self._most + 1)
        kept.extend((row.at_timestamp, Place(row.partition, offset)) for offset in range(first, row.last_offset + 1))

    def places(self) -> list[Place]:
        """Return them, the last first; one that was archived more than once comes once."""
        every = sorted((one for kept in self._last.values() for one in kept), reverse=True)
        return list(dict.fromkeys(place for _, place in every))[: self._most]
