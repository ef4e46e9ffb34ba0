"""Requests to a cluster, word for word, and what becomes of each answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import share_state as ss
from share_state.kafka import BadAnswerError, KafkaPersisterError, NotAuthorizedError
from share_state.kafka.client.peers import Address, LostError, Node
from share_state.kafka.cluster import UnavailableError
from share_state.kafka.errors import CoordinatorUnavailableError
from share_state.kafka.shown_key import shown_key
from tests.kafka.asked_brokers import BROKER, cluster
from tests.kafka.scripted import FIND, KEY, METADATA, TOPIC, on_loop, run

ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
DESCRIBE_CONFIGS = 32


def found(key: ss.SharePartitionKey, code: int = 0, said: str | None = "", node: int = 7) -> dict[str, Any]:
    """A coordinator in an answer to FindCoordinator."""
    place = {"nodeId": node, "host": "seven", "port": 19092} if code == 0 else {"nodeId": -1, "host": "", "port": -1}
    return {"key": ss.coordinator_key(*key), **place, "errorCode": code, "errorMessage": said}


def topic(name: str, code: int = 0) -> dict[str, Any]:
    return {"errorCode": code, "name": name, "topicId": TOPIC, "isInternal": False, "partitions": []}


@on_loop
async def test_ids_of_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    asking, brokers = cluster(monkeypatch)
    brokers.answer = lambda _: {"brokers": [], "topics": [topic("a"), topic("b", 3)]}
    assert await asking.topic_ids(["a", "b"]) == {"a": TOPIC}
    (asked,) = brokers.asked
    assert asked == (
        METADATA,
        {
            "topics": [{"topicId": ZERO_ID, "name": "a"}, {"topicId": ZERO_ID, "name": "b"}],
            "allowAutoTopicCreation": False,
            "includeTopicAuthorizedOperations": False,
        },
    )
    brokers.answer = lambda _: {"brokers": [], "topics": [topic("a"), topic("b", 29)]}
    with pytest.raises(KafkaPersisterError) as refused:
        await asking.topic_ids(["a", "b"])
    assert str(refused.value) == "broker 1 (one:9092): topic 'b': code 29 (TOPIC_AUTHORIZATION_FAILED)"
    assert (refused.value.kafka_code, refused.value.node) == (29, "broker 1 (one:9092)")


@on_loop
async def test_one_configuration_of_a_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    def result(code: int, *configs: tuple[str, str | None]) -> dict[str, Any]:
        rows: list[dict[str, Any]] = [
            {"name": name, "value": value, "readOnly": False, "configSource": 5, "isSensitive": False, "synonyms": []}
            for name, value in configs
        ]
        return {"errorCode": code, "errorMessage": None, "resourceType": 2, "resourceName": "t", "configs": rows}

    asking, brokers = cluster(monkeypatch)
    brokers.answer = lambda _: {"results": [result(0, ("other", "1"), ("max.message.bytes", "1000"))]}
    assert await asking.topic_config("t", "max.message.bytes") == "1000"
    resource = {"resourceType": 2, "resourceName": "t", "configurationKeys": ["max.message.bytes"]}
    asked = {"resources": [resource], "includeSynonyms": False, "includeDocumentation": False}
    assert brokers.asked == [(DESCRIBE_CONFIGS, asked)]
    brokers.answer = lambda _: {"results": [result(0, ("other", "1"))]}
    assert await asking.topic_config("t", "max.message.bytes") is None
    brokers.answer = lambda _: {"results": [result(29)]}
    with pytest.raises(KafkaPersisterError) as refused:
        await asking.topic_config("t", "max.message.bytes")
    assert str(refused.value) == "broker 1 (one:9092): topic 't': code 29 (TOPIC_AUTHORIZATION_FAILED)"
    assert (refused.value.kafka_code, refused.value.node) == (29, "broker 1 (one:9092)")


def test_coordinators_that_are_asked_for_together(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "share_state.kafka")
    keys = [KEY._replace(partition=number) for number in range(3)]

    async def test() -> None:
        asking, brokers = cluster(monkeypatch)
        brokers.answer = lambda _: {"coordinators": [found(key, node=key.partition) for key in reversed(keys)]}
        nodes = await asyncio.gather(*(asking.coordinator(key) for key in (*keys, keys[0])))
        expected = [Node(number, Address("seven", 19092)) for number in range(3)]
        assert nodes == [*expected, expected[0]]
        texts = [f"workers:{TOPIC}:{number}" for number in range(3)]
        assert brokers.asked == [(FIND, {"keyType": 2, "coordinatorKeys": texts})]
        # They are known from now on, until one is forgotten.
        assert [asking.known(key) for key in keys] == expected
        assert [await asking.coordinator(key) for key in keys] == expected
        asking.forget(keys[1])
        asking.forget(keys[1])
        assert [asking.known(key) for key in keys] == [expected[0], None, expected[2]]
        assert await asking.coordinator(keys[1]) == expected[1]
        assert [asked["coordinatorKeys"] for _, asked in brokers.asked] == [texts, [texts[1]]]

    run(test)
    assert caplog.messages[:1] == [f"broker 0 (seven:19092) coordinates {keys[0]!r}"]


@on_loop
async def test_one_look_up_has_no_more_than_500_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [KEY._replace(partition=number) for number in range(1001)]
    asking, brokers = cluster(monkeypatch)
    by_text = {ss.coordinator_key(*key): key for key in keys}
    brokers.answer = lambda asked: {"coordinators": [found(by_text[text]) for text in asked["coordinatorKeys"]]}
    await asyncio.gather(*(asking.coordinator(key) for key in keys))
    assert [len(asked["coordinatorKeys"]) for _, asked in brokers.asked] == [500, 500, 1]


@on_loop
async def test_what_an_answer_says_of_each_key_is_what_its_callers_get(monkeypatch: pytest.MonkeyPatch) -> None:
    good, away, refused, left_out, silent = (KEY._replace(partition=number) for number in range(5))
    strange = KEY._replace(partition=9)
    asking, brokers = cluster(monkeypatch)
    coordinators = [found(away, 15, "wait"), found(strange), found(good), found(refused, 31, "no"), found(silent, 14, None)]
    brokers.answer = lambda _: {"coordinators": coordinators}
    asked = (good, away, refused, left_out, silent)
    got = await asyncio.gather(*(asking.coordinator(key) for key in asked), return_exceptions=True)
    assert got[0] == Node(7, Address("seven", 19092))
    assert [type(one) for one in got[1:]] == [UnavailableError, NotAuthorizedError, BadAnswerError, UnavailableError]
    place = "broker 1 (one:9092)"
    assert [str(one) for one in got[1:]] == [
        f"{place}: no coordinator for {away!r}: code 15 (COORDINATOR_NOT_AVAILABLE): wait",
        f"{place}: no coordinator for {refused!r}: code 31 (CLUSTER_AUTHORIZATION_FAILED): no",
        f"{place}: the answer to FindCoordinator lacks 'workers:{TOPIC}:3'",
        f"{place}: no coordinator for {silent!r}: code 14 (COORDINATOR_LOAD_IN_PROGRESS): no reason given",
    ]
    _, unavailable, not_authorized, bad, _ = got
    assert isinstance(unavailable, UnavailableError)
    assert isinstance(not_authorized, NotAuthorizedError)
    assert isinstance(bad, BadAnswerError)
    assert (unavailable.code, unavailable.node) == (15, BROKER)
    assert (not_authorized.kafka_code, not_authorized.node, not_authorized.key) == (31, place, shown_key(refused))
    assert (bad.kafka_code, bad.node, bad.key) == (-1, place, shown_key(left_out))
    # A key that nobody asked for is not learned.
    assert [asking.known(key) for key in (good, strange)] == [got[0], None]


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (LostError("one", "gone", code=13, sent=True), LostError),
        (CoordinatorUnavailableError("no"), CoordinatorUnavailableError),
        (KeyError("a bug"), KeyError),
    ],
)
@on_loop
async def test_everybody_gets_what_ends_a_look_up(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, kind: type[Exception]
) -> None:
    def answer(_: object) -> dict[str, Any]:
        raise raised

    asking, brokers = cluster(monkeypatch)
    brokers.answer = answer
    keys = [KEY, KEY._replace(partition=1)]
    got = await asyncio.gather(*(asking.coordinator(key) for key in keys), return_exceptions=True)
    assert [type(one) for one in got] == [kind, kind]
    assert [str(one) for one in got] == [str(raised)] * 2
    # A look-up is not about a state yet.
    assert [getattr(one, "sent", False) for one in got] == [False, False]
    # The next one asks again.
    brokers.answer = lambda _: {"coordinators": [found(KEY)]}
    assert await asking.coordinator(KEY) == Node(7, Address("seven", 19092))


@on_loop
async def test_closing_ends_what_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asking, brokers = cluster(monkeypatch)
    brokers.held = asyncio.Event()
    waiting = asyncio.ensure_future(asking.coordinator(KEY))
    await asyncio.sleep(0.001)
    assert len(brokers.asked) == 1
    await asking.close()
    assert brokers.is_closed
    await asyncio.wait([waiting])
    assert waiting.cancelled()


@on_loop
async def test_connections_are_those_of_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    asking, brokers = cluster(monkeypatch)
    brokers.requests = 12
    assert asking.requests == 12
    opened: object = asking.opened(BROKER)
    connection: object = await asking.connection(BROKER)
    assert [opened, connection] == [("opened", BROKER), ("connection", BROKER)]
