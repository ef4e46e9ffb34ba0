"""Real brokers' directories: on Spark the same as by the engine itself, and as the brokers answered."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from share_state import spark as share_state_spark
from share_state.operate import analysis
from tests.recordings import JOBS, ORDERS, SHARED, agree_with_the_broker, recording_id, recordings, shared_is_required
from tests.spark import rows
from tests.spark.rows import table

each_recording = pytest.mark.parametrize("directory", recordings(), ids=recording_id)


def test_the_recordings_are_at_hand() -> None:
    assert not shared_is_required() or SHARED.is_dir()


@each_recording
def test_states_are_those_of_the_fold_and_of_the_broker(spark: SparkSession, directory: Path) -> None:
    told = rows.states(table(spark, directory, "state"))
    assert told == rows.of_engine(analysis.states(directory))
    by_function = share_state_spark.state(table(spark, directory, "raw"))
    assert rows.states(by_function) == told
    folded, _findings = analysis.fold_path(directory)
    names = analysis.StateRow._fields
    ours = {row[:3]: dict(zip(names, row, strict=True)) for row in told}
    assert len(ours) == len(folded) > 0
    agree_with_the_broker(directory, ours)


@each_recording
def test_histories_are_those_of_the_engine(spark: SparkSession, directory: Path) -> None:
    expected = rows.of_engine(analysis.history(directory))
    assert rows.history(table(spark, directory, "history")) == expected
    assert rows.history(share_state_spark.history(table(spark, directory, "raw").repartition(5))) == expected
    assert len(expected) > 500


@pytest.mark.parametrize("limit", [None, 3], ids=["learned", "given"])
@pytest.mark.parametrize("directory", [ORDERS, JOBS], ids=recording_id)
def test_anomalies_are_those_of_the_engine(spark: SparkSession, directory: Path, limit: int | None) -> None:
    config = analysis.AnomalyConfig(delivery_count_limit=limit, stuck_ms=2000, stuck_records=50)
    expected = rows.of_engine(analysis.anomalies(directory, config))
    assert rows.anomalies(share_state_spark.anomalies(table(spark, directory, "raw"), config)) == expected
    text = f'{{"stuck_ms": 2000, "stuck_records": 50, "delivery_count_limit": {limit or "null"}}}'
    assert rows.anomalies(table(spark, directory, "anomalies", anomalyConfig=text)) == expected
    assert len(expected) > 5


def test_a_topic_that_is_gone_is_told_when_the_live_ones_are_given(spark: SparkSession) -> None:
    config = analysis.AnomalyConfig(delivery_count_limit=3)
    expected = rows.of_engine(analysis.anomalies(ORDERS, config, live_topics=[]))
    found = share_state_spark.anomalies(table(spark, ORDERS, "raw"), config, live_topics=[])
    assert rows.anomalies(found) == expected
    assert expected != rows.of_engine(analysis.anomalies(ORDERS, config))


def test_as_of_an_offset_or_a_time_is_the_fold_of_the_prefix(spark: SparkSession) -> None:
    raw = table(spark, ORDERS, "raw")
    at = {0: 20, 1: 299, 2: 14}
    expected = rows.of_engine(analysis.states(ORDERS, as_of_offset=at))
    assert rows.states(share_state_spark.state(raw, at)) == expected
    assert rows.states(table(spark, ORDERS, "state", asOfOffset='{"0": 20, "1": 299, "2": 14}')) == expected
    # Records of the state partitions interleave in time; a prefix ends before the first that is later.
    [ms] = [record[3] for record in analysis.scan_path(ORDERS) if record[0] == 1 and record[2] == 400]
    expected = rows.of_engine(prefix_states(ORDERS, ms))
    assert rows.states(share_state_spark.state(raw, ms)) == expected
    assert rows.states(share_state_spark.state(raw, datetime.fromtimestamp(ms / 1000, UTC))) == expected
    assert rows.states(table(spark, ORDERS, "state", asOfTimestamp=ms)) == expected
    assert expected != rows.of_engine(analysis.states(ORDERS))


def prefix_states(path: Path, ms: int) -> list[analysis.StateRow]:
    """Fold the records of each state partition before the first that is later than `ms`."""
    machines: dict[int, analysis.History] = {}
    ended: set[int] = set()
    told: dict[int, list[analysis.HistoryRow]] = {}
    for partition, _segment, offset, timestamp, key, value in analysis.scan_path(path):
        if timestamp > ms:
            ended.add(partition)
        if partition not in ended:
            machine = machines.setdefault(partition, analysis.History(partition))
            told.setdefault(partition, []).extend(machine.replay(offset, timestamp, key, value))
    return [row for partition in sorted(told) for row in analysis.states_of_rows(told[partition])]


def test_a_history_applied_row_by_row_is_the_state_at_every_offset(spark: SparkSession) -> None:
    told = rows.history(table(spark, JOBS, "history"))
    # Rows of one record: those without offsets first, then ascending.
    in_order = sorted(
        (analysis.HistoryRow(*row) for row in told),
        key=lambda row: (row.state_partition, row.at_offset, row.first_offset is not None, row.first_offset or 0),
    )
    offsets = sorted({(row.state_partition, row.at_offset) for row in in_order})
    compared = 0
    for partition, offset in offsets[:: len(offsets) // 7]:
        mine = [row for row in in_order if row.state_partition == partition and row.at_offset <= offset]
        as_of = share_state_spark.state(table(spark, JOBS, "raw").where(f"partition = {partition}"), {partition: offset})
        assert rows.of_engine(analysis.states_of_rows(mine)) == rows.states(as_of)
        compared += 1
    assert compared >= 7
