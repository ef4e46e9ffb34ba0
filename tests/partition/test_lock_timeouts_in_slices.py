"""Many locks that end together, a bounded number in each call."""

from __future__ import annotations

import pytest

import share_state as ss
from share_state.errors import ConfigError, InvalidRecordStateError
from tests.partition.share_partition_sets import TOPICS, a_set

RECORDS, LOCK_MS, MOST = 1_000, 30_000, 64
BOUNDED = ss.GroupConfig(max_lock_timeouts_per_call=MOST, record_lock_duration_ms=LOCK_MS)


def held_singly(number: int = 0) -> ss.SharePartition:
    """A share partition with each record under a lock of its own."""
    made = ss.SharePartition("g", TOPICS[0], number, leader_epoch=0, config=BOUNDED)
    made.begin_initialize()
    made.initialize(ss.ReadStateResult(0, 0, []))
    for offset in range(RECORDS):
        assert len(made.acquire("alice", [(offset, offset)], now_ms=0, max_records=1, batch_size=1)) == 1
    return made


def test_no_call_lets_more_locks_run_out_than_it_may() -> None:
    share_partition = held_singly()
    ran_out = []
    while share_partition.poll_timeout() is not None:
        ran_out.append(share_partition.handle_timeout(now_ms=LOCK_MS))
    assert sum(ran_out) == RECORDS
    assert ran_out[:-1] == [MOST] * (RECORDS // MOST)


def test_a_set_gives_each_share_partition_one_slice_a_call() -> None:
    partitions = a_set([held_singly(number) for number in range(3)])
    calls, ran_out = 0, 0
    while (deadline := partitions.poll_timeout()) is not None:
        assert deadline <= LOCK_MS
        now = partitions.handle_timeout(now_ms=LOCK_MS)
        assert 0 < now <= 3 * MOST
        ran_out += now
        calls += 1
    assert (calls, ran_out) == (-(-RECORDS // MOST), 3 * RECORDS)


def test_a_lock_that_is_due_and_has_not_run_out_can_be_acknowledged() -> None:
    share_partition = held_singly()
    last = RECORDS - 1
    share_partition.acknowledge("alice", last, last, ss.AcknowledgeType.ACCEPT, now_ms=LOCK_MS)
    with pytest.raises(InvalidRecordStateError):
        share_partition.acknowledge("alice", 0, 0, ss.AcknowledgeType.ACCEPT, now_ms=LOCK_MS)


@pytest.mark.parametrize("most", [0, -1, 2**32])
def test_a_bound_that_is_none_is_refused(most: int) -> None:
    with pytest.raises((ConfigError, ValueError), match="max_lock_timeouts_per_call"):
        ss.GroupConfig(max_lock_timeouts_per_call=most)


def test_the_bound_is_part_of_the_configuration() -> None:
    assert ss.GroupConfig().max_lock_timeouts_per_call is None
    assert ss.GroupConfig(max_lock_timeouts_per_call=7).max_lock_timeouts_per_call == 7
    assert ss.GroupConfig() != BOUNDED
    assert "max_lock_timeouts_per_call=64" in repr(BOUNDED)
