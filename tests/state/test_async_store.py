"""The embedded store on an event loop: what gathers shares a sync, order is kept, and every caller gets its own answer."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

import share_state as ss
from share_state.async_persister import AsyncStateStore
from share_state.errors import FencedLeaderEpochError, InvalidRequestError, StoreError
from share_state.persister import MemoryPersister
from tests.state.held_store import HeldStore

TOPIC = "AAECAwQFBgcICQoLDA0ODw"
#: The same topic, spelled otherwise.
UUID = "00010203-0405-0607-0809-0a0b0c0d0e0f"
KEYS = [ss.SharePartitionKey("workers", TOPIC, number) for number in range(64)]
KEY = KEYS[0]


def write(start_offset: int, leader_epoch: int = 1) -> ss.WriteState:
    return ss.WriteState(1, leader_epoch, start_offset, -1, [])


def begun(path: Path, keys: list[ss.SharePartitionKey] = KEYS, **options: Any) -> ss.StateStore:
    store = ss.open(path / "state", **options)
    assert store.reset_states([(key, 1, 0) for key in keys]) == [None] * len(keys)
    return store


async def turns(count: int = 5) -> None:
    """Let the others on the loop go on."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_writes_of_one_turn_are_one_sync(tmp_path: Path) -> None:
    async def test() -> None:
        store = begun(tmp_path)
        async with AsyncStateStore(store) as states:
            before = store.counters()
            await asyncio.gather(*(states.write_state(key, write(7)) for key in KEYS))
            after = store.counters()
            assert (after["fsyncs"] - before["fsyncs"], after["writes"] - before["writes"]) == (1, 64)
            read = await asyncio.gather(*(states.read_summary(key) for key in KEYS))
            assert {summary.start_offset for summary in read} == {7}

    asyncio.run(test())


def test_tasks_that_write_again_and_again_share_every_sync(tmp_path: Path) -> None:
    async def member(states: AsyncStateStore, key: ss.SharePartitionKey) -> None:
        for offset in range(1, 21):
            await states.write_state(key, write(offset))

    async def test() -> None:
        store = begun(tmp_path)
        async with AsyncStateStore(store) as states:
            before = store.counters()["fsyncs"]
            async with asyncio.TaskGroup() as members:
                for key in KEYS:
                    members.create_task(member(states, key))
            # 1,280 writes.
            assert store.counters()["fsyncs"] - before == 20

    asyncio.run(test())


def test_what_gathers_while_the_disk_is_busy_goes_with_the_next_sync(tmp_path: Path) -> None:
    async def test() -> None:
        store = HeldStore(begun(tmp_path))
        async with AsyncStateStore(store) as states, asyncio.TaskGroup() as callers:
            callers.create_task(states.write_state(KEY, write(1)))
            assert await store.entered() == 1
            for key in KEYS[1:]:
                callers.create_task(states.write_state(key, write(1)))
                await asyncio.sleep(0)
            store.let_go(2)
        assert store.rounds == [1, 63]

    asyncio.run(test())


def test_calls_for_one_share_partition_keep_their_order(tmp_path: Path) -> None:
    async def test() -> None:
        async with AsyncStateStore(begun(tmp_path)) as states:
            other = KEY._replace(topic_id=UUID)
            answers: list[Any] = await asyncio.gather(
                states.write_state(KEY, write(3)),
                states.read_summary(KEY),
                states.write_state(KEYS[1], write(50)),
                states.write_state(other, write(4)),
                states.read_state(other, 1),
                states.delete_state(KEY),
                states.read_summary(other),
                states.reset_state(KEY, 9, 90),
                states.read_state(KEY, 2),
            )
            offsets = [getattr(answer, "start_offset", None) for answer in answers]
            assert offsets == [None, 3, None, None, 4, None, -1, None, 90]
            assert (await states.read_summary(KEYS[1])).start_offset == 50

    asyncio.run(test())


