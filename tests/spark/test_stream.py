"""Streaming reads of a path: every record once, through restarts, limits and new segments."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from share_state import spark as share_state_spark
from share_state.operate import analysis
from share_state.spark.stream import advance
from tests.recordings import JOBS
from tests.spark.logs import GrowingLog

#: Records of the recording.
JOBS_RECORDS = 608


def places(rows: DataFrame) -> list[tuple[int, int]]:
    return sorted((row["partition"], row["offset"]) for row in rows.select("partition", "offset").collect())


def expected(path: Path) -> list[tuple[int, int]]:
    return sorted((record[0], record[2]) for record in analysis.scan_path(path))


class Sink:
    """Output of a stream of raw records, run after run from one checkpoint."""

    def __init__(self, spark: SparkSession, source: Path, directory: Path) -> None:
        self._spark, self._source, self._directory = spark, source, directory

    def run(self, **options: str) -> list[int]:
        """Read all that there is now; the records of each micro-batch."""
        stream = self._spark.readStream.format("share_state").option("table", "raw").options(**options).load(str(self._source))
        query = (
            stream.writeStream.format("parquet")
            .option("checkpointLocation", str(self._directory / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(self._directory / "rows"))
        )
        query.awaitTermination()
        return [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]

    def rows(self) -> DataFrame:
        return self._spark.read.parquet(str(self._directory / "rows"))


def test_available_now_reads_everything_once(spark: SparkSession, tmp_path: Path) -> None:
    sink = Sink(spark, JOBS, tmp_path)
    sink.run()
    assert places(sink.rows()) == expected(JOBS)
    assert len(expected(JOBS)) == JOBS_RECORDS
    assert sink.run() == []
    assert places(sink.rows()) == expected(JOBS)


def test_a_limit_divides_what_waits_and_a_restart_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    log = GrowingLog(tmp_path / "log", partitions=2)
    log.write(70)
    sink = Sink(spark, log.path, tmp_path / "sink")
    sizes = sink.run(maxRecordsPerBatch="30")
    assert max(sizes) <= 30
    assert sum(sizes) == len(expected(log.path))
    log.write(70)
    sizes += sink.run(maxRecordsPerBatch="30")
    assert places(sink.rows()) == expected(log.path)
    assert sum(sizes) == len(expected(log.path)) == 140
    assert len(log.segments()) > 2


def test_records_that_are_gone_before_they_were_read_end_the_query(spark: SparkSession, tmp_path: Path) -> None:
    log = GrowingLog(tmp_path / "log", partitions=1)
    log.write(20)
    sink = Sink(spark, log.path, tmp_path / "sink")
    sink.run()
    log.write(300)
    log.drop_oldest_segments()
    with pytest.raises(Exception, match="are gone before they were read"):
        sink.run()
    sink.run(failOnDataLoss="false")
    assert set(expected(log.path)) <= set(places(sink.rows()))


@pytest.mark.parametrize("available_now", [False, True])
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"table": "state"}, "ConfigError: table 'state' is no stream"),
        ({"table": "raw", "asOfOffset": "7"}, "ConfigError: as-of options are not supported for streaming reads"),
    ],
)
def test_what_is_no_stream_is_refused_in_our_words(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], reason: str, available_now: bool
) -> None:
    stream = spark.readStream.format("share_state").options(**options).load(str(JOBS))
    writer = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    with pytest.raises(Exception, match=reason) as told:
        (writer.trigger(availableNow=True) if available_now else writer).start().awaitTermination()
    assert "UnboundLocalError" not in str(told.value)


def test_an_option_that_is_wrong_is_told_where_the_schema_is_given(spark: SparkSession, tmp_path: Path) -> None:
    reader = spark.readStream.format("share_state").schema(share_state_spark.schema("raw")).option("grup", "x")
    writer = reader.load(str(JOBS)).writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    with pytest.raises(Exception, match="ConfigError: option 'grup' is not known") as told:
        writer.start().awaitTermination()
    assert "UnboundLocalError" not in str(told.value)


def test_a_query_that_goes_on_as_another_table_is_refused_in_our_words(spark: SparkSession, tmp_path: Path) -> None:
    stream = spark.readStream.format("share_state")
    for table, is_stream in (("records", True), ("history", False)):
        writer = stream.option("table", table).load(str(JOBS)).writeStream.format("noop")
        writer = writer.option("checkpointLocation", str(tmp_path))
        if is_stream:
            query = writer.start()
            query.processAllAvailable()
            query.stop()
        else:
            with pytest.raises(Exception, match="ConfigError: table 'history' is no stream") as told:
                writer.start().awaitTermination()
            assert "UnboundLocalError" not in str(told.value)


@pytest.mark.parametrize(
    ("start", "ends", "most", "place"),
    [
        ({}, {"0": 5}, None, {"0": 5}),
        ({"0": 2}, {"0": 5, "1": 4}, None, {"0": 5, "1": 4}),
        ({"0": 0, "1": 0}, {"0": 30, "1": 10}, 8, {"0": 6, "1": 2}),
        ({"0": 0, "1": 0, "2": 0}, {"0": 1, "1": 1, "2": 1}, 2, {"0": 1, "1": 1, "2": 0}),
        ({"0": 9}, {"0": 5}, 3, {"0": 9}),
        ({"0": 9}, {"1": 5}, None, {"0": 9, "1": 5}),
    ],
)
def test_a_limit_is_shared_by_what_waits(
    start: dict[str, int], ends: dict[str, int], most: int | None, place: dict[str, int]
) -> None:
    assert advance(start, ends, most) == place


def test_a_limit_is_kept_and_reached_whatever_waits() -> None:
    walks = 0
    for seed in range(200):
        ends = {str(name): (seed * 7919 + name * 104729) % 97 for name in range(5)}
        here: dict[str, int] = {}
        most = 1 + seed % 40
        while (there := advance(here, ends, most)) != here:
            step = sum(there.values()) - sum(here.values())
            assert 0 < step <= most
            here, walks = there, walks + 1
        assert here == ends
    assert walks > 1000
