"""A running cluster with share consumers at work: by our own source, and by Spark's own Kafka source with its trap."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from share_state import spark as share_state_spark
from share_state.operate import analysis
from share_state.operate.reading.failures import ClusterReadError
from share_state.operate.reading.plain import STATE_TOPIC
from share_state.spark import kafka_topic
from tests.gateway.wire.batches import batch
from tests.kafka import broker as kafka
from tests.kafka.broker import Broker
from tests.kafka.home import JUDGE
from tests.kafka.roundtrip.played import log_of
from tests.kafka.roundtrip.wire import read_all
from tests.kafka.roundtrip.workload import BROKER_SETTINGS, Workload
from tests.operate.live.fake_cluster import FETCH, FakeCluster, served
from tests.spark import rows

pytestmark = pytest.mark.timeout(400)

T = TypeVar("T")
PATIENCE = 90.0
#: Records of the state topic that members leave at least: more than one batch of the stream.
ENOUGH = 200
#: Setting by which Spark's own source asks for the ends of an internal topic in the way that answers.
DEPRECATED = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"


@pytest.fixture(scope="module")
def live(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, Workload, Path]]:
    """A broker after a phase of work; a stream of our own source ran from before its first record on."""
    directory = tmp_path_factory.mktemp("broker")
    streamed = directory / "streamed"
    with kafka.running(
        JUDGE, directory, {**BROKER_SETTINGS, "share.coordinator.snapshot.update.records.per.snapshot": "20"}
    ) as broker:
        with pytest.raises(Exception, match="a cluster makes it when its first share group comes"):
            ours(spark, broker, "raw").count()
        workload = Workload(broker, seed=11)
        workload.set_up()
        query = start(ours_stream(spark, broker, maxRecordsPerBatch="150"), streamed)
        how: dict[str, Any] = {"delete_records": False, "kill": False, "also": lambda: len(on_disk(broker)) > ENOUGH}
        work = threading.Thread(target=workload.run, args=(directory / "phase",), kwargs=how)
        work.start()
        try:
            # Beside the members: whatever is there by then, no more and no less.
            first = places(ours(spark, broker, "raw"))
        finally:
            work.join()
        at_rest(broker, query.processAllAvailable)
        query.stop()
        assert first == sorted(set(first))
        yield broker, workload, streamed


def ours(spark: SparkSession, broker: Broker, table: str) -> DataFrame:
    reader = spark.read.format("share_state").option("table", table).option("kafka.bootstrap.servers", broker.bootstrap)
    return reader.load()


def ours_stream(spark: SparkSession, broker: Broker, **options: str) -> DataFrame:
    reader = spark.readStream.format("share_state").option("table", "raw").options(**options)
    return reader.option("kafka.bootstrap.servers", broker.bootstrap).load()


def sparks(broker: Broker, spark: SparkSession, **how: str) -> DataFrame:
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap).option("startingOffsets", "earliest")
    return reader.options(**how).load()


def start(stream: DataFrame, directory: Path, **trigger: bool) -> StreamingQuery:
    writer = stream.writeStream.format("parquet").option("checkpointLocation", str(directory / "checkpoint"))
    if trigger:
        writer = writer.trigger(availableNow=True)
    return writer.start(str(directory / "rows"))


def places(frame: DataFrame) -> list[tuple[int, int]]:
    return sorted((row["partition"], row["offset"]) for row in frame.select("partition", "offset").collect())


def on_disk(broker: Broker) -> list[tuple[int, int]]:
    return sorted((record[0], record[2]) for record in analysis.scan_path(broker.data))


def at_rest(broker: Broker, ask: Callable[[], T]) -> T:
    """The answer between two equal looks at the log: locks of members that are gone may still run out, and be written."""
    until = time.monotonic() + PATIENCE
    while True:
        before = on_disk(broker)
        answer = ask()
        if on_disk(broker) == before:
            return answer
        assert time.monotonic() < until, "the log does not come to rest"


ASSIGN = json.dumps({STATE_TOPIC: [0, 1, 2]})


def test_our_source_gives_the_brokers_own_states(spark: SparkSession, live: tuple[Broker, Workload, Path]) -> None:
    broker, workload, _streamed = live
    told, engines, answers = at_rest(
        broker,
        lambda: (
            rows.states(ours(spark, broker, "state")),
            rows.of_engine(analysis.states(broker.data)),
            read_all(broker.port, workload.keys()),
        ),
    )
    assert told == engines
    states = {row[:3]: dict(zip(analysis.StateRow._fields, row, strict=True)) for row in told}
    compared = 0
    for key, (read, summary) in answers.items():
        if read.error_code != 0:
            assert tuple(key) not in states
            continue
        state = states.pop(tuple(key))
        assert state["batches"] == tuple(tuple(batch) for batch in read.batches)
        assert (state["state_epoch"], state["start_offset"]) == (read.state_epoch, read.start_offset)
        assert state["delivery_complete_count"] == summary.delivery_complete_count
        compared += 1
    assert not states
    assert compared >= 4


def test_our_source_gives_every_record_batch_and_stream(spark: SparkSession, live: tuple[Broker, Workload, Path]) -> None:
    broker, _workload, streamed = live
    told, expected = at_rest(broker, lambda: (places(ours(spark, broker, "raw")), on_disk(broker)))
    assert len(expected) > ENOUGH
    assert told == expected
    # The stream's last look came before; the log may have grown since.
    seen = places(spark.read.parquet(str(streamed / "rows")))
    assert seen == [place for place in expected if place in set(seen)]
    assert len(seen) > ENOUGH


def test_one_state_partition_is_one_task(spark: SparkSession, live: tuple[Broker, Workload, Path]) -> None:
    broker, _workload, _streamed = live
    assert ours(spark, broker, "raw").rdd.getNumPartitions() == 3


def test_sparks_own_source_gives_nothing_and_no_error_of_an_internal_topic(
    spark: SparkSession, live: tuple[Broker, Workload, Path]
) -> None:
    broker, _workload, _streamed = live
    spark.conf.unset(DEPRECATED)
    for how in ({"subscribe": STATE_TOPIC}, {"subscribePattern": "__share_group_.*"}, {"assign": ASSIGN}):
        assert sparks(broker, spark, **how).count() == 0


def test_sparks_own_source_feeds_the_functions_once_it_is_told_how(
    spark: SparkSession, live: tuple[Broker, Workload, Path], tmp_path: Path
) -> None:
    broker, _workload, _streamed = live
    spark.conf.set(DEPRECATED, "true")
    try:
        batch = sparks(broker, spark, assign=ASSIGN)
        told, expected = at_rest(broker, lambda: (places(batch), on_disk(broker)))
        assert told == expected
        states = share_state_spark.state(batch)
        assert at_rest(broker, lambda: rows.states(states) == rows.of_engine(analysis.states(broker.data)))
        history = share_state_spark.history(batch)
        assert at_rest(broker, lambda: rows.history(history) == rows.of_engine(analysis.history(broker.data)))
        reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap)
        stream = reader.option("assign", ASSIGN).option("startingOffsets", "earliest").load()
        start(stream, tmp_path, availableNow=True).awaitTermination()
        seen = places(spark.read.parquet(str(tmp_path / "rows")))
        assert set(expected) <= set(seen)
        assert len(seen) == len(set(seen))
    finally:
        spark.conf.unset(DEPRECATED)


def test_a_range_is_read_exactly(live: tuple[Broker, Workload, Path]) -> None:

    broker, _workload, _streamed = live
    settings = {"bootstrap.servers": broker.bootstrap}
    [one] = [one for one in kafka_topic.ranges(settings) if one.partition == 1]
    batches = list(kafka_topic.records(settings, 1, one.end - 3, one.end))
    assert [offset for batch in batches for offset in batch.column("offset").to_pylist()] == [
        one.end - 3,
        one.end - 2,
        one.end - 1,
    ]
    assert list(kafka_topic.records(settings, 1, one.end, one.end)) == []


def test_another_topic_among_the_records_is_an_error(spark: SparkSession, live: tuple[Broker, Workload, Path]) -> None:
    broker, _workload, _streamed = live
    mixed = sparks(broker, spark, subscribe="orders")
    with pytest.raises(Exception, match='it is of topic "orders"'):
        share_state_spark.state(mixed).collect()


def test_a_cluster_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(kafka_topic, "_PATIENCE", 1.0)
    with pytest.raises(ClusterReadError, match=r"127\.0\.0\.1:1"):
        # Nothing listens on the port of tcpmux.
        kafka_topic.ranges({"bootstrap.servers": "127.0.0.1:1"})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "ended at offset 2, before 10"),
        ({"silent": {FETCH}}, r"no answer for __share_group_state-0 within 0\.2 s"),
        ({"log_starts": {0: 10}}, None),
    ],
    ids=["it ends earlier", "silent", "pruned meanwhile"],
)
def test_records_that_are_there_and_do_not_come_are_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fields: dict[str, Any], reason: str | None
) -> None:
    monkeypatch.setattr(kafka_topic, "_PATIENCE", 0.2)
    log = log_of(tmp_path / "log", {0: [batch([b"a", b"b"], keys=[b"k", b"k"])]})
    with served(FakeCluster(log, **fields)) as cluster:
        left = kafka_topic.records({"bootstrap.servers": cluster.bootstrap}, 0, 0, 10)
        if reason is None:
            assert list(left) == []
            return
        with pytest.raises(ClusterReadError, match=reason):
            list(left)
