"""A driver whose tasks fail at their first attempt, or are so slow that they are run twice; prints one line of JSON.

The second comes once more from a source whose copy of a task loses a record: whoever compares must see that.

Arguments: a state log, a directory in which attempts leave their names. Spark makes no speculative copy in local mode, and none
on the host of the first attempt: so there are two workers here, with names of their own.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import SparkConf, SparkContext, TaskContext
from pyspark.sql import SparkSession

from tests.spark import rows
from tests.spark.sessions import builder, settings

Step = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
#: The case whose answer is wrong.
LOSING = "a copy loses a record"
_HOSTS = ("127.0.0.1", "127.0.0.2")
_EAGER = {
    "spark.speculation": "true",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "500ms",
    # A stage of one task has none to be slower than.
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.executor.memory": "512m",
}


def fails_at_first(told: Path) -> Step:
    """Pass records on and then fail, at the first attempt of every task."""

    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        attempt = note(told)
        for batch in batches:
            yield batch
            if attempt == 0:
                raise OSError("a worker is lost")

    return step


def slow_at_first(told: Path) -> Step:
    """Do all the work and then be slow to end, at the first attempt of the first task."""

    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        attempt, context = note(told), TaskContext.get()
        yield from batches
        if attempt == 0 and context is not None and context.partitionId() == 0:
            # Ended with the attempt, once its copy is done.
            time.sleep(60)

    return step


def loses_when_repeated(step: Step) -> Step:
    """Lose the last record of a task that is not at its first attempt."""

    def losing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context, held = TaskContext.get(), None
        assert context is not None
        for batch in step(batches):
            if held is not None:
                yield held
            held = batch
        if held is not None:
            yield held.slice(0, held.num_rows - (context.attemptNumber() > 0))

    return losing


def note(told: Path) -> int:
    """Leave the name of this attempt, and return its number."""
    context = TaskContext.get()
    assert context is not None
    attempt = int(context.attemptNumber())
    (told / f"{context.stageId()}-{context.partitionId()}-{attempt}").touch()
    return attempt


def session_on_two_hosts(directory: Path) -> SparkSession:
    """Start a master and two workers in the driver's JVM; their executors are processes of their own."""
    # This also sets what the JVM inherits.
    made = builder(directory, "local")
    given = {**settings(directory), **_EAGER}
    SparkContext._ensure_initialized(conf=SparkConf(loadDefaults=False).setAll(list(given.items())))
    jvm, gateway = SparkContext._jvm, SparkContext._gateway
    assert jvm is not None
    assert gateway is not None
    conf, none = jvm.org.apache.spark.SparkConf(), jvm.scala.Option.empty()
    deploy = jvm.org.apache.spark.deploy
    url = deploy.master.Master.startRpcEnvAndEndpoint(_HOSTS[0], 0, 0, conf)._1().address().toSparkURL()
    urls = gateway.new_array(jvm.java.lang.String, 1)
    urls[0] = url
    for number, host in enumerate(_HOSTS):
        work = str(directory / f"worker-{number}")
        deploy.worker.Worker.startRpcEnvAndEndpoint(host, 0, 0, 1, 1024, urls, work, jvm.scala.Option.apply(number), conf, none)
    for name, value in _EAGER.items():
        made = made.config(name, value)
    return made.master(url).getOrCreate()


def main() -> None:
    log, directory = sys.argv[1], Path(sys.argv[2])
    session = session_on_two_hosts(directory)
    found = {}
    try:
        from share_state import spark as share_state_spark  # noqa: PLC0415  once a session is there

        raw = session.read.format("share_state").option("table", "raw").load(log)
        columns = share_state_spark.schema("state")
        for name, kind in (("failure", fails_at_first), ("speculation", slow_at_first), (LOSING, slow_at_first)):
            told = directory / name
            told.mkdir()
            step = kind(told)
            source = loses_when_repeated(step) if name == LOSING else step
            state = share_state_spark.state(raw.mapInArrow(source, raw.schema)).mapInArrow(step, columns)
            found[name] = {"states": rows.states(state), "attempts": sorted(path.name for path in told.iterdir())}
    finally:
        session.stop()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
