"""Looks for what is wrong in a history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from os import PathLike

from share_state.analysis.advice import ADVICE
from share_state.analysis.anomaly import Anomaly, AnomalyConfig, AnomalyKind, Severity
from share_state.analysis.detector import Mark, SharePartitionRules
from share_state.analysis.history import HistoryCause, HistoryRow, history
from share_state.analysis.poison import Archived

__all__ = ["anomalies", "find_anomalies"]

_Key = tuple[str, str, int]
#: Causes with which what was known of a share partition is gone.
_ENDS = frozenset({HistoryCause.DELETED, HistoryCause.INITIALISED})


def anomalies(
    source: str | PathLike[str],
    config: AnomalyConfig | None = None,
    *,
    group: str | None = None,
    topic_id: str | None = None,
    partition: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    client_config: Mapping[str, object] | None = None,
) -> Iterator[Anomaly]:
    """Tell what is wrong with the share partitions of a state log, as far as the log tells. Nothing is locked or changed.

    The source, a path or a running cluster, the choice and what is raised are those of :func:`share_state.history`. What
    cannot be read is no anomaly: it stands in the ``findings`` of ``history`` or ``scan_path``. With a choice, only chosen
    share partitions count for ``COLD_KEY``.
    """
    rows = history(source, group=group, topic_id=topic_id, partition=partition, progress=progress, client_config=client_config)
    return find_anomalies(rows, config)


def find_anomalies(rows: Iterable[HistoryRow], config: AnomalyConfig | None = None) -> Iterator[Anomaly]:
    """Tell what is wrong by the rows of a history, in order of state partition and offset.

    What lasts comes when its state partition ends, poison records and bursts at the end of all: by then their group's
    delivery limit is known. Memory is that of the live share partitions, and of the records archived at a limit.
    """
    config = config or AnomalyConfig()
    archived = Archived(config)
    for _state_partition, of_partition in groupby(rows, key=attrgetter("state_partition")):
        yield from _state_partition_anomalies(of_partition, config, archived)
    yield from archived.end()


def _state_partition_anomalies(rows: Iterable[HistoryRow], config: AnomalyConfig, archived: Archived) -> Iterator[Anomaly]:
    live: dict[_Key, SharePartitionRules] = {}
    #: The time of each key's last snapshot.
    snapshots: dict[_Key, int] = {}
    end = Mark(0, 0)
    for offset, of_record in groupby(rows, key=attrgetter("at_offset")):
        told = list(of_record)
        first = told[0]
        key = first[:3]
        end = Mark(offset, max(end.ms, first.at_timestamp))
        rules = live.get(key)
        if rules is not None and first.cause in _ENDS:
            yield from rules.ended(told)
            rules = None
        if first.cause == HistoryCause.DELETED:
            live.pop(key, None)
            snapshots.pop(key, None)
            continue
        if rules is None:
            rules = live[key] = SharePartitionRules(config, first)
        if first.snapshot_offset == offset:
            snapshots[key] = first.at_timestamp
        for row in told:
            if row.first_offset is not None:
                archived.see(row)
        yield from rules.record(told)
    for rules in live.values():
        yield from rules.end(end)
    yield from _cold_key(live, snapshots, end, config)


def _cold_key(
    live: dict[_Key, SharePartitionRules], snapshots: dict[_Key, int], end: Mark, config: AnomalyConfig
) -> Iterator[Anomaly]:
    """Tell of the one share partition whose snapshot stands before all others', if it keeps many records."""
    known = sorted((rules.row.snapshot_offset or 0, key) for key, rules in live.items() if key in snapshots)
    if not known:
        return
    offset, key = known[0]
    next_offset = known[1][0] if len(known) > 1 else end.offset
    kept, age = next_offset - offset, end.ms - snapshots[key]
    if kept < config.cold_records or age < config.cold_ms:
        return
    yield Anomaly(
        AnomalyKind.COLD_KEY,
        Severity.WARNING,
        *key,
        None,
        None,
        live[key].row.state_partition,
        offset,
        snapshots[key],
        None,
        f"its last snapshot stands at {offset} and is {age} ms older than the end of the log at {end.offset}: it alone keeps "
        f"{kept} records of the state topic from being pruned",
        ADVICE[AnomalyKind.COLD_KEY],
    )
