"""A drain answers for its own token, whichever drain carried the write: on an event loop and in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise, permutations, product
from pathlib import Path

import pytest

import share_state as ss
from share_state.async_persister import AsyncStateStore, drain_writes_async
from share_state.errors import ShareStateError
from share_state.persister import MemoryPersister, drain_writes, lead
from tests.state.held_store import HeldStore

TOPIC = "AAECAwQFBgcICQoLDA0ODw"
KEY = ss.SharePartitionKey("workers", TOPIC, 0)
#: Kafka's code for the member where the persister says NOT_COORDINATOR.
COORDINATOR_NOT_AVAILABLE = 15


class Slow(MemoryPersister):
    """A persister of both kinds of which each write takes as many turns of the loop as the test says."""

    def __init__(self, turns: tuple[int, ...] = (), refused: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.reset_state(KEY, 1, 0)
        #: First offset of each write, in the order in which they came.
        self.begun: list[int] = []
        self._turns = turns
        self._refused = refused

    def write_state(self, key: ss.SharePartitionKey, state: ss.WriteState) -> None:
        first = state.state_batches[0].first_offset
        self.begun.append(first)
        if first in self._refused:
            raise ShareStateError("no", kafka_code=16)
        super().write_state(key, state)


class SlowAsync:
    """The same to be awaited."""

    def __init__(self, slow: Slow) -> None:
        self.slow = slow
        self._left = list(slow._turns)

    async def write_state(self, key: ss.SharePartitionKey, state: ss.WriteState) -> None:
        for _ in range(self._left.pop(0) if self._left else 0):
            await asyncio.sleep(0)
        self.slow.write_state(key, state)

    def __getattr__(self, name: str) -> object:
        async def call(*arguments: object) -> object:
            return getattr(self.slow, name)(*arguments)

        return call


def led(persister: MemoryPersister) -> ss.SharePartition:
    """A share partition whose two members hold a record each, after a third record whose lock has run out."""
    share_partition = lead(persister, KEY, leader_epoch=1, config=ss.GroupConfig(record_lock_duration_ms=100))
    for offset, member in enumerate(("gone", "alice", "bob")):
        now_ms = 0 if member == "gone" else 50
        share_partition.acquire(member, [(offset, offset)], max_records=1, now_ms=now_ms)
    return share_partition


def accepted(share_partition: ss.SharePartition, member: str) -> int:
    """Accept the record of a member; the call lets the lock of the third run out, whose write comes first."""
    offset = {"alice": 1, "bob": 2}[member]
    token = share_partition.acknowledge(member, offset, offset, now_ms=120)
    assert token is not None
    return token


def has_answer(answers: Mapping[int, int], token: int, code: int) -> bool:
    """Tell whether a drain answers for a token, however it is asked."""
    return (answers[token], answers.get(token), answers.get(token, -9), token in answers) == (code, code, code, True)


TURNS = list(product((0, 1, 3), repeat=3))


@pytest.mark.parametrize("refused", [frozenset(), frozenset({1}), frozenset({2}), frozenset({0})], ids=str)
def test_on_a_loop_in_every_order(refused: frozenset[int]) -> None:
    codes = {member: COORDINATOR_NOT_AVAILABLE * (offset in refused) for member, offset in (("alice", 1), ("bob", 2))}

    async def member(name: str, share_partition: ss.SharePartition, slow: Slow, turns: tuple[int, int]) -> None:
        for _ in range(turns[0]):
            await asyncio.sleep(0)
        token = accepted(share_partition, name)
        # A drain may also begin later, as a task of its own.
        drain = drain_writes_async(share_partition, SlowAsync(slow), now_ms=120)  # type: ignore[arg-type] # by __getattr__
        for _ in range(turns[1]):
            await asyncio.sleep(0)
        answers = await drain
        assert has_answer(answers, token, codes[name])
        assert slow.begun.count({"alice": 1, "bob": 2}[name]) == 1

    async def test(turns: tuple[int, ...], begin: tuple[int, ...], late: tuple[int, ...]) -> None:
        slow = Slow(turns, refused)
        share_partition = led(slow)
        async with asyncio.TaskGroup() as group:
            for name, first, then in zip(("alice", "bob"), begin, late, strict=True):
                group.create_task(member(name, share_partition, slow, (first, then)))
        share_partition.check()
        assert share_partition.writes_under_way == 0

    async def every() -> int:
        orders = list(product(TURNS, product((0, 1, 2, 4), repeat=2), product((0, 2), repeat=2)))
        for turns, begin, late in orders:
            await test(turns, begin, late)
        return len(orders)

    assert asyncio.run(every()) == 27 * 16 * 4


async def test_a_cancelled_drain_takes_no_answer_with_it() -> None:
    async def test(turns: tuple[int, ...], pause: int) -> None:
        slow = Slow(turns)
        share_partition = led(slow)
        persister = SlowAsync(slow)
        tokens = [accepted(share_partition, member) for member in ("alice", "bob")]
        drains = [asyncio.create_task(drain_writes_async(share_partition, persister, now_ms=120)) for _ in tokens]  # type: ignore[arg-type] # by __getattr__
        for _ in range(pause):
            await asyncio.sleep(0)
        drains[0].cancel()
        assert has_answer(await drains[1], tokens[1], 0)
        assert has_answer(await drain_writes_async(share_partition, persister, now_ms=120), tokens[0], 0)  # type: ignore[arg-type] # by __getattr__
        assert sorted(slow.begun) == [0, 1, 2]

    for turns, pause in product(TURNS, range(10)):
        await test(turns, pause)


async def test_over_a_store_that_fails_and_is_closed(tmp_path: Path) -> None:
    store = HeldStore(ss.open(tmp_path / "state"))
    async with AsyncStateStore(store) as states:
        await states.reset_state(KEY, 1, 0)
        share_partition = led(_only_read(await states.read_state(KEY, 1)))
        tokens = [accepted(share_partition, member) for member in ("alice", "bob")]
        first = asyncio.create_task(drain_writes_async(share_partition, states, now_ms=120))
        assert await store.entered() == 1
        second = asyncio.create_task(drain_writes_async(share_partition, states, now_ms=120))
        store.fault = ss.StoreError("the disk is gone")
        store.let_go(3)
        for drain in (first, second):
            answers = await drain
            assert [answers[token] for token in tokens] == [-1, -1]
    late = [share_partition.acknowledge("alice", 1, 1, now_ms=121)]
    answers = await drain_writes_async(share_partition, states, now_ms=121)
    # The store is closed (NOT_COORDINATOR), which a member sees as COORDINATOR_NOT_AVAILABLE.
    assert has_answer(answers, late[0] or 0, COORDINATOR_NOT_AVAILABLE)


def _only_read(read: ss.ReadStateResult) -> MemoryPersister:
    class Read(MemoryPersister):
        def read_state(self, _key: ss.SharePartitionKey, _leader_epoch: int) -> ss.ReadStateResult:
            return read

    return Read()


@pytest.mark.parametrize("refused", [frozenset(), frozenset({1}), frozenset({2}), frozenset({0})], ids=str)
@pytest.mark.parametrize("order", sorted(set(permutations("aabb"))), ids="".join)
def test_in_threads_one_step_after_the_other(order: tuple[str, ...], refused: frozenset[int]) -> None:
    slow = Slow(refused=refused)
    share_partition = led(slow)
    tokens: dict[str, int] = {}
    with ThreadPoolExecutor(1) as alice, ThreadPoolExecutor(1) as bob:
        for letter in order:
            name, thread = ("alice", alice) if letter == "a" else ("bob", bob)
            if name not in tokens:
                tokens[name] = thread.submit(accepted, share_partition, name).result()
            else:
                answers = thread.submit(drain_writes, share_partition, slow, now_ms=120).result()
                code = COORDINATOR_NOT_AVAILABLE * ({"alice": 1, "bob": 2}[name] in refused)
                assert has_answer(answers, tokens[name], code)
    assert slow.begun == [0, *(1 if name == "alice" else 2 for name in tokens)]


class Interrupted(Slow):
    """A persister during one write of which another thread begins to drain."""

    def __init__(self, write: int, other: ThreadPoolExecutor) -> None:
        super().__init__()
        self.share_partition = led(self)
        self.theirs: list[Future[Mapping[int, int]]] = []
        self._write, self._other, self._begins = write, other, threading.Event()

    def write_state(self, key: ss.SharePartitionKey, state: ss.WriteState) -> None:
        if state.state_batches[0].first_offset == self._write:
            self.theirs.append(self._other.submit(self._drain))
            assert self._begins.wait(60)
        super().write_state(key, state)

    def _drain(self) -> Mapping[int, int]:
        self._begins.set()
        return drain_writes(self.share_partition, self, now_ms=120)


@pytest.mark.parametrize("write", range(3))
def test_in_threads_where_the_other_begins_during_a_write(write: int) -> None:
    with ThreadPoolExecutor(1) as other:
        for _ in range(50):
            persister = Interrupted(write, other)
            tokens = [accepted(persister.share_partition, member) for member in ("alice", "bob")]
            mine = drain_writes(persister.share_partition, persister, now_ms=120)
            (theirs,) = persister.theirs
            assert all(has_answer(answers, token, 0) for answers in (mine, theirs.result()) for token in tokens)
            assert persister.begun == [0, 1, 2]


def test_writes_of_many_threads_reach_the_persister_in_their_order(tmp_path: Path) -> None:
    members, rounds = 8, 50
    with ss.open(tmp_path / "state", sync="never") as store:
        store.reset_state(KEY, 1, 0)
        seen: list[int] = []

        class Watching(MemoryPersister):
            def write_state(self, key: ss.SharePartitionKey, state: ss.WriteState) -> None:
                seen.append(state.start_offset)
                store.write_state(key, state)

        persister = Watching()
        share_partition = lead(store, KEY, leader_epoch=1)

        def member(name: str) -> None:
            for _ in range(rounds):
                fetched = [(share_partition.next_fetch_offset(), 10_000)]
                for first, last, _ in share_partition.acquire(name, fetched, max_records=1, mode=1, now_ms=0):
                    token = share_partition.acknowledge(name, first, last, now_ms=0)
                    assert token is not None
                    assert has_answer(drain_writes(share_partition, persister, now_ms=0), token, 0)

        with ThreadPoolExecutor(members) as threads:
            for done in [threads.submit(member, f"m{number}") for number in range(members)]:
                done.result()
        assert len(seen) > rounds
        assert all(earlier <= later for earlier, later in pairwise(seen))
        share_partition.check()


def test_an_answer_of_no_write_is_no_answer() -> None:
    slow = Slow()
    share_partition = led(slow)
    answers = drain_writes(share_partition, slow, now_ms=0)
    assert answers == {}
    for strange in (0, -1, 2**70, "0", None):
        assert strange not in answers
        assert answers.get(strange) is None  # type: ignore[arg-type] # none of them is a token
        with pytest.raises(KeyError):
            answers[strange]  # type: ignore[index] # the same
    token = accepted(share_partition, "alice")
    assert answers.get(token) is None
    assert share_partition.write_answer(token) is None
    with pytest.raises(ShareStateError, match="nothing with token 7 is under way"):
        share_partition.write_answer(7)
