"""The state topic of a running cluster, read by workers: no group is joined and nothing committed.

Spark's own Kafka source leaves internal topics out and then gives no rows and no error; here a topic that has records gives them,
or an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from share_state.operate.reading.asking import ClusterReader, Record
from share_state.operate.reading.failures import ClusterReadError
from share_state.operate.reading.plain import STATE_TOPIC

__all__ = ["Range", "ranges", "records"]

#: Seconds to wait for an answer of the cluster before giving up.
_PATIENCE = 30.0
#: Records at most in one Arrow batch.
_BATCH = 10_000
_COLUMNS = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("ms", "UTC")),
    ]
)


@dataclass(frozen=True, slots=True)
class Range:
    """Offsets of one state partition in a cluster, from the log start, below the high watermark."""

    partition: int
    start: int
    end: int


def ranges(settings: Mapping[str, str]) -> list[Range]:
    """Ask a cluster where its state partitions begin and end."""
    with _reader(settings) as reader:
        return [Range(one, *reader.bounds(STATE_TOPIC, one)) for one in range(reader.state_partitions())]


def records(settings: Mapping[str, str], partition: int, start: int, end: int) -> Iterator[pa.RecordBatch]:
    """Read the records of one state partition with `start` <= offset < `end`.

    The log may begin later than `start` when it was pruned meanwhile. Records that are there and do not come are an error.
    """
    if start >= end:
        return
    with _reader(settings) as reader:
        next_offset = start
        left = reader.remaining(STATE_TOPIC, partition, start, end)
        while some := list(islice(left, _BATCH)):
            next_offset = some[-1][0] + 1
            yield _batch(some, partition)
        log = reader.bounds(STATE_TOPIC, partition)
        if log.end < end and log.start < end:
            raise ClusterReadError(f"{STATE_TOPIC}-{partition} ended at offset {next_offset}, before {end}")


def _reader(settings: Mapping[str, str]) -> ClusterReader:
    return ClusterReader(settings.get("bootstrap.servers", ""), settings, _PATIENCE)


def _batch(some: list[Record], partition: int) -> pa.RecordBatch:
    columns: list[list[Any]] = [
        [record[2] for record in some],
        [record[3] for record in some],
        [partition] * len(some),
        [record[0] for record in some],
        [record[1] for record in some],
    ]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, _COLUMNS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_COLUMNS)
