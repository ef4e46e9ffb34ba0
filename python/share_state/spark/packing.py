"""Packs records before they are shuffled and sorted, so that Spark moves a row for thousands of records and not one for each.

Spark's shuffle, its sort and its way to Arrow cost several times what the fold does, and they cost it by the row. So the first
step sorts the records of each Arrow batch and packs those of one state partition, as the Arrow batch that they are, into one row
that stands at the first of their offsets; the task that folds unpacks them. What packs badly goes through as it is: rows without
a partition or an offset, large ones, and few ones.

Packed rows of several batches may overlap, as a DataFrame has no order. That the task need not keep much to bring them into one
order, a packed row never reaches over a border of *windows*, stretches of so many offsets that are the same for all batches: what
overlaps lies in one window. So in whatever order the records came, a task keeps the packed records of one window, of a bounded
size each, and as much again to be sorted with them; a window's records that come several times count several times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from share_state.spark.schemas import INPUT_SCHEMA, arrow_schema, conform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["laid_out", "unpacked"]

#: Offsets of a window, as a power of two. More pack better where a batch has few records of each window, and need more memory.
_WINDOW_BITS = 14
#: What is fewer is not packed: a packed row costs as much as some dozen others.
_FEWEST = 32
#: Bytes of a packed record before its compression, at the mean: larger ones cost what their bytes do and not what their rows do.
_MEAN_BYTES = 1024
#: Bytes that are gathered, so that no small batches are folded.
_ENOUGH_BYTES = 1 << 20
#: Compressed here, records are a third as large in all that Spark does with them; it compresses what it shuffles anyway.
_WRITE = pa.ipc.IpcWriteOptions(compression="lz4")
#: Stands behind the other columns; null in a row that is a record itself.
_PACKED = "packed"
#: Stands for a missing partition or offset, which Spark sorts before all others.
_MISSING = -(1 << 63)

_Numbers = npt.NDArray[np.int64]


def laid_out(records: DataFrame) -> DataFrame:
    """Bring records to where they are folded, by state partition and in order, packed: a task reads them with `unpacked`."""
    columns = _columns(records.columns)
    outer = StructType([*columns, StructField(_PACKED, BinaryType())])
    inner, wanted = arrow_schema(columns), arrow_schema(outer)

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in conform(batches, inner):
            yield from _packed(batch, wanted)

    return records.mapInArrow(pack, outer).repartition("partition").sortWithinPartitions("partition", "offset")


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give the records of a task in order of state partition and offset; a missing one comes first."""
    merged = _Merged()
    for run in _runs(batches):
        yield from merged.add(run)
    yield from merged.rest()


def _columns(names: list[str]) -> StructType:
    return StructType([*INPUT_SCHEMA, *(field for field in [StructField("topic", StringType())] if field.name in names)])


