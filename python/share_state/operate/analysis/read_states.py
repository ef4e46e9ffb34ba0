"""The state of every share partition, now or as of an earlier place or time: one row a share partition.

Rust (``rust/analysis``) computes the rows, both for these named tuples and for Arrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from os import PathLike
from typing import NamedTuple

from share_state import _core
from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.analysis.read_history import history
from share_state.operate.reading.as_of import AsOf, AsOfOffset, AsOfTimestamp
from share_state.types import StateBatch

__all__ = ["StateRow", "records_behind", "states", "states_of_rows"]


class StateRow(NamedTuple):
    """The state of one share partition, from its records."""

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
    #: Terminal records at or after the start offset; -1 when unknown.
    delivery_complete_count: int
    #: Last offset of which something is known; None if no batch is kept.
    end_offset: int | None
    #: Records from the start offset on, by state. An acquired record counts as its last written state.
    available: int
    acknowledged: int
    archiving: int
    archived: int
    #: Pairs of a delivery count and the number of these records with it, in ascending order.
    delivery_counts: tuple[tuple[int, int], ...]
    #: The first offset from the start offset to the end that is not settled; None if all are, or none is resolved.
    oldest_unsettled: int | None
    #: Times at which it was initialised, or was seen first in the log, and last changed, in ms since the epoch.
    oldest_write: int
    newest_write: int
    #: True if the log holds updates but not the snapshot before them.
    incomplete: bool
    #: State batches, sorted and coalesced.
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
    """Return the state of every share partition, ordered by state partition, group, topic id and partition.

    ``as_of_offset`` is the last offset of the state topic that counts: one number for all state partitions, or a mapping by
    state partition (omitted ones count as a whole). ``as_of_timestamp``, in ms since the epoch, cuts each state partition before
    the first later record. Without either the whole log counts. Deleted share partitions are absent. The source, the selection
    and the exceptions are those of :func:`share_state.operate.analysis.history`. :func:`share_state.operate.analysis.fold_path`
    returns plain states of a path faster.
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
    """Return the states that result from the rows of a history, in its order; see :func:`states`.

    A time cuts a state partition before the first later *row*: records without a row are unknown here.
    """
    as_of = AsOf(as_of_offset, as_of_timestamp)
    for state_partition, of_partition in groupby(rows, key=attrgetter("state_partition")):
        prefix = as_of.prefix(state_partition)
        replay = _core.StateReplay(state_partition)
        for row in of_partition:
            if not prefix.reaches(row.at_offset, row.at_timestamp):
                break
            replay.apply(row)
        yield from replay.rows()


def records_behind(end: int | None, start_offset: int, delivery_complete_count: int) -> int | None:
    """Count the lag as Kafka does; None where one of its three terms is not known.

    The end may be older than the rest; the lag is 0 then.
    """
    if end is None or start_offset < 0 or delivery_complete_count < 0:
        return None
    return max(0, end - start_offset - delivery_complete_count)
