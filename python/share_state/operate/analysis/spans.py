"""Spans of time in which one thing was known of an offset: pictures of a history are drawn from them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Final, NamedTuple

from share_state.operate.analysis.history_row import HistoryCause, HistoryRow

__all__ = ["Span", "spans"]

_ENDS: Final = frozenset({HistoryCause.DELETED, HistoryCause.INITIALISED})


class Span(NamedTuple):
    """Offsets with one known state for a time."""

    first_offset: int
    last_offset: int
    state: int
    delivery_count: int
    #: ms since the epoch.
    since: int
    until: int


class _Known(NamedTuple):
    first: int
    last: int
    state: int
    delivered: int
    since: int


_first = attrgetter("first")
_last = attrgetter("last")


def spans(rows: Iterable[HistoryRow]) -> Iterator[Span]:
    """Return the known states of offsets and their times, from the rows of one share partition in their order.

    A state that is known at the end lasts until the time of the last row.
    """
    known: list[_Known] = []
    now = 0
    for row in rows:
        now = max(now, row.at_timestamp)
        if row.cause in _ENDS:
            yield from (_span(one, now) for one in known)
            known = []
        elif row.first_offset is not None and row.last_offset is not None:
            yield from _cut(known, row.first_offset, row.last_offset, now)
            if row.to_state is not None and row.to_count is not None:
                run = _Known(row.first_offset, row.last_offset, row.to_state, row.to_count, now)
                known.insert(bisect_right(known, run.first, key=_first), run)
    yield from (_span(one, now) for one in known)


def _cut(known: list[_Known], first: int, last: int, now: int) -> Iterator[Span]:
    """End what is known of an interval; what lies outside of it goes on. The runs are disjoint and in order."""
    begin = bisect_left(known, first, key=_last)
    end = bisect_right(known, last, key=_first)
    kept: list[_Known] = []
    for one in known[begin:end]:
        yield _span(one._replace(first=max(one.first, first), last=min(one.last, last)), now)
        if one.first < first:
            kept.append(one._replace(last=first - 1))
        if one.last > last:
            kept.append(one._replace(first=last + 1))
    known[begin:end] = kept


def _span(one: _Known, until: int) -> Span:
    return Span(one.first, one.last, one.state, one.delivered, one.since, until)
