"""Records of the state topic as the batches of Spark's Kafka source, and rows of tables as plain values."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from share_state.operate import analysis

SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
    ]
)


class Row(NamedTuple):
    """A row of the input."""

    partition: int | None
    offset: int | None
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    topic: str = "__share_group_state"


def recorded(directory: Path) -> list[Row]:
    return [
        Row(partition, offset, timestamp, key, value)
        for partition, _segment, offset, timestamp, key, value in analysis.scan_path(directory)
    ]


def batches(rows: Sequence[Row], size: int = 100, schema: pa.Schema = SCHEMA) -> Iterator[pa.RecordBatch]:
    """Rows in batches; the timestamps of rows are ms."""
    for begin in range(0, len(rows), size):
        some = rows[begin : begin + size]
        columns = {name: [getattr(row, name) for row in some] for name in SCHEMA.names}
        columns["timestamp"] = [None if ms is None else ms * 1000 for ms in columns["timestamp"]]
        whole = pa.RecordBatch.from_pydict(columns, schema=SCHEMA)
        yield pa.RecordBatch.from_pydict({name: whole.column(name) for name in schema.names}, schema=SCHEMA).cast(schema)


def rows_of(made: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
    """The rows of a table, with times in ms and lists as tuples, as the named tuples have them."""
    rows = []
    for batch in made:
        batch.validate(full=True)
        assert all(field.nullable or column.null_count == 0 for field, column in zip(batch.schema, batch.columns, strict=True))
        columns = {name: _values(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        rows += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows


def _values(column: pa.Array) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return [None if us is None else us // 1000 for us in column.cast(pa.int64()).to_pylist()]
    return [_plain(value) for value in column.to_pylist()]


def _plain(value: Any) -> Any:
    return tuple(tuple(element.values()) for element in value) if isinstance(value, list) else value
