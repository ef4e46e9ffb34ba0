"""The data source `share_state`: `spark.read.format("share_state")`, found by Spark itself through `pyspark_share_state`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, Filter, InputPartition

from share_state.errors import ShareStateError
from share_state.spark import reading
from share_state.spark.options import Options, parse
from share_state.spark.reading import Piece
from share_state.spark.schemas import arrow_schema, conform, schema
from share_state.spark.stream import RefusedStream, StreamReader
from share_state.spark.wanted import Wanted, pushed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

__all__ = ["ShareStateReader", "ShareStateSource"]


class ShareStateSource(DataSource):
    """Share-group state in files or in a cluster, as a table."""

    @classmethod
    def name(cls) -> str:
        """Return the name that goes into `format`."""
        return "share_state"

    def schema(self) -> StructType:
        """Return the columns of the table that is asked for."""
        return schema(parse(self.options).table)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader of all that there is now."""
        return ShareStateReader(parse(self.options), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802  Spark's name
        """Return a reader that comes again for more."""
        try:
            return StreamReader(parse(self.options), schema)
        except ShareStateError as error:
            return RefusedStream(error)


class _PushFilters:
    """Takes filters where the session pushes them, and is no hindrance where it does not.

    Spark refuses a reader with a `pushFilters` of its own unless `spark.sql.python.filterPushdown.enabled` is set, which is not
    the default; whether it is one's own it tells by this attribute.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader: ShareStateReader) -> None:
        self._reader = reader

    def __call__(self, filters: list[Filter]) -> list[Filter]:
        self._reader.wanted, others = pushed(filters, self._reader.columns.names)
        return others


class ShareStateReader(DataSourceReader):
    """Reads a table: one state partition a task, of ``records`` one segment."""

    def __init__(self, options: Options, columns: StructType) -> None:
        self.options = options
        self.columns = columns
        self.wanted = Wanted()
        self.pushFilters = _PushFilters(self)

    def partitions(self) -> Sequence[InputPartition]:
        """Find the state partitions; those that no pushed filter wants are left out."""
        pieces = reading.pieces(self.options)
        if self.options.table == "anomalies":
            return reading.for_anomalies(self.options, pieces)
        if self.options.table == "records":
            pieces = [part for piece in pieces for part in reading.at_segments(self.options, piece)]
        column = "partition" if self.options.table == "raw" else "state_partition"
        return [InputPartition((piece,)) for piece in pieces if self.wanted.allows(column, piece.state_partition)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Make the table of the state partitions of a task."""
        # None: Spark asks for one task even where there is nothing to read.
        pieces: tuple[Piece, ...] = partition.value or ()
        return conform(self.wanted.rows(reading.read(self.options, pieces)), arrow_schema(self.columns))
