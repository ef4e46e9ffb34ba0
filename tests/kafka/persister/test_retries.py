"""Retries: which requests, how often and how far apart, and the error in the end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from share_state.errors import (
    FencedLeaderEpochError,
    FencedStateEpochError,
    InvalidRequestError,
    UnknownPartitionError,
)
from share_state.kafka import (
    BadAnswerError,
    BrokerTooOldError,
    BrokerUnreachableError,
    CoordinatorUnavailableError,
    FencedByLeaderEpochError,
    FencedByStateEpochError,
    KafkaPersisterError,
    NotAuthorizedError,
    RefusedError,
    UnknownTopicError,
)
from share_state.kafka.shown_key import shown_key
from tests.kafka.scripted import (
    FIND,
    INITIALIZE,
    KEY,
    VERSIONS,
    WRITE,
    ScriptedBroker,
    TestClock,
    Turn,
    error,
    persister,
    run,
    write,
)

#: The body of its answer to ApiVersions version 3.
VERSIONS_OF_4_0 = Path(__file__).with_name("api-versions-4.0.0.hex")
#: Code, what it becomes after the last attempt, and whether it is tried again.
CODES = [
    (3, UnknownTopicError, True),
    (14, CoordinatorUnavailableError, True),
    (15, CoordinatorUnavailableError, True),
    (16, CoordinatorUnavailableError, True),
    (-1, KafkaPersisterError, False),
    (31, NotAuthorizedError, False),
    (42, RefusedError, False),
    (56, KafkaPersisterError, False),
    (74, FencedByLeaderEpochError, False),
    (124, FencedByStateEpochError, False),
    (999, KafkaPersisterError, False),
]


@pytest.mark.parametrize(("code", "kind", "again"), CODES, ids=[str(code) for code, _, _ in CODES])
def test_an_answer_with_a_code_is_tried_again_or_raised(code: int, kind: type[KafkaPersisterError], again: bool) -> None:
    async def test() -> None:
        clock = TestClock()
        async with ScriptedBroker() as broker, persister(address := await broker.start(), clock=clock) as client:
            await client.reset_state(KEY, 1, 0)
            broker.always[WRITE] = error(code, "the broker's words")
            with pytest.raises(KafkaPersisterError) as raised:
                await client.write_state(KEY, write())
            attempts = 5 if again else 1
            assert type(raised.value) is kind
            assert (raised.value.kafka_code, raised.value.attempts) == (code, attempts)
            assert (raised.value.key, raised.value.node) == (shown_key(KEY), f"broker 1 ({address.host}:{address.port})")
            assert not raised.value.outcome_unknown
            assert "the broker's words" in str(raised.value)
            assert raised.value.kafka_name in str(raised.value)
            assert len(broker.said(WRITE)) == attempts
            # Each further attempt looks the coordinator up again.
            assert len(broker.said(FIND)) == attempts
            assert clock.waits == [1.0, 2.0, 4.0, 8.0][: attempts - 1]

    run(test)


def test_the_errors_are_also_those_of_every_persister() -> None:
    assert issubclass(RefusedError, InvalidRequestError)
    assert issubclass(FencedByLeaderEpochError, FencedLeaderEpochError)
    assert issubclass(FencedByStateEpochError, FencedStateEpochError)
    assert issubclass(UnknownTopicError, UnknownPartitionError)


@pytest.mark.parametrize("code", [3, 14, 15, 16])
def test_a_later_attempt_succeeds(code: int) -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            broker.script[INITIALIZE].extend([error(code), error(code), error(16), error(15)])
            await client.reset_state(KEY, 1, 7)
            assert broker.store.read_summary(KEY).start_offset == 7
            assert len(broker.said(INITIALIZE)) == 5

    run(test)


def test_each_further_attempt_is_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            broker.script[INITIALIZE].extend([error(14, "two\nlines"), error(16)])
            await client.reset_state(KEY._replace(group="break\nin"), 1, 0)

    run(test)
    said = [record for record in caplog.records if record.name == "share_state.kafka"]
    assert [record.levelname for record in said] == ["WARNING"] * 2
    assert not any("\n" in record.getMessage() for record in said)
    assert "attempt 1 of 5, next in 1.0 s" in said[0].getMessage()


def test_only_those_that_were_refused_are_tried_again() -> None:
    async def test() -> None:
        keys = [KEY._replace(partition=index) for index in range(3)]

        async def second_refused(turn: Turn) -> bytes:
            results = [{"partition": n, "errorCode": 14 if n == 1 else 0, "errorMessage": None} for n in range(3)]
            return turn.answer({"results": [{"topicId": KEY.topic_id, "partitions": results}]})

        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            broker.script[INITIALIZE].append(second_refused)
            await asyncio.gather(*(client.reset_state(key, 0, 0) for key in keys))
            assert [len(message["topics"][0]["partitions"]) for message in broker.said(INITIALIZE)] == [3, 1]

    run(test)


def test_a_refused_write_does_not_let_a_younger_one_pass() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            await client.reset_state(KEY, 1, 0)
            broker.script[WRITE].extend([error(14), error(16)])
            await asyncio.gather(*(client.write_state(KEY, write(start_offset=n)) for n in range(3)))
            starts = [message["topics"][0]["partitions"][0]["startOffset"] for message in broker.said(WRITE)]
            assert starts == [0, 0, 0, 1, 2]

    run(test)


@pytest.mark.parametrize(
    ("code", "kind", "attempts"),
    [(15, CoordinatorUnavailableError, 5), (31, NotAuthorizedError, 1), (42, RefusedError, 1), (-1, KafkaPersisterError, 1)],
)
def test_a_look_up_with_a_code_is_tried_again_or_raised(code: int, kind: type[KafkaPersisterError], attempts: int) -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, persister(address := await broker.start()) as client:
            broker.always[FIND] = error(code, "")
            with pytest.raises(KafkaPersisterError) as raised:
                await client.read_state(KEY, 1)
            assert type(raised.value) is kind
            assert (raised.value.kafka_code, raised.value.attempts) == (code, attempts)
            assert (raised.value.key, raised.value.node) == (shown_key(KEY), f"{address.host}:{address.port}")
            assert len(broker.said(FIND)) == attempts

    run(test)


def test_the_state_moves_to_another_broker() -> None:
    async def test() -> None:
        async with ScriptedBroker() as old, ScriptedBroker(node_id=2) as new, persister(await old.start()) as client:
            place = await new.start()
            new.store.reset_state(KEY, 1, 40)
            await client.reset_state(KEY, 1, 0)

            async def moved(turn: Turn) -> bytes:
                found = [
                    {"key": key, "nodeId": 2, "host": place.host, "port": place.port, "errorCode": 0, "errorMessage": None}
                    for key in turn.asked()["coordinatorKeys"]
                ]
                return turn.answer({"throttleTimeMs": 0, "coordinators": found})

            old.always[FIND] = moved
            old.always[WRITE] = error(16)
            await client.write_state(KEY, write(start_offset=41))
            assert new.store.read_summary(KEY).start_offset == 41
            assert len(old.said(WRITE)) == 1

    run(test)


def test_nobody_listens() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            gone = [await broker.start()]
        async with ScriptedBroker() as broker:
            gone.append(await broker.start())
        clock = TestClock()
        async with persister(*gone, clock=clock) as client:
            with pytest.raises(BrokerUnreachableError) as raised:
                await client.read_summary(KEY)
            assert (raised.value.kafka_code, raised.value.attempts, raised.value.outcome_unknown) == (13, 5, False)
            # Both servers are named.
            assert all(f"{host}:{port}" in raised.value.node for host, port in gone)
            assert raised.value.node in str(raised.value)
            assert len(clock.waits) == 4
            with pytest.raises(BrokerUnreachableError):
                await client.topic_ids(["orders"])

    run(test)


def test_the_next_bootstrap_server_is_tried() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker:
            gone = await broker.start()
        async with ScriptedBroker() as broker, persister(gone, await broker.start()) as client:
            await client.reset_state(KEY, 1, 0)
            assert broker.connections == 1

    run(test)


def test_a_broker_without_share_groups_is_too_old() -> None:
    async def test() -> None:
        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            broker.extra_versions = {FIND: (0, 5)}
            with pytest.raises(BrokerTooOldError) as raised:
                await client.read_summary(KEY)
            assert (raised.value.kafka_code, raised.value.attempts, raised.value.key) == (35, 1, shown_key(KEY))
            assert "versions 0 to 5" in str(raised.value)
            assert not broker.said(FIND)

        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            broker.extra_versions = {WRITE: (0, -1)}
            await client.reset_state(KEY, 1, 0)
            with pytest.raises(BrokerTooOldError, match="does not have it"):
                await client.write_state(KEY, write())

    run(test)


def test_kafka_4_0_is_too_old() -> None:
    """It has FindCoordinator version 6 and none of the requests after it; what is played is what a broker of 4.0.0 said."""

    async def test() -> None:
        said = bytes.fromhex(VERSIONS_OF_4_0.read_text(encoding="ascii"))

        async def recorded(turn: Turn) -> bytes:
            return (len(said) + 4).to_bytes(4, "big") + turn.request.correlation_id.to_bytes(4, "big") + said

        async with ScriptedBroker() as broker, persister(address := await broker.start()) as client:
            broker.script[VERSIONS].append(recorded)
            with pytest.raises(BrokerTooOldError, match=r"does not have it; share groups need Kafka 4\.2") as raised:
                await client.reset_state(KEY, 1, 0)
            assert (raised.value.kafka_code, raised.value.attempts, raised.value.key) == (35, 1, shown_key(KEY))
            assert raised.value.node == f"{address.host}:{address.port}"
            assert not broker.said(FIND)

    run(test)


def test_a_broker_that_cannot_even_say_its_versions_is_too_old() -> None:
    async def test() -> None:
        async def version_0(turn: Turn) -> bytes:
            body = bytes.fromhex("002300000001001200000002")
            return (len(body) + 4).to_bytes(4, "big") + turn.request.correlation_id.to_bytes(4, "big") + body

        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            broker.script[VERSIONS].append(version_0)
            with pytest.raises(BrokerTooOldError, match="ApiVersions"):
                await client.read_summary(KEY)

    run(test)


def test_an_answer_that_leaves_out_what_was_asked() -> None:
    async def test() -> None:
        async def nothing(turn: Turn) -> bytes:
            return turn.answer({"results": []})

        async def nobody(turn: Turn) -> bytes:
            return turn.answer({"throttleTimeMs": 0, "coordinators": []})

        async with ScriptedBroker() as broker, persister(await broker.start()) as client:
            broker.script[FIND].append(nobody)
            with pytest.raises(BadAnswerError, match="lacks"):
                await client.reset_state(KEY, 1, 0)
            broker.script[INITIALIZE].append(nothing)
            with pytest.raises(KafkaPersisterError, match="says nothing about the share partition") as raised:
                await client.reset_state(KEY, 1, 0)
            assert raised.value.outcome_unknown
            assert raised.value.attempts == 1

    run(test)
