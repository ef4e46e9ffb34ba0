"""Work of one task on records: it brings them into the form of `share_state.frames`, cuts them, and makes a table of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from share_state import frames
from share_state.operate.analysis.anomaly import AnomalyConfig
from share_state.operate.analysis.search import LogEndOffsets
from share_state.operate.reading.as_of import AsOf
from share_state.spark.options import Choice, OnError
from share_state.spark.prefix import cut

__all__ = ["Fold"]


@dataclass(frozen=True, slots=True)
class Fold:
    """A table, and what of it is wanted."""

    table: str
    choice: Choice = field(default_factory=Choice)
    as_of: AsOf = field(default_factory=AsOf)
    on_error: OnError = "fail"
    config: AnomalyConfig = field(default_factory=AnomalyConfig)
    #: Facts that the state topic does not tell; see :func:`share_state.operate.analysis.anomalies`.
    log_end_offsets: LogEndOffsets | None = None
    live_topics: tuple[str, ...] | None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Make the table of records; they are in order of state partition and offset, but for ``records``."""
        records = cut(self.as_of, batches)
        if self.table == "raw":
            return records
        if self.table == "errors":
            return _errors(records)
        if self.table == "anomalies":
            found = frames.anomalies(
                records,
                self.config,
                log_end_offsets=self.log_end_offsets,
                live_topics=self.live_topics,
                on_error=self.on_error,
            )
            return self.choice.rows(found)
        make = {"records": frames.decode, "state": frames.state, "history": frames.history}[self.table]
        return self.choice.rows(make(records, on_error=self.on_error))


def _errors(records: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the rows that a fold puts aside; what it comes to is not wanted."""
    states = frames.state(records, on_error="quarantine")
    for _batch in states:
        yield from states.quarantined()
    yield from states.quarantined()
