"""Anomalies as record batches, from the record batches of a history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import pyarrow as pa

from share_state.analysis.anomaly import Anomaly, AnomalyConfig
from share_state.analysis.history import HistoryRow
from share_state.analysis.search import find_anomalies
from share_state.spark.options import Choice
from share_state.spark.prefix import in_milliseconds

__all__ = ["ANOMALIES", "anomalies", "as_batch", "history_rows"]

_BATCH = 1000
ANOMALIES = pa.schema(
    [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("severity", pa.string(), nullable=False),
        pa.field("group", pa.string(), nullable=False),
        pa.field("topic_id", pa.string(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("first_offset", pa.int64()),
        pa.field("last_offset", pa.int64()),
        pa.field("state_partition", pa.int32(), nullable=False),
        pa.field("since_offset", pa.int64(), nullable=False),
        pa.field("since_timestamp", pa.timestamp("us", "UTC"), nullable=False),
        pa.field("until_timestamp", pa.timestamp("us", "UTC")),
        pa.field("evidence", pa.string(), nullable=False),
        pa.field("advice", pa.string(), nullable=False),
    ]
)
_TIMES = ("since_timestamp", "until_timestamp")


def anomalies(batches: Iterable[pa.RecordBatch], config: AnomalyConfig, choice: Choice) -> Iterator[pa.RecordBatch]:
    """Look for anomalies in the rows of a history."""
    rows = (row for batch in batches for row in history_rows(batch) if choice.has(row.group, row.topic_id, row.partition))
    found = find_anomalies(rows, config)
    while some := list(islice(found, _BATCH)):
        yield as_batch(some)


def as_batch(found: Iterable[Anomaly]) -> pa.RecordBatch:
    """Give anomalies as one record batch."""
    return pa.RecordBatch.from_pylist([_plain(one) for one in found], schema=ANOMALIES)


def history_rows(batch: pa.RecordBatch | pa.Table) -> Iterator[HistoryRow]:
    """Give the rows of a history as the rules take them, times in ms since the epoch."""
    columns = [batch.column(name) for name in HistoryRow._fields]
    at = HistoryRow._fields.index("at_timestamp")
    columns[at] = in_milliseconds(columns[at])
    return map(HistoryRow._make, zip(*(column.to_pylist() for column in columns), strict=True))


def _plain(one: Anomaly) -> dict[str, object]:
    row = one._asdict()
    for name in _TIMES:
        row[name] = None if row[name] is None else row[name] * 1000
    return row
