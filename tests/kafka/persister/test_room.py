"""States that would get too large for a record of the state topic: what is asked, what is sent, and what is refused."""

from __future__ import annotations

import asyncio
import logging

import pytest

import share_state as ss
from share_state.errors import ConfigError, LimitExceededError
from share_state.kafka import AsyncKafkaPersister, BrokerUnreachableError, KafkaPersister, OutcomeUnknownError, RetryPolicy
from share_state.kafka.message_bytes import DEFAULT_MAX_MESSAGE_BYTES
from tests.kafka.scripted import (
    KEY,
    READ,
    WRITE,
    Action,
    ScriptedBroker,
    TestClock,
    Turn,
    close,
    error,
    held,
    persister,
    run,
    work_and_close,
)

DESCRIBE_CONFIGS = 32
#: A record of this size holds a snapshot of ten batches, by its key and by what is around them.
BYTES = 440
ALLOWED = 10
ASK_AGAIN = 600.0


def telling(value: str | None, code: int = 0) -> Action:
    """Answer DescribeConfigs with this value."""

    async def act(turn: Turn) -> bytes | None:
        [asked] = turn.asked()["resources"]
        assert (asked["resourceType"], asked["resourceName"]) == (2, "__share_group_state")
        assert asked["configurationKeys"] == ["max.message.bytes"]
        config = {"name": "max.message.bytes", "value": value, "readOnly": False, "configSource": 5, "isSensitive": False}
        result = {"errorCode": code, "errorMessage": None, "resourceType": 2, "resourceName": "__share_group_state"}
        return turn.answer({"throttleTimeMs": 0, "results": [{**result, "configs": [] if code else [config]}]})

    return act


def limited(action: Action) -> ScriptedBroker:
    """A broker with the request, which it answers so."""
    broker = ScriptedBroker()
    broker.extra_versions = {DESCRIBE_CONFIGS: (1, 4)}
    broker.always[DESCRIBE_CONFIGS] = action
    return broker


def apart(*offsets: int, start_offset: int = -1, leader_epoch: int = 1) -> ss.WriteState:
    """A write of single records that do not touch."""
    return ss.WriteState(1, leader_epoch, start_offset, -1, [ss.StateBatch(n, n, 2, 1) for n in offsets])


def batches(broker: ScriptedBroker) -> int:
    return len(broker.store.read_state(KEY, 1).state_batches)


def test_a_write_that_would_be_too_much_is_refused_before_it_is_sent() -> None:
    async def test() -> None:
        async with limited(telling(str(BYTES))) as broker, persister(await broker.start()) as client:
            await client.reset_state(KEY, 1, 0)
            await client.read_state(KEY, 1)
            for n in range(ALLOWED):
                await client.write_state(KEY, apart(2 * n))
            sent = len(broker.said(WRITE))
            assert (sent, batches(broker)) == (ALLOWED, ALLOWED)
            with pytest.raises(LimitExceededError) as refused:
                await client.write_state(KEY, apart(2 * ALLOWED))
            full = refused.value
            assert (full.limit, full.asked, full.allowed) == ("state batches per state", ALLOWED + 1, ALLOWED)
            assert full.kafka_code == -1
            assert full.__notes__ == [f"max.message.bytes of __share_group_state is taken for {BYTES}"]
            # A batch that leaves those it covers and fills what is between them.
            with pytest.raises(LimitExceededError) as refused:
                await client.write_state(KEY, ss.WriteState(1, 1, -1, -1, [ss.StateBatch(0, 2 * ALLOWED, 0, 0)]))
            assert refused.value.asked == 2 * ALLOWED
            assert (len(broker.said(WRITE)), batches(broker)) == (sent, ALLOWED)
            # What joins two takes no room, and what the start offset passes gives some back.
            await client.write_state(KEY, apart(1))
            await client.write_state(KEY, apart(2 * ALLOWED, 2 * ALLOWED + 2, start_offset=3))
            assert batches(broker) == ALLOWED
            assert len(broker.said(DESCRIBE_CONFIGS)) == 1
            # Far from the limit nothing was read but by the caller; near it once.
            assert len(broker.said(READ)) == 2

    run(test)


