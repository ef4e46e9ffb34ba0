"""Workloads that the Python benchmarks share: the same as those of the Rust benchmarks, through the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from share_state import GroupConfig, NoOpStatePersister, ReadStateResult, SharePartition, SharePartitionKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

MEMBER = "qL0uXW2hS3mJpW3Zt9xYdA"
KEY = SharePartitionKey("group", "07070707-0707-0707-0707-070707070707", 0)
NOW_MS = 1_000
NO_LIMIT = 2**31 - 1

Prepared = TypeVar("Prepared")


def active(store: str = "leaves", persister: NoOpStatePersister | None = None) -> SharePartition:
    """A share partition with nothing in flight and a window without a practical limit."""
    config = GroupConfig(partition_max_record_locks=NO_LIMIT)
    partition = SharePartition(*KEY, config=config, persister=persister, store=store)
    partition.initialize(ReadStateResult(0, 0, []))
    return partition


def acquired_at_once(records: int, store: str = "leaves", persister: NoOpStatePersister | None = None) -> SharePartition:
    """`records` records in flight, acquired as one batch under one lock."""
    partition = active(store, persister)
    acquired = partition.acquire(MEMBER, [(0, records - 1)], max_records=NO_LIMIT, now_ms=NOW_MS)
    assert sum(a.last_offset - a.first_offset + 1 for a in acquired) == records
    return partition


def measure(
    benchmark: BenchmarkFixture,
    *,
    figure: tuple[str, str, int],
    elements: int,
    setup: Callable[[], Prepared],
    work: Callable[[Prepared], object],
    rounds: int = 20,
) -> None:
    """Time `work` on what `setup` prepares again for each round; the report divides by `elements`.

    `figure` is the name of the benchmark, the store ("only" where there are not two) and the size.
    """
    name, store, size = figure
    benchmark.group = name
    benchmark.extra_info.update(benchmark=name, store=store, size=size, elements=elements)

    def prepare() -> tuple[tuple[Prepared], dict[str, object]]:
        return (setup(),), {}

    benchmark.pedantic(work, setup=prepare, rounds=rounds, warmup_rounds=1)  # type: ignore[no-untyped-call]
