"""Connections cut at every stage, time-outs and cancellation: nothing is called written unless the coordinator said so."""

from __future__ import annotations

import asyncio

import pytest

import share_state as ss
from share_state.kafka import BrokerUnreachableError, KafkaPersisterError, OutcomeUnknownError, PersisterClosedError, RetryPolicy
from share_state.kafka.shown_key import shown_key
from tests.kafka.scripted import (
    CONNECT_TIMEOUT,
    FIND,
    KEY,
    READ,
    REQUEST_TIMEOUT,
    VERSIONS,
    WRITE,
    Action,
    ScriptedBroker,
    TestClock,
    Turn,
    close,
    error,
    held,
    on_loop,
    persister,
    work_and_close,
    write,
)

ONCE = RetryPolicy(attempts=1)


def cut_after(count: int) -> Action:
    """Send the first bytes of the answer and close."""

    async def act(turn: Turn) -> bytes | None:
        answer = await turn.usual()
        assert answer is not None
        turn.writer.write(answer[:count])
        await turn.writer.drain()
        return None

    return act


@pytest.mark.parametrize("cut", [close, work_and_close, cut_after(2), cut_after(4), cut_after(9), cut_after(20)])
@on_loop
async def test_a_connection_cut_after_a_write_was_sent_leaves_the_outcome_open(cut: Action) -> None:
    async with ScriptedBroker() as broker, persister(await broker.start(), retry=ONCE) as client:
        await client.reset_state(KEY, 1, 0)
        broker.script[WRITE].append(cut)
        with pytest.raises(OutcomeUnknownError) as raised:
            await client.write_state(KEY, write(start_offset=5))
        assert (raised.value.kafka_code, raised.value.outcome_unknown, raised.value.key) == (13, True, shown_key(KEY))
        # The next call finds a new connection.
        await client.write_state(KEY, write(start_offset=6))
        assert broker.store.read_summary(KEY).start_offset == 6
        assert broker.connections == 2


@pytest.mark.parametrize("cut", [close, work_and_close, cut_after(9)])
@on_loop
async def test_a_write_that_was_cut_off_is_tried_again(cut: Action) -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await client.reset_state(KEY, 1, 0)
        broker.script[WRITE].extend([cut] * 4)
        await client.write_state(KEY, write(start_offset=5))
        assert broker.store.read_summary(KEY).start_offset == 5
        assert len(broker.said(WRITE)) == 5


@pytest.mark.parametrize("stage", [VERSIONS, FIND])
@pytest.mark.parametrize("cut", [close, cut_after(5)])
@on_loop
async def test_a_connection_cut_before_a_write_was_sent_has_written_nothing(stage: int, cut: Action) -> None:
    async with ScriptedBroker() as broker, persister(await broker.start(), retry=ONCE) as client:
        broker.script[stage].append(cut)
        with pytest.raises(BrokerUnreachableError) as raised:
            await client.write_state(KEY, write())
        assert (raised.value.kafka_code, raised.value.outcome_unknown) == (13, False)
        assert not broker.said(WRITE)


@on_loop
async def test_a_refusal_after_an_unanswered_attempt_still_says_that_it_may_have_happened() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await client.reset_state(KEY, 1, 0)
        broker.script[WRITE].extend([work_and_close, error(124)])
        with pytest.raises(ss.errors.FencedStateEpochError) as refused:
            await client.write_state(KEY, write(start_offset=5))
        assert isinstance(refused.value, KafkaPersisterError)
        assert refused.value.outcome_unknown
        # So it had.
        assert broker.store.read_summary(KEY).start_offset == 5
        broker.script[WRITE].extend([close, error(16), error(16), error(16), error(16)])
        with pytest.raises(OutcomeUnknownError, match="an earlier attempt") as unknown:
            await client.write_state(KEY, write(start_offset=6))
        assert (unknown.value.kafka_code, unknown.value.attempts) == (16, 5)


@on_loop
async def test_an_unanswered_attempt_is_not_forgotten_when_the_broker_is_gone() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await client.reset_state(KEY, 1, 0)
        broker.always[VERSIONS] = close
        broker.script[WRITE].append(work_and_close)
        with pytest.raises(OutcomeUnknownError, match="an earlier attempt") as raised:
            await client.write_state(KEY, write(start_offset=5))
        assert (raised.value.kafka_code, raised.value.attempts, raised.value.outcome_unknown) == (13, 5, True)
        assert broker.store.read_summary(KEY).start_offset == 5


@on_loop
async def test_who_gives_up_while_a_connection_is_opened_does_not_take_it_from_others() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        release = asyncio.Event()
        broker.script[VERSIONS].append(held(release))
        asking = asyncio.create_task(client.topic_ids(["orders"]))
        await broker.until(lambda: bool(broker.said(VERSIONS)))
        other = asyncio.create_task(client.reset_state(KEY, 1, 0))
        for _ in range(10):
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        release.set()
        await other
        assert broker.connections == 1


@on_loop
async def test_all_that_was_under_way_on_a_cut_connection_is_told() -> None:
    keys = [KEY._replace(group=f"g{index}") for index in range(10)]
    async with ScriptedBroker() as broker, persister(await broker.start(), retry=ONCE) as client:
        await asyncio.gather(*(client.reset_state(key, 1, 0) for key in keys))
        broker.script[WRITE].append(close)
        told = await asyncio.gather(*(client.write_state(key, write()) for key in keys), return_exceptions=True)
        assert [type(error) for error in told] == [OutcomeUnknownError] * 10


