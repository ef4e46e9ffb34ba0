"""Poison records and bursts, whose delivery limit is learned from all state partitions of a group.

One task sees the share partitions of some state partitions only. So what was archived goes to one task a share partition,
together with the highest count with which any record of its group was released, and the engine's own rule decides there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812  its usual name

from share_state.analysis.anomaly import Anomaly, AnomalyConfig
from share_state.analysis.poison import Archived
from share_state.spark.anomaly_rows import as_batch, history_rows
from share_state.spark.schemas import arrow_schema, schema
from share_state.types import RecordState

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["at_limit", "without"]

_RELEASED = "released_count"
_KEY = ("group", "topic_id", "partition")
#: More than any delivery count, which is an int16.
_NO_LIMIT = 1 << 16
_GIVEN_UP = (int(RecordState.ARCHIVING), int(RecordState.ARCHIVED))


def without(config: AnomalyConfig) -> AnomalyConfig:
    """Return thresholds under which no record counts as archived at the limit."""
    return replace(config, delivery_count_limit=_NO_LIMIT, delivery_count_limits={})


def at_limit(history: DataFrame, config: AnomalyConfig) -> DataFrame:
    """Tell poison records and bursts by the rows of a history."""
    released = (
        history.where(F.col("to_state") == int(RecordState.AVAILABLE)).groupBy("group").agg(F.max("to_count").alias(_RELEASED))
    )
    given_up = history.where(F.col("to_state").isin(*_GIVEN_UP))
    columns = schema("anomalies")
    wanted = arrow_schema(columns)

    def tell(table: pa.Table) -> pa.Table:
        return pa.Table.from_batches([as_batch(_tell(table, config))]).cast(wanted)

    return given_up.join(released, "group", "left").groupBy(*_KEY).applyInArrow(tell, columns)


def _tell(table: pa.Table, config: AnomalyConfig) -> Iterator[Anomaly]:
    archived = Archived(config)
    table = table.sort_by([("at_offset", "ascending"), ("first_offset", "ascending")])
    [released] = table.column(_RELEASED).unique().to_pylist()
    for number, row in enumerate(history_rows(table)):
        if number == 0 and released is not None:
            # What the log shows of the group elsewhere, told to the rule as it would have seen it.
            archived.see(row._replace(to_state=int(RecordState.AVAILABLE), to_count=released))
        archived.see(row)
    return archived.end()
