"""The iterator that every table comes as."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from share_state.frames.buffers import Made, batch_in, batch_out
from share_state.frames.records import RecordBatches
from share_state.frames.schemas import SCHEMAS

if TYPE_CHECKING:
    import pyarrow as pa

    from share_state import _core

__all__ = ["RowBatches"]


class RowBatches:
    """An iterator of record batches with one schema, made from an iterator of record batches."""

    def __init__(self, table: str, pump: _core.FramePump, batches: Iterable[pa.RecordBatch]) -> None:
        #: The schema of every batch.
        self.schema: pa.Schema = SCHEMAS[table]
        self._pump = pump
        # A log that nobody has begun to read goes from its segments to the rows without batches in between.
        self._log = batches.whole() if isinstance(batches, RecordBatches) else None
        self._batches: Iterator[pa.RecordBatch] | None = iter(batches)
        self._ready: deque[Made] = deque()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        while not self._ready:
            if self._batches is None:
                raise StopIteration
            self._ready.extend(self._more(self._batches))
        return batch_out(self.schema, self._ready.popleft())

    def _more(self, batches: Iterator[pa.RecordBatch]) -> list[Made]:
        if self._log is not None:
            made = self._pump.pull(self._log)
            if made is not None:
                return made
            self._log = None
        batch = next(batches, None)
        if batch is None:
            self._batches = None
            return self._pump.finish()
        columns, ticks, wrong = batch_in(batch)
        return self._pump.push(batch.num_rows, columns, ticks_per_second=ticks, wrong=wrong)

    def quarantined(self) -> list[pa.RecordBatch]:
        """Take out the rows that were put aside so far, with the schema ``SCHEMAS["errors"]``; none unless asked to.

        After the last batch that is all of them. A caller who reads much bad input takes them out as it goes on.
        """
        return [batch_out(SCHEMAS["errors"], batch) for batch in self._pump.quarantined()]
