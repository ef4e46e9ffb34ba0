"""`share-state spark run` on a cluster that asks who is there: the client's settings from a file, as every command takes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from share_state import SharePartitionKey, WriteState
from share_state.kafka import KafkaPersister
from tests.kafka import home
from tests.kafka.listeners import READER, USERS
from tests.kafka.real_broker import RealBroker
from tests.recordings import ORDERS
from tests.spark.test_run import SMALL, command

pytestmark = pytest.mark.timeout(400)


def client(broker: RealBroker, file: Path, secret: str) -> Path:
    file.write_text("\n".join(broker.password("PLAIN", READER, secret)) + "\n", encoding="utf-8")
    return file


def test_a_job_shows_who_it_is(real_brokers: Callable[[str], RealBroker], spark: SparkSession, tmp_path: Path) -> None:
    broker = real_brokers(home.JUDGE)
    broker.make_principals_known()
    key = SharePartitionKey("read-by-spark", broker.create_topic("read-by-spark", 1), 0)
    with KafkaPersister(broker.bootstrap) as kafka:
        kafka.reset_state(key, 1, 0)
        kafka.write_state(key, WriteState(1, 0, 3, 1, [(3, 4, 0, 1), (5, 5, 2, 1)]))
    cluster = ("--input", f"kafka://127.0.0.1:{broker.ports.secured}", *SMALL)
    file = client(broker, tmp_path / "client.properties", USERS[READER])
    ran = command(*cluster, "--output", tmp_path / "out", "--command-config", file)
    assert ran.returncode == 0, ran.stderr
    written = spark.read.parquet(str(tmp_path / "out" / "state")).where("group = 'read-by-spark'")
    assert [(row["start_offset"], row["available"], row["acknowledged"]) for row in written.collect()] == [(3, 2, 1)]
    refused = client(broker, tmp_path / "refused.properties", "not-it")
    ran = command(*cluster, "--output", tmp_path / "refused", "--command-config", refused)
    assert ran.returncode == 3
    assert "Invalid username or password" in ran.stderr.splitlines()[-1]
    assert "not-it" not in ran.stderr
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize(
    ("text", "options", "status", "why"),
    [
        ("sasl.password\n", ("--input", "kafka://127.0.0.1:1"), 3, "line 1: expected NAME=VALUE"),
        ("client.id=a\n", ("--input", str(ORDERS)), 2, "applies only to a cluster"),
        ("client.id=a\n", ("--input", "kafka://127.0.0.1:1", "--option", "kafka.client.id=b"), 2, "given twice"),
    ],
)
def test_a_file_that_does_not_fit_is_told_before_spark_starts(
    text: str, options: tuple[str, ...], status: int, why: str, tmp_path: Path
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(text, encoding="utf-8")
    ran = command(*options, "--output", tmp_path / "out", *SMALL, "--command-config", file)
    assert ran.returncode == status, ran.stderr
    assert why in " ".join(ran.stderr.split())
    assert "jdk.incubator" not in ran.stderr
