"""Cuts a log at an earlier place or time: what was known then is the fold of what stood there then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["AsOf"]


@dataclass(frozen=True, slots=True)
class AsOf:
    """An earlier place of the state topic, or time; nothing of both: now."""

    #: The last offset that counts, one for all or one for each state partition; one that is not named counts whole.
    offset: int | Mapping[int, int] | None = None
    #: ms since the epoch: each state partition ends before its first record that is later.
    timestamp: int | None = None

    def cut(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the prefix of each state partition; batches are in order of state partition and offset.

        Now is all that there is: then the batches come back as they are.
        """
        return batches if self.offset is None and self.timestamp is None else self._prefixes(batches)

    def _prefixes(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        ended: int | None = None
        for batch in batches:
            for partition, run in _runs(batch):
                if partition == ended:
                    continue
                kept = self._kept(run, partition)
                if kept < run.num_rows:
                    ended = partition
                if kept:
                    yield run.slice(0, kept)

    def _kept(self, run: pa.RecordBatch, partition: int) -> int:
        """How many rows of one state partition stand before the first that does not count."""
        last = self.offset.get(partition) if isinstance(self.offset, Mapping) else self.offset
        later = pa.array([False]).take(pa.array([0] * run.num_rows)) if last is None else pc.greater(run.column("offset"), last)
        if self.timestamp is not None:
            later = pc.or_(later, pc.greater(in_milliseconds(run.column("timestamp")), self.timestamp))
        first = pc.index(later, value=True).as_py()
        return run.num_rows if first < 0 else int(first)


def in_milliseconds(column: pa.Array) -> pa.Array:
    """Return times as ms since the epoch, whatever unit they come in; one that is missing is no later than any."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", column.type.tz), safe=False).cast(pa.int64())
    return pc.fill_null(column, -1)


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
