"""Contract of every home of the state: the memory persister and the embedded log hold to the same, errors included."""

from __future__ import annotations

import contextlib
import errno
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import share_state as ss
from share_state.errors import (
    FencedLeaderEpochError,
    FencedStateEpochError,
    InvalidRequestError,
    LimitExceededError,
    PersisterError,
    ShareStateError,
)
from share_state.persister import MemoryPersister, Persister, drain_writes, initialize_if_absent, lead

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
KEY = ss.SharePartitionKey("workers", TOPIC, 0)
OTHERS = [KEY._replace(group="w"), KEY._replace(partition=1), KEY._replace(topic_id="00000000-0000-0000-0000-000000000007")]
ARCHIVED_TWICE = [ss.StateBatch(5, 9, 4, 2)]


@pytest.fixture(params=["memory", "log", "log of 7 partitions"])
def persister(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Persister]:
    if request.param == "memory":
        yield MemoryPersister()
        return
    with ss.open(tmp_path / "log", partitions=7 if "7" in request.param else None, sync="never") as store:
        yield store


def write(
    start_offset: int = -1,
    batches: list[ss.StateBatch] | None = None,
    *,
    state_epoch: int = 1,
    leader_epoch: int = 1,
    complete: int = -1,
) -> ss.WriteState:
    return ss.WriteState(state_epoch, leader_epoch, start_offset, complete, batches or [])


def begun(persister: Persister, start_offset: int = 5) -> Persister:
    persister.reset_state(KEY, 1, start_offset)
    persister.read_state(KEY, 1)
    return persister


def test_all_three_are_persisters(persister: Persister) -> None:
    assert isinstance(persister, Persister)


def test_what_was_initialised_is_read(persister: Persister) -> None:
    persister.reset_state(KEY, 3, 17)
    assert persister.read_state(KEY, 0) == ss.ReadStateResult(3, 17, [])
    # An initialisation without start offset leaves it to the leader, and the summary counts nothing as complete.
    assert persister.read_summary(KEY).start_offset == 17
    persister.reset_state(OTHERS[0], 0, -1)
    assert persister.read_state(OTHERS[0], 0).start_offset == -1


def test_writes_add_up(persister: Persister) -> None:
    begun(persister)
    persister.write_state(KEY, write(5, [ss.StateBatch(5, 9, 0, 1)], complete=0))
    persister.write_state(KEY, write(5, [ss.StateBatch(7, 8, 2, 2)], complete=2))
    expected = [ss.StateBatch(5, 6, 0, 1), ss.StateBatch(7, 8, 2, 2), ss.StateBatch(9, 9, 0, 1)]
    assert persister.read_state(KEY, 1) == ss.ReadStateResult(1, 5, expected)
    assert persister.read_summary(KEY) == ss.StateSummary(1, 1, 5, 2)


def test_the_higher_delivery_count_wins_then_the_higher_state(persister: Persister) -> None:
    begun(persister)
    persister.write_state(KEY, write(batches=[ss.StateBatch(5, 9, 4, 2)]))
    persister.write_state(KEY, write(batches=[ss.StateBatch(5, 7, 0, 1), ss.StateBatch(8, 9, 0, 3)]))
    assert persister.read_state(KEY, 1).state_batches == [ss.StateBatch(5, 7, 4, 2), ss.StateBatch(8, 9, 0, 3)]


def test_a_late_write_takes_nothing_back(persister: Persister) -> None:
    begun(persister)
    persister.write_state(KEY, write(9, [ss.StateBatch(10, 12, 2, 1)], complete=3))
    persister.write_state(KEY, write(6, [ss.StateBatch(6, 8, 2, 1)], complete=1))
    assert persister.read_state(KEY, 1) == ss.ReadStateResult(1, 9, [ss.StateBatch(10, 12, 2, 1)])
    assert persister.read_summary(KEY).delivery_complete_count == 3


def test_states_do_not_touch_each_other(persister: Persister) -> None:
    begun(persister)
    for number, other in enumerate(OTHERS):
        persister.reset_state(other, 1, 100 + number)
    persister.write_state(KEY, write(batches=ARCHIVED_TWICE))
    for number, other in enumerate(OTHERS):
        assert persister.read_state(other, 0) == ss.ReadStateResult(1, 100 + number, [])


def test_a_state_is_deleted_and_deleting_again_succeeds(persister: Persister) -> None:
    begun(persister)
    persister.delete_state(KEY)
    persister.delete_state(KEY)
    with pytest.raises(InvalidRequestError):
        persister.read_state(KEY, 1)
    assert persister.read_summary(KEY) == persister.read_summary(OTHERS[0])
    persister.reset_state(KEY, 0, 0)
    assert persister.read_state(KEY, 0) == ss.ReadStateResult(0, 0, [])


