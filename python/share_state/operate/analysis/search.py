"""The search for anomalies in a history; the rules are in Rust (``rust/analysis``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TypeAlias

from share_state import _core
from share_state.operate.analysis.anomaly import Anomaly, AnomalyConfig
from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.analysis.read_history import history

__all__ = ["LogEndOffsets", "anomalies", "find_anomalies"]

#: Maps a topic id and partition to pairs of a time in ms since the epoch and the log end offset at that time, in any order.
LogEndOffsets: TypeAlias = Mapping[tuple[str, int], Sequence[tuple[int, int]]]


def anomalies(
    source: str | PathLike[str],
    config: AnomalyConfig | None = None,
    *,
    group: str | None = None,
    topic_id: str | None = None,
    partition: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    client_config: Mapping[str, object] | None = None,
    log_end_offsets: LogEndOffsets | None = None,
    live_topics: Iterable[str] | None = None,
) -> Iterator[Anomaly]:
    """Return the anomalies of the share partitions of a state log. It takes no lock and changes nothing.

    The source, the selection and the exceptions are those of :func:`share_state.operate.analysis.history`. Unreadable records are
    not anomalies: the ``findings`` of ``history`` or ``scan_path`` have them. With a selection, only selected share partitions
    count for ``COLD_KEY``. The log holds neither the log end offsets of the topics (``log_end_offsets``) nor the ids of all
    existing topics (``live_topics``). Without them, ``GROWING_LAG`` and ``DELETED_TOPIC`` are not reported.
    """
    rows = history(source, group=group, topic_id=topic_id, partition=partition, progress=progress, client_config=client_config)
    return find_anomalies(rows, config, log_end_offsets=log_end_offsets, live_topics=live_topics)


def find_anomalies(
    rows: Iterable[HistoryRow],
    config: AnomalyConfig | None = None,
    *,
    log_end_offsets: LogEndOffsets | None = None,
    live_topics: Iterable[str] | None = None,
) -> Iterator[Anomaly]:
    """Return the anomalies in the rows of a history, which must be in order of state partition and offset.

    A value that went back is reported at once, and a lasting condition when its state partition ends. Findings about single
    records come last, one finding a record, when everything else about them and the delivery limit of their group are known.
    Memory is bounded by the live share partitions and the reported records.
    """
    finder = _core.AnomalyFinder(config or AnomalyConfig(), log_end_offsets=log_end_offsets, live_topics=live_topics)
    return _found(finder, rows)


def _found(finder: _core.AnomalyFinder, rows: Iterable[HistoryRow]) -> Iterator[Anomaly]:
    for row in rows:
        yield from finder.see(row)
    yield from finder.end()
