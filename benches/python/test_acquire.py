"""Acquire from Python, and reading what is in flight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benches.python.workloads import MEMBER, NO_LIMIT, NOW_MS, active, measure

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from share_state import SharePartition

BATCHES = 1_000


# The figures are a call, each of which acquires one log batch.
@pytest.mark.parametrize("length", [1, 500])
@pytest.mark.parametrize("store", ["leaves", "twin"])
def test_scalar(benchmark: BenchmarkFixture, store: str, length: int) -> None:
    batches = 100

    def work(partition: SharePartition) -> None:
        acquire = partition.acquire
        for first in range(0, batches * length, length):
            acquire(MEMBER, [(first, first + length - 1)], max_records=NO_LIMIT, now_ms=NOW_MS)

    measure(
        benchmark,
        figure=("python_acquire", store, length),
        elements=batches,
        setup=lambda: active(store),
        work=work,
    )


def test_columns(benchmark: BenchmarkFixture) -> None:
    first = np.arange(0, BATCHES * 10, 10, dtype=np.int64)
    fetched = np.stack([first, first + 9], axis=1)

    def work(partition: SharePartition) -> None:
        _, last, _ = partition.acquire_columns(MEMBER, fetched, batch_size=1, max_records=NO_LIMIT, now_ms=NOW_MS)
        assert len(last) == BATCHES

    measure(
        benchmark,
        figure=("python_acquire_columns", "leaves", BATCHES),
        elements=BATCHES,
        setup=active,
        work=work,
    )


@pytest.mark.parametrize("way", ["objects", "columns"])
def test_in_flight(benchmark: BenchmarkFixture, way: str) -> None:
    partition = active()
    for first in range(0, BATCHES * 2, 2):
        member = f"{MEMBER}{first % 4}"
        partition.acquire(member, [(first, first + 1)], max_records=NO_LIMIT, now_ms=NOW_MS)

    def work(partition: SharePartition) -> None:
        runs = partition.in_flight() if way == "objects" else partition.in_flight_columns()["first_offset"]
        assert len(runs) == BATCHES

    measure(
        benchmark,
        figure=(f"python_in_flight_{way}", "leaves", BATCHES),
        elements=BATCHES,
        setup=lambda: partition,
        work=work,
    )
