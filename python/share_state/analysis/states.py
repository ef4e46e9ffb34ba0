"""The state of every share partition, now or as of an earlier place or time: one row a share partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, takewhile
from operator import attrgetter
from os import PathLike
from typing import NamedTuple

from share_state.analysis.history import HistoryCause, HistoryRow, history
from share_state.analysis.window import Run, Window
from share_state.reading.as_of import AsOf, AsOfOffset, AsOfTimestamp
from share_state.types import RecordState, StateBatch

__all__ = ["StateRow", "states", "states_of_rows"]

_Key = tuple[str, str, int]


class StateRow(NamedTuple):
    """The state of one share partition, as its records tell it."""

    group: str
    #: Hyphenated UUID.
    topic_id: str
    partition: int
    state_partition: int
    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    #: -1 while not yet resolved.
    start_offset: int
    #: Terminal records at or behind the start offset; -1 when unknown.
    delivery_complete_count: int
    #: Last offset of which something is known; None when nothing is in flight.
    end_offset: int | None
    #: Records from the start offset on by their state. One in a member's hands counts as what was last written of it.
    available: int
    acknowledged: int
    archiving: int
    archived: int
    #: How many of those were delivered how often, by ascending count.
    delivery_counts: tuple[tuple[int, int], ...]
    #: The first offset from the start offset to the end that is not settled; None when all are, or none is resolved.
    oldest_unsettled: int | None
    #: When it was initialised, or was seen first in the log, and when it last changed, in ms since the epoch.
    oldest_write: int
    newest_write: int
    #: True when the log holds updates but not the snapshot below them.
    incomplete: bool
    #: What is known of the records: sorted and coalesced.
    batches: tuple[StateBatch, ...]


def states(
    source: str | PathLike[str],
    *,
    as_of_offset: AsOfOffset | None = None,
    as_of_timestamp: AsOfTimestamp | None = None,
    group: str | None = None,
    topic_id: str | None = None,
    partition: int | None = None,
    client_config: Mapping[str, object] | None = None,
) -> Iterator[StateRow]:
    """Tell the state of every share partition, ordered by state partition, group, topic id and partition.

    ``as_of_offset`` is the last offset of the state topic that counts, one for all or one for each state partition (one that
    is not named counts whole); ``as_of_timestamp``, in ms since the epoch, ends each state partition before the first record
    that is later. Without either the whole log counts. Deleted share partitions are absent. The source, a path or a running
    cluster, the choice and what is raised are those of :func:`share_state.history`; :func:`share_state.fold_path` gives plain
    states of a path faster.
    """
    rows = history(
        source,
        group=group,
        topic_id=topic_id,
        partition=partition,
        as_of_offset=as_of_offset,
        as_of_timestamp=as_of_timestamp,
        client_config=client_config,
    )
    return states_of_rows(rows)


def states_of_rows(
    rows: Iterable[HistoryRow],
    *,
    as_of_offset: AsOfOffset | None = None,
    as_of_timestamp: AsOfTimestamp | None = None,
) -> Iterator[StateRow]:
    """Tell the states that the rows of a history, in its order, come to; see :func:`states`.

    A time ends a state partition before the first *row* that is later: records that made no row are not known here.
    """
    as_of = AsOf(as_of_offset, as_of_timestamp)
    latest = as_of.latest_ms()
    for state_partition, of_partition in groupby(rows, key=attrgetter("state_partition")):
        last = as_of.last_offset(state_partition)

        def counts(row: HistoryRow, last: int | None = last) -> bool:
            in_time = latest is None or row.at_timestamp <= latest
            return in_time and (last is None or row.at_offset <= last)

        live: dict[_Key, _Life] = {}
        for row in takewhile(counts, of_partition):
            _apply(live, row)
        for key in sorted(live):
            yield live[key].state()


class _Life:
    """One share partition since its initialisation."""

    def __init__(self, row: HistoryRow) -> None:
        self.row = row
        self.oldest_write = row.at_timestamp
        self.window = Window()

    def state(self) -> StateRow:
        row, start = self.row, self.row.start_offset
        records: Counter[int] = Counter()
        deliveries: Counter[int] = Counter()
        batches: list[StateBatch] = []
        for run in self.window.runs:
            size = run.last - max(run.first, start) + 1
            if size > 0:
                records[run.state] += size
                deliveries[run.deliveries] += size
            _join(batches, run)
        end = batches[-1].last_offset if batches else None
        unsettled = self.window.holder(start)[0]
        return StateRow(
            *row[:3],
            state_partition=row.state_partition,
            snapshot_epoch=row.snapshot_epoch,
            state_epoch=row.state_epoch,
            leader_epoch=row.leader_epoch,
            start_offset=start,
            delivery_complete_count=row.delivery_complete_count,
            end_offset=end,
            available=records[RecordState.AVAILABLE],
            acknowledged=records[RecordState.ACKNOWLEDGED],
            archiving=records[RecordState.ARCHIVING],
            archived=records[RecordState.ARCHIVED],
            delivery_counts=tuple(sorted(deliveries.items())),
            oldest_unsettled=unsettled if end is not None and 0 <= start <= unsettled <= end else None,
            oldest_write=self.oldest_write,
            newest_write=row.at_timestamp,
            incomplete=row.snapshot_offset is None,
            batches=tuple(batches),
        )


def _apply(live: dict[_Key, _Life], row: HistoryRow) -> None:
    key = row[:3]
    if row.cause == HistoryCause.DELETED:
        live.pop(key, None)
        return
    if row.cause == HistoryCause.INITIALISED or key not in live:
        live[key] = _Life(row)
    life = live[key]
    life.row = row
    if row.first_offset is None or row.last_offset is None:
        return
    life.window.take(row.first_offset, row.last_offset)
    if row.to_state is not None and row.to_count is not None:
        at = row.at_timestamp
        life.window.put(Run(row.first_offset, row.last_offset, row.to_state, row.to_count, row.at_offset, at, at))


def _join(batches: list[StateBatch], run: Run) -> None:
    """Append a run, joined with the batch before where both are alike."""
    batch = StateBatch(run.first, run.last, run.state, run.deliveries)
    if batches and batches[-1].last_offset + 1 == run.first and batches[-1][2:] == batch[2:]:
        batches[-1] = batches[-1]._replace(last_offset=run.last)
    else:
        batches.append(batch)
