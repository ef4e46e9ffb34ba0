"""Share partitions that make their writes by themselves: the same as when they are polled and carried, and no write is lost."""

from __future__ import annotations

import copy
import logging
import pickle
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import share_state as ss
from share_state.arguments import InFlightStore
from share_state.errors import InvalidRecordStateError, PersisterError, SharePartitionNotActiveError, ShareStateError
from share_state.operate import analysis
from share_state.persister import MemoryPersister, NoOpStatePersister, Persister, RecordingPersister, drain_writes, lead

KEY = ss.SharePartitionKey("g", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 0)
MEMBERS = ("alice", "bob")
FENCED, AWAY, FAILED, UNKNOWN = 74, 15, 56, -1
#: Calls that return the token of the write to wait for.
TOKENS = ("acknowledge", "batches", "columns")
NOT_LEADER = 6


def active(persister: Any = None, partition: int = 0, store: InFlightStore = "leaves") -> ss.SharePartition:
    config = ss.GroupConfig(record_lock_duration_ms=1_000, delivery_count_limit=3, dead_letter_queue_topic="dead")
    made = ss.SharePartition(KEY.group, KEY.topic_id, partition, config=config, persister=persister, store=store)
    made.initialize(ss.ReadStateResult(0, 0, []))
    return made


def seen(of: ss.SharePartition) -> tuple[Any, ...]:
    of.check()
    runs = [
        (run.first_offset, run.last_offset, run.state, run.delivery_count, run.pending, run.member, run.deadline_ms)
        for run in of.in_flight()
    ]
    return runs, of.counters(), of.start_offset, of.end_offset, of.delivery_complete_count, of.writes_under_way, of.poll_timeout()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ss.StateStore]:
    with ss.open(tmp_path / "store") as opened:
        yield opened


# What both ways may do, drawn from a seed.


