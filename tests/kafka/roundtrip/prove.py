"""Proves the round trips: breaks what they compare, and shows that a run against a real broker fails each time.

    python -m tests.kafka.roundtrip.prove [BREAK ...]

The exit status is 1 when a run does not notice. As a plugin of pytest this module makes the one break that ``SHARE_STATE_BREAK``
names. What needs no broker is tried by :mod:`.test_agree` in every gate.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from share_state.operate import analysis
from tests.kafka.home import REPOSITORY
from tests.kafka.roundtrip import workload
from tests.kafka.roundtrip.breaks import BREAKS, broken

_NAMED = "SHARE_STATE_BREAK"
#: The premise of the check that no acknowledged offset is unsettled.
_PREMISE = "releases are taken for settled"
_RUN = "tests/kafka/roundtrip/test_kafka_writes.py::test_our_view_is_the_brokers_own[4.3.1]"


def pytest_configure(config: pytest.Config) -> None:
    """Make the break."""
    name = os.environ[_NAMED]
    print(f"broken in {config.rootpath.name}: {name}")
    if name == _PREMISE:
        workload.SETTLING = workload.SETTLING | {"RELEASE"}
    else:
        analysis.fold_path = broken(BREAKS[name])  # type: ignore[assignment]


def main() -> int:
    """Run once for each break."""
    missed = 0
    for name in sys.argv[1:] or [*BREAKS, _PREMISE]:
        begun = time.monotonic()
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-m", "kafka", "-p", "tests.kafka.roundtrip.prove", _RUN],
            cwd=REPOSITORY,
            env={**os.environ, _NAMED: name},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        said = [line for line in ran.stdout.splitlines() if line.startswith("E  ")]
        found = ran.returncode == pytest.ExitCode.TESTS_FAILED and any("AssertionError" in line for line in said)
        missed += not found
        print(f"{name}: {'found' if found else 'MISSED'}, {time.monotonic() - begun:.0f} s", flush=True)
        for line in said[:2] if found else [ran.stdout[-3000:], ran.stderr[-1000:]]:
            print(f"    {line[:300]}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
