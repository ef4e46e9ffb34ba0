"""Session of Spark that folds logs and tells how long it took: `python -m benches.spark.job`, the plan as JSON on stdin.

A process of its own for each number of cores, so that the JVM and its workers stay on theirs. Every way is first compared with
what the engine makes of the same log; one that comes to something else is told as wrong and not timed. Prints a line of JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from benches.spark.processes import Watch, cpu_seconds
from benches.spark.ways import COLUMNS, FROM_LOG, NOTHING_TO_COMPARE, WAYS, raw
from share_state.operate import analysis

__all__ = ["Case", "Job", "Timed", "main"]


@dataclass(frozen=True)
class Case:
    """A log, a way through it, and how often."""

    way: str
    log: str
    parquet: str
    rounds: int


@dataclass(frozen=True)
class Job:
    cores: int
    cases: list[Case]
    #: True if each task is given a Python of its own, so that the memory of each can be told.
    fresh_workers: bool = False
    conf: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Timed:
    """Times of a case."""

    seconds: list[float] = field(default_factory=list)
    #: CPU time of the JVM and its workers in the same rounds.
    cpu_seconds: list[float] = field(default_factory=list)
    wrong: str | None = None
    #: Most memory of any of the Python workers, bytes.
    worker_bytes: int = 0


def session(job: Job) -> SparkSession:
    made = SparkSession.builder.master(f"local[{job.cores}]").appName("benches.spark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "6g",
        # A fixed heap and one collector for any number of cores.
        "spark.driver.extraJavaOptions": "-Xms6g -XX:+UseParallelGC",
        "spark.sql.shuffle.partitions": str(4 * job.cores),
        "spark.sql.adaptive.enabled": "false",
        # Otherwise Spark asks after every row how large its Arrow batch has become, which costs as much as the rows do.
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
        "spark.python.worker.reuse": str(not job.fresh_workers).lower(),
        **job.conf,
    }
    for name, value in settings.items():
        made = made.config(name, value)
    return made.getOrCreate()


def digest(rows: Iterable[tuple[Any, ...]]) -> str:
    """Return one number for states in any order."""
    whole = hashlib.sha256()
    for row in sorted(rows):
        whole.update(repr(row).encode())
    return whole.hexdigest()[:16]


def expected(log: str) -> str:
    """Return the digest of the states that the engine makes of a log, in one process and without Spark."""
    return digest(
        (*(getattr(row, name) for name in COLUMNS[:-1]), tuple(tuple(run) for run in row.batches)) for row in analysis.states(log)
    )


def found(states: DataFrame) -> str:
    return digest((*row[:-1], tuple(tuple(run) for run in row[-1])) for row in states.collect())


def run(job: Job) -> list[Timed]:
    """Fold; rounds of all cases are interleaved, so that what else the machine does meets all alike."""
    spark = session(job)
    try:
        for case in job.cases:
            if case.way not in FROM_LOG and not os.path.exists(case.parquet):  # noqa: PTH110  a path for Spark
                raw(spark, case.log).write.parquet(case.parquet)
        results = [_compared(spark, case) for case in job.cases]
        planned = [WAYS[case.way](spark, case.log, case.parquet) for case in job.cases]
        for number in range(max(case.rounds for case in job.cases)):
            for case, states, result in zip(job.cases, planned, results, strict=True):
                if result.wrong is None and number < case.rounds:
                    before = cpu_seconds(os.getpid())
                    result.seconds.append(_timed(states))
                    result.cpu_seconds.append(cpu_seconds(os.getpid()) - before)
        return results
    finally:
        spark.stop()


def _compared(spark: SparkSession, case: Case) -> Timed:
    """Compare the results, which also warms up; and watch the memory of the workers."""
    states = WAYS[case.way](spark, case.log, case.parquet)
    with Watch() as watch:
        if case.way in NOTHING_TO_COMPARE:
            _timed(states)
            return Timed(worker_bytes=watch.most())
        told, wanted = found(states), expected(case.log)
    wrong = None if told == wanted else f"{case.way} {case.log}: {told} and not {wanted}"
    return Timed(wrong=wrong, worker_bytes=watch.most())


def _timed(states: DataFrame) -> float:
    begun = time.perf_counter()
    states.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begun


def main() -> int:
    plan = json.load(sys.stdin)
    job = Job(**{**plan, "cases": [Case(**case) for case in plan["cases"]]})
    print(json.dumps([asdict(one) for one in run(job)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