def test_a_repeated_initialisation_wipes_nothing(persister: Persister) -> None:
    begun(persister)
    persister.write_state(KEY, write(batches=ARCHIVED_TWICE))
    persister.reset_state(KEY, 1, 5)
    assert persister.read_state(KEY, 1).state_batches == ARCHIVED_TWICE
    persister.reset_state(KEY, 2, 50)
    assert persister.read_state(KEY, 1) == ss.ReadStateResult(2, 50, [])


def test_a_reader_fences_older_leaders(persister: Persister) -> None:
    begun(persister)
    persister.read_state(KEY, 5)
    persister.write_state(KEY, write(batches=ARCHIVED_TWICE, leader_epoch=5))
    persister.write_state(KEY, write(batches=ARCHIVED_TWICE, leader_epoch=6))
    with pytest.raises(FencedLeaderEpochError):
        persister.write_state(KEY, write(leader_epoch=4))
    # A write raises no epoch: a read by 5 is still one by the leader.
    assert persister.read_state(KEY, 5).state_batches == ARCHIVED_TWICE


def refused_write(start_offset: int = -1, *, state_epoch: int = 1, leader_epoch: int = 1) -> Callable[[Persister], object]:
    state = write(start_offset, state_epoch=state_epoch, leader_epoch=leader_epoch)
    return lambda persister: persister.write_state(KEY, state)


REFUSALS: list[tuple[str, type[ShareStateError], int | None, Callable[[Persister], object]]] = [
    ("read before init", InvalidRequestError, 42, lambda p: p.read_state(OTHERS[0], 0)),
    ("write before init", InvalidRequestError, 42, lambda p: p.write_state(OTHERS[0], write())),
    ("lower leader epoch read", FencedLeaderEpochError, 74, lambda p: p.read_state(KEY, 0)),
    ("lower leader epoch", FencedLeaderEpochError, 74, refused_write(leader_epoch=0)),
    ("lower leader and state epoch", FencedLeaderEpochError, 74, refused_write(leader_epoch=0, state_epoch=0)),
    ("lower state epoch", FencedStateEpochError, 124, refused_write(state_epoch=0)),
    ("lower state epoch init", FencedStateEpochError, 124, lambda p: p.reset_state(KEY, 0, 5)),
    ("negative state epoch", InvalidRequestError, 42, lambda p: p.reset_state(KEY, -1, 0)),
    ("negative start offset", InvalidRequestError, 42, lambda p: p.reset_state(KEY, 2, -2)),
    ("negative partition", InvalidRequestError, 42, lambda p: p.reset_state(KEY._replace(partition=-1), 0, 0)),
    ("negative leader epoch", InvalidRequestError, 42, lambda p: p.read_state(KEY, -1)),
    ("start offset below -1", InvalidRequestError, 42, refused_write(start_offset=-2)),
    ("inverted batch", InvalidRequestError, 42, lambda p: p.write_state(KEY, write(batches=[ss.StateBatch(9, 5, 2, 1)]))),
    ("acquired batch", InvalidRequestError, 42, lambda p: p.write_state(KEY, write(batches=[ss.StateBatch(5, 9, 1, 1)]))),
    ("empty group", InvalidRequestError, 42, lambda p: p.reset_state(KEY._replace(group=""), 0, 0)),
    (
        "too many batches",
        LimitExceededError,
        -1,
        lambda p: p.write_state(KEY, write(batches=[ss.StateBatch(2 * i, 2 * i, 2, 1) for i in range(100_000)])),
    ),
]


@pytest.mark.parametrize(
    ("error", "code", "call"), [refusal[1:] for refusal in REFUSALS], ids=[refusal[0] for refusal in REFUSALS]
)
def test_a_refusal_has_its_code_and_changes_nothing(
    persister: Persister, error: type[ShareStateError], code: int | None, call: Callable[[Persister], object]
) -> None:
    begun(persister)
    persister.write_state(KEY, write(6, ARCHIVED_TWICE, complete=5))
    before = (persister.read_state(KEY, 1), persister.read_summary(KEY))
    with pytest.raises(error) as refused:
        call(persister)
    assert type(refused.value) is error
    assert refused.value.kafka_code == code
    assert (persister.read_state(KEY, 1), persister.read_summary(KEY)) == before


