"""The logs of two stores that were told the same are swapped: each opener and each reader says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import share_state as ss
from share_state.errors import CorruptLogError
from tests.cli_in_process import run_here

KEY = ss.SharePartitionKey("orders-workers", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 0)


@pytest.fixture
def swapped(tmp_path: Path) -> Path:
    here, there = tmp_path / "here", tmp_path / "there"
    for path in (here, there):
        with ss.open(path) as store:
            store.reset_state(KEY, 0, 5, wall_ms=1000)
    [log] = here.glob("*/*.log")
    other = there / log.relative_to(here)
    assert log.stat().st_size == other.stat().st_size
    log.write_bytes(other.read_bytes())
    return here


def test_the_log_of_another_store_is_refused(swapped: Path) -> None:
    [log] = swapped.glob("*/*.log")
    with pytest.raises(CorruptLogError, match="the batch is of another store: mark ") as refused:
        ss.open(swapped)
    assert (refused.value.segment, refused.value.position) == (str(log), 0)


@pytest.mark.parametrize("command", ["state", "dump", "history", "anomalies"])
def test_each_command_tells_it(swapped: Path, command: str) -> None:
    [log] = swapped.glob("*/*.log")
    for path in (swapped, log.parent, log):
        run = run_here(command, path)
        assert run.returncode == 4
        assert f"{log} at byte 0: the batch is of another store: mark " in run.stderr
