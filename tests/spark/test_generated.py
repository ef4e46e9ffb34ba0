"""Generated logs, in any division and order: on Spark the same as by the engine; and when tasks fail or are run twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import share_state as ss
from share_state import spark as share_state_spark
from share_state.operate import analysis
from tests.spark import rows
from tests.spark.logs import GrowingLog
from tests.spark.retried import LOSING
from tests.spark.rows import table


@pytest.mark.parametrize("seed", range(4))
def test_a_generated_log_gives_the_engines_tables(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    log = GrowingLog(tmp_path, partitions=(1, 2, 4, 5)[seed], keys=2 + 3 * seed, seed=seed, compression=("none", "lz4")[seed % 2])
    log.write(150)
    assert len({record[0] for record in analysis.scan_path(log.path)}) == (1, 2, 3, 5)[seed]
    # As if shuffled by whatever came before, in more parts than there are state partitions, or fewer.
    raw = table(spark, log.path, "raw").repartition(1 + 3 * (seed % 3)).sortWithinPartitions("value")
    assert rows.states(share_state_spark.state(raw)) == rows.of_engine(analysis.states(log.path))
    assert rows.history(share_state_spark.history(raw)) == rows.of_engine(analysis.history(log.path))
    ends = {partition: after for partition, _first, after in ss._core.log_ends(log.path)}
    at = {partition: after * 2 // 3 for partition, after in ends.items()}
    expected = rows.of_engine(analysis.states(log.path, as_of_offset=at))
    assert rows.states(share_state_spark.state(raw, at)) == expected
    assert rows.states(share_state_spark.state(raw.where(within(at)))) == expected


def within(at: dict[int, int]) -> str:
    return " or ".join(f"(partition = {partition} and offset <= {offset})" for partition, offset in at.items())


def test_all_state_partitions_in_one_task_give_the_same(spark: SparkSession, tmp_path: Path) -> None:
    log = GrowingLog(tmp_path, partitions=5, keys=9, seed=77)
    log.write(200)
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    try:
        state = share_state_spark.state(table(spark, log.path, "raw"))
        assert state.rdd.getNumPartitions() == 1
        assert rows.states(state) == rows.of_engine(analysis.states(log.path))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)


@pytest.mark.timeout(900)
def test_tasks_that_are_run_again_change_nothing(tmp_path: Path) -> None:
    log = GrowingLog(tmp_path / "log", partitions=4, keys=9, seed=5)
    log.write(200)
    command = [sys.executable, "-m", "tests.spark.retried", str(log.path), str(tmp_path)]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False, timeout=600)
    assert ran.returncode == 0, ran.stderr[-3000:]
    # Tuples are lists in JSON.
    expected = json.loads(json.dumps(rows.of_engine(analysis.states(log.path))))
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["failure"]["states"] == told["speculation"]["states"] == expected
    # The comparison would see it if a copy gave less than its original.
    assert told[LOSING]["states"] != expected
    # A task that failed was begun again, and one that was slow had a copy beside it.
    attempts = {name: [tuple(map(int, text.split("-"))) for text in one["attempts"]] for name, one in told.items()}
    again = {name: {(stage, part) for stage, part, attempt in some if attempt > 0} for name, some in attempts.items()}
    assert len(again["failure"]) > 3
    for name in ("speculation", LOSING):
        assert len({stage for stage, part in again[name] if part == 0}) == 2
