"""The columns of every table for Spark, made from the one definition in `share_state.frames`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import ArrayType, BinaryType, IntegerType, LongType, StructField, StructType, TimestampType

from share_state.frames import SCHEMAS
from share_state.spark.options import check_table

__all__ = ["INPUT_SCHEMA", "arrow_schema", "conform", "schema"]


def _commented(columns: StructType, described: Iterable[pa.Field]) -> StructType:
    """Give columns, and those inside them, the comments of the fields that they are made from: PySpark leaves them out."""
    for column, field in zip(columns, described, strict=True):
        column.metadata = {"comment": field.metadata[b"comment"].decode()}
        if isinstance(column.dataType, ArrayType):
            _commented(column.dataType.elementType, field.type.value_type)
    return columns


#: Input of every function: the names and types of Spark's own Kafka source.
INPUT_SCHEMA = _commented(
    StructType(
        [
            StructField("key", BinaryType()),
            StructField("value", BinaryType()),
            StructField("partition", IntegerType()),
            StructField("offset", LongType()),
            StructField("timestamp", TimestampType()),
        ]
    ),
    SCHEMAS["input"],
)


def schema(table: str) -> StructType:
    """Return the columns of a table: ``records``, ``state``, ``history``, ``anomalies``, ``errors``, or ``raw``.

    Raises ``ConfigError`` for any other name.
    """
    check_table(table)
    if table == "raw":
        return INPUT_SCHEMA
    arrow = SCHEMAS["decode" if table == "records" else table]
    return _commented(from_arrow_schema(arrow), arrow)


def arrow_schema(columns: StructType) -> pa.Schema:
    """Return the Arrow form in which Spark takes columns: its times are UTC, in microseconds."""
    return to_arrow_schema(columns, timezone="UTC")


def conform(batches: Iterator[pa.RecordBatch], wanted: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Give batches exactly the Arrow types that Spark expects, column by column; nothing is copied where they are these."""
    for batch in batches:
        if batch.schema.equals(wanted):
            yield batch
            continue
        columns = [batch.column(field.name).cast(field.type) for field in wanted]
        yield pa.RecordBatch.from_arrays(columns, schema=wanted)
