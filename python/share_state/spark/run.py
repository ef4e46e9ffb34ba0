"""The job that `share-state spark run` starts: tables of an input, written to an output."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Observation
from pyspark.sql import functions as F  # noqa: N812  its usual name

from share_state.errors import ConfigError
from share_state.operate.reading.cluster import SCHEME
from share_state.spark import functions
from share_state.spark.options import OnError, parse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Job", "Written", "run", "source_options", "written_tables"]

#: Called now and then with the tasks that are done and those that there are.
Progress = Callable[[int, int], None]
_POLL_SECONDS = 0.2
#: The time by whose day rows are filed. What is one row a share partition, or an anomaly, is too little to be divided.
_FILED_BY_DAY = ("records", "history")
DAY = "day"


@dataclass(frozen=True, slots=True)
class Job:
    """Job: what is read, and what is made of it."""

    #: A path, or `kafka://HOST:PORT`.
    input: str
    output: str
    tables: Sequence[str] = ("state",)
    #: `parquet`, or `delta` where the session has it.
    output_format: str = "parquet"
    #: Treatment of a table that is there: `error`, `overwrite` or `append`.
    mode: str = "error"
    on_error: OnError = "fail"
    #: Further options of the data source.
    options: Mapping[str, str] = field(default_factory=dict)


class Written(NamedTuple):
    """Table that was written."""

    table: str
    place: str
    rows: int
    seconds: float


def run(spark: SparkSession, job: Job, progress: Progress | None = None) -> Iterator[Written]:
    """Write the tables of a job, one after the other, each into a directory of its name.

    Raises what the data source raises for an input that cannot be read, as Spark passes it on.
    """
    if job.output_format not in ("parquet", "delta"):
        raise ConfigError(f"format is {job.output_format!r}; expected parquet or delta", field="format", value=job.output_format)
    for table in written_tables(job):
        begun = time.monotonic()
        place = f"{job.output.rstrip('/')}/{table}"
        seen = Observation()
        rows = _filed(_read(spark, job, table), table).observe(seen, F.count(F.lit(1)).alias("rows"))
        writer = rows.write.format(job.output_format).mode(job.mode)
        if table in _FILED_BY_DAY:
            writer = writer.partitionBy(DAY)
        with _watched(spark, progress):
            writer.save(place)
        yield Written(table, place, int(seen.get["rows"]), time.monotonic() - begun)


def _read(spark: SparkSession, job: Job, table: str) -> DataFrame:
    given = source_options(job)
    reader, options = spark.read.format("share_state").options(**given), parse(given)
    if table != "anomalies" or options.config.delivery_count_limit is not None:
        return reader.option("table", table).load()
    # The delivery limits are learned from the log: by the function all tasks take part in that, by the source one does all.
    found = functions.anomalies(
        reader.option("table", "raw").load(),
        options.config,
        log_end_offsets=options.log_end_offsets,
        live_topics=options.live_topics,
        on_error=job.on_error,
    )
    # Raw records are of every share partition, and a limit is learned from all of a group.
    for name, value in options.choice.chosen():
        found = found.where(F.col(name) == value)
    return found


def written_tables(job: Job) -> tuple[str, ...]:
    """Return the tables that a job writes: what is left out of those that are asked for is kept beside them."""
    return (*job.tables, *(("errors",) if job.on_error == "quarantine" else ()))


def source_options(job: Job) -> dict[str, str]:
    """Return the options of the data source for a job."""
    in_cluster = job.input.startswith(SCHEME)
    place = {"kafka.bootstrap.servers": job.input.removeprefix(SCHEME)} if in_cluster else {"path": job.input}
    return {**job.options, **place, "onError": job.on_error}


def _filed(rows: DataFrame, table: str) -> DataFrame:
    """Add the day (UTC) by which rows are filed."""
    if table not in _FILED_BY_DAY:
        # By an exchange of its few rows, so that the fold itself keeps all its tasks.
        return rows.repartition(1)
    # Of UTC, whatever the zone of the session.
    return rows.withColumn(DAY, F.date_from_unix_date(F.floor(F.unix_millis("at_timestamp") / 86_400_000).cast("int")))


@contextmanager
def _watched(spark: SparkSession, progress: Progress | None) -> Iterator[None]:
    """Report tasks while a job runs; a session on Spark Connect cannot tell of them."""
    if progress is None or not hasattr(spark, "_jsparkSession"):
        yield
        return
    tracker, ended = spark.sparkContext.statusTracker(), threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS):
            stages = [info for stage in tracker.getActiveStageIds() if (info := tracker.getStageInfo(stage)) is not None]
            if stages:
                progress(sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages))

    thread = threading.Thread(target=watch, name="share-state-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
