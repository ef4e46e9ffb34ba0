"""`Node` as Python sees it: needs, rounds, records. Its rules are tested in Rust (rust/gateway/tests/node)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import share_state as ss
from share_state.errors import StoreError, WireDecodeError
from share_state.types import SharePartitionKey
from tests.gateway.delivery.one_node import (
    BASE64,
    KEY,
    TOPIC,
    fetch,
    loaded,
    needed,
    node,
    read,
    sent,
    sent_row,
)
from tests.gateway.wire.batches import record_batch


def test_a_share_partition_is_loaded_kept_and_read(tmp_path: Path) -> None:
    made = node()
    made.feed(1, fetch(wait_ms=500), now_ms=7)
    events, (need,), at = made.poll()
    assert (events, at) == ([], 507)
    assert need[0] == "state"
    served, key, leader_epoch = need[1:]
    assert (key, leader_epoch, type(key)) == (KEY, 3, SharePartitionKey)
    with ss.open(tmp_path) as store:
        store.reset_state(key, 0, -1)
        made.state_read(served, store.read_state(key, 3), now_ms=8)
        assert needed(made) == ("start", served, BASE64, 0, 0, "earliest")
        assert made.poll_round() is None
        made.start_found(served, 40, now_ms=9)
        started = made.poll_round()
        assert started is not None
        assert (started.number, len(started), made.poll_round()) == (0, 1, None)
        assert started.write(store) == ([0], [])
        assert store.read_state(key, 3).start_offset == 40
        made.settle(0, [0], now_ms=10)
        assert needed(made) == ("records", BASE64, 0, 0, 1, 40)
        batch = record_batch(40, 5, leader_epoch=8)
        assert made.records_read(BASE64, 0, 0, 1, 40, batch, 0, len(batch), None, now_ms=11) == (45, len(batch))
        assert made.ring(TOPIC, 0, 0) == (45, 8, len(batch), len(batch))
        assert sent_row(made)["records"] == batch
        # Acknowledgements go with the next round.
        made.feed(1, fetch(1, acknowledged=(40, 44)), now_ms=12)
        written = made.poll_round()
        assert written is not None
        assert (written.number, written.write(store)) == (1, ([0], []))
        assert store.read_state(key, 3).state_batches == [(40, 44, 2, 1)]
        made.settle(1, [0], now_ms=13)
        acknowledged = sent_row(made)
        assert (acknowledged["acknowledgeErrorCode"], acknowledged["records"]) == (0, b"")


def test_a_need_names_the_isolation_level_and_the_strategy() -> None:
    made = node(ss.GroupConfig(isolation_level="read_committed", auto_offset_reset="by_duration:PT2S"))
    made.feed(1, fetch(wait_ms=500), now_ms=0)
    made.state_read(needed(made)[1], ss.ReadStateResult(0, -1, []), now_ms=0)
    assert needed(made)[2:] == (BASE64, 0, 1, "by_duration:PT2.000S")
    assert (made.ring(TOPIC, 0, 1), made.ring(TOPIC, 0, 0)) == ((None, -1, 0, 0), None)


def test_what_a_store_refuses_is_told_with_its_codes(tmp_path: Path) -> None:
    made = node()
    made.feed(1, fetch(), now_ms=0)
    served = needed(made)[1]
    with ss.open(tmp_path) as store:
        store.reset_state(KEY, 0, -1)
        made.state_read(served, store.read_state(KEY, 3), now_ms=0)
        made.start_found(served, 4, now_ms=0)
        started = made.poll_round()
        assert started is not None
        store.read_state(KEY, 4)
        codes, (refused,) = started.write(store)
        assert (codes, type(refused), refused.key) == ([74], ss.FencedLeaderEpochError, (KEY.group, TOPIC, 0))
    codes, (closed,) = started.write(store)
    assert (codes, type(closed), closed.key) == ([closed.kafka_code], StoreError, None)
    # A code that share groups do not have is as good as unknown.
    made.settle(started.number, [9999], now_ms=0)
    assert made.poll_round() is None


@pytest.mark.parametrize(
    ("result", "code", "cause"),
    [
        (ss.ReadStateResult(0, 0, []), 0, type(None)),
        (3, 3, ss.PersisterError),
        (ss.ReadStateResult(0, 9, [(3, 2, 0, 1)]), -1, ss.CorruptStateError),
    ],
)
def test_the_end_of_a_load_is_told_with_its_cause(result: ss.ReadStateResult | int, code: int, cause: type[object]) -> None:
    made = node()
    made.feed(1, fetch(wait_ms=500), now_ms=0)
    served = needed(made)[1]
    made.state_read(served, result, now_ms=0)
    event = made.poll()[0][0]
    assert event[0] == "loaded"
    assert (event[1:4], type(event[4])) == ((served, KEY, code), cause)
    assert event[4] is None or event[4].key == (KEY.group, TOPIC, 0)


def test_a_start_offset_that_is_to_be_shown_is_kept(tmp_path: Path) -> None:
    made = node()
    assert (made.shown(KEY), made.keep_start(KEY)) == (None, None)
    loaded(made)
    made.log_start_moved(TOPIC, 0, 0, 9, now_ms=1)
    made.poll()
    assert (made.shown(KEY), made.has_writes) == ((9, 0, 3, 0, False), False)
    ticket = made.keep_start((KEY.group, TOPIC, 0))
    assert made.has_writes
    with ss.open(tmp_path) as store:
        store.reset_state(KEY, 0, 0)
        written = made.poll_round()
        assert written is not None
        codes, refused = written.write(store)
        assert (codes, refused, store.read_state(KEY, 3).start_offset) == ([0], [], 9)
    made.settle(written.number, codes, now_ms=2)
    assert made.poll()[0] == [("start_kept", ticket, ss.WriteState(0, 3, 9, 0, []))]
    ticket = made.keep_start(KEY)
    made.state_changed("g", TOPIC, now_ms=3)
    assert ("start_kept", ticket, None) in made.poll()[0]


@pytest.mark.parametrize(("start", "given"), [(None, True), (0, True), (5, False)])
def test_what_lies_in_memory_is_given_out_once_upstream_was_heard(start: int | None, given: bool) -> None:
    made, data = node(), record_batch(0, 5)
    loaded(made)
    made.tick(now_ms=500)
    assert read(made, data) == (5, len(data))
    made.poll()
    made.feed(1, fetch(1, wait_ms=500), now_ms=600)
    assert made.poll() == ([], [("log_start", BASE64, 0, 0)], 1100)
    made.log_starts_told([(TOPIC, 0, 0, start)], now_ms=601)
    assert [event[0] for event in made.poll()[0]] == ["send"] * given


def test_nothing_is_loaded_of_a_log_that_is_being_cut() -> None:
    made = node()
    loaded(made)
    made.poll()
    made.truncated(TOPIC, 0, 0, now_ms=1)
    assert sent(made)["errorCode"] == 0
    made.feed(1, fetch(1, wait_ms=500), now_ms=2)
    assert made.poll()[:2] == ([], [])
    made.let_go(BASE64, 0, now_ms=3)
    assert needed(made)[0] == "state"


def test_frames_are_held_and_not_copied() -> None:
    made, data = node(), record_batch(0, 5)
    loaded(made)
    holders = sys.getrefcount(data)
    assert read(made, data) == (5, len(data))
    assert sys.getrefcount(data) == holders + 1
    made.history_changed(TOPIC, 0, 0, now_ms=2)
    assert (sys.getrefcount(data), made.ring(TOPIC, 0, 0)) == (holders, (None, -1, 0, 0))
    assert read(made, data) is None, "a read of an earlier life"


def test_a_read_that_is_refused_is_still_needed() -> None:
    made, data = node(), record_batch(0, 5)
    loaded(made)
    old = data[:16] + b"\x01" + data[17:]
    for wrong, start, position, kind in [
        (data[:-1], 0, 0, "batches"),
        (b"head" + data[:-1], 4, 4, "batches"),
        (old, 0, 16, "record batch has format 1; expected 2"),
    ]:
        with pytest.raises(WireDecodeError) as refused:
            made.records_read(TOPIC, 0, 0, 1, 0, wrong, start, len(wrong), None, now_ms=1)
        assert (refused.value.position, refused.value.kind) == (position, kind)
    with pytest.raises(ValueError, match="records from 0 to 500 are no part of"):
        made.records_read(TOPIC, 0, 0, 1, 0, data, 0, 500, None, now_ms=1)
    assert read(made, data) == (5, len(data))


def test_answers_to_a_round_that_is_not_under_way_change_nothing() -> None:
    made = node()
    made.feed(1, fetch(), now_ms=0)
    served = needed(made)[1]
    made.state_read(served, ss.ReadStateResult(0, -1, []), now_ms=0)
    made.start_found(served, 4, now_ms=0)
    started = made.poll_round()
    assert started is not None
    for number, codes in [(started.number + 1, [0]), (started.number, []), (started.number, [0, 0])]:
        with pytest.raises(ss.InvalidRequestError, match=f"no round {number} of {len(codes)} writes") as refused:
            made.settle(number, codes, now_ms=0)
        assert (refused.value.field, refused.value.value) == ("number", number)
    made.settle(started.number, [0], now_ms=0)


def test_time_ends_what_waits_and_what_is_not_used() -> None:
    made = node()
    loaded(made)
    made.poll()
    made.tick(now_ms=499)
    assert made.poll() == ([], [], 500)
    made.tick(now_ms=ss.LockTime(500))
    assert sent(made)["errorCode"] == 0
    made.sweep(0, now_ms=501)
    assert made.ring(TOPIC, 0, 0) is not None
    made.sweep(1, now_ms=502)
    assert made.ring(TOPIC, 0, 0) is None
