"""Numbers of a `Node`, as Python sees them. Their meaning is tested in Rust (rust/gateway/tests/node)."""

from __future__ import annotations

import pytest

import share_state as ss
from tests.gateway.delivery.one_node import ACKNOWLEDGE, BASE64, FETCH, KEY, TOPIC, fetch, frame, framed, loaded, node, read, sent
from tests.gateway.wire.batches import record_batch


def test_a_node_without_requests_has_nothing_to_tell() -> None:
    made = node()
    assert made.counts() == {
        "request_errors": {},
        "malformed": 0,
        "fetched": {},
        "fetch_failed": {},
        "acknowledged": {},
        "acknowledge_failed": {},
        "acknowledged_records": {0: 0, 1: 0, 2: 0, 3: 0, 4: 0},
        "hidden": {},
        "asked_partitions": {},
        "acquired_partitions": {},
        "acquire_times": {},
        "expired_fetches": 0,
    }
    assert made.figures() == {"waiting_fetches": 0, "sessions": 0, "session_partitions": 0, "answer_bytes": 0}
    assert (made.share_partitions(), made.rings()) == ([], [])


def test_what_was_given_and_acknowledged_is_counted() -> None:
    made, data = node(), record_batch(0, 5)
    loaded(made)
    assert made.figures() == {"waiting_fetches": 1, "sessions": 1, "session_partitions": 1, "answer_bytes": 0}
    assert read(made, data) is not None
    answer = frame(made)
    assert made.figures() == {"waiting_fetches": 0, "sessions": 1, "session_partitions": 1, "answer_bytes": len(answer)}
    # Nobody was given 7 and 8.
    for epoch, range_ in enumerate([(0, 3), (7, 8)], start=1):
        made.feed(1, fetch(epoch, acknowledged=range_), now_ms=2)
        written = made.poll_round()
        if written is not None:
            made.settle(written.number, [0] * len(written), now_ms=2)
        made.poll()
    counts = made.counts()
    buckets, total_ms = counts.pop("acquire_times")["g"]
    assert (len(buckets), sum(buckets), buckets[1], total_ms) == (16, 1, 1, 1)
    assert counts.pop("fetched").keys() == {BASE64}
    assert (counts["acknowledged"], counts["acknowledge_failed"]) == ({BASE64: 2}, {BASE64: 1})
    assert counts["acknowledged_records"] == {0: 0, 1: 6, 2: 0, 3: 0, 4: 0}
    assert counts["acquired_partitions"] == {"g": 1}
    made.keep_counts(["g"])
    assert made.counts()["acquired_partitions"] == {"g": 1}
    made.keep_counts(set())
    assert made.counts()["acquired_partitions"] == made.counts()["acquire_times"] == {}
    with pytest.raises(ss.ArgumentTypeError) as refused:
        made.keep_counts(["g", 5])  # type: ignore[list-item]
    assert refused.value.field == "groups[1]"


def test_what_was_refused_is_counted() -> None:
    made = node()
    made.feed(1, fetch(4), now_ms=0)
    assert sent(made)["errorCode"] == 122
    made.feed(1, framed(ACKNOWLEDGE, 2, b"x"), now_ms=0)
    counts = made.counts()
    assert (counts["request_errors"], counts["malformed"]) == ({(FETCH, 122): 1}, 1)


def test_share_partitions_and_rings_are_listed() -> None:
    made, data = node(), record_batch(0, 5)
    made.feed(1, fetch(wait_ms=500), now_ms=0)
    states = {"AVAILABLE": 0, "ACQUIRED": 0, "ACKNOWLEDGED": 0, "ARCHIVING": 0, "ARCHIVED": 0}
    ((key, *numbers),) = made.share_partitions()
    assert (type(key), key) == (ss.SharePartitionKey, KEY)
    assert numbers == [False, 1, 0, 0, states, 0, 0]
    assert made.rings() == [(BASE64, 0, 0, 0, 0)]
    made.state_read(0, ss.ReadStateResult(0, 0, []), now_ms=0)
    assert made.records_read(TOPIC, 0, 0, 1, 0, b"head" + data, 4, len(data) + 4, None, now_ms=1) is not None
    assert made.share_partitions() == [(KEY, True, 0, 0, 0, {**states, "ACQUIRED": 5}, 0, 0)]
    assert made.rings() == [(BASE64, 0, 0, len(data), len(data) + 4)]
    made.tick(now_ms=60_000)
    assert made.share_partitions() == [(KEY, True, 0, 5, 0, {**states, "AVAILABLE": 5}, 0, 0)]
