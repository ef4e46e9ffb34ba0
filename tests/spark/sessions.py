"""Spark sessions for tests: small, without a user interface, on loopback."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.spark.jars import spark_jars

#: A test runs each piece of Spark a few times only: the second compiler of a JVM costs more there than it saves.
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def settings(directory: Path) -> dict[str, str]:
    """Settings of every session here; what it writes goes under `directory`."""
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "768m",
        "spark.driver.extraJavaOptions": _SHORT_LIVED,
        "spark.executor.extraJavaOptions": _SHORT_LIVED,
        "spark.local.dir": str(directory / "local"),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",
    }


def builder(directory: Path, master: str) -> SparkSession.Builder:
    """A session that is still to be started."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Python's warnings are errors in the driver's tests, not in Spark's own workers.
    os.environ.pop("PYTHONWARNINGS", None)
    made = SparkSession.builder.master(master).appName("share-state tests")
    for name, value in settings(directory).items():
        made = made.config(name, value)
    return made


def local_session(directory: Path) -> SparkSession:
    """Two cores of this process's machine, with Spark's own Kafka source, Delta, and a server of Spark Connect."""
    further = {
        "spark.jars": spark_jars(),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    made = builder(directory, "local[2]")
    for name, value in further.items():
        made = made.config(name, value)
    return made.getOrCreate()


def connect_url(session: SparkSession) -> str:
    """Address at which the server of Spark Connect in a session's JVM listens."""
    service = getattr(session._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
    return f"sc://127.0.0.1:{getattr(service, 'MODULE$').localPort()}"
