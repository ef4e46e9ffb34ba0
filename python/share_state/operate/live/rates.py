"""Rates of change of share partitions lately: the differences of what was counted."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from share_state.operate.live.live_row import LiveRow

__all__ = ["Key", "Rates", "RecentTotals"]

#: A share partition by group, topic id and partition.
Key = tuple[str, str, int]

#: Over how long rates are taken, and how many moments of that time are kept.
_WINDOW_S: Final = 60.0
_MOMENTS: Final = 6


class Rates(NamedTuple):
    """Changes within a number of seconds, in records."""

    seconds: float
    accepted: int
    released: int
    archiving: int
    #: Archived below the delivery limit: rejected.
    rejected: int
    #: Archived at the delivery limit.
    at_limit: int
    #: By how much the lag rose; None where an end was not known.
    lag_rise: int | None


class _Moment(NamedTuple):
    at: float
    rows: dict[Key, LiveRow]
    lags: dict[Key, int]


class RecentTotals:
    """Totals at some moments of the last minute. Memory is that of so many moments, not of so many questions."""

    def __init__(self) -> None:
        self._moments: deque[_Moment] = deque()

    def note(self, now: float, rows: Mapping[Key, LiveRow], lags: Mapping[Key, int]) -> None:
        """Take what is counted now; ``now`` is in seconds of a monotonic clock."""
        while len(self._moments) > 1 and now - self._moments[1].at >= _WINDOW_S:
            self._moments.popleft()
        if not self._moments or now - self._moments[-1].at >= _WINDOW_S / _MOMENTS:
            self._moments.append(_Moment(now, dict(rows), dict(lags)))

    def rates(self, now: float, key: Key, row: LiveRow, lag: int | None, *, limit: int) -> Rates | None:
        """Compare with the oldest moment that knows the share partition in this life; None where there is none."""
        for before in self._moments:
            old = before.rows.get(key)
            # Another state epoch is another life: its counts begin at zero.
            if old is not None and (old.state_epoch, old.oldest_write) == (row.state_epoch, row.oldest_write) and before.at < now:
                break
        else:
            return None
        at_limit = archived = 0
        if old.archived_totals != row.archived_totals:
            was_archived = dict(old.archived_totals)
            more = {count: records - was_archived.get(count, 0) for count, records in row.archived_totals}
            archived, at_limit = sum(more.values()), sum(records for count, records in more.items() if count >= limit)
        old_lag = before.lags.get(key)
        return Rates(
            seconds=now - before.at,
            accepted=row.accepted_total - old.accepted_total,
            released=row.released_total - old.released_total,
            archiving=row.archiving_total - old.archiving_total,
            rejected=archived - at_limit,
            at_limit=at_limit,
            lag_rise=None if lag is None or old_lag is None else lag - old_lag,
        )
