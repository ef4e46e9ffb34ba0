"""A log brought down to one record a live share partition, which folds to the same state, and folds on.

Which record that is, the engine says (``share_state._core.encode_state``). Which of the offsets up to the last one it stands at
does not matter, as a state partition's order counts within one share partition only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import pyarrow as pa

from share_state import _core, frames

__all__ = ["COMPACTED", "compact", "states"]

_Key = tuple[str, str, int]
#: Column with the time at which a share partition was initialised, which a snapshot does not hold.
_OLDEST = "oldest_write"
#: Columns that functions take, and the oldest time. Times are in microseconds, as Spark's.
COMPACTED = pa.schema([*frames.SCHEMAS["input"], pa.field(_OLDEST, pa.timestamp("us", "UTC"))])
_INPUT = frames.SCHEMAS["input"].names
#: Fields of a state in a record, besides its batches.
_STATE = ("snapshot_epoch", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "incomplete")


def compact(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Bring compacted records and later ones down to one record a live share partition.

    They are in order of state partition and offset.
    """
    ends: dict[int, int] = {}
    prior: dict[_Key, tuple[Any, Any]] = {}
    folded = frames.state(_seen(batches, ends, prior))
    for partition, rows in groupby(_rows(folded, prior), key=lambda row: row["state_partition"]):
        some = list(rows)
        first = ends[partition] - len(some) + 1
        records = [_record(row, offset) for offset, row in enumerate(some, start=first)]
        yield pa.RecordBatch.from_pylist(records, schema=COMPACTED)


def states(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the states of compacted records."""
    prior: dict[_Key, tuple[Any, Any]] = {}
    folded = frames.state(_seen(batches, {}, prior))
    for batch in folded:
        yield pa.RecordBatch.from_pylist(list(_rows([batch], prior)), schema=folded.schema)


def _seen(
    batches: Iterable[pa.RecordBatch], ends: dict[int, int], prior: dict[_Key, tuple[Any, Any]]
) -> Iterator[pa.RecordBatch]:
    """Pass records on, and note the last offset of each state partition, and the times of records that were compacted before."""
    for batch in batches:
        records = batch.select(_INPUT).cast(frames.SCHEMAS["input"])
        ends.update(zip(batch.column("partition").to_pylist(), batch.column("offset").to_pylist(), strict=True))
        if _OLDEST in batch.schema.names and batch.column(_OLDEST).null_count < batch.num_rows:
            compacted = records.filter(batch.column(_OLDEST).is_valid())
            oldest = batch.column(_OLDEST).drop_null().to_pylist()
            [keys] = list(frames.decode([compacted])) or [pa.RecordBatch.from_pylist([], schema=frames.SCHEMAS["decode"])]
            names = zip(*(keys.column(name).to_pylist() for name in ("group", "topic_id", "partition")), strict=True)
            newest = compacted.column("timestamp").to_pylist()
            prior.update(zip(names, zip(newest, oldest, strict=True), strict=True))
        yield records


def _rows(folded: Iterable[pa.RecordBatch], prior: dict[_Key, tuple[Any, Any]]) -> Iterator[dict[str, Any]]:
    """Give states with the time of their first write.

    A state whose fold begins at its compacted record is older than that; one that was made again since begins later.
    """
    for batch in folded:
        for row in batch.to_pylist():
            newest, oldest = prior.get((row["group"], row["topic_id"], row["partition"]), (None, None))
            if row[_OLDEST] == newest:
                row[_OLDEST] = oldest
            yield row


def _record(row: dict[str, Any], offset: int) -> dict[str, Any]:
    key, value = _core.encode_state(
        (row["group"], row["topic_id"], row["partition"]),
        [tuple(batch.values()) for batch in row["batches"]],
        **{name: row[name] for name in _STATE},
    )
    return {
        "key": key,
        "value": value,
        "partition": row["state_partition"],
        "offset": offset,
        "timestamp": row["newest_write"],
        _OLDEST: row[_OLDEST],
    }
