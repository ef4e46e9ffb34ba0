"""Acknowledge from Python: call by call, and in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benches.python.workloads import MEMBER, NOW_MS, acquired_at_once, measure
from share_state import NoOpStatePersister

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from share_state import SharePartition

RECORDS = 10_000


# The twin walks the whole batch for every record, so it gets only a part of the same batch.
@pytest.mark.parametrize(("store", "records"), [("leaves", RECORDS), ("twin", 100)])
def test_scalar_in_order(benchmark: BenchmarkFixture, store: str, records: int) -> None:
    def work(partition: SharePartition) -> None:
        acknowledge = partition.acknowledge
        for offset in range(records):
            acknowledge(MEMBER, offset, offset, 1, now_ms=NOW_MS)

    measure(
        benchmark,
        figure=("python_acknowledge", store, RECORDS),
        elements=records,
        setup=lambda: acquired_at_once(RECORDS, store),
        work=work,
    )


@pytest.mark.parametrize(("store", "records"), [("leaves", RECORDS), ("twin", 100)])
def test_scalar_in_order_and_written(benchmark: BenchmarkFixture, store: str, records: int) -> None:
    def work(partition: SharePartition) -> None:
        acknowledge, poll, answer = partition.acknowledge, partition.poll_write, partition.handle_write_result
        for offset in range(records):
            acknowledge(MEMBER, offset, offset, 1, now_ms=NOW_MS)
            write = poll()
            assert write is not None
            answer(write.token, now_ms=NOW_MS)

    measure(
        benchmark,
        figure=("python_acknowledge_and_write", store, RECORDS),
        elements=records,
        setup=lambda: acquired_at_once(RECORDS, store),
        work=work,
    )


def test_scalar_in_order_and_settled(benchmark: BenchmarkFixture) -> None:
    def work(partition: SharePartition) -> None:
        acknowledge = partition.acknowledge
        for offset in range(RECORDS):
            acknowledge(MEMBER, offset, offset, 1, now_ms=NOW_MS)

    measure(
        benchmark,
        figure=("python_acknowledge_and_settle", "leaves", RECORDS),
        elements=RECORDS,
        setup=lambda: acquired_at_once(RECORDS, persister=NoOpStatePersister()),
        work=work,
    )


def test_columns_in_order(benchmark: BenchmarkFixture) -> None:
    offsets = np.arange(RECORDS, dtype=np.int64)
    types = np.ones(RECORDS, dtype=np.int8)

    def work(partition: SharePartition) -> None:
        partition.acknowledge_columns(MEMBER, offsets, offsets, types, now_ms=NOW_MS)

    measure(
        benchmark,
        figure=("python_acknowledge_columns", "leaves", RECORDS),
        elements=RECORDS,
        setup=lambda: acquired_at_once(RECORDS),
        work=work,
    )


def test_one_type_a_record(benchmark: BenchmarkFixture) -> None:
    types = bytes([1]) * RECORDS

    def work(partition: SharePartition) -> None:
        partition.acknowledge_batches(MEMBER, [(0, RECORDS - 1, types)], now_ms=NOW_MS)

    measure(
        benchmark,
        figure=("python_acknowledge_types", "leaves", RECORDS),
        elements=RECORDS,
        setup=lambda: acquired_at_once(RECORDS),
        work=work,
    )
