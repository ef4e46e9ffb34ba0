"""A share partition that does not serve says so, and a refused write says why (S9; Kafka: ``SharePartitionManager``)."""

from __future__ import annotations

import logging
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import share_state as ss
from share_state.persister import RecordingPersister, drain_writes, lead
from tests.partition.share_partition_sets import a_set, i8, i32, i64

KEY = ss.SharePartitionKey("g", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 0)


def test_a_loop_that_asks_first_does_not_spin() -> None:
    share_partition = ss.SharePartition(*KEY)
    assert share_partition.status == "EMPTY"
    assert not share_partition.can_acquire()
    with pytest.raises(ss.SharePartitionNotActiveError, match="EMPTY: initialize it first") as empty:
        share_partition.acquire("alice", [(0, 9)], max_records=1, now_ms=0)
    assert (empty.value.status, empty.value.kafka_code, empty.value.key) == ("EMPTY", 5, KEY)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    assert share_partition.can_acquire()
    assert share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0) == [(0, 9, 1)]
    share_partition.fence()
    assert not share_partition.can_acquire()
    for call in (
        lambda: share_partition.acquire_columns("alice", [(10, 19)], max_records=1, now_ms=0),
        lambda: share_partition.acknowledge("alice", 0, 9, now_ms=0),
        lambda: share_partition.acknowledge_batches("alice", [(0, 9, [1])], now_ms=0),
        lambda: share_partition.acknowledge_columns("alice", i64(0), i64(9), i8(1), now_ms=0),
    ):
        with pytest.raises(ss.SharePartitionNotActiveError, match="make a new share partition") as fenced:
            call()
        assert fenced.value.status == "FENCED"


def test_columns_tell_it_by_the_code() -> None:
    leader = [ss.SharePartition(*KEY._replace(partition=partition)) for partition in range(3)]
    columns = a_set(leader)
    leader[0].initialize(ss.ReadStateResult(0, 0, []))
    with pytest.raises(ss.PersisterError):
        leader[2].initialize_failed(16)
    alice, every = columns.member("alice"), i32(0, 1, 2)
    assert [one.can_acquire() for one in leader] == [True, False, False]
    members, first, last = i32(*[alice] * 3), i64(0, 0, 0), i64(9, 9, 9)
    given = columns.acquire(every, members, first, last, now_ms=0, max_records=10)
    assert (given.error_code.tolist(), given.request.tolist()) == ([0, 5, -1], [0])
    codes, _ = columns.acknowledge(every, members, first, last, i8(1, 1, 1), now_ms=0)
    assert codes.tolist() == [0, 5, -1]


@pytest.mark.parametrize("code", [74, 124, 69, 3])
def test_a_write_that_another_leader_has_overtaken_fences(code: int) -> None:
    share_partition = ss.SharePartition(*KEY)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    token = share_partition.acknowledge("alice", 0, 4, now_ms=0)
    assert token is not None
    assert share_partition.poll_write() is not None
    assert share_partition.handle_write_result(token, code, now_ms=0) != 0
    assert share_partition.status == "FENCED"
    columns = ss.SharePartitions()
    inline = ss.SharePartition(*KEY, persister=RecordingPersister(error_code=code))
    inline.initialize(ss.ReadStateResult(0, 0, []))
    columns.add(inline)
    member, first, last = i32(columns.member("alice")), i64(0), i64(9)
    columns.acquire(i32(0), member, first, last, now_ms=0, max_records=10)
    codes, _ = columns.acknowledge(i32(0), member, first, last, i8(1), now_ms=0)
    assert codes.tolist() != [0]
    assert inline.status == "FENCED"
    codes, _ = columns.acknowledge(i32(0), member, first, last, i8(1), now_ms=0)
    assert codes.tolist() == [5]


def test_a_leader_that_polls_is_fenced_by_the_store(tmp_path: Path) -> None:
    with ss.open(tmp_path) as store:
        store.reset_state(KEY, 0, 0)
        old = lead(store, KEY, leader_epoch=1)
        lead(store, KEY, leader_epoch=2)
        old.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
        old.acknowledge("alice", 0, 4, now_ms=0)
        assert set(drain_writes(old, store, now_ms=0).values()) == {6}
        assert old.status == "FENCED"


def refusal(share_partition: ss.SharePartition) -> ss.PersisterError:
    share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    with pytest.raises(ss.PersisterError) as refused:
        share_partition.acknowledge("alice", 0, 4, now_ms=0)
    assert share_partition.in_flight()[0].state == ss.RecordState.ACQUIRED
    return refused.value


def test_an_inline_write_that_fails_tells_why(tmp_path: Path) -> None:
    """The store's own exception is the cause, and what it says is in the attributes and the text."""
    store = ss.open(tmp_path)
    leaders = []
    for partition in range(3):
        key = KEY._replace(partition=partition)
        store.reset_state(key, 0, 0)
        leaders.append(lead(store, key, leader_epoch=1, inline=True))
    store.delete_state(leaders[0].key)
    store.read_state(leaders[1].key, 7)
    found = []
    for share_partition in leaders:
        if share_partition is leaders[2]:
            store.close()
        error = refusal(share_partition)
        assert error.key == share_partition.key
        assert error.persister_message is not None
        assert error.persister_message in str(error)
        assert str(error.persister_code_name) in str(error)
        cause = error.__cause__
        assert isinstance(cause, ss.ShareStateError)
        assert (cause.kafka_code, cause.key) == (error.persister_code, error.key)
        assert error.persister_message in str(cause)
        found.append((type(cause).__name__, error.persister_code_name, error.kafka_code, share_partition.status))
    assert found == [
        ("InvalidRequestError", "INVALID_REQUEST", -1, "ACTIVE"),
        ("FencedLeaderEpochError", "FENCED_LEADER_EPOCH", 6, "FENCED"),
        ("StoreError", "NOT_COORDINATOR", 15, "ACTIVE"),
    ]


