"""The embedded store from Python: writing by sync policy, and folding a broker's log."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from benches.python.workloads import KEY, measure
from share_state import StateBatch, StateStore, WriteState, fold_path, scan_path

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture


# One thread that waits for every write: with "always" a figure is a write, a commit and a sync of the disk.
@pytest.mark.parametrize(("sync", "writes"), [("never", 1_000), ("interval", 1_000), ("always", 100)])
def test_write_state(benchmark: BenchmarkFixture, tmp_path: Path, sync: str, writes: int) -> None:
    with StateStore(tmp_path / "store", partitions=1, sync=sync) as store:
        store.initialize_state(KEY, 0, 0)
        offsets = count()

        def prepare() -> list[WriteState]:
            return [WriteState(0, 0, offset, 0, [StateBatch(offset, offset, 2, 1)]) for offset in _take(offsets, writes)]

        def work(states: list[WriteState]) -> None:
            for state in states:
                store.write_state(KEY, state)

        measure(
            benchmark,
            figure=(f"python_write_state_sync_{sync}", "only", 1),
            elements=writes,
            setup=prepare,
            work=work,
            rounds=10,
        )


def test_fold_recorded(benchmark: BenchmarkFixture, recorded: Path) -> None:
    records = sum(1 for _ in scan_path(recorded))

    def work(path: Path) -> None:
        states, findings = fold_path(path)
        assert states
        assert not findings

    measure(
        benchmark,
        figure=("python_fold_path", "only", records),
        elements=records,
        setup=lambda: recorded,
        work=work,
    )


def _take(numbers: count[int], n: int) -> list[int]:
    return [next(numbers) for _ in range(n)]
