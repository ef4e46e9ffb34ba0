"""Streaming reads: what has come to the log since the last micro-batch.

A place in the stream is the next offset of each state partition, so a restart reads on exactly where the checkpoint stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from share_state.errors import ConfigError, ShareStateError
from share_state.spark import kafka_topic, reading
from share_state.spark.reading import Piece
from share_state.spark.schemas import arrow_schema, conform
from share_state.spark.storage import folders, log_ends

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from share_state.spark.options import Options

__all__ = ["DataLossError", "RefusedStream", "StreamReader", "advance"]

#: The next offset of each state partition, by its number as JSON has it.
Place = dict[str, int]
_TABLES = ("records", "raw")


class DataLossError(ShareStateError):
    """Records are gone from the log before they were read; ``index`` is the state partition, ``value`` the first offset left."""


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads records as they come to the log, one state partition a task."""

    def __init__(self, options: Options, columns: StructType) -> None:
        if options.table not in _TABLES:
            text = f"table {options.table!r} is no stream; read the stream of raw records and fold it (StateTable)"
            raise ConfigError(text, field="table", value=options.table)
        if options.as_of.offset is not None or options.as_of.timestamp is not None:
            raise ConfigError("as-of options are not supported for streaming reads", field="asOf")
        self._options = options
        self._columns = columns
        #: End of a query that was started with the trigger `availableNow`.
        self._target: Place | None = None

    def initialOffset(self) -> Place:  # noqa: N802  Spark's name
        """Return where the logs begin."""
        return {str(piece.state_partition): piece.start or 0 for piece in self._ends()}

    def latestOffset(self, start: Place, limit: ReadLimit) -> Place:  # noqa: N802  Spark's name
        """Return where the next micro-batch ends."""
        ends = self._target if self._target is not None else self._latest()
        begins = {str(piece.state_partition): piece.start or 0 for piece in self._ends()} if ends.keys() - start.keys() else {}
        most = None if isinstance(limit, ReadAllAvailable) else getattr(limit, "max_rows", None)
        return advance({**begins, **start}, ends, most)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802  Spark's name
        """Return the most records of a micro-batch."""
        most = self._options.max_records
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def reportLatestOffset(self) -> Place:  # noqa: N802  Spark's name
        """Return where the logs end now."""
        return self._latest()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  Spark's name
        """Remember where the logs end now."""
        self._target = self._latest()

    def partitions(self, start: Place, end: Place) -> Sequence[InputPartition]:
        """Divide a micro-batch: one state partition a task."""
        found = {str(piece.state_partition): piece for piece in self._ends()}
        pieces = []
        for name in sorted(end, key=int):
            piece = found.get(name)
            first = 0 if piece is None else piece.start or 0
            begin = start.get(name, first)
            if begin >= end[name]:
                continue
            if piece is None or first > begin:
                self._lost(name, begin, None if piece is None else first)
            if piece is not None and first < end[name]:
                pieces.append(Piece(piece.state_partition, piece.folder, max(begin, first), end[name]))
        return [InputPartition((piece,)) for piece in pieces]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Return the records of one state partition in a micro-batch."""
        return conform(reading.read(self._options, partition.value or ()), arrow_schema(self._columns))

    def _lost(self, name: str, begin: int, first: int | None) -> None:
        if self._options.fail_on_data_loss:
            left = "nothing is left" if first is None else f"the log begins at {first}"
            text = f"records of state partition {name} from offset {begin} on are gone before they were read: {left}"
            raise DataLossError(text, index=int(name), value=first)

    def _latest(self) -> Place:
        return {str(piece.state_partition): piece.end or 0 for piece in self._ends()}

    def _ends(self) -> list[Piece]:
        """Return what there is of each state partition now."""
        if not self._options.paths:
            found = kafka_topic.ranges(self._options.kafka)
            return [Piece(one.partition, None, one.start, one.end) for one in found]
        return [Piece(folder.state_partition, folder, *log_ends(folder)) for folder in folders(self._options.paths)]


class RefusedStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A stream that cannot be read, as its first use tells.

    What `streamReader` itself raises is hidden by PySpark: it then stops a reader that it does not have, and tells of that.
    """

    def __init__(self, reason: ShareStateError) -> None:
        self._reason = reason

    def initialOffset(self) -> Place:  # noqa: N802  Spark's name
        """Tell what is wrong, in a query that begins."""
        raise self._reason

    def latestOffset(self, start: Place, limit: ReadLimit) -> Place:  # noqa: ARG002, N802  Spark's name
        """Tell what is wrong, in a query that continues from a checkpoint."""
        raise self._reason

    def partitions(self, start: Place, end: Place) -> Sequence[InputPartition]:  # noqa: ARG002
        """Tell what is wrong, in a micro-batch that is run again."""
        raise self._reason

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """Tell what is wrong."""
        raise self._reason

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  Spark's name
        """Tell what is wrong, before anything else is asked."""
        raise self._reason


def advance(start: Mapping[str, int], ends: Mapping[str, int], most: int | None) -> Place:
    """Return where a micro-batch of at most `most` offsets ends: each state partition gets a share by what waits in it."""
    places = {name: max(start.get(name, 0), end) for name, end in ends.items()}
    # One that is not there any more stays where it was.
    places.update({name: place for name, place in start.items() if name not in places})
    waiting = {name: place - start.get(name, 0) for name, place in places.items() if place > start.get(name, 0)}
    total = sum(waiting.values())
    if most is None or total <= most:
        return places
    shares = {name: most * count // total for name, count in waiting.items()}
    left = most - sum(shares.values())
    # What rounding left over goes to the first that have more.
    for name in sorted(waiting, key=int)[:left]:
        shares[name] += 1
    return {name: start.get(name, 0) + shares[name] if name in shares else place for name, place in places.items()}