def seeded(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311  the same sequence each time


def operation(of: ss.SharePartition, draw: random.Random, now: list[int]) -> tuple[str, Any]:
    """Call with drawn arguments, and what it returned or refused by itself."""
    member, at = draw.choice(MEMBERS), of.start_offset + draw.randrange(-2, 14)
    count, kind, later = draw.randrange(1, 9), draw.choice([0, 1, 1, 1, 2, 2, 3, 4]), draw.randrange(900)
    types = bytes(draw.choice([1, 2, 3]) for _ in range(count))

    def acquire() -> object:
        base = of.next_fetch_offset()
        return of.acquire(member, [(base, base + 9)], max_records=count * 2, batch_size=4, now_ms=now[0])

    def columns() -> object:
        ends = np.array([at, at + count], np.int64)
        return of.acknowledge_columns(member, ends, ends, np.array([kind, 1], np.int8), now_ms=now[0])

    def time() -> object:
        now[0] += later
        return of.handle_timeout(now_ms=now[0])

    def dead_letter() -> object:
        letter = of.poll_dead_letter()
        if letter is None:
            return None
        of.handle_dead_letter_done(letter.token, now_ms=now[0])
        return letter.token, letter.first_offset, letter.last_offset, letter.cause

    calls: dict[str, tuple[int, Callable[[], object]]] = {
        "acquire": (4, acquire),
        "acknowledge": (6, lambda: of.acknowledge(member, at, at + count - 1, kind, now_ms=now[0])),
        "batches": (1, lambda: of.acknowledge_batches(member, [(at, at + count - 1, types)], now_ms=now[0])),
        "columns": (1, columns),
        "release": (1, lambda: of.release(member, now_ms=now[0])),
        "time": (1, time),
        "log start": (1, lambda: of.move_log_start_offset(max(0, at - 10))),
        "dead letter": (1, dead_letter),
    }
    (what,) = draw.choices(list(calls), [weight for weight, _ in calls.values()])
    try:
        return what, calls[what][1]()
    except PersisterError as refused:
        return what, ("refused", refused.kafka_code)
    except ShareStateError as error:
        return what, (type(error), str(error))


def by_hand(of: ss.SharePartition, code: int, now: int, kept: list[ss.WriteState]) -> list[int]:
    answers = []
    while (write := of.poll_write()) is not None:
        kept.append(write.state)
        answers.append(of.handle_write_result(write.token, code, now_ms=now))
    return answers


def settled_and_polled(seed: int, store: InFlightStore) -> tuple[int, int]:
    """Plays one sequence both ways; how many calls were refused and how many writes confirmed."""
    recording, kept = RecordingPersister(), list[ss.WriteState]()
    inline, polled = active(recording, store=store), active(store=store)
    times = ([0], [0])
    refused = confirmed = 0
    for step in range(120):
        code = seeded(f"{seed} {step} answer").choice([0] * 30 + [AWAY] * 15 + [FENCED])
        recording.error_code = code
        draws = [seeded(f"{seed} {step}") for _ in range(2)]
        what, answer = operation(inline, draws[0], times[0])
        _, expected = operation(polled, draws[1], times[1])
        codes = by_hand(polled, code, times[1][0], kept)
        if isinstance(answer, tuple) and answer[0] == "refused":
            # The member learns by the call what it would have learnt by the answer.
            assert answer[1] == codes[-1] != 0
            refused += 1
        else:
            # A token is what one waits for, and here there is nothing.
            waits = what in TOKENS and isinstance(expected, int)
            assert answer == (None if waits else expected), what
            confirmed += codes.count(0)
        assert seen(inline) == seen(polled), what
        assert inline.poll_write() is None
    written = recording.take()
    assert [state for _, state in written] == kept
    assert {key for key, _ in written} == {KEY}
    return refused, confirmed


@pytest.mark.parametrize("store", ["leaves", "twin"])
def test_settling_inside_the_call_leaves_what_polling_after_it_leaves(store: InFlightStore) -> None:
    refused, confirmed = (sum(counts) for counts in zip(*(settled_and_polled(seed, store) for seed in range(25)), strict=True))
    assert refused > 60
    assert confirmed > 150


def test_no_persister_calls_for_python_or_leaves_a_write_behind() -> None:
    of = active(NoOpStatePersister())
    acquired = of.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    assert acquired == [(0, 9, 1)]
    assert of.acknowledge("alice", 0, 3, now_ms=0) is None
    assert (of.start_offset, of.poll_write(), of.writes_under_way) == (4, None, 0)
    assert of.release("alice", now_ms=0) == 6
    assert of.acquire("bob", [(4, 9)], max_records=10, now_ms=0) == [(4, 9, 2)]
    assert of.handle_timeout(now_ms=1_000) == 6
    assert (of.counters()["writes"], of.writes_under_way, of.poll_write()) == (3, 0, None)


@pytest.mark.parametrize(("code", "member"), [(FENCED, NOT_LEADER), (3, 3), (124, NOT_LEADER), (69, 69), (FAILED, UNKNOWN)])
def test_a_refusal_undoes_the_change_and_reaches_the_member(code: int, member: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "share_state")
    of = active(RecordingPersister(error_code=code))
    of.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    before = of.in_flight()[0]
    calls: list[Callable[[], object]] = [
        lambda: of.acknowledge("alice", 0, 4, now_ms=0),
        lambda: of.acknowledge_batches("alice", [(0, 4, [1] * 5)], now_ms=0),
        lambda: of.acknowledge_columns("alice", np.array([0]), np.array([4]), np.ones(1, np.int8), now_ms=0),
        lambda: of.release("alice", now_ms=0),
    ]
    # The first refusal that fences is the last call that is served.
    fences = code != FAILED
    for call in calls[: 1 if fences else None]:
        with pytest.raises(PersisterError) as refused:
            call()
        assert (refused.value.kafka_code, refused.value.persister_code) == (member, code)
        assert (refused.value.key, refused.value.__cause__, refused.value.persister_message) == (KEY, None, None)
        (run,) = of.in_flight()
        assert (run.first_offset, run.last_offset, run.member) == (before.first_offset, before.last_offset, "alice")
    for call in calls[:3] if fences else []:
        with pytest.raises(SharePartitionNotActiveError) as not_active:
            call()
        assert (not_active.value.status, not_active.value.key) == ("FENCED", KEY)
    # Nobody waits for a time-out: it is told to the logger, and memory keeps it.
    assert of.handle_timeout(now_ms=1_000) == 10
    assert of.in_flight()[0].state == ss.RecordState.AVAILABLE
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == (1 if fences else len(calls)) + 1
    assert set(said) == {f"a write of {KEY!r} was refused with code {code}"}


def test_a_request_that_breaks_the_rules_says_so_and_not_what_the_persister_says() -> None:
    of = active(RecordingPersister(error_code=AWAY))
    of.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    # The lock has run out: a write is made and refused, but what the member hears is that it holds nothing.
    with pytest.raises(InvalidRecordStateError):
        of.acknowledge("alice", 0, 9, now_ms=1_000)


# The store.


def begun(persister: Persister, partition: int = 0, **options: Any) -> ss.SharePartition:
    key = KEY._replace(partition=partition)
    persister.reset_state(key, 0, 0)
    return lead(persister, key, leader_epoch=1, inline=True, **options)


def test_what_a_store_confirms_is_in_its_log(tmp_path: Path) -> None:
    with ss.open(tmp_path) as store:
        of = begun(store)
        assert of.persister is store
        of.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
        synced = store.counters()["fsyncs"]
        of.acknowledge("alice", 0, 3, now_ms=0)
        of.acknowledge("alice", 5, 5, 2, now_ms=0)
        assert store.counters()["fsyncs"] == synced + 2
        # As after a crash: what was answered is there before anything is closed.
        (states, _) = analysis.fold_path(tmp_path)
        assert [(state["start_offset"], state["batches"]) for state in states] == [(4, [(5, 5, 0, 1)])]
    with ss.open(tmp_path) as store:
        after = lead(store, KEY, leader_epoch=2, inline=True)
        assert (after.start_offset, after.next_fetch_offset()) == (4, 4)


def test_a_store_that_is_fenced_closed_or_unusable_refuses_and_nothing_is_lost(store: ss.StateStore) -> None:
    old = begun(store)
    old.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    new = lead(store, KEY, leader_epoch=2, inline=True)
    with pytest.raises(PersisterError) as refused:
        old.acknowledge("alice", 0, 9, now_ms=0)
    assert refused.value.kafka_code == NOT_LEADER
    assert [run.member for run in old.in_flight()] == ["alice"]

    new.acquire("bob", [(0, 9)], max_records=10, now_ms=0)
    store.close()
    calls: list[Callable[[], object]] = [lambda: new.acknowledge("bob", 0, 9, now_ms=0), lambda: new.release("bob", now_ms=0)]
    for call in calls:
        with pytest.raises(PersisterError) as refused:
            call()
        assert refused.value.kafka_code == AWAY
    assert [(run.member, run.pending) for run in new.in_flight()] == [("bob", False)]
    new.check()


def test_threads_that_share_a_share_partition_share_its_syncs(store: ss.StateStore) -> None:
    of, threads, each = begun(store), 4, 50
    of.acquire("alice", [(0, threads * each - 1)], max_records=threads * each, now_ms=0)
    barrier = threading.Barrier(threads)

    def accept(number: int) -> None:
        barrier.wait()
        for offset in range(number * each, (number + 1) * each):
            of.acknowledge("alice", offset, offset, now_ms=0)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(accept, range(threads)))
    assert of.start_offset == threads * each
    assert (of.writes_under_way, of.counters()["writes"]) == (0, threads * each)
    assert lead(store, KEY, leader_epoch=2).next_fetch_offset() == threads * each


