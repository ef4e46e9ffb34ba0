"""`share-state spark run` and `share-state spark-doctor`, as a scheduler and a newcomer run them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from share_state.cli.spark.output import MODES
from share_state.errors import ConfigError
from share_state.operate import analysis
from share_state.spark.run import Job, run
from tests import cli_runner
from tests.recordings import JOBS, ORDERS
from tests.spark import rows

SMALL = ("--master", "local[1]", "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.bindAddress=127.0.0.1")


#: Whatever starts a JVM fails.
NO_JVM = {"JAVA_HOME": "/nowhere"}


def command(*arguments: str | Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """As a user runs it; without warnings as errors, which Spark's own modules are not free of."""
    return subprocess.run(
        [sys.executable, "-m", "share_state", "spark", "run", *map(str, arguments)],
        env=cli_runner.environment(**extra),
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
    assert rows.states(written) == rows.of_engine(analysis.states(ORDERS))
    history = spark.read.parquet(str(tmp_path / "out" / "history"))
    assert rows.history(history) == rows.of_engine(analysis.history(ORDERS))
    assert [str(row["day"]) for row in history.select("day").distinct().collect()] == ["2026-11-21"]


def test_a_choice_that_nothing_matches_is_told(tmp_path: Path) -> None:
    choice = ("--option", "group=order-workerz", "--option", "partition=0")
    ran = command("--input", ORDERS, "--output", tmp_path / "out", "--table", "state", *choice, *SMALL)
    assert ran.returncode == 0
    assert ran.stderr.splitlines()[-1] == f"share-state: warning: {ORDERS}: nothing of group order-workerz and partition 0"


def test_what_spark_says_of_an_output_that_is_there_names_the_commands_option(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    elsewhere = ("--conf", "spark.hadoop.fs.defaultFS=file:///")
    ran = command("--input", JOBS, "--output", tmp_path, *SMALL, *elsewhere)
    assert ran.returncode == 3
    last = ran.stderr.splitlines()[-1]
    assert last == f"share-state: file:{tmp_path}/state is there already: {MODES}"


def test_an_error_of_the_jvm_is_told_and_not_the_call(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    elsewhere = ("--conf", "spark.hadoop.fs.defaultFS=file:///")
    ran = command("--input", JOBS, "--output", tmp_path / "file", *SMALL, *elsewhere)
    assert ran.returncode == 3
    assert "An error occurred while calling" not in ran.stderr
    assert str(tmp_path / "file") in ran.stderr.splitlines()[-1]


def test_a_jvm_that_does_not_start_is_one_sentence(tmp_path: Path) -> None:
    ran = command("--input", JOBS, "--output", tmp_path / "out", *SMALL, **NO_JVM)
    assert ran.returncode == 3
    assert "Traceback" not in ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("share-state: Spark does not start ([JAVA_GATEWAY_EXITED]")
    assert ran.stderr.endswith("`share-state spark-doctor` says what is missing\n")


def refused(*arguments: str | Path) -> tuple[int, str]:
    """The status, and what is said, where no JVM can be started: all of stderr is ours."""
    ran = command(*arguments, **NO_JVM)
    assert ran.stdout == ""
    return ran.returncode, ran.stderr


def test_an_input_that_cannot_be_read_is_told_before_a_jvm_starts(tmp_path: Path) -> None:
    out = tmp_path / "out"
    missing = tmp_path / "missing"
    status = refused("--input", missing, "--output", out)
    assert status == (3, f"share-state: cannot read {missing}: No such file or directory\n")
    (tmp_path / "empty").mkdir()
    code, said = refused("--input", tmp_path / "empty", "--output", out)
    assert (code, said.count("\n")) == (3, 1)
    assert said.startswith(f"share-state: cannot read {tmp_path / 'empty'}: ")
    code, said = refused("--input", "kafka://127.0.0.1:1", "--output", out, "--option", "kafka.socket.timeout.ms=100")
    assert code == 3
    assert "cannot read kafka://127.0.0.1:1: " in said
    assert not out.exists()


@pytest.mark.parametrize(
    ("there", "more"),
    [
        ("state", ["--table", "history", "--table", "state"]),
        ("errors", ["--on-error", "quarantine"]),
        ("state/_delta_log", ["--format", "delta"]),
    ],
)
def test_a_table_that_is_there_is_told_before_a_jvm_starts(there: str, more: list[str], tmp_path: Path) -> None:
    place = tmp_path / "out" / there
    place.mkdir(parents=True)
    table = tmp_path / "out" / there.partition("/")[0]
    for output in (str(tmp_path / "out"), f"file://{tmp_path}/out"):
        assert refused("--input", JOBS, "--output", output, *more) == (3, f"share-state: {table} is there already: {MODES}\n")
    assert [one.name for one in (tmp_path / "out").iterdir()] == [table.name]
    code, said = refused("--input", JOBS, "--output", tmp_path / "out", *more, "--mode", "overwrite")
    assert (code, "Spark does not start" in said) == (3, True), "what may be overwritten is no reason to stop"


def test_an_output_below_a_file_is_told_before_a_jvm_starts(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    output = tmp_path / "file" / "out"
    said = f"share-state: cannot write to {output}: {tmp_path / 'file'} is not a directory\n"
    assert refused("--input", JOBS, "--output", output) == (3, said)


@pytest.mark.parametrize(("name", "own"), [("table", "--table"), ("onError", "--on-error"), ("Path", "--input")])
def test_an_option_that_the_command_has_itself_is_refused(name: str, own: str, tmp_path: Path) -> None:
    code, said = refused("--input", JOBS, "--output", tmp_path / "out", "--option", f"{name}=x")
    assert code == 2
    assert own in said


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
    with pytest.raises(ConfigError, match="expected parquet or delta"):
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
