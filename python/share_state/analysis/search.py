"""Looks for what is wrong in a history; the rules are in Rust (``rust/analysis``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TypeAlias

from share_state import _core
from share_state.analysis.anomaly import Anomaly, AnomalyConfig
from share_state.analysis.history import history
from share_state.analysis.history_row import HistoryRow

__all__ = ["LogEndOffsets", "anomalies", "find_anomalies"]

#: Topic id and partition, and pairs of a time in ms since the epoch and the log end offset then, in any order.
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
    """Tell what is wrong with the share partitions of a state log, as far as the log tells. Nothing is locked or changed.

    The source, a path or a running cluster, the choice and what is raised are those of :func:`share_state.history`. What
    cannot be read is no anomaly: it stands in the ``findings`` of ``history`` or ``scan_path``. With a choice, only chosen
    share partitions count for ``COLD_KEY``. ``log_end_offsets``, measurements of the topics' log end offsets, and
    ``live_topics``, the ids of all topics that there are, are not in the log: without them ``GROWING_LAG`` and
    ``DELETED_TOPIC`` are not told.
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
    """Tell what is wrong by the rows of a history, in order of state partition and offset.

    What went back comes at once, what lasts when its state partition ends, and what concerns single records at the end of all,
    one finding a record: by then it is known what else befell them, and the delivery limit of their group. Memory is that of the
    live share partitions, and of the records of which something is told.
    """
    finder = _core.AnomalyFinder(config or AnomalyConfig(), log_end_offsets=log_end_offsets, live_topics=live_topics)
    return _found(finder, rows)


def _found(finder: _core.AnomalyFinder, rows: Iterable[HistoryRow]) -> Iterator[Anomaly]:
    for row in rows:
        yield from finder.see(row)
    yield from finder.end()
