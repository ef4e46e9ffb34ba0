"""One connection: requests that are passed on as they are, time that is up, and what is said of a connection that is lost."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

import pytest

import share_state as ss
from share_state.kafka import BrokerTooOldError, SecurityOptions
from share_state.kafka.connection import Connection, ConnectionOptions
from share_state.kafka.peers import Address, LostError, Node
from tests.python.kafka_persister.scripted import (
    CONNECT_TIMEOUT,
    FIND,
    METADATA,
    REQUEST_TIMEOUT,
    TOPIC,
    VERSIONS,
    WRITE,
    Action,
    ScriptedBroker,
    TestClock,
    close,
    run,
)

COORDINATORS: dict[str, Any] = {"keyType": 2, "coordinatorKeys": [f"g:{TOPIC}:0"]}


def options(clock: TestClock, **others: Any) -> ConnectionOptions:
    return ConnectionOptions(SecurityOptions(), clock, "tester", CONNECT_TIMEOUT, REQUEST_TIMEOUT, **others)


async def opened(broker: ScriptedBroker, clock: TestClock | None = None, **others: Any) -> Connection:
    return await Connection.open(Node(-1, await broker.start()), options(clock or TestClock(), **others))


def silent(asked: asyncio.Event) -> Action:
    async def act(_turn: Any) -> bytes:
        asked.set()
        return b""

    return act


def a_look_up(correlation_id: int) -> bytes:
    body = ss.encode_message(FIND, 6, COORDINATORS)
    return struct.pack(">hhih", FIND, 6, correlation_id, 3) + b"she\0" + body


def test_somebodys_request_goes_out_as_it_is_but_for_its_correlation_id() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            connection = await opened(broker)
            answers: asyncio.Queue[bytes | LostError] = asyncio.Queue()
            connection.send_frame(a_look_up(99), answers.put_nowait)
            answer = await answers.get()
            assert isinstance(answer, bytes)
            # Ours is in the answer as well; who asked puts its own there.
            assert answer[:5] == struct.pack(">ib", 1, 0)
            (found,) = ss.decode_message(FIND, 6, answer[5:], response=True)["coordinators"]
            assert (found["key"], found["errorCode"]) == (COORDINATORS["coordinatorKeys"][0], 0)
            assert broker.seen[-1] == (FIND, COORDINATORS)
            assert connection.requests == 2
            await connection.close()

    run(test)


def test_a_request_without_an_answer_is_waited_for_by_nobody() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            clock = TestClock()
            connection = await opened(broker, clock)
            broker.script[FIND].append(silent(asyncio.Event()))
            waits = len(clock.timers)
            connection.send_frame(a_look_up(99), None)
            assert len(clock.timers) == waits
            # The next one has an id of its own, and its answer.
            answer = await connection.request(FIND, COORDINATORS)
            assert answer["coordinators"][0]["errorCode"] == 0
            assert connection.requests == 3
            await connection.close()

    run(test)


def test_correlation_ids_begin_again_after_the_greatest() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            connection = await opened(broker)
            connection._correlation_id = 0x7FFF_FFFF
            told: asyncio.Queue[bytes | LostError] = asyncio.Queue()
            for expected in (0x7FFF_FFFF, 0, 1):
                connection.send_frame(a_look_up(5), told.put_nowait)
                answer = await told.get()
                assert isinstance(answer, bytes)
                assert answer[:4] == struct.pack(">i", expected)
            await connection.close()

    run(test)


def lost(error: LostError) -> tuple[str, int, bool, bool]:
    return error.reason, error.code, error.sent, error.retriable


def test_a_request_that_is_not_answered_in_time_ends_the_connection_for_all() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            clock = TestClock()
            connection = await opened(broker, clock)
            asked = asyncio.Event()
            broker.always[FIND] = broker.always[METADATA] = silent(asked)
            told: list[bytes | LostError] = []
            connection.send_frame(a_look_up(5), told.append)
            waiting = asyncio.create_task(connection.request(METADATA, {
                "topics": [], "allowAutoTopicCreation": False, "includeTopicAuthorizedOperations": False,
            }))  # fmt: skip
            await asked.wait()
            assert clock.expire(REQUEST_TIMEOUT) == 2
            with pytest.raises(LostError) as raised:
                await waiting
            expected = ("FindCoordinator was not answered in 1000 s", 7, True, True)
            (first,) = told
            assert isinstance(first, LostError)
            assert lost(first) == lost(raised.value) == expected
            assert str(raised.value) == f"{connection.node}: {expected[0]}"
            assert not connection.usable
            # Whoever comes later was not sent.
            with pytest.raises(LostError) as late:
                connection.send_frame(a_look_up(5), None)
            assert lost(late.value) == ("the connection is closed", 13, False, True)

    run(test)


def test_a_request_that_nobody_knows_is_named_by_its_number() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            clock = TestClock()
            connection = await opened(broker, clock)
            told: list[LostError | bytes] = []
            connection._expect(999, 5, lambda answer: answer, told.append)
            clock.expire(REQUEST_TIMEOUT)
            (error,) = told
            assert isinstance(error, LostError)
            assert error.reason == "request 999 was not answered in 1000 s"

    run(test)


def test_what_is_in_progress_is_lost_when_we_close() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            clock = TestClock()
            connection = await opened(broker, clock)
            asked = asyncio.Event()
            broker.always[FIND] = silent(asked)
            told: list[LostError | bytes] = []
            connection.send_frame(a_look_up(5), told.append)
            await asked.wait()
            await connection.close()
            await connection.close()
            (error,) = told
            assert isinstance(error, LostError)
            assert lost(error) == ("the connection was closed by us", 13, True, True)
            # No timer is left behind.
            assert clock.expire(REQUEST_TIMEOUT) == 0

    run(test)


@pytest.mark.parametrize(
    ("sent", "reason"), [(b"", "closed the connection"), (b"\0\0\0\x09abc", "closed the connection within an answer")]
)
def test_the_end_of_a_connection_is_told_from_half_an_answer(sent: bytes, reason: str) -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            connection = await opened(broker)

            async def half(turn: Any) -> bytes | None:
                turn.writer.write(sent)
                await turn.writer.drain()
                turn.writer.close()
                return b""

            broker.script[FIND].append(half)
            with pytest.raises(LostError) as raised:
                await connection.request(FIND, COORDINATORS)
            assert lost(raised.value) == (reason, 13, True, True)
            assert not connection.usable

    run(test)


def test_a_broker_that_does_not_go_on_is_left_when_the_time_is_up() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            clock = TestClock()
            asked = asyncio.Event()
            broker.script[VERSIONS].append(silent(asked))
            opening = asyncio.create_task(opened(broker, clock))
            await asked.wait()
            assert clock.expire(CONNECT_TIMEOUT) == 1
            with pytest.raises(LostError) as raised:
                await opening
            assert lost(raised.value) == ("connecting took too long", 7, False, True)
            # Nor is the request of the attempt waited for.
            assert clock.expire(REQUEST_TIMEOUT) == 0

    run(test)


def test_nothing_was_sent_where_connecting_failed() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            broker.script[VERSIONS].append(close)
            address = await broker.start()
            with pytest.raises(LostError) as raised:
                await Connection.open(Node(-1, address), options(TestClock()))
            assert lost(raised.value) == ("closed the connection", 13, False, True)
        with pytest.raises(LostError) as refused:
            await Connection.open(Node(3, address), options(TestClock()))
        assert lost(refused.value) == ("Connection refused", 13, False, True)
        assert str(refused.value) == f"broker 3 ({address.host}:{address.port}): Connection refused"
        with pytest.raises(LostError) as unknown:
            await Connection.open(Node(-1, Address("nobody.invalid", 1)), options(TestClock()))
        assert unknown.value.sent is False
        assert unknown.value.reason

    run(test)


@pytest.mark.parametrize(
    ("theirs", "has"),
    [((-1, -1), "does not have it"), ((2, 3), "has versions 2 to 3"), ((0, -1), "does not have it")],
)
def test_a_broker_without_a_version_of_ours_is_told_which(theirs: tuple[int, int], has: str) -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            broker.extra_versions = {WRITE: theirs}
            connection = await opened(broker, needs="get another")
            with pytest.raises(BrokerTooOldError) as raised:
                connection.version_of(WRITE)
            expected = f"{connection.node}: WriteShareGroupState version 0 to 1 is needed, the broker {has}; get another"
            assert (str(raised.value), raised.value.kafka_code, raised.value.node) == (expected, 35, str(connection.node))
            await connection.close()

    run(test)


def test_the_newest_version_of_both_is_spoken() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            broker.extra_versions = {WRITE: (1, 9), FIND: (0, 6), METADATA: (13, 13)}
            connection = await opened(broker)
            assert [connection.version_of(key) for key in (WRITE, FIND, METADATA)] == [1, 6, 13]
            assert connection.offered[WRITE] == (1, 9)
            connection.offered.clear()
            assert connection.version_of(WRITE) == 1
            await connection.close()

    run(test)


def test_an_answer_may_be_longer_than_its_message_where_that_is_allowed() -> None:
    async def longer(turn: Any) -> bytes:
        answer: bytes = await turn.usual()
        return struct.pack(">i", len(answer) - 4 + 3) + answer[4:] + b"end"

    async def test() -> None:
        async with ScriptedBroker() as broker:
            broker.always[FIND] = longer
            connection = await opened(broker, trailing=True)
            assert (await connection.request(FIND, COORDINATORS))["coordinators"][0]["errorCode"] == 0
            await connection.close()

    run(test)