# Many at once.


def together(of: list[ss.SharePartition]) -> tuple[ss.SharePartitions, Any, Any]:
    many = ss.SharePartitions()
    places = np.array([many.add(one) for one in of], np.int32)
    return many, places, np.full(len(of), many.member("alice"), np.int32)


def test_a_call_on_many_is_answered_for_each_by_its_own_persister(store: ss.StateStore, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "share_state")
    refusing, recording = RecordingPersister(error_code=FENCED), RecordingPersister()
    of = [
        begun(store, 0),
        active(refusing, 1),
        active(None, 2),
        active(recording, 3),
        active(NoOpStatePersister(), 4),
        begun(store, 5),
    ]
    many, places, alice = together(of)
    first, last = np.zeros(len(of), np.int64), np.full(len(of), 9, np.int64)
    accept = np.ones(len(of), np.int8)
    given = many.acquire(places, alice, first, last, now_ms=0, max_records=10)
    assert given.error_code.tolist() == [0] * len(of)
    synced = store.counters()["fsyncs"]
    codes, tokens = many.acknowledge(places, alice, first, last, accept, now_ms=0)
    assert codes.tolist() == [0, NOT_LEADER, 0, 0, 0, 0]
    assert tokens.tolist() == [-1, -1, 0, -1, -1, -1]
    assert store.counters()["fsyncs"] == synced + 1
    assert [one.start_offset for one in of] == [10, 0, 0, 10, 10, 10]
    # Only the one without a persister has a write to be polled.
    writes = many.poll_writes()
    assert writes.partition.tolist() == [2]
    assert many.handle_write_results(writes.partition, writes.token, np.zeros(1, np.int16), now_ms=0).tolist() == [0]
    assert of[2].start_offset == 10
    assert [record.getMessage() for record in caplog.records] == [f"a write of {of[1].key!r} was refused with code {FENCED}"]
    # The one that was refused still holds its records; they run out, which is written and refused again.
    assert many.handle_timeout(now_ms=1_000) == 10
    assert len(caplog.records) == 2
    assert len(refusing.take()) == 2
    assert len(recording.take()) == 1
    for one in of:
        one.check()


