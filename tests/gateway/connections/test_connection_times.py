"""Time limits of a client: to send a request, to take an answer, to log in, to say anything."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.gateway.connections.one_connection import WHO, Bench, echo, payload, run, turns


def checked(prepare: Callable[[Bench], Awaitable[float]], seconds: float) -> list[Any]:
    """Actions of a look so many seconds after something began."""
    found: list[Any] = []

    async def test() -> None:
        bench = Bench()
        began = await prepare(bench)
        bench.transport.done.clear()
        bench.connection.check(began + seconds)
        found.extend(bench.transport.done)

    run(test)
    return found


async def frame_comes(bench: Bench) -> float:
    bench.connection.data_received(b"\0")
    assert bench.connection._frame_since is not None
    return bench.connection._frame_since


async def answer_goes(bench: Bench) -> float:
    bench.transport.blocks = bench.connection
    await bench.send(payload(1))
    await bench.say(b"one")
    assert bench.connection._answer_since is not None
    return bench.connection._answer_since


async def logs_in(bench: Bench) -> float:
    bench.client.login = SimpleNamespace(failed=False)  # type: ignore[assignment]
    return bench.connection.opened_at


async def is_silent(bench: Bench) -> float:
    await bench.send(payload(1))
    await bench.say(b"one")
    return bench.connection.active_at


@pytest.mark.parametrize(
    ("prepare", "seconds", "text"),
    [
        (frame_comes, 30.0, f"closed a connection: a request has not arrived within 30 s: {WHO}"),
        (answer_goes, 60.0, f"closed a connection: an answer was not taken within 60 s: {WHO}"),
        (logs_in, 20.0, f"closed a connection: it has not logged in within 20 s: {WHO}"),
        (is_silent, 600.0, f"closed a silent connection: {WHO}"),
    ],
)
def test_what_takes_too_long_ends_the_connection(
    prepare: Callable[[Bench], Awaitable[float]], seconds: float, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "share_state.gateway.clients")
    assert checked(prepare, seconds - 0.1) == []
    assert caplog.records == []
    assert checked(prepare, seconds + 0.1) == ["abort"]
    (record,) = caplog.records
    assert record.getMessage() == text
    assert record.levelno == (logging.DEBUG if prepare is is_silent else logging.WARNING)


def test_a_request_that_is_answered_for_long_is_no_silence() -> None:
    async def waits(bench: Bench) -> float:
        await bench.send(payload(1))
        return bench.connection.active_at

    assert checked(waits, 5000.0) == []


def test_the_time_of_a_request_ends_with_it() -> None:
    async def test() -> None:
        bench = Bench(echo)
        connection = bench.connection

        def since() -> float | None:
            return connection._frame_since

        frame = struct.pack(">i", 10) + payload(1)
        connection.data_received(frame[:5])
        began = since()
        assert began is not None
        connection.data_received(frame[5:7])
        assert since() == began
        connection.data_received(frame[7:])
        assert since() is None
        # The beginning of the next comes with the end of the one before: its time is its own.
        connection.data_received(frame[:5])
        first = since()
        assert first is not None
        await asyncio.sleep(0.002)
        connection.data_received(frame[5:] + frame[:5])
        assert (since() or 0) > first
        await turns()

    run(test)
