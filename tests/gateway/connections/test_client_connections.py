"""Connection of a client by itself, the order of its requests, its answers and its end."""

from __future__ import annotations

import asyncio
import logging
import struct
import time
from types import SimpleNamespace

import pytest

from share_state.errors import WireDecodeError
from tests.gateway.connections.one_connection import KIB, WHO, Bench, echo, payload, run, turns


def test_the_next_request_is_begun_when_the_one_before_is_answered() -> None:
    async def test() -> None:
        bench = Bench()
        assert bench.transport.limits == (1, 0)
        await bench.send(payload(1), payload(2))
        # The length of a frame stands before it.
        assert (bench.asked, bench.queued.total) == ([payload(1)], 14)
        await bench.say(b"one")
        assert (bench.asked, bench.transport.done, bench.queued.total) == ([payload(1), payload(2)], [b"one"], 0)
        await bench.say(b"two")
        await bench.send(payload(3))
        await bench.say(b"three")
        assert bench.transport.done == [b"one", b"two", b"three"]
        assert bench.ended == []

    run(test)


def test_no_more_than_sixteen_requests_wait() -> None:
    async def test() -> None:
        bench = Bench()
        await bench.send(payload(0))
        await bench.send(*map(payload, range(1, 16)))
        assert bench.transport.done == []
        await bench.send(payload(16))
        assert bench.transport.done == ["pause"]
        await bench.send(payload(17), payload(18))
        assert bench.transport.done == ["pause"]
        assert len(bench.connection._requests) == 16
        assert bench.queued.total == 18 * 14
        for number in range(16):
            assert bench.asked[-1] == payload(number)
            await bench.say(b"")
        # The last that waited is begun: reading goes on, with what had arrived.
        assert bench.asked[-1] == payload(16)
        assert bench.transport.done == ["resume" if one == "resume" else one for one in ["pause", "resume"]]
        assert len(bench.connection._requests) == 2
        for number in (17, 18):
            await bench.say(b"")
            assert bench.asked[-1] == payload(number)
        await bench.say(b"last")
        assert bench.transport.done == ["pause", "resume", b"last"]
        assert bench.queued.total == 0

    run(test)


def test_a_request_without_an_answer_is_followed_by_the_next() -> None:
    async def test() -> None:
        bench = Bench()
        await bench.send(payload(1), payload(2))
        await bench.say(b"")
        await bench.say(b"two")
        assert bench.transport.done == [b"two"]

    run(test)


def test_nothing_closes_the_connection_and_what_waits_is_not_begun() -> None:
    async def test() -> None:
        bench = Bench()
        await bench.send(payload(1), payload(2))
        await bench.say(None)
        assert (bench.asked, bench.transport.done) == ([payload(1)], ["close"])

    run(test)


def test_who_is_refused_is_told_so_first() -> None:
    async def test() -> None:
        bench = Bench(echo)
        bench.client.login = SimpleNamespace(failed=True)  # type: ignore[assignment]
        await bench.send(payload(1), payload(2))
        assert (bench.asked, bench.transport.done) == ([payload(1)], [b"of " + payload(1), "close"])

    run(test)


def test_an_answer_to_a_connection_that_closes_is_not_sent() -> None:
    async def test() -> None:
        bench = Bench()
        await bench.send(payload(1), payload(2))
        bench.transport.is_over = True
        await bench.say(b"one")
        assert (bench.asked, bench.transport.done) == ([payload(1)], [])

    run(test)


