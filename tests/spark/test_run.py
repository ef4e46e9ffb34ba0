"""`share-state spark run` and `share-state spark-doctor`, as a scheduler and a newcomer run them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import share_state as ss
from share_state.errors import ConfigError
from share_state.spark.run import Job, run
from tests.python import cli_runner
from tests.python.recordings import JOBS, ORDERS
from tests.spark import rows

SMALL = ("--master", "local[1]", "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.bindAddress=127.0.0.1")


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """As a user runs it; without warnings as errors, which Spark's own modules are not free of."""
    return subprocess.run(
        [sys.executable, "-m", "share_state", "spark", "run", *map(str, arguments)],
        env=cli_runner.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=280,
    )


def test_a_job_writes_its_tables_and_says_so(spark: SparkSession, tmp_path: Path) -> None:
    ran = command("--input", ORDERS, "--output", tmp_path / "out", "--table", "state", "--table", "history", *SMALL)
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[:2] for line in ran.stdout.splitlines()[2:]] == [["state", "4"], ["history", "12265"]]
    written = spark.read.parquet(str(tmp_path / "out" / "state"))
    assert rows.states(written) == rows.of_engine(ss.states(ORDERS))
    history = spark.read.parquet(str(tmp_path / "out" / "history"))
    assert rows.history(history) == rows.of_engine(ss.history(ORDERS))
    assert [str(row["day"]) for row in history.select("day").distinct().collect()] == ["2026-11-21"]
    again = command("--input", ORDERS, "--output", tmp_path / "out", *SMALL)
    assert again.returncode == 3
    assert "already exists" in again.stderr
    assert len(again.stderr.strip().splitlines()[-1]) < 400


def test_an_input_that_cannot_be_read_ends_with_its_own_status(tmp_path: Path) -> None:
    ran = command("--input", tmp_path / "missing", "--output", tmp_path / "out", *SMALL)
    assert ran.returncode == 3
    assert "No such file or directory" in ran.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("wrong", [["--option", "grup=x"], ["--option", "grup"], ["--table", "states"], ["--format", "csv"]])
def test_a_wrong_command_line_is_told_before_spark_starts(wrong: list[str], tmp_path: Path) -> None:
    ran = command("--input", ORDERS, "--output", tmp_path / "out", *SMALL, *wrong)
    assert ran.returncode == 2, ran.stderr
    assert "jdk.incubator" not in ran.stderr


def test_rows_that_cannot_be_used_are_written_beside_the_rest(spark: SparkSession, tmp_path: Path) -> None:
    damaged = tmp_path / "log" / "__share_group_state-0"
    damaged.mkdir(parents=True)
    [segment] = (JOBS / "__share_group_state-0").glob("*.log")
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    (damaged / segment.name).write_bytes(content)
    job = Job(str(tmp_path / "log"), str(tmp_path / "out"), ("state", "records"), on_error="quarantine")
    written = {one.table: one.rows for one in run(spark, job)}
    assert written["errors"] > 0
    kept = spark.read.parquet(str(tmp_path / "out" / "errors")).collect()
    assert all(row["reason"] and row["message"] for row in kept)
    with pytest.raises(ConfigError, match="neither parquet nor delta"):
        list(run(spark, Job(str(ORDERS), str(tmp_path / "other"), output_format="csv")))


def test_the_doctor_finds_this_machine_fit() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "share_state", "spark-doctor", "--format", "json"],
        env={**cli_runner.environment(), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=280,
    )
    checks = {check["name"]: check for check in json.loads(ran.stdout)}
    assert ran.returncode == 0, checks
    assert all(check["ok"] for check in checks.values())
    assert {
        "java",
        "java vector module",
        "pyspark",
        "pandas",
        "pyarrow",
        "protobuf",
        "data source",
        "worker python",
        "job",
    } == set(checks)
    assert checks["job"]["found"].startswith("2 rows folded in ")


def test_the_doctor_says_what_to_do(tmp_path: Path) -> None:
    ran = cli_runner.run("spark-doctor", JAVA_HOME=str(tmp_path), PYSPARK_PYTHON="no-such-python")
    assert ran.returncode == 1
    lines = ran.stdout.splitlines()
    assert lines[0] == f"NO    java                JAVA_HOME={tmp_path} has no bin/java"
    assert "openjdk-17-jre-headless" in lines[1]
    assert "NO    worker python       no-such-python is not there" in lines
    assert not any("job" in line for line in lines), "nothing is started where it cannot work"
