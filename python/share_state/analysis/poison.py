"""Records that were delivered as often as the limit allows: single ones, or a burst of them.

A limit that is not given is taken from the whole log, so both are told at its end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from share_state.analysis.advice import ADVICE
from share_state.analysis.anomaly import Anomaly, AnomalyConfig, AnomalyKind, Severity
from share_state.analysis.history import HistoryCause, HistoryRow
from share_state.types import RecordState

__all__ = ["Archived"]

_LEAST_LIMIT = 2
_GIVEN_UP = frozenset({int(RecordState.ARCHIVING), int(RecordState.ARCHIVED)})
_ARRIVALS = frozenset({HistoryCause.ARCHIVED, HistoryCause.ARCHIVING, HistoryCause.FOUND})


class Archived:
    """Collects the records that may have been archived at the limit."""

    def __init__(self, config: AnomalyConfig) -> None:
        self._config = config
        self._released: defaultdict[str, int] = defaultdict(int)
        self._rows: defaultdict[tuple[str, str, int], list[HistoryRow]] = defaultdict(list)

    def see(self, row: HistoryRow) -> None:
        """Take a row of an interval."""
        count = row.to_count or 0
        if row.to_state == RecordState.AVAILABLE:
            self._released[row.group] = max(self._released[row.group], count)
        elif row.to_state in _GIVEN_UP and row.cause in _ARRIVALS and row.from_state not in _GIVEN_UP:
            self._keep(row, count)

    def _keep(self, row: HistoryRow, count: int) -> None:
        """Keep a row, unless a limit as low as its count is already ruled out."""
        if count >= self._limit(row.group):
            self._rows[row[:3]].append(row)

    def _limit(self, group: str) -> int:
        """Return the limit as far as it is known by now; it only rises."""
        limit = self._config.limit(group)
        return max(_LEAST_LIMIT, self._released[group] + 1) if limit is None else limit

    def end(self) -> Iterator[Anomaly]:
        """Tell what was archived at the limit."""
        for (group, _topic_id, _partition), rows in self._rows.items():
            limit = self._limit(group)
            source = "as configured" if self._config.limit(group) is not None else "by what the log shows of the group"
            at_limit = [row for row in rows if (row.to_count or 0) >= limit]
            for some, is_burst in _bursts(at_limit, self._config):
                yield (_burst if is_burst else _poison)(some, f"the limit is {limit}, {source}")


def _bursts(rows: list[HistoryRow], config: AnomalyConfig) -> Iterator[tuple[list[HistoryRow], bool]]:
    """Divide rows, in order of time, into bursts and single ones."""
    in_burst = [False] * len(rows)
    left, records = 0, 0
    for right, row in enumerate(rows):
        records += _size(row)
        while row.at_timestamp - rows[left].at_timestamp > config.burst_ms:
            records -= _size(rows[left])
            left += 1
        if records >= config.burst_records:
            unmarked = right
            while unmarked >= left and not in_burst[unmarked]:
                in_burst[unmarked] = True
                unmarked -= 1
    burst: list[HistoryRow] = []
    for row, belongs in zip(rows, in_burst, strict=True):
        if belongs and (not burst or row.at_timestamp - burst[-1].at_timestamp <= config.burst_ms):
            burst.append(row)
            continue
        if burst:
            yield burst, True
            burst = []
        if belongs:
            burst = [row]
        else:
            yield [row], False
    if burst:
        yield burst, True


def _size(row: HistoryRow) -> int:
    return (row.last_offset or 0) - (row.first_offset or 0) + 1


def _poison(rows: list[HistoryRow], limit: str) -> Anomaly:
    [row] = rows
    many = _size(row) > 1
    what = f"records {row.first_offset}-{row.last_offset} were" if many else f"record {row.first_offset} was"
    return Anomaly(
        AnomalyKind.POISON_RECORD,
        Severity.WARNING,
        *row[:5],
        row.state_partition,
        row.at_offset,
        row.at_timestamp,
        row.at_timestamp,
        f"{what} archived after {row.to_count} deliveries; {limit}",
        ADVICE[AnomalyKind.POISON_RECORD],
    )


def _burst(rows: list[HistoryRow], limit: str) -> Anomaly:
    first, last = rows[0], rows[-1]
    records = sum(map(_size, rows))
    took = last.at_timestamp - first.at_timestamp
    return Anomaly(
        AnomalyKind.ARCHIVE_BURST,
        Severity.CRITICAL,
        *first[:3],
        min(row.first_offset or 0 for row in rows),
        max(row.last_offset or 0 for row in rows),
        first.state_partition,
        first.at_offset,
        first.at_timestamp,
        last.at_timestamp,
        f"{records} records were archived at the delivery limit within {took} ms; {limit}",
        ADVICE[AnomalyKind.ARCHIVE_BURST],
    )