_FULL_DISK = """
import resource, signal, sys
import share_state as ss
from share_state.persister import lead

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
key = ss.SharePartitionKey("g", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 0)
store = ss.open(sys.argv[1])
store.reset_state(key, 0, 0)
share_partition = lead(store, key, leader_epoch=1, inline=True)
share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))
try:
    share_partition.acknowledge("alice", 0, 4, now_ms=0)
except ss.PersisterError as refused:
    print(refused.persister_code_name, type(refused.__cause__).__name__, refused.persister_message)
print(share_partition.in_flight()[0].state)
"""


def test_an_inline_write_on_a_full_disk_tells_that_it_is_full(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", _FULL_DISK, tmp_path / "state"], capture_output=True, text=True, check=True)
    why, state = ran.stdout.splitlines()
    assert why.startswith("KAFKA_STORAGE_ERROR StoreError the store has failed and must be opened again: ")
    assert "File too large" in why
    assert state == str(int(ss.RecordState.ACQUIRED))


def test_a_release_that_is_refused_tells_why_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "share_state")
    with ss.open(tmp_path) as store:
        store.reset_state(KEY, 0, 0)
        share_partition = lead(store, KEY, leader_epoch=1, inline=True)
        share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
        store.read_state(KEY, 2)
        with pytest.raises(ss.PersisterError) as refused:
            share_partition.release("alice", now_ms=0)
        assert isinstance(refused.value.__cause__, ss.FencedLeaderEpochError)
        # And so does the log, also of what nobody waits for.
        share_partition.handle_timeout(now_ms=30_000)
    said = [record.getMessage() for record in caplog.records]
    assert said == [f"a write of {KEY!r} was refused with code 74: 'leader epoch 1 is fenced by 2'"] * 2


def test_ids_and_words_are_taken_in_every_form(tmp_path: Path) -> None:
    share_partition = ss.SharePartition("g", uuid.UUID(KEY.topic_id), 0)
    assert share_partition.key == KEY
    share_partition.initialize(ss.ReadStateResult(0, 0, [(0, 1, "acknowledged", 1), (2, 2, ss.RecordState.ARCHIVED, 1)]))
    assert share_partition.start_offset == 3
    acquired = share_partition.acquire("alice", [[3, 19]], max_records=10, mode="record_limit", now_ms=0)
    assert acquired == [(3, 12, 1)]
    assert share_partition.acquire("bob", [[13, 19]], max_records=10, mode=ss.AcquireMode.RECORD_LIMIT, now_ms=0) == [(13, 19, 1)]
    share_partition.acknowledge("alice", 3, 3, "ACCEPT", now_ms=0)
    share_partition.acknowledge("alice", 4, 4, ss.AcknowledgeType.REJECT, now_ms=0)
    share_partition.acknowledge_batches("alice", [(5, 6, "release"), (7, 8, [2, "accept"])], now_ms=0)
    assert share_partition.state_counts()["ACKNOWLEDGED"] == 2
    with ss.open(tmp_path) as store:
        store.reset_state(("g", uuid.UUID(KEY.topic_id), 0), 0, 0)
        assert store.read_state(KEY, 0).start_offset == 0
    assert ss.coordinator_key("g", uuid.UUID(KEY.topic_id), 0) == ss.coordinator_key(*KEY)


@pytest.mark.parametrize(
    ("fetched", "text"),
    [
        (np.array([[10, 20]], dtype=np.int32), r"fetched is int32 of shape \(1, 2\); expected int64 of shape \(n, 2\)"),
        (np.array([[10, 20]], dtype=np.uint64), r"fetched is uint64 of shape \(1, 2\); expected int64"),
        (np.array([[10.0, 20.0]]), r"fetched is float64 of shape \(1, 2\); expected int64"),
        (np.array([[10, 20]], dtype=">i8"), r"fetched is >i8 of shape \(1, 2\); expected int64"),
        (np.array([10, 20]), r"fetched is int64 of shape \(2,\); expected int64 of shape \(n, 2\)"),
        (np.zeros((1, 3), np.int64), r"fetched is int64 of shape \(1, 3\); expected int64 of shape \(n, 2\)"),
    ],
)
def test_an_array_that_does_not_fit_is_told_by_dtype_and_shape(fetched: Any, text: str) -> None:
    share_partition = ss.SharePartition(*KEY)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    with pytest.raises(ss.ArgumentTypeError, match=text) as refused:
        share_partition.acquire("alice", fetched, max_records=1, now_ms=0)
    assert refused.value.field == "fetched"


def test_a_number_that_does_not_fit_names_its_argument() -> None:
    share_partition = ss.SharePartition(*KEY)
    share_partition.initialize(ss.ReadStateResult(0, 0, []))
    with pytest.raises(ss.ArgumentRangeError, match="max_records is 9223372036854775808; expected -2147483648 to") as refused:
        share_partition.acquire("alice", [(0, 1)], max_records=2**63, now_ms=0)
    assert (refused.value.field, refused.value.value, refused.value.maximum) == ("max_records", 2**63, 2**31 - 1)
    for fetched, field in (([(0, 2**63)], "fetched[0].last_offset"), ([(0, 9), (10, "x")], "fetched[1].last_offset")):
        with pytest.raises(ss.ShareStateError) as part:
            share_partition.acquire("alice", fetched, max_records=1, now_ms=0)
        assert part.value.field == field
        assert str(part.value).startswith(field + " is ")
    with pytest.raises(ss.ArgumentRangeError, match="partition is 2147483648"):
        ss.SharePartition("g", KEY.topic_id, 2**31)
