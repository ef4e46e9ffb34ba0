"""States that a stream keeps up to date: a table that each micro-batch of raw records brings forward.

It works with `foreachBatch` on any stream of records of the state topic, from this package or from Spark's Kafka source. The
table holds one record for each live share partition (:mod:`share_state.spark.compaction`). Each micro-batch writes a new version,
under its number. If Spark repeats a micro-batch after a failure, it starts from the same version and produces the same result.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  its usual name
from pyspark.sql.pandas.types import from_arrow_schema

from share_state.errors import ShareStateError
from share_state.spark import compaction
from share_state.spark.functions import records_of
from share_state.spark.schemas import arrow_schema, conform, schema
from share_state.spark.storage import names_under, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["StateTable"]

_VERSION = re.compile(r"batch-(\d+)")
#: Number of versions that are kept: the newest, and the one from which a repeated micro-batch starts.
_KEPT = 2


class StateTable:
    """A directory with the newest states; pass it to `foreachBatch`."""

    def __init__(self, path: str) -> None:
        self._path = path.rstrip("/")

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Fold a micro-batch of raw records into the table."""
        columns = from_arrow_schema(compaction.COMPACTED)
        wanted = arrow_schema(columns)
        versions = self._versions()
        before = [number for number in versions if number < batch_id]
        records = records_of(batch).withColumn("oldest_write", F.lit(None).cast("timestamp"))
        if before:
            records = records.unionByName(batch.sparkSession.read.parquet(self._place(before[-1])).select(records.columns))

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return conform(compaction.compact(batches), wanted)

        laid_out = records.repartition("partition").sortWithinPartitions("partition", "offset")
        laid_out.mapInArrow(run, columns).write.mode("overwrite").parquet(self._place(batch_id))
        for number in [*before, batch_id][:-_KEPT]:
            remove(self._place(number))

    def state(self, spark: SparkSession) -> DataFrame:
        """Return the newest states, with the columns of `share_state.spark.state`."""
        versions = self._versions()
        if not versions:
            raise ShareStateError(f"no micro-batch has been written to {self._path} yet", field=self._path)
        columns = schema("state")
        wanted = arrow_schema(columns)

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return conform(compaction.states(batches), wanted)

        records = spark.read.parquet(self._place(versions[-1]))
        return records.repartition("partition").sortWithinPartitions("partition", "offset").mapInArrow(run, columns)

    def _versions(self) -> list[int]:
        """Return the numbers of the micro-batches that were written whole, in order."""
        found = [int(match[1]) for name in names_under(self._path) if (match := _VERSION.fullmatch(name))]
        return sorted(number for number in found if "_SUCCESS" in names_under(self._place(number)))

    def _place(self, number: int) -> str:
        return f"{self._path}/batch-{number}"
