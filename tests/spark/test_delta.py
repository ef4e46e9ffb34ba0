"""Tables in Delta's format, in a session that has it as docs/spark.md says."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from share_state.operate import analysis
from share_state.spark.run import Job, run
from tests.recordings import JOBS, ORDERS
from tests.spark import rows


def test_a_job_writes_delta_tables_and_their_versions(spark: SparkSession, tmp_path: Path) -> None:
    for source, tables, mode in ((ORDERS, ("state", "history"), "error"), (JOBS, ("state",), "overwrite")):
        written = {one.table: one.place for one in run(spark, Job(str(source), str(tmp_path), tables, "delta", mode))}
        assert tuple(written) == tables
        assert rows.states(spark.read.format("delta").load(written["state"])) == rows.of_engine(analysis.states(source))
    assert rows.history(spark.read.format("delta").load(str(tmp_path / "history"))) == rows.of_engine(analysis.history(ORDERS))
    before = spark.read.format("delta").option("versionAsOf", 0).load(str(tmp_path / "state"))
    assert rows.states(before) == rows.of_engine(analysis.states(ORDERS))
