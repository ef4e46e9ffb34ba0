"""Many locks that end together, a bounded number in each call."""

from __future__ import annotations

import numpy as np
import pytest

import share_state as ss
from share_state import AcquireMode, ConfigError

KEY = ("g", ss.TopicId.random(), 0)
RECORDS, LOCK_MS, MOST = 1_000, 30_000, 64
BOUNDED = ss.GroupConfig(max_lock_timeouts_per_call=MOST, record_lock_duration_ms=LOCK_MS)


def hold_singly(share_partition: ss.SharePartition) -> None:
    """Acquire each record under a lock of its own."""
    share_partition.initialize(0, 0, [])
    for offset in range(RECORDS):
        held = share_partition.acquire(
            "alice", [(offset, offset)], max_records=1, fetch_offset=offset, mode=AcquireMode.RECORD_LIMIT, now_ms=0
        )
        assert len(held) == 1


def test_no_call_lets_more_locks_run_out_than_it_may() -> None:
    share_partition = ss.SharePartition(*KEY, config=BOUNDED)
    hold_singly(share_partition)
    ran_out = [share_partition.handle_timeout(now_ms=LOCK_MS)]
    while share_partition.poll_timeout() is not None:
        ran_out.append(share_partition.handle_timeout(now_ms=LOCK_MS))
    assert sum(ran_out) == RECORDS
    assert ran_out[:-1] == [MOST] * (RECORDS // MOST)
    assert share_partition.counters()["lock_timeouts"] == RECORDS


def test_a_set_gives_each_share_partition_one_slice_a_call() -> None:
    partitions = ss.SharePartitions()
    for number in range(3):
        one = partitions.add(*KEY[:2], number, config=BOUNDED)
        hold_singly(one)
    assert partitions.handle_timeout(now_ms=LOCK_MS) == 3 * MOST
    calls = 1
    while (deadline := partitions.poll_timeout()) is not None:
        assert deadline <= LOCK_MS
        assert 0 < partitions.handle_timeout(now_ms=LOCK_MS) <= 3 * MOST
        calls += 1
    assert calls == -(-RECORDS // MOST)


def test_a_lock_that_is_due_and_has_not_run_out_can_be_settled() -> None:
    share_partition = ss.SharePartition(*KEY, config=BOUNDED)
    hold_singly(share_partition)
    last = RECORDS - 1
    share_partition.acknowledge("alice", [(last, last, [1])], now_ms=LOCK_MS)
    assert share_partition.in_flight()[-1].state == ss.RecordState.ACKNOWLEDGED
    with pytest.raises(ss.InvalidRecordStateError):
        share_partition.acknowledge("alice", [(0, 0, [1])], now_ms=LOCK_MS)


@pytest.mark.parametrize("most", [0, -1, 2**32])
def test_a_bound_that_is_none_is_refused(most: int) -> None:
    with pytest.raises((ConfigError, ValueError), match="max_lock_timeouts_per_call"):
        ss.GroupConfig(max_lock_timeouts_per_call=most)


def test_the_bound_is_part_of_the_configuration() -> None:
    assert ss.GroupConfig().max_lock_timeouts_per_call is None
    assert ss.GroupConfig(max_lock_timeouts_per_call=np.int64(7)).max_lock_timeouts_per_call == 7
    assert ss.GroupConfig() != BOUNDED
    assert "max_lock_timeouts_per_call=64" in repr(BOUNDED)
