"""A wall clock that a test sets is what a process is told by the C library; its monotonic clock stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proof.histories.wall_clock import WallClock

#: A line for each that it reads: the wall clock by clock_gettime and by time, and the monotonic clock.
_TELLING = """
import ctypes, sys, time
library = ctypes.CDLL(None)
library.time.restype = ctypes.c_long
for _ in sys.stdin:
    print(time.time(), library.time(None), time.monotonic(), flush=True)
"""


@pytest.fixture
def clock(tmp_path: Path) -> WallClock:
    return WallClock(tmp_path)


@pytest.fixture
def process(clock: WallClock) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, **clock.environment}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _TELLING], env=environment, stdin=pipe, stdout=pipe, text=True) as running:
        yield running
        running.kill()


def beside(process: subprocess.Popen[str]) -> list[float]:
    """Distances of its clocks from those of the tests, in seconds."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    wall, whole, monotonic = map(float, process.stdout.readline().split())
    return [wall - time.time(), whole - time.time(), monotonic - time.monotonic()]


@pytest.mark.parametrize("seconds", [3600, -240, 0])
def test_it_steps_while_the_process_runs(clock: WallClock, process: subprocess.Popen[str], seconds: int) -> None:
    assert beside(process) == pytest.approx([0, 0, 0], abs=60)
    clock.put(1000 * seconds)
    assert beside(process) == pytest.approx([seconds, seconds, 0], abs=60)
    clock.put(0)
    assert beside(process) == pytest.approx([0, 0, 0], abs=60)
