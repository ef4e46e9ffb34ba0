"""The columns of the tables: each says what it is, wherever Spark shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, StructType

from share_state import spark as share_state_spark
from share_state.errors import ConfigError
from share_state.frames import SCHEMAS
from share_state.spark.options import TABLES
from tests.recordings import JOBS
from tests.spark import rows

#: Number of columns of each table, those inside of others among them.
COLUMNS = {"records": 23, "state": 26, "history": 19, "anomalies": 13, "errors": 8, "raw": 5}


def comments(columns: StructType) -> list[str | None]:
    """The comments of columns, and of those inside them."""
    found = []
    for column in columns:
        found.append(column.metadata.get("comment"))
        if isinstance(column.dataType, ArrayType):
            found += comments(column.dataType.elementType)
    return found


@pytest.mark.parametrize("table", TABLES)
def test_every_column_has_the_comment_of_its_field(spark: SparkSession, table: str) -> None:
    arrow = SCHEMAS[{"raw": "input", "records": "decode"}.get(table, table)]
    told = comments(share_state_spark.schema(table))
    assert len(told) == COLUMNS[table]
    assert all(told)
    assert [column.metadata["comment"] for column in share_state_spark.schema(table)] == [
        field.metadata[b"comment"].decode() for field in arrow
    ]
    assert comments(rows.table(spark, JOBS, table).schema) == told


def test_comments_come_through_functions_and_files(spark: SparkSession, tmp_path: Path) -> None:
    states = share_state_spark.state(rows.table(spark, JOBS, "raw"))
    told = comments(share_state_spark.schema("state"))
    assert all(told)
    assert comments(states.schema) == told
    states.write.parquet(str(tmp_path / "state"))
    assert comments(spark.read.parquet(str(tmp_path / "state")).schema) == told


@pytest.mark.parametrize("name", ["nope", "decode", "input", "", None, 3])
def test_a_table_that_is_none_is_a_typed_error(name: Any) -> None:
    with pytest.raises(ConfigError, match="expected one of records, state") as told:
        share_state_spark.schema(name)
    assert (told.value.field, told.value.value) == ("table", name)
