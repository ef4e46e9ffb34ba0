"""What became of every record, and when, of a path or of a running cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike

from share_state import _core
from share_state.analysis.record_history import Choice, RecordHistory
from share_state.reading.as_of import AsOf, AsOfOffset, AsOfTimestamp
from share_state.reading.cluster import ClusterScan, is_cluster

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
    """Tell what became of every record, beside a writer if need be. Nothing is locked or changed.

    ``source`` is a path, or a running cluster, ``"kafka://HOST:PORT[,...]"``: its state topic is read through the package
    confluent-kafka (extra ``kafka``) with the settings ``client_config``, in librdkafka's names, from each state partition's
    log start to the end that it has when reading begins. ``timeout`` is for how many seconds an answer of it is waited for, 10
    without it.

    ``group``, ``topic_id`` and ``partition`` choose share partitions; with ``offset`` come only rows of that offset, and those
    of the share partition as a whole. ``as_of_offset`` is the last offset of the state topic that counts, one for all or one
    for each state partition (one that is not named counts whole); ``as_of_timestamp`` ends each state partition before its
    first record of a later time. ``progress`` is called now and then with the bytes (of a cluster: the records) read and
    those there are.

    Returns an iterator of :class:`HistoryRow`, ordered by state partition and offset of the records. After the last row its
    ``findings`` tell what could not be read. Its ``columns(max_rows)`` gives rows as NumPy columns instead.

    Raises ``FileNotFoundError`` when there is no such path or it is no state log, ``OSError`` when the disk fails, and
    ``ValueError`` for a topic id that is none. A cluster is asked when rows are taken, which then raises
    ``share_state.reading.cluster.ClusterReadError`` when it cannot be read.
    """
    choice = Choice(group=group, topic_id=topic_id, partition=partition, offset=offset)
    if is_cluster(source):
        as_of = AsOf(as_of_offset, as_of_timestamp)
        return RecordHistory(ClusterScan(source, client_config, progress, as_of, timeout), choice)
    if client_config is not None:
        raise ValueError("client_config is for a cluster, kafka://HOST:PORT")
    if timeout is not None:
        raise ValueError("timeout is for a cluster, kafka://HOST:PORT")
    return _core.history_path(source, **choice, progress=progress, as_of_offset=as_of_offset, as_of_timestamp=as_of_timestamp)