def test_a_refusal_concerns_the_one_who_asked(tmp_path: Path) -> None:
    async def test() -> None:
        async with AsyncStateStore(begun(tmp_path)) as states:
            await states.read_state(KEYS[1], 5)
            told = await asyncio.gather(
                states.write_state(KEYS[0], write(1)),
                states.write_state(KEYS[1], write(1)),
                states.write_state(KEYS[2], write(-7)),
                states.write_state(KEYS[2]._replace(group=""), write(1)),
                states.write_state(KEYS[3], write(1)),
                return_exceptions=True,
            )
            assert [type(answer) for answer in told] == [
                type(None),
                FencedLeaderEpochError,
                InvalidRequestError,
                InvalidRequestError,
                type(None),
            ]
            assert isinstance(told[2], InvalidRequestError)
            assert (told[2].field, told[2].value) == ("start_offset", -7)

    asyncio.run(test())


def test_what_is_no_request_at_all_does_the_others_no_harm(tmp_path: Path) -> None:
    async def test() -> None:
        async with AsyncStateStore(begun(tmp_path)) as states:
            wrong: Any = "a state"
            told = await asyncio.gather(
                states.write_state(KEY, write(1)),
                states.write_state(KEYS[1], wrong),
                states.reset_state(KEYS[2], 2**40, 0),
                states.write_state(KEYS[3]._replace(topic_id="orders"), write(1)),
                states.write_state(KEYS[4], write(4)),
                states.reset_state(KEYS[5], 3, 30),
                return_exceptions=True,
            )
            assert [type(answer) for answer in told[:1] + told[4:]] == [type(None)] * 3
            assert isinstance(told[1], TypeError)
            assert isinstance(told[2], (ValueError, OverflowError))
            assert isinstance(told[3], ValueError)
            found = [(await states.read_summary(key)).start_offset for key in KEYS[:6]]
            assert found == [1, 0, 0, 0, 4, 30]
            with pytest.raises(TypeError):
                await states.read_summary(wrong)

    asyncio.run(test())


def test_a_call_that_is_cancelled_before_its_round_does_nothing_and_later_it_is_made(tmp_path: Path) -> None:
    async def test() -> None:
        store = HeldStore(begun(tmp_path))
        async with AsyncStateStore(store) as states:
            first = asyncio.create_task(states.write_state(KEY, write(1)))
            assert await store.entered() == 1
            second = asyncio.create_task(states.write_state(KEY, write(2)))
            third = asyncio.create_task(states.write_state(KEYS[1], write(3)))
            await turns()
            first.cancel()
            second.cancel()
            store.let_go(2)
            await third
            assert (first.cancelled(), second.cancelled()) == (True, True)
            assert store.rounds == [1, 1]
            assert [(await states.read_summary(key)).start_offset for key in KEYS[:2]] == [1, 3]

    asyncio.run(test())


def test_closing_waits_for_what_was_taken_in_and_refuses_the_rest(tmp_path: Path) -> None:
    async def test() -> None:
        store = HeldStore(begun(tmp_path))
        states = AsyncStateStore(store)
        callers = [asyncio.create_task(states.write_state(KEY, write(1)))]
        await store.entered()
        callers.append(asyncio.create_task(states.write_state(KEYS[1], write(2))))
        await turns()
        closings = [asyncio.create_task(states.close()) for _ in range(2)]
        await turns()
        # The first is cancelled; it goes on by itself, and the second waits for it.
        closings[0].cancel()
        with pytest.raises(StoreError, match="the store is closed") as late:
            await states.write_state(KEYS[2], write(3))
        assert not closings[1].done()
        store.let_go(2)
        await closings[1]
        assert [caller.exception() for caller in callers] == [None, None]
        await states.close()
        # As the store itself says it.
        with pytest.raises(StoreError) as closed:
            store.write_state(KEY, write(4))
        assert str(closed.value).startswith(str(late.value))
        assert late.value.kafka_code == closed.value.kafka_code

    asyncio.run(test())
    with ss.open(tmp_path / "state") as store:
        assert [store.read_summary(key).start_offset for key in KEYS[:3]] == [1, 2, 0]


def test_a_store_that_was_closed_beside_it_is_told_by_its_own_error(tmp_path: Path) -> None:
    async def test() -> None:
        store = begun(tmp_path)
        async with AsyncStateStore(store) as states:
            store.close()
            told = await asyncio.gather(*(states.write_state(key, write(1)) for key in KEYS), return_exceptions=True)
            assert {(type(error), str(error)) for error in told} == {(StoreError, "the store is closed")}

    asyncio.run(test())