def test_a_share_partition_is_led_over_a_change_of_leader(persister: Persister) -> None:
    persister.reset_state(KEY, 0, -1)
    old = lead(persister, KEY, leader_epoch=1, latest=100)
    assert old.start_offset == 100
    old.acquire("alice", [(100, 109)], max_records=10, now_ms=0)
    old.acknowledge("alice", 100, 104, now_ms=ss.LockTime(1))
    assert list(drain_writes(old, persister, now_ms=1).values()) == [0]
    old.acknowledge("alice", 105, 105, now_ms=2)

    new = lead(persister, KEY, leader_epoch=2)
    assert (new.start_offset, new.next_fetch_offset()) == (105, 105)
    # The old leader learns it at its next write, and its member keeps the records until the lock runs out.
    assert list(drain_writes(old, persister, now_ms=3).values()) == [6]
    held = [(run.first_offset, run.last_offset) for run in old.in_flight() if run.member == "alice"]
    assert (old.start_offset, held) == (105, [(105, 109)])


def test_a_state_that_is_missing_is_an_error_of_the_persister(persister: Persister) -> None:
    with pytest.raises(InvalidRequestError):
        lead(persister, KEY, leader_epoch=0)
    share_partition = ss.SharePartition(*KEY)
    with pytest.raises(PersisterError) as refused:
        share_partition.initialize_failed(42)
    assert (refused.value.kafka_code, share_partition.status) == (-1, "FAILED")


def test_a_refused_write_is_logged_with_its_key(persister: Persister, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "share_state")
    key = KEY._replace(group="line\nbreak")
    persister.reset_state(key, 0, 0)
    share_partition = lead(persister, key, leader_epoch=1)
    persister.delete_state(key)
    share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    share_partition.release("alice", now_ms=0)
    assert list(drain_writes(share_partition, persister, now_ms=0).values()) == [-1]
    said = [(record.levelname, record.name) for record in caplog.records if record.name == "share_state.persister"]
    assert said == [("INFO", "share_state.persister"), ("WARNING", "share_state.persister")]
    assert all("\n" not in record.getMessage() for record in caplog.records)


def test_a_state_is_made_only_where_there_is_none(tmp_path: Path) -> None:
    """Every start of a program may call it: it forgets nothing, wherever the start offset stands by now."""
    store = ss.open(tmp_path / "state")
    homes: list[Persister] = [MemoryPersister(), store]
    for home in homes:
        for epoch, offset in ((1, 0), (0, 7), (0, -1)):
            key = KEY._replace(group=f"{epoch} {offset}")
            assert initialize_if_absent(home, key, epoch, offset)
            leader = lead(home, key, leader_epoch=1, latest=5)
            start = leader.start_offset
            leader.acquire("alice", [(start, start + 9)], max_records=10, now_ms=0)
            # The start offset goes with the write that follows its move.
            for first in (start, start + 5):
                leader.acknowledge("alice", first, first + 4, now_ms=0)
                drain_writes(leader, home, now_ms=0)
            for again in ((epoch, offset), (epoch, -1), (epoch + 1, 0)):
                assert not initialize_if_absent(home, key, *again)
            assert home.read_summary(key).start_offset == start + 5
            assert lead(home, key, leader_epoch=2).next_fetch_offset() == start + 10
    store.close()
    with pytest.raises(TypeError, match="persister is"):
        initialize_if_absent("state", KEY, 0, 0)  # type: ignore[arg-type]


def test_the_latest_offset_is_asked_for_where_it_is_needed() -> None:
    persister = MemoryPersister()
    persister.reset_state(KEY, 0, -1)
    with pytest.raises(ss.ArgumentValueError, match="latest is None; expected the high watermark"):
        lead(persister, KEY, leader_epoch=1)
    assert lead(persister, KEY, leader_epoch=1, latest=42).start_offset == 42
    earliest = ss.GroupConfig(auto_offset_reset="earliest")
    assert lead(persister, KEY, leader_epoch=1, config=earliest).start_offset == 0


def test_leaving_a_store_hides_no_exception(tmp_path: Path) -> None:
    def leave() -> None:
        with ss.open(tmp_path / "state", segment_bytes=8192) as store:
            shutil.rmtree(tmp_path / "state")
            with contextlib.suppress(ss.StoreError):
                for offset in range(500):
                    store.reset_state(KEY._replace(group=f"{offset}"), 0, 0)
            raise KeyError("a bug of the caller's")

    with pytest.raises(KeyError, match="a bug of the caller's") as raised:
        leave()
    (note,) = raised.value.__notes__
    assert note.startswith("closing failed too: the store has failed")


def test_a_disk_that_fails_has_its_number(tmp_path: Path) -> None:
    store = ss.open(tmp_path / "state", segment_bytes=8192)
    shutil.rmtree(tmp_path / "state")
    many = [(KEY._replace(group=f"{number}"), 0, 0) for number in range(500)]
    with pytest.raises(ss.StoreError) as failed:
        store.reset_states(many)
    assert failed.value.errno == errno.ENOENT
    with pytest.raises(ss.StoreError):
        store.close()
    with ss.open(tmp_path / "other") as other:
        other.close()
        with pytest.raises(ss.StoreError) as closed:
            other.states()
        assert closed.value.errno is None
