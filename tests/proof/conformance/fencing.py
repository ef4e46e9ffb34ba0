"""S9: where Kafka's manager fences a share partition, ours is fenced; the recordings are of the class below the manager."""

from __future__ import annotations

from functools import cache

from share_state import ReadStateResult, SharePartition

#: FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH, GROUP_ID_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION.
FENCING = frozenset({74, 124, 69, 3})


@cache
def member_code(error_code: int) -> int:
    """The code for a member whose write is refused so, as a share partition of its own answers, which that fences."""
    partition = SharePartition("fenced", "00010203-0405-0607-0809-0a0b0c0d0e0f", 0)
    partition.initialize(ReadStateResult(0, 0, []))
    partition.acquire("member", [(0, 0)], max_records=1, now_ms=0)
    token = partition.acknowledge("member", 0, 0, now_ms=0)
    assert token is not None
    assert partition.poll_write() is not None
    code = partition.handle_write_result(token, error_code, now_ms=0)
    assert partition.status == "FENCED", error_code
    return code
