"""A persister belongs to one event loop; on another it says so at once instead of waiting forever."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable

import pytest

from share_state.kafka import AsyncKafkaPersister
from share_state.util.home_loop import HomeLoop
from tests.kafka.scripted import KEY, ScriptedBroker, write

CALLS: dict[str, Callable[[AsyncKafkaPersister], Awaitable[object]]] = {
    "reset_state": lambda kafka: kafka.reset_state(KEY, 1, 0),
    "read_state": lambda kafka: kafka.read_state(KEY, 1),
    "write_state": lambda kafka: kafka.write_state(KEY, write()),
    "delete_state": lambda kafka: kafka.delete_state(KEY),
    "read_summary": lambda kafka: kafka.read_summary(KEY),
    "topic_ids": lambda kafka: kafka.topic_ids(["orders"]),
    "close": lambda kafka: kafka.close(),
    "__aenter__": lambda kafka: kafka.__aenter__(),
    "__aexit__": lambda kafka: kafka.__aexit__(None, None, None),
}


def test_every_coroutine_is_tried() -> None:
    public = {name for name in vars(AsyncKafkaPersister) if inspect.iscoroutinefunction(getattr(AsyncKafkaPersister, name))}
    assert public - {"_call"} == set(CALLS)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_on_a_second_loop_is_refused_at_once(call: Callable[[AsyncKafkaPersister], Awaitable[object]]) -> None:
    async def refused(kafka: AsyncKafkaPersister, home: asyncio.AbstractEventLoop) -> None:
        with pytest.raises(RuntimeError, match="belongs to the event loop") as raised:
            await call(kafka)
        here = asyncio.get_running_loop()
        assert (
            str(raised.value)
            == f"AsyncKafkaPersister belongs to the event loop {home!r}, where it was used first, not to {here!r}"
        )

    async def test() -> None:
        home = asyncio.get_running_loop()
        async with ScriptedBroker() as broker:
            host, port = await broker.start()
            async with AsyncKafkaPersister(f"{host}:{port}") as kafka:
                await kafka.reset_state(KEY, 1, 0)
                await asyncio.to_thread(asyncio.run, refused(kafka, home))
                # Nothing has happened to it.
                sent = kafka.requests_sent
                await kafka.write_state(KEY, write(start_offset=3))
                assert kafka.requests_sent == sent + 1
            assert broker.store.read_summary(KEY).start_offset == 3

    asyncio.run(test())


def test_a_loop_that_has_ended_is_named_as_closed() -> None:
    kafka = AsyncKafkaPersister("127.0.0.1:1")
    asyncio.run(kafka.close())
    with pytest.raises(RuntimeError, match="closed=True"):
        asyncio.run(kafka.close())


def test_threads_that_are_first_together_agree_on_one_loop() -> None:
    home, together, entered = HomeLoop("it"), threading.Barrier(8), list[bool]()

    async def enter() -> None:
        together.wait(60)
        try:
            home.enter()
        except RuntimeError:
            entered.append(False)
        else:
            entered.append(True)
        together.wait(60)

    threads = [threading.Thread(target=lambda: asyncio.run(enter())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(entered) == [False] * 7 + [True]


def test_without_a_loop_there_is_no_home() -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        HomeLoop("it").enter()
