"""Addresses, time-outs and attempts as they are given, and the clock that waits by them."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from share_state.errors import ConfigError
from share_state.kafka import AsyncKafkaPersister, KafkaPersister, RetryPolicy
from share_state.kafka.client.peers import Address, parse_bootstrap
from share_state.kafka.clock import LoopClock, sleep, within
from tests.kafka.scripted import TestClock, on_loop, run


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("localhost:9092", [Address("localhost", 9092)]),
        (" a:1 , b:65535 ", [Address("a", 1), Address("b", 65535)]),
        (["a:1", "[::1]:2", "::1:3", "[a:4", "a]:5"], [("a", 1), ("::1", 2), ("::1", 3), ("[a", 4), ("a]", 5)]),
    ],
)
def test_addresses_are_read(given: Any, expected: list[Address]) -> None:
    assert parse_bootstrap(given) == expected


@pytest.mark.parametrize("text", ["", "a", ":1", "a:", "a:0", "a:65536", "a:-1", "a:1x", "a:²", "a:\u0661", "a:1:"])
def test_what_is_no_address_is_named(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_bootstrap(["b:1", text])
    assert (str(refused.value), refused.value.field, refused.value.value) == (f"{text!r} is not host:port", "bootstrap", text)


@pytest.mark.parametrize("text", ["kafka://a:1", "a:1/x"])
def test_an_address_has_nothing_around_it(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_bootstrap(text)
    expected = f"{text!r} is not host:port; remove the parts before and after it"
    assert (str(refused.value), refused.value.field, refused.value.value) == (expected, "bootstrap", text)


def test_there_is_an_address() -> None:
    with pytest.raises(ConfigError, match="expected at least 1 bootstrap server, got 0") as refused:
        parse_bootstrap([])
    assert (refused.value.field, refused.value.value) == ("bootstrap", [])


@pytest.mark.parametrize("name", ["connect_timeout", "request_timeout"])
@pytest.mark.parametrize("seconds", [0, -1, math.nan])
def test_a_time_out_is_more_than_nothing(name: str, seconds: float) -> None:
    for kind in (AsyncKafkaPersister, KafkaPersister):
        with pytest.raises(ConfigError) as refused:
            kind("a:1", **{name: seconds})  # type: ignore[arg-type]
        assert (str(refused.value), refused.value.field) == (f"{name} is {seconds}; expected more than 0", name)
        assert refused.value.value is seconds


def test_a_client_id_fits_a_request() -> None:
    AsyncKafkaPersister("a:1", client_id="é" * 16_383 + "x")
    with pytest.raises(ConfigError, match="client_id is too long for a request") as refused:
        AsyncKafkaPersister("a:1", client_id="é" * 16_384)
    assert (refused.value.field, refused.value.value) == ("client_id", "é" * 16_384)


def test_it_shows_its_servers_and_whether_it_is_open() -> None:
    async def test() -> None:
        client = AsyncKafkaPersister("a:1,b:2")
        assert repr(client) == "AsyncKafkaPersister('a:1, b:2', open, requests=0)"
        await client.close()
        assert repr(client) == "AsyncKafkaPersister('a:1, b:2', closed, requests=0)"

    run(test)
    with KafkaPersister(["a:1"]) as client:
        assert repr(client) == "KafkaPersister('a:1', open, requests=0)"


# Attempts.


def test_the_policy_is_that_of_kafka() -> None:
    assert RetryPolicy() == RetryPolicy(5, 1.0, 30.0, 0.2)


@pytest.mark.parametrize("attempts", [0, -1])
def test_there_is_an_attempt(attempts: int) -> None:
    with pytest.raises(ConfigError) as refused:
        RetryPolicy(attempts=attempts)
    assert str(refused.value) == f"attempts is {attempts}; expected at least 1"
    assert (refused.value.field, refused.value.value, refused.value.minimum) == ("attempts", attempts, 1)
    assert RetryPolicy(attempts=1).attempts == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in ("initial_seconds", "maximum_seconds", "jitter") for value in (-0.1, math.nan)]
    + [("jitter", 1.1)],
)
def test_a_wait_is_not_negative(name: str, value: float) -> None:
    with pytest.raises(ConfigError) as refused:
        RetryPolicy(**{name: value})  # type: ignore[arg-type]
    assert (str(refused.value), refused.value.field, refused.value.minimum) == (f"{name} is {value}", name, 0)
    assert refused.value.value is value


def test_the_bounds_of_a_wait_are_allowed() -> None:
    assert RetryPolicy(initial_seconds=0, maximum_seconds=0, jitter=1).wait_after(1, 0.5) == 0
    assert RetryPolicy(initial_seconds=2, maximum_seconds=2, jitter=0).wait_after(9, 0.9) == 2


@pytest.mark.parametrize(
    ("attempt", "drawn", "seconds"),
    [
        (1, 0.5, 1.0),
        (2, 0.5, 2.0),
        (5, 0.5, 16.0),
        (6, 0.5, 30.0),
        (10**9, 0.5, 30.0),
        (1, 0.0, 0.8),
        (3, 1.0, 4.8),
        (3, 0.75, 4.4),
    ],
)
def test_a_wait_doubles_and_is_spread(attempt: int, drawn: float, seconds: float) -> None:
    assert RetryPolicy().wait_after(attempt, drawn) == pytest.approx(seconds)


def test_no_number_of_attempts_overflows_a_wait() -> None:
    assert RetryPolicy(maximum_seconds=math.inf).wait_after(65, 0.5) == 2.0**64
    assert RetryPolicy(maximum_seconds=math.inf).wait_after(10**9, 0.5) == 2.0**64


# The clock.


@on_loop
async def test_a_sleep_ends_when_its_time_is_up_and_takes_its_timer_along() -> None:
    clock = TestClock(hold_waits=True)
    over = asyncio.create_task(sleep(clock, 3.0))
    await clock.waited.wait()
    assert (clock.waits, over.done()) == ([3.0], False)
    assert clock.expire(3.0) == 1
    await over
    # One that nobody waits for is forgotten, and may still be called.
    gone = asyncio.create_task(sleep(clock, 4.0))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    (timer,) = (timer for timer in clock.timers if timer.delay == 4.0)
    assert (timer.cancelled, gone.cancelled()) == (True, True)
    timer.callback()


@on_loop
async def test_work_that_takes_too_long_is_cancelled() -> None:
    clock = TestClock(hold_waits=True)
    stopped = asyncio.Event()

    async def work() -> int:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return 1

    late = asyncio.create_task(within(clock, 5.0, work()))
    await clock.waited.wait()
    assert clock.waits == [5.0]
    await asyncio.sleep(0)
    assert clock.expire(5.0) == 1
    with pytest.raises(TimeoutError):
        await late
    assert stopped.is_set()


@on_loop
async def test_work_that_is_in_time_gives_what_it_gave() -> None:
    clock = TestClock(hold_waits=True)

    async def work() -> str:
        return "done"

    assert await within(clock, 5.0, work()) == "done"
    (timer,) = clock.timers
    assert (timer.delay, timer.cancelled) == (5.0, True)
    # Its time is up when it is over already.
    timer.callback()


@on_loop
async def test_who_stops_waiting_stops_the_work_and_sees_no_time_out() -> None:
    clock = TestClock(hold_waits=True)
    stopped = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    waiting = asyncio.create_task(within(clock, 5.0, work()))
    await clock.waited.wait()
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert stopped.is_set()
    assert clock.timers[0].cancelled


@on_loop
async def test_the_clock_of_a_loop_calls_and_draws() -> None:
    clock = LoopClock()
    called = asyncio.Event()
    clock.call_later(0.0, called.set)
    await called.wait()
    never = clock.call_later(1000.0, called.clear)
    never.cancel()
    assert all(0 <= clock.random() < 1 for _ in range(100))
