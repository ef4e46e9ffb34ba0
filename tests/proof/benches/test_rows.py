"""The rows of criterion, pytest-benchmark and asv, and the clock that they read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from benches.faces.rows import CLOCK, Ready
from benches.oplog import OpLog
from benches.plan import small
from benches.programs import COLUMNAR, KIO, TREE
from tests.proof.benches.program import generate

if TYPE_CHECKING:
    from pathlib import Path


def test_every_tool_has_rows() -> None:
    names = {row.name for row in small(TREE)}
    assert {"W1-500", "W4-10000", "W11-1000", "encode-1000"} <= names
    assert not {name for name in names if name.startswith(("memory", "replay", "durable")) or "always" in name}
    assert {"W1-durable-500-always"} < {row.name for row in small(COLUMNAR, stored=True)} > {row.name for row in small(COLUMNAR)}
    assert [row.name for row in small(KIO)] == ["encode-1000"]


@pytest.mark.parametrize("face", ["scalar", "columnar"])
@pytest.mark.parametrize(("workload", "size", "durability"), [("W7", 1_000, ""), ("W1-durable", 5, "always")])
def test_the_clock_stands_still_outside_the_timed_sections(
    workload: str, size: int, durability: str, face: str, tmp_path: Path
) -> None:
    """The tick of W7 is timed, and not the thousand acquisitions before it."""
    made = Ready(OpLog.read(generate(workload, size, tmp_path)), face, durable=durability)
    for _ in range(2):
        before, began = CLOCK.seconds(), time.perf_counter()
        made.replay()
        assert 0 < CLOCK.seconds() - before < time.perf_counter() - began