def test_a_state_that_was_not_read_is_read_first() -> None:
    async def test() -> None:
        broker = limited(telling(str(BYTES)))
        broker.store.reset_state(KEY, 1, 0)
        broker.store.write_state(KEY, apart(*range(0, 2 * ALLOWED, 2), leader_epoch=0))
        async with broker, persister(await broker.start()) as client:
            with pytest.raises(LimitExceededError):
                await client.write_state(KEY, apart(100, leader_epoch=7))
            assert not broker.said(WRITE)
            [read] = broker.said(READ)
            assert read["topics"][0]["partitions"] == [{"partition": 0, "leaderEpoch": 7}]
            # It is known now.
            await client.write_state(KEY, apart(18, 19, leader_epoch=7))
            assert len(broker.said(READ)) == 1

    run(test)


def test_the_read_of_a_write_is_refused_as_the_write_would_be() -> None:
    async def test() -> None:
        async with limited(telling(str(BYTES))) as broker, persister(await broker.start()) as client:
            with pytest.raises(ss.errors.InvalidRequestError, match="cannot write "):
                await client.write_state(KEY, apart(1))
            await client.reset_state(KEY, 1, 0)
            broker.script[READ].extend([error(74), close])
            with pytest.raises(ss.errors.FencedLeaderEpochError, match="cannot write "):
                await client.write_state(KEY, apart(1))
            # One that is not answered is tried again, and has written nothing.
            await client.write_state(KEY, apart(1))
            assert (len(broker.said(READ)), len(broker.said(WRITE))) == (4, 1)

    run(test)


def test_a_read_that_is_not_answered_leaves_no_outcome_open() -> None:
    async def test() -> None:
        once = RetryPolicy(attempts=1)
        async with limited(telling(str(BYTES))) as broker, persister(await broker.start(), retry=once) as client:
            await client.reset_state(KEY, 1, 0)
            broker.script[READ].append(work_and_close)
            with pytest.raises(BrokerUnreachableError) as lost:
                await client.write_state(KEY, apart(1))
            assert not lost.value.outcome_unknown
            assert not broker.said(WRITE)

    run(test)


def test_a_write_whose_outcome_is_open_is_read_about() -> None:
    async def test() -> None:
        once = RetryPolicy(attempts=1)
        async with limited(telling(str(BYTES))) as broker, persister(await broker.start(), retry=once) as client:
            await client.reset_state(KEY, 1, 0)
            await client.write_state(KEY, apart(*range(0, 16, 2)))
            reads = len(broker.said(READ))
            broker.script[WRITE].append(work_and_close)
            with pytest.raises(OutcomeUnknownError):
                await client.write_state(KEY, apart(16, 18))
            with pytest.raises(LimitExceededError):
                await client.write_state(KEY, apart(20))
            assert len(broker.said(READ)) == reads + 1

    run(test)


@pytest.mark.parametrize("closing", [False, True])
def test_who_gives_up_while_the_state_is_read_writes_nothing(closing: bool) -> None:
    async def test() -> None:
        async with limited(telling(str(BYTES))) as broker:
            client = persister(await broker.start())
            await client.reset_state(KEY, 1, 0)
            release = asyncio.Event()
            broker.script[READ].append(held(release))
            writing = asyncio.create_task(client.write_state(KEY, apart(1)))
            await broker.until(lambda: bool(broker.said(READ)))
            if closing:
                ending = asyncio.create_task(client.close())
                await asyncio.sleep(0)
                release.set()
                with pytest.raises(ss.kafka.PersisterClosedError) as closed:
                    await writing
                assert not closed.value.outcome_unknown
                await ending
            else:
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
                release.set()
                # The next for the share partition has its turn.
                await client.read_summary(KEY)
                await client.close()
            assert not broker.said(WRITE)

    run(test)


