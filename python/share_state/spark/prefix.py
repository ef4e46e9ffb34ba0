"""Cuts a log at an earlier place or time: what was known then is the fold of what stood there then."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from share_state.operate.reading.as_of import AsOf

__all__ = ["cut"]

#: In place of an offset or a time that is missing: it is no later than any, and the tables tell of it.
_EARLIEST = -(2**63)


def cut(as_of: AsOf, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give the prefix of each state partition; batches are in order of state partition and offset.

    Without a place or a time everything counts: then the batches come back as they are.
    """
    return batches if as_of == AsOf() else _prefixes(as_of, batches)


def _prefixes(as_of: AsOf, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    ended: int | None = None
    for batch in batches:
        for partition, run in _runs(batch):
            if partition == ended:
                continue
            offsets = pc.fill_null(run.column("offset").cast(pa.int64()), _EARLIEST)
            kept = as_of.prefix(partition).count(offsets, _in_milliseconds(run.column("timestamp")))
            if kept < run.num_rows:
                ended = partition
            if kept:
                yield run.slice(0, kept)


def _in_milliseconds(column: pa.Array) -> pa.Array:
    """Return times as ms since the epoch, whatever unit they come in."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", column.type.tz), safe=False)
    return pc.fill_null(column.cast(pa.int64()), _EARLIEST)


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Divide a batch where its state partition changes."""
    # A row without a partition is for the tables to tell.
    column = pc.fill_null(batch.column("partition"), -1)
    begin = 0
    while begin < batch.num_rows:
        partition = column[begin].as_py()
        other = pc.index(pc.equal(column.slice(begin), partition), value=False).as_py()
        length = batch.num_rows - begin if other < 0 else int(other)
        yield partition, batch.slice(begin, length)
        begin += length
