"""The measurement of the live view reads every record that it serves."""

import json
import subprocess
import sys

from tests.python.cli_runner import environment
from tests.python.recordings import REPOSITORY


def test_every_record_is_read() -> None:
    command = [sys.executable, "-m", "benches.live", "--rate", "4000", "--seconds", "1"]
    ran = subprocess.run(command, cwd=REPOSITORY, env=environment(), capture_output=True, encoding="utf-8", check=True)
    found = json.loads(ran.stdout)
    assert found["total"] == 4_000
    assert found["cpu_seconds"] > 0
    assert 0 <= found["read_behind_median_s"] <= found["read_behind_most_s"]