@pytest.mark.parametrize(
    "action",
    [telling(None), telling("much"), telling("1000", code=29), telling("1000", code=3), close],
    ids=["no value", "no number", "no right", "no topic", "no answer"],
)
def test_where_the_cluster_does_not_tell_it_is_taken_for_the_default(action: Action, caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with limited(action) as broker, persister(await broker.start()) as client:
            await client.reset_state(KEY, 1, 0)
            with caplog.at_level(logging.WARNING, "share_state.kafka"):
                await client.write_state(KEY, apart(*range(0, 100, 2)))
            [told] = [record.getMessage() for record in caplog.records if "max.message.bytes" in record.getMessage()]
            assert told.endswith(f"taken for {DEFAULT_MAX_MESSAGE_BYTES}")

    run(test)


def test_the_default_is_a_limit_as_any_other() -> None:
    async def test() -> None:
        async with limited(telling(None)) as broker, persister(await broker.start()) as client:
            await client.reset_state(KEY, 1, 0)
            most = (DEFAULT_MAX_MESSAGE_BYTES - 250) // 20
            await client.write_state(KEY, apart(*range(1_000, 101_000, 2)))
            with pytest.raises(LimitExceededError) as refused:
                await client.write_state(KEY, apart(*range(200_000, 206_000, 2)))
            assert 0 <= refused.value.allowed - most < 10

    run(test)


def test_it_is_asked_for_again_after_a_while() -> None:
    async def test() -> None:
        clock = TestClock()
        async with limited(telling(str(BYTES))) as broker, persister(await broker.start(), clock=clock) as client:
            await client.reset_state(KEY, 1, 0)
            with pytest.raises(LimitExceededError):
                await client.write_state(KEY, apart(*range(0, 40, 2)))
            broker.always[DESCRIBE_CONFIGS] = telling(str(2 * BYTES))
            assert clock.expire(ASK_AGAIN) == 1
            await client.write_state(KEY, apart(*range(0, 40, 2)))
            assert len(broker.said(DESCRIBE_CONFIGS)) == 2
        assert clock.expire(ASK_AGAIN) == 0

    run(test)


def test_writes_that_come_together_ask_once() -> None:
    async def test() -> None:
        keys = [KEY._replace(partition=n) for n in range(20)]
        async with limited(telling(str(BYTES))) as broker, persister(await broker.start()) as client:
            await asyncio.gather(*(client.reset_state(key, 1, 0) for key in keys))
            await asyncio.gather(*(client.write_state(key, apart(1)) for key in keys))
            assert (len(broker.said(DESCRIBE_CONFIGS)), len(broker.said(READ))) == (1, 1)

    run(test)


def test_what_is_given_is_not_asked_for() -> None:
    async def test() -> None:
        async with limited(telling("1")) as broker:
            host, port = await broker.start()
            async with AsyncKafkaPersister(f"{host}:{port}", max_message_bytes=BYTES) as client:
                await client.reset_state(KEY, 1, 0)
                with pytest.raises(LimitExceededError):
                    await client.write_state(KEY, apart(*range(0, 2 * ALLOWED + 2, 2)))
                await client.write_state(KEY, apart(*range(0, 2 * ALLOWED, 2)))
            assert not broker.said(DESCRIBE_CONFIGS)

    run(test)
    for kind in (AsyncKafkaPersister, KafkaPersister):
        with pytest.raises(ConfigError, match="max_message_bytes is 0; expected at least 1") as wrong:
            kind("a:1", max_message_bytes=0)
        assert (wrong.value.field, wrong.value.value) == ("max_message_bytes", 0)


def test_a_state_that_is_deleted_is_forgotten() -> None:
    async def test() -> None:
        async with limited(telling(str(BYTES))) as broker, persister(await broker.start()) as client:
            for epoch in (1, 2):
                await client.reset_state(KEY, epoch, 0)
                await client.write_state(KEY, ss.WriteState(epoch, 1, -1, -1, apart(*range(0, 20, 2)).state_batches))
                await client.delete_state(KEY)
            assert len(broker.said(READ)) == 2

    run(test)