@on_loop
async def test_an_answer_that_does_not_come_in_time() -> None:
    clock = TestClock()
    async with ScriptedBroker() as broker, persister(await broker.start(), clock=clock, retry=ONCE) as client:
        await client.reset_state(KEY, 1, 0)
        broker.script[WRITE].append(held(asyncio.Event()))
        writing = asyncio.create_task(client.write_state(KEY, write()))
        await broker.until(lambda: bool(broker.said(WRITE)))
        assert clock.expire(REQUEST_TIMEOUT) == 1
        with pytest.raises(OutcomeUnknownError, match="not answered in 1000 s") as raised:
            await writing
        assert raised.value.kafka_code == 7
        # The answers that were in time have taken their time-outs with them.
        assert clock.expire(REQUEST_TIMEOUT) == 0


@on_loop
async def test_a_broker_that_does_not_get_connected_in_time() -> None:
    clock = TestClock()
    async with ScriptedBroker() as broker, persister(await broker.start(), clock=clock, retry=ONCE) as client:
        broker.script[VERSIONS].append(held(asyncio.Event()))
        reading = asyncio.create_task(client.read_state(KEY, 1))
        await broker.until(lambda: bool(broker.said(VERSIONS)))
        assert clock.expire(CONNECT_TIMEOUT) == 1
        with pytest.raises(BrokerUnreachableError, match="too long") as raised:
            await reading
        assert (raised.value.kafka_code, raised.value.outcome_unknown) == (13, False)


@on_loop
async def test_a_call_cancelled_on_the_wire_is_still_answered_before_the_next() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await client.reset_state(KEY, 1, 0)
        release = asyncio.Event()
        broker.script[WRITE].append(held(release))
        writing = asyncio.create_task(client.write_state(KEY, write(start_offset=5)))
        await broker.until(lambda: bool(broker.said(WRITE)))
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        younger = asyncio.create_task(client.write_state(KEY, write(start_offset=6)))
        reading = asyncio.create_task(client.read_state(KEY, 1))
        for _ in range(20):
            await asyncio.sleep(0)
        # They wait for the answer that nobody waits for any more.
        assert len(broker.said(WRITE)) == 1
        assert not broker.said(READ)
        release.set()
        await younger
        assert (await reading).start_offset == 6
        assert broker.connections == 1


@on_loop
async def test_a_call_cancelled_on_the_wire_is_not_tried_again() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await client.reset_state(KEY, 1, 0)
        release = asyncio.Event()

        async def refuse_late(turn: Turn) -> bytes | None:
            await release.wait()
            return await error(16)(turn)

        broker.script[WRITE].append(refuse_late)
        writing = asyncio.create_task(client.write_state(KEY, write()))
        await broker.until(lambda: bool(broker.said(WRITE)))
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        release.set()
        await client.read_state(KEY, 1)
        assert len(broker.said(WRITE)) == 1


@on_loop
async def test_a_call_cancelled_before_it_is_sent_does_nothing() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await client.reset_state(KEY, 1, 0)
        release = asyncio.Event()
        broker.script[WRITE].append(held(release))
        first = asyncio.create_task(client.write_state(KEY, write(start_offset=1)))
        await broker.until(lambda: bool(broker.said(WRITE)))
        after = asyncio.create_task(client.write_state(KEY, write(start_offset=2)))
        neighbour = KEY._replace(partition=1)
        beside = asyncio.create_task(client.write_state(neighbour, write(start_offset=2)))
        last = asyncio.create_task(client.write_state(KEY, write(start_offset=3)))
        for _ in range(10):
            await asyncio.sleep(0)
        after.cancel()
        beside.cancel()
        release.set()
        await asyncio.gather(first, last)
        starts = [message["topics"][0]["partitions"][0]["startOffset"] for message in broker.said(WRITE)]
        assert starts == [1, 3]


@on_loop
async def test_a_call_cancelled_between_attempts_ends_there() -> None:
    clock = TestClock(hold_waits=True)
    async with ScriptedBroker() as broker, persister(await broker.start(), clock=clock) as client:
        await client.reset_state(KEY, 1, 0)
        broker.script[WRITE].append(error(16))
        writing = asyncio.create_task(client.write_state(KEY, write()))
        await clock.waited.wait()
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        await client.read_state(KEY, 1)
        assert len(broker.said(WRITE)) == 1


@on_loop
async def test_closing_waits_for_what_was_sent_and_fails_what_was_not() -> None:
    async with ScriptedBroker() as broker:
        client = persister(await broker.start())
        await client.reset_state(KEY, 1, 0)
        release = asyncio.Event()
        broker.script[WRITE].append(held(release))
        sent = asyncio.create_task(client.write_state(KEY, write(start_offset=5)))
        await broker.until(lambda: bool(broker.said(WRITE)))
        waiting = asyncio.create_task(client.write_state(KEY, write(start_offset=6)))
        await asyncio.sleep(0)
        closing = asyncio.create_task(client.close())
        with pytest.raises(PersisterClosedError) as refused:
            await waiting
        assert (refused.value.key, refused.value.outcome_unknown) == (shown_key(KEY), False)
        assert not closing.done()
        release.set()
        await asyncio.gather(sent, closing)
        assert broker.store.read_summary(KEY).start_offset == 5
        with pytest.raises(PersisterClosedError):
            await client.read_state(KEY, 1)
        await client.close()
