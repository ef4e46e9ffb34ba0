"""The history of every record in a path or in a running cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike

from share_state import _core
from share_state.operate.analysis.record_history import Choice, RecordHistory
from share_state.operate.reading.as_of import AsOf, AsOfOffset, AsOfTimestamp
from share_state.operate.reading.cluster import ClusterScan, is_cluster
from share_state.types import SharePartitionKey

__all__ = ["history"]


def history(
    source: str | PathLike[str],
    *,
    group: str | None = None,
    topic_id: str | None = None,
    partition: int | None = None,
    offset: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    as_of_offset: AsOfOffset | None = None,
    as_of_timestamp: AsOfTimestamp | None = None,
    client_config: Mapping[str, object] | None = None,
    timeout: float | None = None,
) -> _core.HistoryScan | RecordHistory:
    """Return the history of every record. It takes no lock and changes nothing; a writer may be active.

    ``source`` is a path, or a running cluster, ``"kafka://HOST:PORT[,...]"``. The state topic of a cluster is read with the
    settings ``client_config``, in librdkafka's names. Each state partition is
    read from its log start to its end as of the start of the reading. ``timeout`` is the number of seconds to wait for an
    answer of the cluster, by default 10.

    ``group``, ``topic_id`` and ``partition`` select share partitions. ``offset`` selects the rows of that offset, and those
    of the share partition as a whole. ``as_of_offset`` is the last offset of the state topic that counts: one number for all
    state partitions, or a mapping by state partition (omitted ones count as a whole). ``as_of_timestamp`` cuts each state
    partition before its first record with a later timestamp. ``progress`` is called from time to time with the bytes read and
    their total (for a cluster: the records).

    Returns an iterator of :class:`HistoryRow`, ordered by state partition and offset of the records. After the last row, its
    ``findings`` report what could not be read. Its ``columns(max_rows)`` returns rows as NumPy columns instead.

    Raises ``FileNotFoundError`` if the path does not exist or is not a state log, ``OSError`` if the disk fails, and
    ``ValueError`` for an invalid topic id. A cluster is read when rows are taken, which raises
    ``share_state.operate.reading.cluster.ClusterReadError`` if it cannot be read.
    """
    choice = Choice(group=group, topic_id=topic_id, partition=partition, offset=offset)
    if is_cluster(source):
        as_of = AsOf(as_of_offset, as_of_timestamp)
        only = None
        if group is not None and topic_id is not None and partition is not None:
            # One state partition has all of it, and the others need not be read.
            only = SharePartitionKey(group, topic_id, partition)
        return RecordHistory(ClusterScan(source, client_config, progress, as_of, timeout, only), choice)
    if client_config is not None:
        raise ValueError("client_config applies only to a cluster, kafka://HOST:PORT")
    if timeout is not None:
        raise ValueError("timeout applies only to a cluster, kafka://HOST:PORT")
    return _core.history_path(source, **choice, progress=progress, as_of_offset=as_of_offset, as_of_timestamp=as_of_timestamp)
