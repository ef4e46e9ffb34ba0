"""Arguments of an acquisition that say where the log was read, and what it showed."""

from __future__ import annotations

import pytest

from tests.partition.share_partition_sets import TOPICS, ready


@pytest.mark.parametrize("by_columns", [False, True])
def test_a_fetch_offset_before_the_batches_says_that_there_is_a_hole(by_columns: bool) -> None:
    next_offsets = []
    for fetch_offset in (None, 5, 0):
        one = ready("g", TOPICS[0], 0)
        acquire = one.acquire_columns if by_columns else one.acquire
        acquire("alice", [(0, 4)], now_ms=0, max_records=5)
        one.release("alice", now_ms=1)
        write = one.poll_write()
        assert write is not None
        one.handle_write_result(write.token, now_ms=1)
        # Compaction has taken 0 to 4. A caller who does not say from where the log was read cannot know.
        acquire("alice", [(5, 9)], now_ms=2, max_records=5, fetch_offset=fetch_offset)
        next_offsets.append(one.next_fetch_offset())
    assert next_offsets == [0, 0, 10]
