"""The ways from records of the state topic to states on Spark that are measured beside each other.

All give the same columns. The first reads the segments themselves; the others are given the same records as a DataFrame, read
from Parquet, which Spark reads fastest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  its usual name

from benches.spark.plain_fold import Decoded, PlainState, decode, fold, fold_decoded, name_of
from share_state import spark as share_state_spark

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["COLUMNS", "FROM_LOG", "NOTHING_TO_COMPARE", "WAYS", "raw"]

COLUMNS = (
    "group",
    "topic_id",
    "partition",
    "snapshot_epoch",
    "state_epoch",
    "leader_epoch",
    "start_offset",
    "delivery_complete_count",
    "batches",
)
_BATCHES = "batches array<struct<first_offset: bigint, last_offset: bigint, delivery_state: tinyint, delivery_count: smallint>>"
_TYPES = (
    "group string, topic_id string, partition int, snapshot_epoch int, state_epoch int, leader_epoch int, start_offset bigint,"
    f" delivery_complete_count int, {_BATCHES}"
)
#: Columns of a row: its share partition, and its record, which is null for a tombstone.
_ROW_TYPES = (
    "group string, topic_id string, partition int, record struct<is_update: boolean, snapshot_epoch: int, state_epoch: int,"
    f" leader_epoch: int, start_offset: bigint, delivery_complete_count: int, {_BATCHES.replace(' ', ': ', 1)}>"
)


def raw(spark: SparkSession, log: str) -> DataFrame:
    """Return the records as they stand in the log, for making the Parquet files."""
    return spark.read.format("share_state").option("table", "raw").load(log)


def source(spark: SparkSession, log: str, _parquet: str) -> DataFrame:
    """Fold with our own source: a state partition a task, nothing is shuffled."""
    return spark.read.format("share_state").option("table", "state").load(log).select(*COLUMNS)


def history(spark: SparkSession, log: str, _parquet: str) -> DataFrame:
    """Tell each change of every record with our own source."""
    return spark.read.format("share_state").option("table", "history").load(log)


def anomalies(spark: SparkSession, log: str, _parquet: str) -> DataFrame:
    """Look for what is wrong with our own source: one task, which learns the delivery limits first."""
    return spark.read.format("share_state").option("table", "anomalies").load(log)


def frames(spark: SparkSession, _log: str, parquet: str) -> DataFrame:
    """Fold with the function `state`: a shuffle by state partition and a sort, then `mapInArrow`."""
    return share_state_spark.state(spark.read.parquet(parquet)).select(*COLUMNS)


def layout(spark: SparkSession, _log: str, parquet: str) -> DataFrame:
    """Bring records into the layout that `frames` folds, and fold nothing: what of it is Spark's own."""
    return spark.read.parquet(parquet).repartition("partition").sortWithinPartitions("partition", "offset")


def rows(spark: SparkSession, _log: str, parquet: str) -> DataFrame:
    """Fold with plain Python UDFs a row at a time: one decodes a record, one folds the decoded records of a share partition."""
    # Not by way of Arrow: over a columnar scan such a UDF never ends in PySpark 4.2.0.
    of_row = F.udf(_of_row, _ROW_TYPES, useArrow=False)
    decoded = spark.read.parquet(parquet).select("offset", of_row("key", "value").alias("row"))
    grouped = decoded.groupBy("row.group", "row.topic_id", "row.partition")
    gathered = grouped.agg(F.array_sort(F.collect_list(F.struct("offset", "row.record"))).alias("records"))
    folded = gathered.select(_once(_of_rows, useArrow=False)("group", "topic_id", "partition", "records.record").alias("state"))
    return folded.where("state is not null").select("state.*")


def _once(fold: Callable[..., Any], *, useArrow: bool | None = None) -> Any:  # noqa: N803  Spark's name
    """Return a UDF that Spark calls once for each row: one that it takes for deterministic it calls again for the filter."""
    return F.udf(fold, _TYPES, useArrow=useArrow).asNondeterministic()


def _of_row(key: bytearray, value: bytearray | None) -> tuple[str, str, int, Decoded | None]:
    return (*name_of(bytes(key[2:])), None if value is None else decode(key[1], value))


def _of_rows(group: str, topic_id: str, partition: int, records: list[Decoded | None]) -> tuple[Any, ...] | None:
    state: PlainState | None = None
    for record in records:
        state = None if record is None else fold_decoded(state, record)
    return None if state is None else state.columns((group, topic_id, partition))


def udf(spark: SparkSession, _log: str, parquet: str) -> DataFrame:
    """Fold with a plain Python UDF that is called with all records of a share partition, in order."""
    record = F.struct("offset", F.expr("substring(key, 2, 1)").alias("type"), "value")
    grouped = spark.read.parquet(parquet).groupBy(F.expr("substring(key, 3)").alias("name"))
    gathered = grouped.agg(F.array_sort(F.collect_list(record)).alias("records"))
    # Two lists of bytes are cheaper to hand to Python than one of rows.
    parted = gathered.select("name", F.col("records.type").alias("types"), F.col("records.value").alias("values"))
    folded = parted.select(_once(_by_key)("name", "types", "values").alias("state"))
    return folded.where("state is not null").select("state.*")


def _by_key(name: bytearray, types: list[bytearray], values: list[bytearray | None]) -> tuple[Any, ...] | None:
    state: PlainState | None = None
    for record_type, value in zip(types, values, strict=True):
        state = fold(state, record_type[0], value)
    return None if state is None else state.row(bytes(name))


def pandas(spark: SparkSession, _log: str, parquet: str) -> DataFrame:
    """Fold with `groupBy.applyInPandas`, a share partition a call."""
    records = spark.read.parquet(parquet)
    keyed = records.select(
        F.expr("substring(key, 3)").alias("name"), F.expr("ascii(substring(key, 2, 1))").alias("type"), "offset", "value"
    )
    return keyed.groupBy("name").applyInPandas(_of_group, _TYPES)


def _of_group(name: tuple[Any, ...], records: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415  on the worker

    records = records.sort_values("offset")
    state: PlainState | None = None
    for record_type, value in zip(records["type"], records["value"], strict=True):
        state = fold(state, record_type, value)
    if state is None:
        return pd.DataFrame(columns=list(COLUMNS))
    names = ("first_offset", "last_offset", "delivery_state", "delivery_count")
    row = dict(zip(COLUMNS, state.row(bytes(name[0])), strict=True))
    row["batches"] = [dict(zip(names, run, strict=True)) for run in state.runs]
    return pd.DataFrame([row], columns=list(COLUMNS))


#: Ways that make no states.
NOTHING_TO_COMPARE = frozenset({"history", "anomalies", "layout"})
#: Ways that read the segments themselves.
FROM_LOG = frozenset({"source", "history", "anomalies"})
#: By name: the session, the log's directory and the Parquet files in, states out.
WAYS: dict[str, Callable[[SparkSession, str, str], DataFrame]] = {
    "source": source,
    "history": history,
    "anomalies": anomalies,
    "frames": frames,
    "layout": layout,
    "rows": rows,
    "udf": udf,
    "pandas": pandas,
}
