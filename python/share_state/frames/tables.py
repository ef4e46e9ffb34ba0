"""The tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from share_state import _core
from share_state.frames.batches import RowBatches
from share_state.types import WallTime

if TYPE_CHECKING:
    import pyarrow as pa

    from share_state.operate.analysis.anomaly import AnomalyConfig
    from share_state.operate.analysis.search import LogEndOffsets

__all__ = ["AsOf", "OnError", "anomalies", "decode", "history", "state"]

#: The last offset that counts, for all state partitions or by state partition (omitted ones count as a whole); or a time: each
#: state partition ends before its first later record.
AsOf: TypeAlias = int | Mapping[int, int] | datetime | WallTime
OnError: TypeAlias = Literal["fail", "quarantine"]

_STATE_TOPIC = "__share_group_state"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def decode(batches: Iterable[pa.RecordBatch], *, on_error: OnError = "fail", topic: str = _STATE_TOPIC) -> RowBatches:
    """Decode each record: one row a record, ``SCHEMAS["decode"]``.

    Records with an unknown type or version are rows too, with their bytes. An input row that cannot be used raises
    :class:`share_state.errors.RowError`, or is put aside; see :meth:`RowBatches.quarantined`.
    """
    return RowBatches("decode", _core.FramePump("decode", on_error=on_error, topic=topic), batches)


def state(
    batches: Iterable[pa.RecordBatch],
    as_of: AsOf | None = None,
    *,
    on_error: OnError = "fail",
    topic: str = _STATE_TOPIC,
) -> RowBatches:
    """Return the state of every share partition: one row each, ``SCHEMAS["state"]``; deleted ones are absent.

    Rows of a state partition come when the next one begins, ordered by group, topic id and partition.
    """
    return RowBatches("state", _pump("state", as_of, on_error, topic), batches)


def history(
    batches: Iterable[pa.RecordBatch],
    as_of: AsOf | None = None,
    *,
    on_error: OnError = "fail",
    topic: str = _STATE_TOPIC,
) -> RowBatches:
    """Return the history of every record: one row for each interval and each change of its state, ``SCHEMAS["history"]``."""
    return RowBatches("history", _pump("history", as_of, on_error, topic), batches)


def anomalies(
    batches: Iterable[pa.RecordBatch],
    config: AnomalyConfig | None = None,
    *,
    log_end_offsets: LogEndOffsets | None = None,
    live_topics: Iterable[str] | None = None,
    on_error: OnError = "fail",
    topic: str = _STATE_TOPIC,
) -> RowBatches:
    """Return the anomalies that the records show: one row each, ``SCHEMAS["anomalies"]``.

    ``log_end_offsets`` and ``live_topics`` are those of :func:`share_state.operate.analysis.anomalies`. An unspecified delivery
    limit is inferred from all records of the input. If a task has only some state partitions, ``config.highest_released``
    supplies what the others show.
    """
    pump = _core.FramePump(
        "anomalies",
        on_error=on_error,
        topic=topic,
        config=config,
        log_end_offsets=log_end_offsets,
        live_topics=live_topics,
    )
    return RowBatches("anomalies", pump, batches)


def _pump(table: str, as_of: AsOf | None, on_error: OnError, topic: str) -> _core.FramePump:
    if isinstance(as_of, datetime):
        if as_of.tzinfo is None:
            raise ValueError(f"as_of is {as_of!r}; expected a time with a time zone")
        as_of = WallTime((as_of - _EPOCH) // timedelta(milliseconds=1))
    if isinstance(as_of, WallTime):
        return _core.FramePump(table, on_error=on_error, topic=topic, as_of_timestamp=as_of)
    return _core.FramePump(table, on_error=on_error, topic=topic, as_of_offset=as_of)
