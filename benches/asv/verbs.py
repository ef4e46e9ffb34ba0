"""The verbs of a share partition, on the workloads of the pytest benchmarks; writes are made inside the calls."""

from __future__ import annotations

import numpy as np

from benches.python.workloads import MEMBER, NO_LIMIT, NOW_MS, acquired_at_once, active
from share_state import NoOpStatePersister

RECORDS = 10_000


class Prepared:
    """Each sample works on what `setup` made for it."""

    number = 1
    repeat = (10, 50, 5.0)
    warmup_time = 0.5


class Acknowledge(Prepared):
    def setup(self) -> None:
        self.partition = acquired_at_once(RECORDS, persister=NoOpStatePersister())
        self.offsets = np.arange(RECORDS, dtype=np.int64)
        self.types = np.ones(RECORDS, dtype=np.int8)

    def time_scalar_in_order(self) -> None:
        partition = self.partition
        for offset in range(RECORDS):
            partition.acknowledge(MEMBER, offset, offset, 1, now_ms=NOW_MS)

    def time_scalar_alternate(self) -> None:
        partition = self.partition
        for offset in range(1, RECORDS, 2):
            partition.acknowledge(MEMBER, offset, offset, 1, now_ms=NOW_MS)

    def time_columns(self) -> None:
        self.partition.acknowledge_columns(MEMBER, self.offsets, self.offsets, self.types, now_ms=NOW_MS)

    def time_type_a_record(self) -> None:
        self.partition.acknowledge_batches(MEMBER, [(0, RECORDS - 1, bytes([1]) * RECORDS)], now_ms=NOW_MS)


class Acquire(Prepared):
    def setup(self) -> None:
        self.partition = active(persister=NoOpStatePersister())

    def time_scalar(self) -> None:
        for first in range(1_000):
            self.partition.acquire(MEMBER, [(first, first)], max_records=NO_LIMIT, now_ms=NOW_MS)


class Locks(Prepared):
    def setup(self) -> None:
        self.partition = active(persister=NoOpStatePersister())
        for first in range(RECORDS):
            self.partition.acquire(MEMBER, [(first, first)], max_records=NO_LIMIT, now_ms=NOW_MS)

    def time_all_run_out(self) -> None:
        assert self.partition.handle_timeout(now_ms=NOW_MS + 30_000) == RECORDS

    def time_release(self) -> None:
        assert self.partition.release(MEMBER, now_ms=NOW_MS) == RECORDS
