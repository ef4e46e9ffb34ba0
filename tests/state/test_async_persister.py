"""`lead_async` and `drain_writes_async`: every write is told its answer once, whatever happens on the way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, cast

import pytest

import share_state as ss
from share_state.async_persister import (
    AsyncPersister,
    AsyncStateStore,
    drain_writes_async,
    initialize_if_absent_async,
    lead_async,
)
from share_state.errors import FencedLeaderEpochError, InvalidRequestError
from share_state.kafka import AsyncKafkaPersister, ShareCoordinatorServer
from share_state.persister import MemoryPersister, Persister, drain_writes, lead
from tests.state.held_store import HeldStore

TOPIC = "AAECAwQFBgcICQoLDA0ODw"
KEY = ss.SharePartitionKey("workers", TOPIC, 0)


def are_async_persisters(kafka: AsyncKafkaPersister, store: AsyncStateStore) -> list[AsyncPersister]:
    """For the type checker: both stand where an `AsyncPersister` can."""
    return [kafka, store]


class Scripted:
    """An async persister over memory. A write waits until it is let go, and ends as the test says."""

    def __init__(self) -> None:
        self.memory = MemoryPersister()
        self.memory.reset_state(KEY, 1, 0)
        self.memory.read_state(KEY, 1)
        self.let_go = asyncio.Event()
        self.begun = 0
        self.fault: BaseException | None = None

    async def reset_state(self, key: ss.SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        self.memory.reset_state(key, state_epoch, start_offset)

    async def read_state(self, key: ss.SharePartitionKey, leader_epoch: int) -> ss.ReadStateResult:
        return self.memory.read_state(key, leader_epoch)

    async def write_state(self, key: ss.SharePartitionKey, state: ss.WriteState) -> None:
        self.begun += 1
        await self.let_go.wait()
        if self.fault is not None:
            raise self.fault
        self.memory.write_state(key, state)

    async def delete_state(self, key: ss.SharePartitionKey) -> None:
        self.memory.delete_state(key)

    async def read_summary(self, key: ss.SharePartitionKey) -> ss.StateSummary:
        return self.memory.read_summary(key)


def acknowledged(share_partition: ss.SharePartition, *offsets: int) -> list[int]:
    """Acquire ten records and accept some, each with a write of its own; gives the tokens."""
    share_partition.acquire("alice", [(0, 9)], max_records=10, now_ms=0)
    tokens = [share_partition.acknowledge("alice", offset, offset, now_ms=0) for offset in offsets]
    return [token for token in tokens if token is not None]


def held(share_partition: ss.SharePartition) -> list[tuple[int, int, bool]]:
    """Ranges that the member holds; the flag is true while a write is under way."""
    runs = share_partition.in_flight()
    return [(run.first_offset, run.last_offset, run.pending) for run in runs if run.member == "alice" or run.pending]


async def turns(count: int = 10) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_both_homes_are_async_persisters(tmp_path: Path) -> None:
    kafka = AsyncKafkaPersister("127.0.0.1:1")
    async with kafka, AsyncStateStore(ss.open(tmp_path / "state")) as states:
        found = are_async_persisters(kafka, states)
        assert all(isinstance(one, AsyncPersister) for one in found)
        assert not isinstance(object(), AsyncPersister)


async def in_a_store(test: Callable[[AsyncPersister], Coroutine[Any, Any, None]], path: Path) -> None:
    async with AsyncStateStore(ss.open(path / "state")) as states:
        await test(states)


async def in_a_cluster(test: Callable[[AsyncPersister], Coroutine[Any, Any, None]], path: Path) -> None:
    with ss.open(path / "state") as store:
        async with ShareCoordinatorServer(store) as coordinator:
            host, port = await coordinator.start()
            async with AsyncKafkaPersister(f"{host}:{port}") as kafka:
                await test(kafka)


HOMES = pytest.mark.parametrize("home", [in_a_store, in_a_cluster])


@HOMES
def test_a_share_partition_is_led_over_a_change_of_leader(home: Any, tmp_path: Path) -> None:
    async def test(persister: AsyncPersister) -> None:
        await persister.reset_state(KEY, 0, -1)
        old = await lead_async(persister, KEY, leader_epoch=1, latest=100)
        assert old.start_offset == 100
        old.acquire("alice", [(100, 109)], max_records=10, now_ms=0)
        old.acknowledge("alice", 100, 104, now_ms=ss.LockTime(1))
        assert await drain_writes_async(old, persister, now_ms=ss.LockTime(1)) == {0: 0}
        assert await drain_writes_async(old, persister, now_ms=1) == {}
        old.acknowledge("alice", 105, 105, now_ms=2)

        new = await lead_async(persister, KEY, leader_epoch=2, config=ss.GroupConfig(delivery_count_limit=3))
        assert (new.start_offset, new.next_fetch_offset()) == (105, 105)
        # As `drain_writes` tells it: the code for the member, and what it accepted is undone.
        assert list((await drain_writes_async(old, persister, now_ms=3)).values()) == [6]
        assert old.start_offset == 105
        assert not any(run.pending for run in old.in_flight())

    asyncio.run(home(test, tmp_path))


@HOMES
def test_many_share_partitions_are_led_and_drained_at_once(home: Any, tmp_path: Path) -> None:
    keys = [KEY._replace(partition=number) for number in range(40)]

    async def test(persister: AsyncPersister) -> None:
        await asyncio.gather(*(persister.reset_state(key, 1, 0) for key in keys))
        led = await asyncio.gather(*(lead_async(persister, key, leader_epoch=1) for key in keys))
        for share_partition in led:
            assert len(acknowledged(share_partition, *range(5))) == 5
        drained = await asyncio.gather(*(drain_writes_async(one, persister, now_ms=1) for one in led))
        assert drained == [dict.fromkeys(range(5), 0)] * 40
        assert {(await persister.read_summary(key)).delivery_complete_count for key in keys} == {5}

    asyncio.run(home(test, tmp_path))


async def test_drains_of_many_share_partitions_share_their_syncs(tmp_path: Path) -> None:
    keys = [KEY._replace(partition=number) for number in range(64)]
    store = ss.open(tmp_path / "state")
    async with AsyncStateStore(store) as states:
        await asyncio.gather(*(states.reset_state(key, 1, 0) for key in keys))
        led = await asyncio.gather(*(lead_async(states, key, leader_epoch=1) for key in keys))
        for share_partition in led:
            acknowledged(share_partition, *range(5))
        before = store.counters()
        await asyncio.gather(*(drain_writes_async(one, states, now_ms=1) for one in led))
        after = store.counters()
        # One write after the other for each share partition; those of all of them together.
        assert (after["writes"] - before["writes"], after["fsyncs"] - before["fsyncs"]) == (320, 5)


async def test_a_state_that_cannot_be_read_leads_nothing() -> None:
    persister = Scripted()
    with pytest.raises(InvalidRequestError):
        await lead_async(persister, KEY._replace(group="nobody"), leader_epoch=1)
    await persister.read_state(KEY, 7)
    with pytest.raises(FencedLeaderEpochError):
        await lead_async(persister, KEY, leader_epoch=1)


async def test_a_cancelled_drain_leaves_no_write_without_its_answer() -> None:
    persister = Scripted()
    share_partition = await lead_async(persister, KEY, leader_epoch=1)
    acknowledged(share_partition, 0, 1)
    draining = asyncio.create_task(drain_writes_async(share_partition, persister, now_ms=1))
    await turns()
    draining.cancel()
    await asyncio.wait([draining])
    assert draining.cancelled()
    # The first is on its way, the second has not been taken.
    assert (persister.begun, share_partition.writes_under_way, share_partition.start_offset) == (1, 2, 0)
    persister.let_go.set()
    await turns()
    assert (persister.begun, share_partition.writes_under_way, share_partition.start_offset) == (1, 1, 1)
    assert await drain_writes_async(share_partition, persister, now_ms=2) == {1: 0}
    assert (share_partition.start_offset, held(share_partition)) == (2, [(2, 9, False)])
    assert persister.memory.read_summary(KEY).delivery_complete_count == 2


@pytest.mark.parametrize("pause", range(8))
async def test_a_drain_that_is_cancelled_as_its_answer_comes_tells_it_once(pause: int) -> None:
    persister = Scripted()
    share_partition = await lead_async(persister, KEY, leader_epoch=1)
    acknowledged(share_partition, 0)
    draining = asyncio.create_task(drain_writes_async(share_partition, persister, now_ms=1))
    await turns()
    persister.let_go.set()
    await turns(pause)
    is_late = draining.done()
    draining.cancel()
    await turns()
    # The first is too early for the answer and the last too late to cancel anything.
    assert is_late == {0: False, 7: True}.get(pause, is_late)
    assert draining.cancelled() != is_late
    assert (share_partition.writes_under_way, share_partition.start_offset) == (0, 1)
    assert (share_partition.counters()["writes"], share_partition.counters()["writes_refused"]) == (1, 0)


async def test_a_drain_that_is_cancelled_before_it_begins_takes_nothing() -> None:
    persister = Scripted()
    share_partition = await lead_async(persister, KEY, leader_epoch=1)
    acknowledged(share_partition, 0)
    draining = asyncio.create_task(drain_writes_async(share_partition, persister, now_ms=1))
    draining.cancel()
    await asyncio.wait([draining])
    persister.let_go.set()
    assert await drain_writes_async(share_partition, persister, now_ms=2) == {0: 0}


async def test_writes_keep_their_order_through_a_drain_that_was_cancelled(tmp_path: Path) -> None:
    store = HeldStore(ss.open(tmp_path / "state"))
    async with AsyncStateStore(store) as states:
        await states.reset_state(KEY, 1, 0)
        share_partition = await lead_async(states, KEY, leader_epoch=1)
        acknowledged(share_partition, 0, 1, 2)
        draining = asyncio.create_task(drain_writes_async(share_partition, states, now_ms=1))
        await store.entered()
        draining.cancel()
        await asyncio.wait([draining])
        following = asyncio.create_task(drain_writes_async(share_partition, states, now_ms=2))
        await turns()
        # It waits for the one that is on the disk.
        assert store.rounds == [1]
        store.let_go(3)
        assert await following == {1: 0, 2: 0}
        assert (share_partition.writes_under_way, share_partition.start_offset) == (0, 3)
        assert (await states.read_summary(KEY)).delivery_complete_count == 3


def test_a_loop_that_ends_tells_what_it_cancels(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "share_state")

    async def test() -> ss.SharePartition:
        persister = Scripted()
        share_partition = await lead_async(persister, KEY, leader_epoch=1)
        acknowledged(share_partition, 0, 1)
        asyncio.create_task(drain_writes_async(share_partition, persister, now_ms=1))  # noqa: RUF006  lives as long as the loop
        await turns(1)
        return share_partition

    share_partition = asyncio.run(test())
    # Rolled back: nobody knows whether it was made, and the member keeps its records until the lock runs out.
    assert (share_partition.writes_under_way, share_partition.start_offset) == (1, 0)
    assert held(share_partition) == [(0, 0, False), (1, 1, True), (2, 9, False)]
    assert [record.getMessage() for record in caplog.records] == [
        f"a write of {share_partition.key!r} was refused with code -1: 'the write was cancelled'"
    ]


class StrangeError(Exception):
    """Nothing that a persister should raise."""


@pytest.mark.parametrize("fault", [StrangeError("no"), asyncio.CancelledError("no"), OSError("no")])
async def test_an_error_that_is_no_answer_is_told_and_raised(fault: BaseException) -> None:
    persister = Scripted()
    persister.let_go.set()
    persister.fault = fault
    share_partition = await lead_async(persister, KEY, leader_epoch=1)
    acknowledged(share_partition, 0, 1)
    with pytest.raises(type(fault)):
        await drain_writes_async(share_partition, persister, now_ms=1)
    assert (persister.begun, share_partition.writes_under_way) == (1, 1)
    assert held(share_partition) == [(0, 0, False), (1, 1, True), (2, 9, False)]
    persister.fault = None
    assert await drain_writes_async(share_partition, persister, now_ms=1) == {1: 0}


@pytest.mark.parametrize("fault", [StrangeError("no"), KeyboardInterrupt()])
def test_so_it_is_without_a_loop(fault: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = MemoryPersister()
    memory.reset_state(KEY, 1, 0)
    share_partition = lead(memory, KEY, leader_epoch=1)
    acknowledged(share_partition, 0, 1)

    def fail(_key: object, _state: object) -> None:
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(memory, "write_state", fail)
        with pytest.raises(type(fault)):
            drain_writes(share_partition, memory, now_ms=1)
    assert share_partition.writes_under_way == 1
    assert held(share_partition) == [(0, 0, False), (1, 1, True), (2, 9, False)]
    assert drain_writes(share_partition, memory, now_ms=1) == {1: 0}


async def test_a_persister_of_the_other_kind_is_refused(tmp_path: Path) -> None:
    with ss.open(tmp_path / "state") as store:
        store.reset_state(KEY, 1, 0)
        async with AsyncKafkaPersister("127.0.0.1:1") as kafka:
            share_partition = lead(store, KEY, leader_epoch=1)
            acknowledged(share_partition, 0)
            with pytest.raises(TypeError, match=r"is asynchronous: use share_state\.async_persister"):
                lead(cast("Persister", kafka), KEY, leader_epoch=1)
            with pytest.raises(TypeError, match="is asynchronous"):
                drain_writes(share_partition, cast("Persister", kafka), now_ms=1)
            # Not confirmed, as it was never made.
            assert share_partition.writes_under_way == 1
        with pytest.raises(TypeError, match=r"not asynchronous: use share_state\.persister, or AsyncStateStore"):
            await lead_async(cast("AsyncPersister", store), KEY, leader_epoch=7)
        with pytest.raises(TypeError, match="not asynchronous"):
            await drain_writes_async(share_partition, cast("AsyncPersister", store), now_ms=1)
        with pytest.raises(TypeError, match="not asynchronous"):
            await initialize_if_absent_async(cast("AsyncPersister", store), KEY._replace(partition=1), 1, 0)
        # It was asked nothing.
        assert share_partition.writes_under_way == 1
        assert [(state["partition"], state["leader_epoch"], state["start_offset"]) for state in store.states()] == [(0, 1, 0)]


async def test_a_state_is_made_only_where_there_is_none(tmp_path: Path) -> None:
    async with AsyncStateStore(ss.open(tmp_path / "state")) as states:
        assert await initialize_if_absent_async(states, KEY, 1, 0)
        share_partition = await lead_async(states, KEY, leader_epoch=1)
        # The start offset goes with the write that follows its move.
        for offset in (0, 1):
            acknowledged(share_partition, offset)
            await drain_writes_async(share_partition, states, now_ms=1)
        assert not await initialize_if_absent_async(states, KEY, 1, 0)
        assert (await states.read_summary(KEY)).start_offset == 1