@pytest.mark.parametrize(
    ("error", "level", "text"),
    [
        (WireDecodeError("no request", position=1, kind="x"), logging.WARNING, f"closed a connection: no request: {WHO}"),
        (ValueError("a bug"), logging.ERROR, f"a connection ends: {WHO}"),
    ],
)
def test_an_error_ends_the_connection(error: Exception, level: int, text: str, caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async def fail(_payload: bytes) -> bytes:
            raise error

        bench = Bench(fail)
        await bench.send(payload(1), payload(2))
        assert (bench.asked, bench.transport.done) == ([payload(1)], ["abort"])

    caplog.set_level(logging.DEBUG, "share_state.gateway.clients")
    run(test)
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [(level, text)]


@pytest.mark.parametrize(("secured", "piece"), [(False, 256 * KIB), (True, 64 * KIB)])
def test_an_answer_goes_out_in_pieces_as_the_client_takes_them(secured: bool, piece: int) -> None:
    async def test() -> None:
        answer = bytes(range(256)) * (2 * piece // 256) + b"rest"
        bench = Bench(secured=secured)
        bench.transport.blocks = bench.connection
        await bench.send(payload(1), payload(2))
        await bench.say(answer)
        limit = 1 << 20
        for at in range(3):
            assert b"".join(bench.transport.done) == answer[: (at + 1) * piece]
            assert len(bench.transport.done) == at + 1
            # It counts as a whole until all of it is taken, and no other request is begun.
            assert bench.answers.free == limit - len(answer)
            assert len(bench.asked) == 1
            since = bench.connection._answer_since
            assert since is not None
            assert since <= time.monotonic()
            bench.connection.resume_writing()
            await turns()
            assert bench.connection._answer_since == (since if at < 2 else None)
        assert (bench.answers.free, len(bench.asked)) == (limit, 2)

    run(test)


def test_an_answer_of_one_piece_is_not_copied() -> None:
    async def test() -> None:
        bench = Bench()
        await bench.send(payload(1))
        answer = bytes(256 * KIB)
        await bench.say(answer)
        (given,) = bench.transport.given
        assert given is answer
        assert bench.answers.free == 1 << 20

    run(test)


def test_an_end_while_an_answer_is_going_drops_the_rest() -> None:
    async def test() -> None:
        bench = Bench()
        bench.transport.blocks = bench.connection
        await bench.send(payload(1), payload(2))
        await bench.say(b"x" * (600 * KIB))
        bench.connection.connection_lost(None)
        await turns()
        assert bench.transport.done == [b"x" * (256 * KIB), "close", "abort"]
        assert (bench.answers.free, bench.queued.total) == (1 << 20, 0)
        assert (bench.ended, bench.connection.is_open) == ([bench.connection], False)
        assert bench.connection._task is None

    run(test)


@pytest.mark.parametrize(
    ("more", "why", "text"),
    [
        (b"", None, f"a client went away: None: {WHO}"),
        (b"\0\0", OSError("reset"), f"a client went away within a request: reset: {WHO}"),
    ],
)
def test_an_end_stops_the_request_that_is_answered(
    more: bytes, why: Exception | None, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        bench = Bench()
        await bench.send(payload(1), payload(2))
        bench.connection.data_received(more)
        bench.connection.connection_lost(why)
        bench.connection.connection_lost(why)
        await turns()
        assert bench.waits[0].cancelled()
        assert (bench.ended, bench.queued.total, len(bench.asked)) == ([bench.connection], 0, 1)
        assert bench.transport.done == ["close"]
        # Nothing more is said of it.
        bench.connection.cut_off("late")
        assert bench.transport.done == ["close"]

    caplog.set_level(logging.DEBUG, "share_state.gateway.clients")
    run(test)
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [(logging.DEBUG, text)]


def test_a_frame_that_is_too_long_ends_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        bench = Bench(echo)
        bench.connection.data_received(struct.pack(">ih", 20, 3) + bytes(18))
        assert bench.connection.is_open
        bench.connection.data_received(struct.pack(">ih", 21, 3))
        assert (bench.connection.is_open, bench.transport.done[-1], bench.ended) == (False, "close", [bench.connection])

    run(test)
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.WARNING, f"closed a connection: a frame announces 21 bytes, not 4 to 20: {WHO}")
    ]


def test_a_connection_finishes_with_the_answer_that_is_being_worked_out() -> None:
    async def test() -> None:
        bench = Bench()
        await bench.send(payload(1), payload(2))
        finishing = asyncio.create_task(bench.connection.finish())
        await turns()
        assert bench.transport.done == []
        await bench.say(b"one")
        await finishing
        assert (bench.asked, bench.transport.done) == ([payload(1)], [b"one", "close"])
        await bench.connection.finish()
        assert bench.transport.done == [b"one", "close"]
        idle = Bench()
        await idle.connection.finish()
        assert idle.transport.done == ["close"]

    run(test)
