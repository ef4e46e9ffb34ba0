"""From record batches to the buffers that Rust reads, and from the buffers that Rust makes to record batches: no copies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Made", "batch_in", "batch_out"]

#: A batch as the extension hands it out: how many rows, and the buffers of each column.
Made: TypeAlias = tuple[int, list[tuple[Any, ...]]]

_COLUMNS = ("key", "value", "partition", "offset", "timestamp")
_TICKS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_Array: TypeAlias = npt.NDArray[np.generic]
#: Place of the first row, validity, then values, or offsets and bytes.
_Column: TypeAlias = tuple[int, _Array | None, _Array] | tuple[int, _Array | None, _Array, _Array]


def batch_in(batch: pa.RecordBatch) -> tuple[dict[str, _Column], int, str | None]:
    """Return the buffers of the columns of a batch, the ticks of its timestamps, and what is wrong with its types."""
    missing = [name for name in _COLUMNS if name not in batch.schema.names]
    if missing:
        raise ValueError(f"the batch lacks the columns {', '.join(missing)}; it has {', '.join(batch.schema.names)}")
    wrong: list[str] = []
    columns: dict[str, _Column] = {name: _bytes_in(name, batch.column(name), wrong) for name in ("key", "value")}
    columns["partition"] = _numbers_in("partition", batch.column("partition"), pa.int32(), wrong)
    columns["offset"] = _numbers_in("offset", batch.column("offset"), pa.int64(), wrong)
    ticks, times = _times(batch.column("timestamp"), wrong)
    columns["timestamp"] = _numbers_in("timestamp", times, pa.int64(), wrong)
    if "topic" in batch.schema.names:
        topic = batch.column("topic")
        if pa.types.is_dictionary(topic.type):
            topic = topic.dictionary_decode()
        columns["topic"] = _bytes_in("topic", topic, wrong)
    return columns, ticks, "; ".join(wrong) or None


def _bytes_in(name: str, array: pa.Array, wrong: list[str]) -> _Column:
    is_text = name == "topic"
    kind = array.type
    fits = (
        (pa.types.is_string(kind) or pa.types.is_large_string(kind))
        if is_text
        else (pa.types.is_binary(kind) or pa.types.is_large_binary(kind))
    )
    if not fits:
        wanted = pa.large_string() if is_text else pa.large_binary()
        try:
            array = array.cast(wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            array = pa.nulls(len(array), wanted)
        if not (is_text or pa.types.is_null(kind) or pa.types.is_binary_view(kind) or pa.types.is_fixed_size_binary(kind)):
            wrong.append(f"column {name} is {kind}, not binary")
        kind = wanted
    is_large = pa.types.is_large_binary(kind) or pa.types.is_large_string(kind)
    validity, offsets, values = array.buffers()
    return array.offset, _bits(validity), _array(offsets, "i8" if is_large else "i4"), _array(values, "u1")


def _numbers_in(name: str, array: pa.Array, wanted: pa.DataType, wrong: list[str]) -> _Column:
    if array.type != wanted:
        wrong.append(f"column {name} is {array.type}, not {wanted}")
        try:
            array = array.cast(wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            array = pa.nulls(len(array), wanted)
    validity, values = array.buffers()
    return array.offset, _bits(validity), _array(values, f"i{wanted.bit_width // 8}")


def _times(array: pa.Array, wrong: list[str]) -> tuple[int, pa.Array]:
    if pa.types.is_timestamp(array.type):
        return _TICKS[array.type.unit], array.view(pa.int64())
    wrong.append(f"column timestamp is {array.type}, no timestamp")
    return 1000, pa.nulls(len(array), pa.int64())


def _bits(buffer: pa.Buffer | None) -> _Array | None:
    return None if buffer is None else _array(buffer, "u1")


def _array(buffer: pa.Buffer | None, dtype: str) -> _Array:
    """Return a buffer as an array over the same memory; an aligned copy where it is not aligned."""
    if buffer is None or buffer.size == 0:
        return np.empty(0, dtype=dtype)
    whole = buffer.size // np.dtype(dtype).itemsize
    return np.require(np.frombuffer(buffer, dtype=dtype, count=whole), requirements=["C", "A"])


def batch_out(schema: pa.Schema, batch: Made) -> pa.RecordBatch:
    """Return the record batch that lies in the buffers."""
    rows, columns = batch
    return pa.RecordBatch.from_arrays(_arrays(rows, schema, columns), schema=schema)


def _arrays(rows: int, fields: Iterable[pa.Field], columns: Iterable[tuple[Any, ...]]) -> list[pa.Array]:
    return [_array_out(rows, field.type, column) for field, column in zip(fields, columns, strict=True)]


def _array_out(rows: int, kind: pa.DataType, column: tuple[Any, ...]) -> pa.Array:
    nulls, validity, values = column
    bits = None if validity is None else pa.py_buffer(validity)
    if not isinstance(values, tuple):
        return pa.Array.from_buffers(kind, rows, [bits, pa.py_buffer(values)], null_count=nulls)
    offsets, rest = values
    if not pa.types.is_list(kind):
        return pa.Array.from_buffers(kind, rows, [bits, pa.py_buffer(offsets), pa.py_buffer(rest)], null_count=nulls)
    elements = int(offsets[-1])
    struct = kind.value_type
    children = _arrays(elements, [struct.field(i) for i in range(struct.num_fields)], rest)
    inner = pa.StructArray.from_buffers(struct, elements, [None], null_count=0, children=children)
    return pa.ListArray.from_buffers(kind, rows, [bits, pa.py_buffer(offsets)], null_count=nulls, children=[inner])