def test_a_disk_that_fails_is_told_by_the_error_of_the_store(tmp_path: Path) -> None:
    async def test() -> None:
        store = begun(tmp_path, segment_bytes=8192)
        states = AsyncStateStore(store)
        # The next segment cannot be made.
        shutil.rmtree(tmp_path / "state")
        calls = (states.write_state(key, write(offset)) for offset in range(1, 9) for key in KEYS)
        told = await asyncio.gather(*calls, return_exceptions=True)
        with pytest.raises(StoreError, match="the store has failed") as itself:
            store.read_summary(KEY)
        # It was asked about a share partition, and names it.
        text, code = str(itself.value).partition(" (share partition ")[0], itself.value.kafka_code
        assert {type(error) for error in told if error is not None} == {StoreError}
        for later in (states.write_state(KEY, write(10)), states.close(), states.close()):
            with pytest.raises(StoreError) as again:
                await later
            assert str(again.value).startswith(text)
            assert again.value.kafka_code == code

    asyncio.run(test())


def test_a_fault_that_nobody_thought_of_reaches_everyone_who_asked(tmp_path: Path) -> None:
    async def test() -> None:
        store = HeldStore(begun(tmp_path))
        store.fault = MemoryError("no room")
        store.let_go()
        async with AsyncStateStore(store) as states:
            told = await asyncio.gather(*(states.write_state(key, write(1)) for key in KEYS), return_exceptions=True)
            assert told == [store.fault] * 64
            # It goes on.
            store.fault = None
            store.let_go()
            await states.write_state(KEY, write(1))

    asyncio.run(test())


CALLS: dict[str, Callable[[AsyncStateStore], Coroutine[Any, Any, object]]] = {
    "reset_state": lambda states: states.reset_state(KEY, 1, 0),
    "read_state": lambda states: states.read_state(KEY, 1),
    "write_state": lambda states: states.write_state(KEY, write(1)),
    "delete_state": lambda states: states.delete_state(KEY),
    "read_summary": lambda states: states.read_summary(KEY),
    "close": lambda states: states.close(),
    "__aenter__": lambda states: states.__aenter__(),
    "__aexit__": lambda states: states.__aexit__(None),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_second_loop_is_refused_at_once(call: Callable[[AsyncStateStore], Coroutine[Any, Any, object]], tmp_path: Path) -> None:
    async def test() -> None:
        async with AsyncStateStore(begun(tmp_path)) as states:
            with pytest.raises(RuntimeError, match="AsyncStateStore belongs to the event loop"):
                await asyncio.to_thread(asyncio.run, call(states))
            await states.write_state(KEY, write(3))
            assert (await states.read_summary(KEY)).start_offset == 3

    asyncio.run(test())


def test_a_full_pool_of_threads_does_not_hold_it_up(tmp_path: Path) -> None:
    async def test() -> None:
        let_go = threading.Event()
        loop = asyncio.get_running_loop()
        # More than the loop's own pool ever has.
        others = [loop.run_in_executor(None, let_go.wait) for _ in range(64)]
        async with AsyncStateStore(begun(tmp_path)) as states:
            await states.write_state(KEY, write(3))
            assert (await states.read_summary(KEY)).start_offset == 3
        let_go.set()
        await asyncio.gather(*others)

    asyncio.run(test())


def test_closing_that_ends_with_its_loop_still_closes_the_store(tmp_path: Path) -> None:
    store = begun(tmp_path)

    async def test() -> None:
        states = AsyncStateStore(store)
        await states.write_state(KEY, write(3))
        asyncio.get_running_loop().create_task(states.close())
        await asyncio.sleep(0)

    asyncio.run(test())
    # The thread ends when it has closed the store.
    for thread in threading.enumerate():
        if thread.name.startswith("share-state-store"):
            thread.join()
    with ss.open(tmp_path / "state") as again:
        assert again.read_summary(KEY).start_offset == 3


@pytest.mark.parametrize("wrong", ["state", None, MemoryPersister()])
def test_what_is_no_store_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="store is "):
        AsyncStateStore(wrong)
