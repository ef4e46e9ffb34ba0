"""The tables as functions from a DataFrame to a DataFrame.

All records of one share partition are in one partition of the state topic, and the offset is their order. A fold therefore
needs no grouping by share partition: one task reads whole state partitions in offset order, in one pass, and keeps
their live share partitions. On any DataFrame, one `repartition` by state partition and one sort establish this order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  its usual name

from share_state.operate.analysis.anomaly import AnomalyConfig
from share_state.operate.reading.as_of import AsOf
from share_state.spark.fold import Fold
from share_state.spark.options import OnError, milliseconds
from share_state.spark.schemas import INPUT_SCHEMA, arrow_schema, conform, schema
from share_state.types import RecordState

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from share_state.operate.analysis.search import LogEndOffsets

__all__ = ["anomalies", "decode", "errors", "history", "records_of", "state"]

#: An earlier place or time: an offset for each state partition, a time, or a time in ISO 8601 or ms since the epoch.
WhenLike = Mapping[int, int] | datetime | int | str | None


def decode(df: DataFrame, *, on_error: OnError = "fail") -> DataFrame:
    """Decode records of the state topic: one row a record.

    With ``on_error="fail"`` a row that cannot be used fails the job. With ``"quarantine"`` it is put aside, and :func:`errors`
    returns it. Records with an unknown type or version are rows too, with their bytes.
    """
    return _table("records", _laid_out(df), Fold("records", on_error=on_error))


def state(df: DataFrame, as_of: WhenLike = None, *, on_error: OnError = "fail") -> DataFrame:
    """Fold records to the state of each live share partition, now or as of an earlier place or time.

    ``as_of`` is the last offset that counts, by state partition, or a time (a ``datetime``, ms since the epoch, or ISO 8601):
    each state partition then ends before its first later record. The records may be in any order and partitioning: they are
    sorted first. A record that appears twice is an error.
    """
    return _table("state", _laid_out(df), Fold("state", as_of=_as_of(as_of), on_error=on_error))


def history(df: DataFrame, *, on_error: OnError = "fail") -> DataFrame:
    """Return the history of every record: one row for each interval of offsets and each change of its state."""
    return _table("history", _laid_out(df), Fold("history", on_error=on_error))


def anomalies(
    df: DataFrame,
    config: AnomalyConfig | None = None,
    *,
    log_end_offsets: LogEndOffsets | None = None,
    live_topics: Iterable[str] | None = None,
    on_error: OnError = "fail",
) -> DataFrame:
    """Return the anomalies: one row each, with evidence and advice.

    ``log_end_offsets`` and ``live_topics``, which the state topic does not hold, are those of
    :func:`share_state.operate.analysis.anomalies`.

    Without a delivery limit for all groups in ``config``, the limit is inferred from all records of a group, in all state
    partitions. A job then runs at once to find the highest delivery count of released records of each group.
    """
    config = config or AnomalyConfig()
    laid_out = _laid_out(df)
    if config.delivery_count_limit is None:
        rows = _table("history", laid_out, Fold("history", on_error=on_error))
        released = (
            rows.where(F.col("to_state") == int(RecordState.AVAILABLE)).groupBy("group").agg(F.max("to_count").alias("most"))
        )
        told = {row["group"]: row["most"] for row in released.collect()}
        # What the caller knows of records that are not in this DataFrame counts too.
        highest = {group: max(most, config.highest_released.get(group, 0)) for group, most in told.items()}
        config = replace(config, highest_released={**config.highest_released, **highest})
    topics = None if live_topics is None else tuple(live_topics)
    fold = Fold("anomalies", config=config, on_error=on_error, log_end_offsets=log_end_offsets, live_topics=topics)
    return _table("anomalies", laid_out, fold)


def errors(df: DataFrame) -> DataFrame:
    """Return the rows that ``on_error="quarantine"`` puts aside, unchanged, with the reason."""
    return _table("errors", _laid_out(df), Fold("errors"))


def _table(name: str, records: DataFrame, fold: Fold) -> DataFrame:
    columns = schema(name)
    return records.mapInArrow(_task(fold, arrow_schema(columns)), columns)


def _task(fold: Fold, wanted: pa.Schema) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what a worker runs; all that it needs goes along with it."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return conform(fold.run(batches), wanted)

    return run


def records_of(df: DataFrame) -> DataFrame:
    """Select the columns that are needed, in their types; a topic's name is looked at where there is one."""
    selected = [F.col(field.name).cast(field.dataType).alias(field.name) for field in INPUT_SCHEMA]
    if "topic" in df.columns:
        selected.append(F.col("topic").cast("string").alias("topic"))
    return df.select(*selected)


def _laid_out(df: DataFrame) -> DataFrame:
    return records_of(df).repartition("partition").sortWithinPartitions("partition", "offset")


def _as_of(when: WhenLike) -> AsOf:
    if when is None:
        return AsOf()
    if isinstance(when, Mapping):
        return AsOf(offset={int(partition): int(offset) for partition, offset in when.items()})
    if isinstance(when, datetime):
        return AsOf(timestamp=milliseconds(when.isoformat()))
    return AsOf(timestamp=when if isinstance(when, int) else milliseconds(when))
