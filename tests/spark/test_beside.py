"""Options of the source and of a job for what the state topic does not tell: log end offsets and which topics there are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from share_state import spark as share_state_spark
from share_state.cli.app import app
from share_state.operate import analysis
from share_state.operate.analysis import beside
from share_state.operate.analysis.search import LogEndOffsets
from share_state.spark.run import Job, run
from tests.recordings import JOBS, ORDERS, recording_id
from tests.spark import rows
from tests.spark.logs import TOPIC_ID
from tests.spark.rows import table
from tests.spark.test_run import SMALL, command

#: Low enough that a lag which rises by anything is told.
_QUICK = '"lag_ms": 1, "lag_records": 1'


def measured(log: Path, seed: int) -> LogEndOffsets:
    """Made-up measurements of every topic partition of a log, that rise and fall, in no order."""
    chance = random.Random(seed)  # noqa: S311  a workload, not a secret
    told: dict[tuple[str, int], list[tuple[int, int]]] = {}
    places: dict[tuple[str, int], list[int]] = {}
    for row in analysis.history(log):
        places.setdefault((row.topic_id, row.partition), []).append(row.at_timestamp)
    for place, times in sorted(places.items()):
        samples = [(chance.randrange(min(times), max(times) + 600_000), chance.randrange(10_000)) for _ in range(12)]
        told[place] = samples
    return told


@pytest.mark.parametrize("limit", [None, 3], ids=["learned", "given"])
@pytest.mark.parametrize("log", [ORDERS, JOBS], ids=recording_id)
def test_options_tell_what_the_engine_is_told(spark: SparkSession, log: Path, limit: int | None) -> None:
    ends, config = measured(log, 3 + (limit or 0)), analysis.AnomalyConfig(delivery_count_limit=limit, lag_ms=1, lag_records=1)
    expected = rows.of_engine(analysis.anomalies(log, config, log_end_offsets=ends, live_topics=[TOPIC_ID]))
    kinds = {analysis.Anomaly(*row).kind for row in expected}
    assert "growing_lag" in kinds
    assert ("deleted_topic" in kinds) == any(row.topic_id != TOPIC_ID for row in analysis.states(log))
    given = {
        "anomalyConfig": f'{{{_QUICK}, "delivery_count_limit": {limit or "null"}}}',
        "logEndOffsets": beside.as_json(ends),
        "liveTopics": beside.as_json([TOPIC_ID]),
    }
    assert rows.anomalies(table(spark, log, "anomalies", **given)) == expected
    by_function = share_state_spark.anomalies(
        table(spark, log, "raw"), config, log_end_offsets=ends, live_topics=iter([TOPIC_ID])
    )
    assert rows.anomalies(by_function) == expected
    assert expected != rows.of_engine(analysis.anomalies(log, config))


def test_a_job_takes_them_and_its_choice(spark: SparkSession, tmp_path: Path) -> None:
    ends = measured(ORDERS, 3)
    chosen = {"group": "orders-workers", "topicId": TOPIC_ID, "partition": "1"}
    options = {**chosen, "logEndOffsets": beside.as_json(ends), "liveTopics": "[]", "anomalyConfig": f"{{{_QUICK}}}"}
    config = analysis.AnomalyConfig(lag_ms=1, lag_records=1)
    found = analysis.anomalies(ORDERS, config, log_end_offsets=ends, live_topics=[])
    expected = rows.of_engine(row for row in found if row[2:5] == ("orders-workers", TOPIC_ID, 1))
    assert {"growing_lag", "deleted_topic", "poison_record"} <= {analysis.Anomaly(*row).kind for row in expected}
    [written] = run(spark, Job(str(ORDERS), str(tmp_path / "out"), ("anomalies",), options=options))
    assert rows.anomalies(spark.read.parquet(written.place)) == expected
    assert written.rows == len(expected)


def test_the_command_takes_them_as_files(spark: SparkSession, tmp_path: Path) -> None:
    ends = measured(ORDERS, 3)
    lines = [f"{topic},{number},{ms},{end}" for (topic, number), samples in ends.items() for ms, end in samples]
    (tmp_path / "ends").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "topics").write_text(f"{TOPIC_ID}\n", encoding="utf-8")
    files = ("--log-end-offsets", tmp_path / "ends", "--live-topics", tmp_path / "topics")
    where = ("--input", ORDERS, "--output", tmp_path / "out")
    ran = command(*where, "--table", "anomalies", *files, *SMALL)
    assert ran.returncode == 0, ran.stderr
    expected = rows.of_engine(analysis.anomalies(ORDERS, log_end_offsets=ends, live_topics=[TOPIC_ID]))
    assert rows.anomalies(spark.read.parquet(str(tmp_path / "out" / "anomalies"))) == expected
    wrong = {
        "applies only to --table anomalies": (*files, "--table", "state"),
        "given twice": (*files, "--table", "anomalies", "--option", "livetopics=[]"),
        "row 1 is": ("--log-end-offsets", tmp_path / "topics", "--table", "anomalies"),
        "logEndOffsets: row 1": ("--option", "logEndOffsets=[1]"),
    }
    for told, arguments in wrong.items():
        refused = CliRunner().invoke(app, ["spark", "run", *map(str, (*where, *arguments))])
        assert refused.exit_code == 2, refused.stderr
        assert told in " ".join(refused.stderr.replace("│", " ").split())