def test_many_with_a_closed_store_are_refused_one_by_one(store: ss.StateStore) -> None:
    of = [begun(store, partition) for partition in range(3)]
    many, places, alice = together(of)
    first, last = np.zeros(3, np.int64), np.full(3, 9, np.int64)
    many.acquire(places, alice, first, last, now_ms=0, max_records=10)
    store.close()
    codes, tokens = many.acknowledge(places, alice, first, last, np.ones(3, np.int8), now_ms=0)
    assert (codes.tolist(), tokens.tolist()) == ([AWAY] * 3, [-1] * 3)
    assert [run.member for one in of for run in one.in_flight()] == ["alice"] * 3


# What may be a persister, and when.


def test_a_persister_may_come_and_go() -> None:
    of = active()
    of.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    of.acknowledge("alice", 0, 0, now_ms=0)
    polled = of.poll_write()
    assert polled is not None
    of.acknowledge("alice", 1, 1, now_ms=0)
    recording = RecordingPersister()
    of.persister = recording
    # It was given what waited; what was polled is answered as it was to be.
    assert [state.state_batches for _, state in recording.take()] == [[(1, 1, 2, 1)]]
    assert (of.writes_under_way, of.start_offset) == (1, 0)
    assert of.handle_write_result(polled.token, now_ms=0) == 0
    assert of.start_offset == 2
    of.persister = None
    assert of.acknowledge("alice", 2, 2, now_ms=0) is not None
    assert of.poll_write() is not None
    assert len(recording) == 0


@pytest.mark.parametrize("other", [MemoryPersister(), object(), "store"])
def test_another_object_is_refused_and_nothing_changed(other: Any) -> None:
    with pytest.raises(TypeError, match="drain_writes"):
        ss.SharePartition(*KEY, persister=other)
    of = active()
    with pytest.raises(TypeError, match="neither a StateStore"):
        of.persister = other
    assert of.persister is None


def test_lead_refuses_a_persister_that_must_be_called_before_it_reads() -> None:
    memory = MemoryPersister()
    memory.reset_state(KEY, 0, 0)
    with pytest.raises(TypeError):
        lead(memory, KEY, leader_epoch=3, inline=True)
    assert memory.read_summary(KEY).leader_epoch == 0


def test_the_one_that_does_nothing_answers_as_that_of_kafka() -> None:
    persister = NoOpStatePersister()
    assert isinstance(persister, Persister)
    persister.reset_state(KEY, 4, 9)
    assert persister.read_state(KEY, 2) == ss.ReadStateResult(0, -1, [])
    assert persister.read_summary(KEY) == ss.StateSummary(0, 0, -1, -1)
    persister.delete_state(KEY)
    of = lead(persister, KEY, leader_epoch=0, latest=42, inline=True)
    assert of.start_offset == 42
    by_drain = lead(persister, KEY, leader_epoch=0, latest=42)
    by_drain.acquire("alice", [(42, 51)], max_records=10, now_ms=0)
    by_drain.acknowledge("alice", 42, 51, now_ms=0)
    assert drain_writes(by_drain, persister, now_ms=0) == {0: 0}
    assert isinstance(copy.copy(persister), NoOpStatePersister)
    assert pickle.dumps(persister)


def test_neither_a_recording_nor_a_share_partition_is_pickled() -> None:
    for one in (RecordingPersister(), active(NoOpStatePersister())):
        for refuse in (pickle.dumps, copy.copy):
            with pytest.raises(TypeError):
                refuse(one)


def test_a_share_partition_keeps_its_store_open(tmp_path: Path) -> None:
    of = begun(ss.open(tmp_path))
    of.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    of.acknowledge("alice", 0, 9, now_ms=0)
    del of
    with ss.open(tmp_path) as store:
        assert lead(store, KEY, leader_epoch=2).next_fetch_offset() == 10
