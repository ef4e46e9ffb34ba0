"""Beginning and end of the share coordinator server, without a socket: where it listens, its threads, and what it closes."""

from __future__ import annotations

import asyncio
import logging
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

import share_state as ss
from share_state.kafka import ShareCoordinatorServer, coordinator_server, serve_in_thread
from share_state.kafka.client.peers import Address
from share_state.persister import MemoryPersister
from tests.kafka.scripted import DELETE, TOPIC
from tests.kafka.server.coordinator_stand_ins import (
    LOGGER,
    PEERNAME,
    Listening,
    Writer,
    answer,
    converse,
    logged,
    received,
    request,
    server,
)

DELETED = request(DELETE, 0, {"groupId": "g", "topics": [{"topicId": TOPIC, "partitions": [{"partition": 0}]}]}, 9)
GONE = {"results": [{"topicId": TOPIC, "partitions": [{"partition": 0, "errorCode": 0, "errorMessage": None}]}]}
THERE = repr(PEERNAME)


class Threads(MemoryPersister):
    """Notes on which thread it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def delete_state(self, key: ss.SharePartitionKey) -> None:
        self.names.append(threading.current_thread().name)
        super().delete_state(key)


class Start:
    """Stands for ``create_server`` of the event loop, and notes what it is given, with the kind of protocol that it makes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, listening: Listening) -> None:
        self.given: list[tuple[Any, ...]] = []
        self.pools: list[tuple[Any, ...]] = []
        self.listening = listening
        # Not a bound method: the loop comes first.
        monkeypatch.setattr(
            asyncio.BaseEventLoop, "create_server", lambda _loop, *given, **options: self.start(*given, **options)
        )
        monkeypatch.setattr(coordinator_server, "ThreadPoolExecutor", self.pool)

    async def start(self, make: Callable[[], asyncio.Protocol], host: str, port: int, **options: object) -> Listening:
        self.given.append((type(make()).__name__, host, port, options))
        return self.listening

    def pool(self, *arguments: Any, **options: Any) -> ThreadPoolExecutor:
        self.pools.append((*arguments, options))
        return ThreadPoolExecutor(*arguments, **options)


def test_a_server_listens_where_it_is_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Start(monkeypatch, Listening(5))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    plain, secure = server(), server(ssl_context=context)

    async def test() -> None:
        assert await plain.start() == ("host 5", 9005)
        await plain.close()
        assert await secure.start("::1", 4321) == ("host 5", 9005)
        await secure.close()

    asyncio.run(test())
    assert start.given == [
        ("StreamReaderProtocol", "127.0.0.1", 0, {"backlog": 16}),
        # A handshake comes first.
        ("_Arrival", "::1", 4321, {"backlog": 16}),
    ]
    assert start.pools == [(64, {"thread_name_prefix": "share-state-coordinator"})] * 2


def test_a_store_is_asked_on_threads_of_the_server_that_end_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    Start(monkeypatch, Listening(5))
    store = Threads()
    coordinator = ShareCoordinatorServer(store)

    async def test() -> None:
        async with coordinator:
            await coordinator.start()
            answered = await coordinator.respond(DELETED, Address("h", 1))
            assert answer(DELETE, 0, answered, 9) == GONE
            assert store.names == ["share-state-coordinator_0"]
            assert "share-state-coordinator_0" in [thread.name for thread in threading.enumerate()]
        assert "share-state-coordinator_0" not in [thread.name for thread in threading.enumerate()]

    asyncio.run(test())


def test_a_server_that_closes_ends_every_connection(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    listening = Listening(5, 6)
    Start(monkeypatch, listening)
    coordinator, writers = server(), [Writer(), Writer()]

    async def test() -> None:
        await coordinator.start()
        tasks = [converse(coordinator, received(ended=False), writer) for writer in writers]
        # One that has ended is no longer of interest.
        await converse(coordinator, received())
        listening.waits_for = tasks
        assert not any(task.done() for task in tasks)
        await coordinator.close()
        # A connection that ends so is no error, and no task that was cancelled: asyncio has nothing to report.
        assert [task.done() and not task.cancelled() and task.exception() for task in tasks] == [None, None]

    asyncio.run(test())
    assert [writer.end for writer in writers] == ["aborted"] * 2
    assert logged(caplog) == [("DEBUG", f"closed the connection of {THERE}")] * 2
    # Every connection is over before the server waits for its sockets.
    assert listening.steps == ["remove 5", "remove 6", "close", "wait for 0"]


def test_a_connection_that_fails_while_it_closes_keeps_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Writer):
        def abort(self) -> None:
            raise OSError("it is gone")

    listening = Listening(5)
    Start(monkeypatch, listening)
    coordinator = server()

    async def test() -> None:
        await coordinator.start()
        task = converse(coordinator, received(ended=False), Broken())
        await asyncio.sleep(0)
        await coordinator.close()
        assert isinstance(task.exception(), OSError)

    asyncio.run(test())
    assert listening.steps == ["remove 5", "close", "wait for 0"]


def test_a_server_that_never_began_closes() -> None:
    async def test() -> None:
        async with server() as coordinator:
            await coordinator.close()

    asyncio.run(test())


# For programs without an event loop.


class Noting:
    """A coordinator that notes what is asked of it, and on which thread."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.steps: list[tuple[Any, ...]] = []
        self.thread: threading.Thread | None = None

    async def start(self, host: str, port: int) -> Address:
        self.thread = threading.current_thread()
        self.steps.append((host, port, self.thread.name, self.thread.daemon))
        if self.error is not None:
            raise self.error
        return Address("there", 1)

    async def close(self) -> None:
        self.steps.append(("close", threading.current_thread() is self.thread))


@pytest.mark.parametrize(("where", "expected"), [((), ("127.0.0.1", 0)), (("::1", 4321), ("::1", 4321))])
def test_a_coordinator_runs_in_its_own_thread(where: tuple[Any, ...], expected: tuple[str, int]) -> None:
    noting = Noting()
    with serve_in_thread(cast("Any", noting), *where) as address:
        assert address == ("there", 1)
        assert noting.steps == [(*expected, "share-state-coordinator", True)]
    assert noting.steps[1:] == [("close", True)]
    assert noting.thread is not None
    assert not noting.thread.is_alive()


def test_a_coordinator_that_cannot_listen_is_closed_and_its_error_raised() -> None:
    noting = Noting(OSError("in use"))
    with pytest.raises(OSError, match=r"^in use$"), serve_in_thread(cast("Any", noting)):
        pytest.fail("it does not listen")
    assert noting.steps[1:] == [("close", True)]
    assert noting.thread is not None
    assert not noting.thread.is_alive()