def _packed(batch: pa.RecordBatch, wanted: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Pack a batch; what is not packed stands in a batch of its own."""
    has_place = pc.and_(batch.column("partition").is_valid(), batch.column("offset").is_valid())
    if has_place.false_count:
        yield _as_they_are(batch.filter(pc.invert(has_place)), wanted)
        batch = batch.filter(has_place)
    records = _in_order(batch)
    partitions, offsets = _places(records)
    windows = offsets >> _WINDOW_BITS
    begins = np.flatnonzero(np.r_[records.num_rows > 0, (np.diff(partitions) != 0) | (np.diff(windows) != 0)])
    counts = np.diff(np.r_[begins, records.num_rows])
    many = counts >= _FEWEST
    rest = np.ones(records.num_rows, dtype=bool)
    heads: list[int] = []
    # A stream of Arrow's, so that all packs lie in one buffer. What comes before them, the schema, is passed over; it is written
    # together with the first batch.
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, records.schema, options=_WRITE) as stream:
        stream.write_batch(records.slice(0, 0))
        ends = [sink.tell()]
        for begin, count in zip(begins[many].tolist(), counts[many].tolist(), strict=True):
            pack = records.slice(begin, count)
            if pack.nbytes <= count * _MEAN_BYTES:
                stream.write_batch(pack)
                heads.append(begin)
                ends.append(sink.tell())
                rest[begin : begin + count] = False
    if heads:
        packs = pa.Array.from_buffers(pa.binary(), len(heads), [None, pa.py_buffer(np.array(ends, "i4")), sink.getvalue()])
        yield _with({"partition": pa.array(partitions[heads]), "offset": pa.array(offsets[heads]), _PACKED: packs}, wanted)
    if rest.any():
        yield _as_they_are(records.filter(pa.array(rest)), wanted)


def _as_they_are(records: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
    return _with(dict(zip(records.schema.names, records.columns, strict=True)), wanted)


def _with(told: dict[str, pa.Array], wanted: pa.Schema) -> pa.RecordBatch:
    """Return a batch of the columns that are told; the others are null."""
    rows = len(told["offset"])
    columns = [told[field.name].cast(field.type) if field.name in told else pa.nulls(rows, field.type) for field in wanted]
    return pa.RecordBatch.from_arrays(columns, schema=wanted)


def _runs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give records that stand together, each run in order: those of a packed row, and those between two packed rows."""
    for batch in batches:
        columns = arrow_schema(_columns(batch.schema.names))
        packs = batch.column(_PACKED)
        records = pa.RecordBatch.from_arrays([batch.column(field.name).cast(field.type) for field in columns], schema=columns)
        begin = 0
        for at in np.flatnonzero(packs.is_valid().to_numpy(zero_copy_only=False)).tolist():
            if begin < at:
                yield records.slice(begin, at - begin)
            yield pa.ipc.read_record_batch(packs[at].as_buffer(), columns)
            begin = at + 1
        if begin < batch.num_rows:
            yield records.slice(begin)


class _Place(NamedTuple):
    """Where a record stands; they compare as records are sorted."""

    partition: int
    offset: int


class _Merged:
    """Brings runs into one order; each begins where the one before it begins, or later."""

    def __init__(self) -> None:
        self._runs: list[pa.RecordBatch] = []
        self._bytes = 0
        #: Of the records that were gathered once and not given yet. Twice as many are gathered before they are sorted again.
        self._kept_bytes = 0

    def add(self, run: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take a run; give what no later one can come before, once it is enough."""
        if self._bytes >= max(_ENOUGH_BYTES, 2 * self._kept_bytes):
            yield from self._before(_place(run, 0))
        self._runs.append(run)
        self._bytes += run.nbytes

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Give what is left."""
        if self._runs:
            yield _in_order(_joined(self._runs))

    def _before(self, place: _Place) -> Iterator[pa.RecordBatch]:
        records = _in_order(_joined(self._runs))
        count = records.num_rows
        if _place(records, count - 1) >= place:
            partitions, offsets = _places(records)
            same = partitions == place.partition
            count = int(np.count_nonzero((partitions < place.partition) | (same & (offsets < place.offset))))
        if count:
            yield records.slice(0, count)
        self._runs = [records.slice(count)] if count < records.num_rows else []
        self._bytes = self._kept_bytes = sum(run.nbytes for run in self._runs)


def _joined(runs: list[pa.RecordBatch]) -> pa.RecordBatch:
    return runs[0] if len(runs) == 1 else pa.concat_batches(runs)


def _in_order(records: pa.RecordBatch) -> pa.RecordBatch:
    partitions, offsets = _places(records)
    same, later = partitions[1:] == partitions[:-1], partitions[1:] > partitions[:-1]
    if np.all(later | (same & (offsets[1:] >= offsets[:-1]))):
        return records
    return records.take(pa.array(np.lexsort((offsets, partitions))))


def _places(records: pa.RecordBatch) -> tuple[_Numbers, _Numbers]:
    partition, offset = (pc.fill_null(records.column(name).cast(pa.int64()), _MISSING) for name in ("partition", "offset"))
    return partition.to_numpy(), offset.to_numpy()


def _place(records: pa.RecordBatch, row: int) -> _Place:
    partition, offset = (records.column(name)[row].as_py() for name in ("partition", "offset"))
    return _Place(_MISSING if partition is None else partition, _MISSING if offset is None else offset)
