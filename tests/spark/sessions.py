"""Spark sessions for tests: small, without a user interface, on loopback."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.spark.jars import spark_jars


def builder(directory: Path, master: str) -> SparkSession.Builder:
    """Settings that every session here has; what it writes goes under `directory`."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Python's warnings are errors in the driver's tests, not in Spark's own workers.
    os.environ.pop("PYTHONWARNINGS", None)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "768m",
        "spark.local.dir": str(directory / "local"),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",
    }
    made = SparkSession.builder.master(master).appName("share-state tests")
    for name, value in settings.items():
        made = made.config(name, value)
    return made


def local_session(directory: Path) -> SparkSession:
    """Two cores of this process's machine, and Spark's own Kafka source."""
    return builder(directory, "local[2]").config("spark.jars", spark_jars()).getOrCreate()
