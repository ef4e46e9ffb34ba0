"""What one task does with records: brings them into the form of `share_state.frames`, cuts them, and makes a table of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from share_state import frames
from share_state.analysis.anomaly import AnomalyConfig
from share_state.spark.options import Choice, OnError
from share_state.spark.prefix import AsOf
from share_state.spark.topics import only_ours

__all__ = ["Fold"]


@dataclass(frozen=True, slots=True)
class Fold:
    """A table, and what of it is wanted."""

    table: str
    choice: Choice = field(default_factory=Choice)
    as_of: AsOf = field(default_factory=AsOf)
    on_error: OnError = "fail"
    config: AnomalyConfig = field(default_factory=AnomalyConfig)

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Make the table of records; they are in order of state partition and offset, but for ``records``."""
        records = self.as_of.cut(only_ours(batches))
        if self.table == "raw":
            return records
        if self.table == "records":
            return frames.decode(records, on_error=self.on_error)
        if self.table == "state":
            return frames.state(records, on_error=self.on_error)
        if self.table == "history":
            return frames.history(records, on_error=self.on_error)
        return frames.anomalies(records, self.config, on_error=self.on_error)
