"""What a client refuses, in whole texts, and waits whose time is up when a test says so."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine
from typing import Any

import pytest

from share_state.kafka import AsyncKafkaPersister
from share_state.kafka.client import parse_bootstrap
from share_state.kafka.clock import sleep, within
from tests.python.kafka_persister.lines import outcomes, refusal
from tests.python.kafka_persister.scripted import TestClock


def test_there_is_a_server_to_begin_with() -> None:
    assert refusal(lambda: parse_bootstrap([])) == ("expected at least 1 bootstrap server, got 0", "bootstrap", [])


@pytest.mark.parametrize(("bootstrap", "wrong"), [("", ""), ("a:1,", ""), ("a:1, b", " b"), ("a:0", "a:0"), ([":1"], ":1")])
def test_a_server_that_is_no_address_is_refused(bootstrap: str | list[str], wrong: str) -> None:
    assert refusal(lambda: parse_bootstrap(bootstrap)) == (f"{wrong!r} is not host:port", "bootstrap", wrong)


def test_a_server_has_no_scheme_and_no_path() -> None:
    for given in ("http://a:1", "a:1/"):
        expected = f"{given!r} is not host:port; remove the parts before and after it"
        assert refusal(lambda given=given: parse_bootstrap(given)) == (expected, "bootstrap", given)  # type: ignore[misc]


def test_a_client_id_is_as_long_as_a_text_of_the_protocol_may_be() -> None:
    AsyncKafkaPersister("a:1", client_id="x" * 32_767)
    name = "x" * 32_768
    expected = ("client_id is too long for a request", "client_id", name)
    assert refusal(lambda: AsyncKafkaPersister("a:1", client_id=name)) == expected


@pytest.mark.parametrize("name", ["connect_timeout", "request_timeout"])
@pytest.mark.parametrize("seconds", [0, -1.5, math.nan])
def test_a_client_waits_for_more_than_nothing(name: str, seconds: float) -> None:
    text, field, value = refusal(lambda: AsyncKafkaPersister("a:1", **{name: seconds}))  # type: ignore[arg-type]
    assert (text, field) == (f"{name} is {seconds}; expected more than 0", name)
    assert value is seconds
    AsyncKafkaPersister("a:1", **{name: 0.1})  # type: ignore[arg-type]


# Time.


async def started(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """A task that has come to where it waits."""
    task = asyncio.create_task(work)
    for _ in range(3):
        await asyncio.sleep(0)
    assert not task.done()
    return task


def test_a_wait_is_over_when_its_time_is_up() -> None:
    async def test() -> None:
        clock = TestClock(hold_waits=True)
        waiting = await started(sleep(clock, 3.0))
        assert clock.expire(3.0) == 1
        assert await outcomes(waiting) == [None]
        gone = await started(sleep(clock, 3.0))
        gone.cancel()
        assert [type(one) for one in await outcomes(gone)] == [asyncio.CancelledError]
        assert [timer.cancelled for timer in clock.timers] == [True, True]
        # A call that was under way is of no interest any more.
        clock.timers[-1].callback()

    asyncio.run(test())


def test_work_whose_time_is_up_took_too_long() -> None:
    async def test() -> None:
        clock = TestClock(hold_waits=True)
        late = await started(within(clock, 5.0, asyncio.Event().wait()))
        assert clock.expire(5.0) == 1
        assert [type(one) for one in await outcomes(late)] == [TimeoutError]
        stopped = await started(within(clock, 5.0, asyncio.Event().wait()))
        stopped.cancel()
        assert [type(one) for one in await outcomes(stopped)] == [asyncio.CancelledError]
        assert [timer.cancelled for timer in clock.timers] == [True, True]

    asyncio.run(test())


def test_work_that_is_over_in_time_is_not_stopped() -> None:
    async def test() -> None:
        clock = TestClock(hold_waits=True)
        go = asyncio.Event()
        working = await started(within(clock, 5.0, go.wait()))
        go.set()
        assert await outcomes(working) == [True]
        assert (clock.expire(5.0), len(clock.timers)) == (0, 1)
        clock.timers[0].callback()

    asyncio.run(test())
