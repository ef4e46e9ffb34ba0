"""The data source: its options, what it pushes down, where it reads, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import EqualTo, GreaterThan, In

from share_state import frames
from share_state import spark as share_state_spark
from share_state.arguments import Compression
from share_state.errors import ConfigError
from share_state.operate import analysis
from share_state.spark import options, storage
from share_state.spark.options import Choice
from share_state.spark.superseded import Snapshots
from share_state.spark.wanted import Wanted, pushed
from tests.recordings import JOBS, ORDERS
from tests.spark import rows
from tests.spark.logs import GrowingLog
from tests.spark.rows import table

TOPIC_ID = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"


def test_one_state_partition_is_one_task(spark: SparkSession) -> None:
    assert table(spark, ORDERS, "state").rdd.getNumPartitions() == 3


@pytest.mark.parametrize("name", ["records", "state", "history", "anomalies"])
def test_options_choose_share_partitions(spark: SparkSession, name: str) -> None:
    chosen = table(spark, ORDERS, name, group="orders-workers", topicId=TOPIC_ID, partition=1)
    found = {tuple(row) for row in chosen.select("group", "topic_id", "partition").distinct().collect()}
    assert found == {("orders-workers", TOPIC_ID, 1)}
    if name == "anomalies":
        expected = [
            one
            for one in analysis.anomalies(ORDERS)
            if (one.group, one.topic_id, one.partition) == ("orders-workers", TOPIC_ID, 1)
        ]
        assert rows.anomalies(chosen) == rows.of_engine(expected)


@pytest.mark.parametrize("pushes", ["true", "false"])
def test_filters_give_the_same_pushed_or_not(spark: SparkSession, pushes: str) -> None:
    switch = "spark.sql.python.filterPushdown.enabled"
    spark.conf.set(switch, pushes)
    try:
        where = table(spark, ORDERS, "history").where("group = 'orders-workers' and partition in (0, 1) and to_count > 1")
        plan = where._jdf.queryExecution().executedPlan().toString()
        assert ("(group#" in plan and "= orders-workers)" in plan) == (pushes == "false")
        expected = [
            row
            for row in analysis.history(ORDERS, group="orders-workers")
            if row.partition in (0, 1) and row.to_count is not None and row.to_count > 1
        ]
        assert rows.history(where) == rows.of_engine(expected)
        by_partition = table(spark, ORDERS, "state").where("state_partition = 1")
        assert by_partition.rdd.getNumPartitions() == (1 if pushes == "true" else 3)
        assert by_partition.count() == len([row for row in analysis.states(ORDERS) if row.state_partition == 1])
        nothing = table(spark, ORDERS, "state").where("state_partition = 77")
        assert nothing.count() == 0
    finally:
        spark.conf.set(switch, "false")


def test_only_filters_that_are_exact_are_taken() -> None:
    equal, among, greater = EqualTo(("group",), "g"), In(("partition",), (1, 2)), GreaterThan(("start_offset",), 4)
    nested = EqualTo(("batches", "first_offset"), 1)
    wanted, others = pushed([equal, among, greater, nested], ["group", "partition", "start_offset", "batches"])
    assert wanted == Wanted((("group", ("g",)), ("partition", (1, 2))))
    assert others == [greater, nested]
    assert wanted.allows("partition", 2)
    assert not wanted.allows("partition", 3)
    assert wanted.allows("state_partition", 3)


def test_options_are_read_in_any_case() -> None:
    given = {
        "PATH": "x",
        "Table": "state",
        "topicid": "Xz_yUKmhQhW7NshHKP1g6A",
        "asOfOffset": '{"1": 5}',
        "ASOFTIMESTAMP": "2026-11-21T10:00:00",
    }
    read = options.parse(given)
    assert (read.paths, read.table, read.choice) == (("x",), "state", Choice(topic_id="5f3ff250-a9a1-4215-bb36-c84728fd60e8"))
    assert (read.as_of.offset, read.as_of.timestamp) == ({1: 5}, 1795255200000)
    kafka = options.parse({"kafka.bootstrap.servers": "h:1", "kafka.security.protocol": "SSL"})
    assert kafka.kafka == {"bootstrap.servers": "h:1", "security.protocol": "SSL"}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "path"),
        ({"path": "x", "kafka.bootstrap.servers": "h:1"}, "path"),
        ({"path": "x", "table": "states"}, "table"),
        ({"path": "x", "grup": "g"}, "grup"),
        ({"path": "x", "partition": "-1"}, "partition"),
        ({"path": "x", "topicId": "orders"}, "topicId"),
        ({"path": "x", "asOfOffset": "latest"}, "asOfOffset"),
        ({"path": "x", "asOfTimestamp": "yesterday"}, "asOfTimestamp"),
        ({"path": "x", "onError": "ignore"}, "onError"),
        ({"path": "x", "anomalyConfig": '{"stuck": 1}'}, "anomalyConfig"),
        ({"path": "x", "anomalyConfig": '{"stuck_ms": 0}'}, "anomalyConfig"),
        ({"path": "x", "logEndOffsets": "[[1]]"}, "logEndOffsets"),
        ({"path": "x", "logEndOffsets": '{"t": 1}'}, "logEndOffsets"),
        ({"path": "x", "logEndOffsets": "ends.csv"}, "logEndOffsets"),
        ({"path": "x", "logEndOffsets": "[" * 100_000}, "logEndOffsets"),
        ({"path": "x", "logEndOffsets": f'[["{TOPIC_ID}", 0, 5, NaN]]'}, "logEndOffsets"),
        ({"path": "x", "liveTopics": '["orders"]'}, "liveTopics"),
        ({"path": "x", "liveTopics": TOPIC_ID}, "liveTopics"),
        ({"path": "x", "maxRecordsPerBatch": "0"}, "maxrecordsperbatch"),
        ({"path": "x", "failOnDataLoss": "maybe"}, "failOnDataLoss"),
        ({"path": "x", "skipSuperseded": "1"}, "skipSuperseded"),
    ],
)
def test_an_option_that_is_wrong_is_refused_by_its_name(given: dict[str, str], field: str) -> None:
    with pytest.raises(ConfigError) as refused:
        options.parse(given)
    assert refused.value.field == field


def test_a_path_that_is_no_state_log_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(Exception, match=r"No such file|expected a directory with"):
            table(spark, path, "state").collect()


def test_several_log_directories_are_one_log(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(3):
        folder = f"__share_group_state-{number}"
        shutil.copytree(JOBS / folder, tmp_path / f"disk{number % 2}" / folder)
    both = json.dumps([str(tmp_path / "disk0"), str(tmp_path / "disk1")])
    assert rows.states(table(spark, both, "state")) == rows.of_engine(analysis.states(JOBS))
    twice = json.dumps([str(JOBS), str(tmp_path / "disk1")])
    with pytest.raises(Exception, match="state partition 1 is both in"):
        table(spark, twice, "state").collect()


def test_one_folder_and_one_segment_are_paths_too(spark: SparkSession) -> None:
    folder = JOBS / "__share_group_state-1"
    [segment] = folder.glob("*.log")
    for path in (folder, segment, f"file://{folder}"):
        place = str(path).removeprefix("file://")
        assert rows.states(table(spark, path, "state")) == rows.of_engine(analysis.states(place))


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_store_in_any_compression(spark: SparkSession, tmp_path: Path, compression: Compression) -> None:
    log = GrowingLog(tmp_path, partitions=2, compression=compression)
    log.write(60)
    assert rows.states(table(spark, log.path, "state")) == rows.of_engine(analysis.states(log.path))


def test_what_is_not_on_a_disk_is_copied_and_gives_the_same(spark: SparkSession, tmp_path: Path) -> None:
    log = GrowingLog(tmp_path, partitions=2)
    log.write(200)
    assert len(log.segments()) > 4
    # fsspec's own name for local files: a scheme that pyarrow does not know, so it is treated as remote.
    remote = f"local://{log.path}"
    assert rows.history(table(spark, remote, "history")) == rows.of_engine(analysis.history(log.path))
    for near, far in zip(storage.folders([str(log.path)]), storage.folders([remote]), strict=True):
        assert not far.is_local
        assert storage.log_ends(near) == storage.log_ends(far)
        first, after = storage.log_ends(far)
        with storage.local_folder(far, after - 1) as copy:
            assert len(list(copy.iterdir())) == 1
        with storage.local_folder(far, first) as copy:
            assert sorted(path.name for path in copy.iterdir()) == sorted(path.name for path in Path(near.address).glob("*.log"))
        assert not copy.exists()


def test_records_are_read_a_segment_a_task(spark: SparkSession, tmp_path: Path) -> None:
    log = GrowingLog(tmp_path, partitions=2)
    log.write(200)
    records = table(spark, log.path, "records")
    assert records.rdd.getNumPartitions() == len(log.segments()) > 4
    decoded = share_state_spark.decode(table(spark, log.path, "raw"))
    assert rows.of_spark(records, records.columns) == rows.of_spark(decoded, records.columns)
    assert table(spark, log.path, "records", asOfOffset=40).count() == sum(
        record[2] <= 40 for record in analysis.scan_path(log.path)
    )
    # A time ends a state partition at a record that one task must find.
    in_time = table(spark, log.path, "records", asOfTimestamp=4102444800000)
    assert in_time.rdd.getNumPartitions() == 2
    assert in_time.count() == 200
    segment = log.segments()[1]
    whole = segment.read_bytes()
    # Cut short it is no torn tail: another segment stands after it, which another task reads.
    segment.write_bytes(whole[:-3])
    with pytest.raises(Exception, match=f"CorruptLogError.*{segment.name}"):
        table(spark, log.path, "records").collect()
    kept = {
        tuple(row)
        for row in table(spark, log.path, "records", onError="quarantine").select("state_partition", "at_offset").collect()
    }
    assert kept == {(record[0], record[2]) for record in analysis.scan_path(log.path)}
    assert 150 < len(kept) < 200


def test_a_remote_place_without_a_state_log_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="has no folder"):
        storage.folders([f"local://{tmp_path}"])


def test_what_a_snapshot_supersedes_can_be_left_out(spark: SparkSession, tmp_path: Path) -> None:
    assert rows.states(table(spark, ORDERS, "state", skipSuperseded="true")) == rows.of_engine(analysis.states(ORDERS))
    read = left_out = 0
    for seed in range(40):
        log = GrowingLog(tmp_path / str(seed), partitions=1 + seed % 2, keys=1 + seed % 5, seed=seed)
        log.write(120)
        for folder in storage.folders([str(log.path)]):
            # The log may begin anywhere: between a snapshot and its updates, or after a deletion.
            whole = [batch.slice(row, 1) for batch in frames.read(folder.address) for row in range(batch.num_rows)][seed % 30 :]
            snapshots = Snapshots()
            snapshots.see(whole)
            kept = list(snapshots.without_superseded(whole))
            states = [[row for batch in frames.state(some) for row in batch.to_pylist()] for some in (whole, kept)]
            assert states[0] == states[1]
            read, left_out = read + len(whole), left_out + len(whole) - len(kept)
    assert 0.2 * read < left_out < read


@pytest.mark.parametrize("address", ["nosuch://bucket/logs", "local:///nowhere/at/all"])
def test_what_cannot_be_opened_is_named(address: str) -> None:
    with pytest.raises(OSError, match=address):
        storage.folders([address])


def test_damage_is_an_error_with_its_place(spark: SparkSession, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "__share_group_state-0", tmp_path / "__share_group_state-0")
    [segment] = (tmp_path / "__share_group_state-0").glob("*.log")
    bytes_of = bytearray(segment.read_bytes())
    bytes_of[len(bytes_of) // 2] ^= 1
    segment.write_bytes(bytes_of)
    with pytest.raises(Exception, match=r"CorruptLogError.*00000000000000000000\.log"):
        table(spark, tmp_path, "state").collect()
    _states, findings = analysis.fold_path(tmp_path)
    assert [finding["kind"] for finding in findings] == ["damage"]
    kept = {tuple(row) for row in table(spark, tmp_path, "raw", onError="quarantine").select("partition", "offset").collect()}
    assert kept == {(record[0], record[2]) for record in analysis.scan_path(tmp_path)}
