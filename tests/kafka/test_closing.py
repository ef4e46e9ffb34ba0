"""A server that closes while connections arrive begins each one that it has accepted; tasks that are cancelled have ended."""

from __future__ import annotations

import asyncio
import gc
import socket
from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.util.closing import cancel_all, stop_accepting

_CLIENTS = 8


class Met(asyncio.Protocol):
    """Counts the connections that begin."""

    def __init__(self) -> None:
        self.transports: list[asyncio.BaseTransport] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transports.append(transport)


@pytest.mark.parametrize("turns", range(6))
def test_what_was_accepted_begins_and_nothing_else_does(turns: int) -> None:
    met = Met()

    async def test() -> None:
        server = await asyncio.get_running_loop().create_server(lambda: met, "127.0.0.1", 0)
        with ExitStack() as stack:
            address = server.sockets[0].getsockname()
            for _ in range(_CLIENTS):
                stack.enter_context(socket.create_connection(address))
            # In the second turn they are accepted, and in the third they begin.
            for _ in range(turns):
                await asyncio.sleep(0)
            await stop_accepting(server)
            begun = len(met.transports)
            for transport in met.transports:
                transport.close()
            assert not server.is_serving()
            assert begun == (_CLIENTS if turns >= 2 else 0)
            await asyncio.sleep(0)
            assert len(met.transports) == begun

    asyncio.run(asyncio.wait_for(test(), 60))
    # A socket that was lost would be told of here, as an error of the test.
    gc.collect()


def test_three_turns_pass_between_the_last_connection_and_the_end() -> None:
    steps: list[str] = []

    async def test() -> None:
        loop = asyncio.get_running_loop()

        def turn() -> None:
            steps.append("turn")
            if "close" not in steps:
                loop.call_soon(turn)

        loop.call_soon(turn)
        sockets = [SimpleNamespace(fileno=partial(int, number)) for number in (5, 6)]
        own = SimpleNamespace(remove_reader=lambda number: steps.append(f"remove {number}"))
        listening = SimpleNamespace(sockets=sockets, get_loop=lambda: own, close=lambda: steps.append("close"))
        await stop_accepting(cast("asyncio.Server", listening))

    asyncio.run(test())
    # With a longer sleep there would be no end of turns.
    assert steps[:6] == ["remove 5", "remove 6", "turn", "turn", "turn", "close"]


def test_a_server_closes_twice() -> None:
    async def test() -> None:
        server = await asyncio.get_running_loop().create_server(Met, "127.0.0.1", 0)
        await stop_accepting(server)
        await stop_accepting(server)
        assert not server.is_serving()

    asyncio.run(asyncio.wait_for(test(), 60))


def test_tasks_that_are_cancelled_have_ended() -> None:
    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            # Its end takes a while, and it leaves the collection then.
            await asyncio.sleep(0)
            own = asyncio.current_task()
            assert own is not None
            tasks.remove(own)

    async def gives(what: int) -> int:
        return what

    async def fails() -> None:
        raise ValueError

    async def test() -> None:
        started = [asyncio.create_task(work) for work in (waits(), gives(7), fails(), waits())]
        tasks.extend(started)
        await asyncio.sleep(0)
        ended = await cancel_all(tasks)
        assert [type(one) for one in ended] == [asyncio.CancelledError, int, ValueError, asyncio.CancelledError]
        assert len(tasks) == 2
        assert all(task.done() for task in started)

    tasks: list[asyncio.Task[Any]] = []
    asyncio.run(asyncio.wait_for(test(), 60))
