"""How often a program of the benches is started, and what counts of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from benches.programs import Effort, _in_processes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("processes", "rounds_ns"), [(1, [5, 1, 3]), (4, [3, 3, 3, 3])])
def test_a_short_engine_runs_in_as_many_processes_as_wanted(processes: int, rounds_ns: list[int], tmp_path: Path) -> None:
    """Of one process all rounds are kept, of several the median of each."""
    started = tmp_path / "started"
    program = f"open({str(started)!r}, 'a').write('.'); print('{{\"rounds_ns\": [5, 1, 3]}}')"
    found = _in_processes([sys.executable, "-c", program], Effort(rounds=3, processes=processes))
    assert started.read_text(encoding="utf-8") == "." * processes
    assert found["rounds_ns"] == rounds_ns
