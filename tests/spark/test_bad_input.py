"""Input as it should not be: typed errors with partition and offset, and never a row lost or made up."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  its usual name

from share_state import spark as share_state_spark
from share_state.operate import analysis
from tests.recordings import JOBS
from tests.spark import rows
from tests.spark.rows import table

FUNCTIONS = {
    "records": share_state_spark.decode,
    "state": share_state_spark.state,
    "history": share_state_spark.history,
    "anomalies": share_state_spark.anomalies,
}


@pytest.fixture(scope="module")
def good(spark: SparkSession) -> DataFrame:
    return table(spark, JOBS, "raw").where("partition = 1").cache()


def spoilt(good: DataFrame, offset: int, column: str, value: str) -> DataFrame:
    """The records, one of them with another value, in SQL, in a column."""
    return good.withColumn(column, F.expr(f"case when offset = {offset} then {value} else {column} end"))


NEWER_VERSION = "concat(X'0007', substring(value, 3))"
#: Changes of the record at offset 40, the reason that is told, and the offset.
CASES = {
    "null key": ("key", "cast(null as binary)", "missing", 40),
    "empty key": ("key", "X''", "corrupt", 40),
    "key cut short": ("key", "substring(key, 1, 9)", "corrupt", 40),
    "value cut short": ("value", "substring(value, 1, 5)", "corrupt", 40),
    "bytes after the value": ("value", "concat(value, X'0001')", "corrupt", 40),
    "a newer version": ("value", NEWER_VERSION, "unsupported_version", 40),
    "null offset": ("offset", "cast(null as bigint)", "missing", None),
    "negative offset": ("offset", "-5", "negative_offset", -5),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_row_is_told_and_the_others_are_kept(good: DataFrame, case: str) -> None:
    column, value, reason, offset = CASES[case]
    bad = spoilt(good, 40, column, value)
    with pytest.raises(Exception, match="RowError"):
        share_state_spark.state(bad).collect()
    told = share_state_spark.errors(bad).collect()
    assert [(row["partition"], row["offset"], row["reason"]) for row in told] == [(1, offset, reason)]
    without = rows.states(share_state_spark.state(good.where("offset != 40")))
    assert rows.states(share_state_spark.state(bad, on_error="quarantine")) == without


def test_records_that_come_twice_are_an_error_and_counted_once(good: DataFrame) -> None:
    twice = good.union(good.where("offset between 10 and 12"))
    with pytest.raises(Exception, match=r"RowError.*state partition 1, offset 10"):
        share_state_spark.state(twice).collect()
    told = sorted((row["offset"], row["reason"]) for row in share_state_spark.errors(twice).collect())
    assert told == [(10, "repeated"), (11, "repeated"), (12, "repeated")]
    assert rows.states(share_state_spark.state(twice, on_error="quarantine")) == rows.states(share_state_spark.state(good))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_mixture_of_topics_is_an_error(good: DataFrame, name: str) -> None:
    mixed = good.withColumn("topic", F.when(F.col("offset") == 7, "orders").otherwise("__share_group_state"))
    with pytest.raises(Exception, match=r"RowError.*offset 7.*orders"):
        FUNCTIONS[name](mixed).collect()
    kept = FUNCTIONS[name](mixed, on_error="quarantine").count()
    assert kept == FUNCTIONS[name](good.where("offset != 7")).count()
    [told] = share_state_spark.errors(mixed).collect()
    assert (told["offset"], told["reason"]) == (7, "other_topic")


def test_offsets_and_partitions_of_other_widths_are_brought_into_form(good: DataFrame) -> None:
    narrow = good.withColumn("offset", F.col("offset").cast("int")).withColumn("partition", F.col("partition").cast("bigint"))
    assert rows.states(share_state_spark.state(narrow)) == rows.states(share_state_spark.state(good))


def test_every_record_is_a_row_also_of_unknown_types(good: DataFrame) -> None:
    other = spoilt(good, 40, "key", "concat(X'0009', substring(key, 3))")
    newer = spoilt(other, 41, "value", NEWER_VERSION)
    kinds = {row["at_offset"]: row["kind"] for row in share_state_spark.decode(newer).collect()}
    assert len(kinds) == good.count()
    assert (kinds[40], kinds[41]) == ("unknown_type", "unknown_version")


def test_a_decompression_bomb_in_a_segment_is_damage(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "__share_group_state-0"
    folder.mkdir()
    records = gzip.compress(bytes(1 << 28), 1)
    # Format 2, gzip, one record by the header; the checksum is right.
    after = struct.pack(">hiqqqhii", 1, 0, 0, 0, -1, -1, -1, 1) + records
    head = struct.pack(">iBI", 0, 2, crc32c(after))
    (folder / "00000000000000000000.log").write_bytes(struct.pack(">qi", 0, len(head) + len(after)) + head + after)
    with pytest.raises(Exception, match="CorruptLogError"):
        table(spark, tmp_path, "state").collect()
    assert analysis.fold_path(tmp_path)[0] == []


def crc32c(data: bytes) -> int:
    table_of = []
    for byte in range(256):
        entry = byte
        for _ in range(8):
            entry = entry >> 1 ^ (0x82F63B78 if entry & 1 else 0)
        table_of.append(entry)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table_of[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF
