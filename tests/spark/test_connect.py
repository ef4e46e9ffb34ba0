"""Everything from a client of Spark Connect: a process of its own, which has no JVM."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from share_state.operate import analysis
from tests import cli_runner
from tests.recordings import ORDERS
from tests.spark.sessions import connect_url


@pytest.mark.timeout(900)
def test_functions_source_streams_and_jobs_work_through_connect(spark: SparkSession, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.spark.connected", connect_url(spark), ORDERS, tmp_path],
        env={**cli_runner.environment(), "JAVA_HOME": "/nowhere"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told.pop("session") == "pyspark.sql.connect.session"
    assert told.pop("job") == {"state": len(list(analysis.states(ORDERS))), "history": len(list(analysis.history(ORDERS)))}
    assert told == dict.fromkeys(told, True)
    assert len(told) == 6
