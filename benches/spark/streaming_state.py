"""Two ways to keep states up to date from a stream: `foreachBatch` with a table, and `transformWithState`.

``python -m benches.spark.streaming_state [--keys 200] [--writes 5000] [--batches 5] [--json]`` writes a log with the embedded
store, streams it both ways, checks that both come to the states of the whole log, and prints the seconds of each micro-batch.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812  its usual name
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle, StreamingQuery

import share_state as ss
from share_state import frames
from share_state import spark as share_state_spark
from share_state.operate import analysis
from share_state.spark import compaction

TOPIC_ID = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
_RESULT = "group string, partition int, start_offset bigint, batches int"


def write_log(path: Path, keys: int, writes: int) -> None:
    chance = random.Random(1)  # noqa: S311  a workload, not a secret
    with ss.open(path, partitions=8, sync="never") as store:
        for number in range(keys):
            store.reset_state(("g", TOPIC_ID, number), 1, 0, wall_ms=1)
        for number in range(writes):
            first = number // keys * 3
            batch = (first, first + chance.randrange(3), chance.choice([0, 2, 2, 4]), 1)
            state = ss.WriteState(1, 0, max(0, first - 20), -1, [batch])
            store.write_state(("g", TOPIC_ID, chance.randrange(keys)), state, wall_ms=number)


class KeyedFold(StatefulProcessor):
    """The fold with one compacted record a share partition as its state."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._record = handle.getValueState("record", "key binary, value binary, offset bigint, timestamp timestamp")

    def handleInputRows(  # noqa: N802  Spark's name
        self,
        key: object,  # noqa: ARG002  the rows say it too
        rows: Iterator[Row],
        timer_values: object,  # noqa: ARG002  there are no timers
    ) -> Iterator[Row]:
        names = frames.SCHEMAS["input"].names
        # The rows come without the names of their fields; one key has one state partition, whichever it is.
        records = [{**dict(zip(names, row, strict=False)), "partition": 0} for row in rows]
        records.sort(key=lambda record: record["offset"])
        if self._record.exists():
            before = self._record.get()
            fields = {"key": before[0], "value": before[1], "partition": 0, "offset": before[2], "timestamp": before[3]}
            records.insert(0, fields)
        batch = pa.RecordBatch.from_pylist(
            [{name: record[name] for name in names} for record in records], schema=frames.SCHEMAS["input"]
        )
        [compacted] = [one for some in compaction.compact([batch]) for one in some.to_pylist()]
        self._record.update((compacted["key"], compacted["value"], records[-1]["offset"], compacted["timestamp"]))
        [state] = [one for some in frames.state([batch]) for one in some.to_pylist()]
        names = ("group", "partition", "start_offset")
        yield Row(**{name: state[name] for name in names}, batches=len(state["batches"]))

    def close(self) -> None:
        pass


def stream(spark: SparkSession, log: Path, most: int) -> DataFrame:
    reader = spark.readStream.format("share_state").option("table", "raw").option("maxRecordsPerBatch", str(most))
    return reader.load(str(log))


def measured(query: StreamingQuery) -> list[float]:
    query.awaitTermination()
    return [one["durationMs"]["triggerExecution"] / 1000 for one in query.recentProgress if one["numInputRows"]]


def by_table(spark: SparkSession, log: Path, most: int, directory: Path) -> tuple[list[float], dict[Any, int]]:
    table = share_state_spark.StateTable(str(directory / "states"))
    writer = stream(spark, log, most).writeStream.foreachBatch(table).option("checkpointLocation", str(directory / "table"))
    seconds = measured(writer.trigger(availableNow=True).start())
    return seconds, {(row["group"], row["partition"]): row["start_offset"] for row in table.state(spark).collect()}


def by_keyed_state(spark: SparkSession, log: Path, most: int, directory: Path) -> tuple[list[float], dict[Any, int]]:
    # The key of a record begins with its type; the share partition follows.
    keyed = stream(spark, log, most).withColumn("share_partition", F.expr("substring(key, 3)"))
    states = keyed.groupBy("share_partition").transformWithState(KeyedFold(), _RESULT, "Update", "None")
    writer = states.writeStream.outputMode("update").format("memory").queryName("keyed")
    query = writer.option("checkpointLocation", str(directory / "keyed")).trigger(availableNow=True).start()
    seconds = measured(query)
    rows = spark.sql("select group, partition, max(start_offset) as start_offset from keyed group by group, partition")
    return seconds, {(row["group"], row["partition"]): row["start_offset"] for row in rows.collect()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--writes", type=int, default=5000)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    arguments = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        write_log(directory / "log", arguments.keys, arguments.writes)
        records = sum(1 for _ in analysis.scan_path(directory / "log"))
        most = -(-records // arguments.batches)
        made = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
        made = made.config("spark.sql.shuffle.partitions", "2").config("spark.driver.bindAddress", "127.0.0.1")
        provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        session = made.config("spark.sql.streaming.stateStore.providerClass", provider).getOrCreate()
        try:
            expected = {(row.group, row.partition): row.start_offset for row in analysis.states(directory / "log")}
            ways: list[dict[str, Any]] = []
            for way in (by_table, by_keyed_state):
                begun = time.monotonic()
                seconds, states = way(session, directory / "log", most, directory)
                spent = time.monotonic() - begun
                ways.append({"way": way.__name__, "seconds": spent, "batches": seconds, "wrong": states != expected})
        finally:
            session.stop()
    if arguments.json:
        print(json.dumps({"records": records, "keys": arguments.keys, "ways": ways}))
    else:
        print(f"{records} records of {arguments.keys} share partitions, {arguments.batches} micro-batches")
        for one in ways:
            each = " ".join(f"{spent:.1f}" for spent in one["batches"])
            print(f"{one['way']}: {one['seconds']:.1f} s in all; micro-batches {each}{'; WRONG' if one['wrong'] else ''}")
    return int(any(one["wrong"] for one in ways) and not arguments.json)


if __name__ == "__main__":
    sys.exit(main())
