"""Requests for many share partitions, message by message: what goes out together, and to whom each part of an answer goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

import share_state as ss
from share_state.errors import ShareStateError
from share_state.kafka import folding as module
from share_state.kafka import operations
from share_state.kafka.call import Call
from share_state.kafka.client.apis import API_VERSIONS
from share_state.kafka.client.peers import LostError
from share_state.kafka.folding import Folding
from share_state.kafka.operations import Operation
from tests.kafka.asked_brokers import BROKER
from tests.kafka.scripted import DELETE, READ, TOPIC, WRITE, on_loop

OTHER = "AAAAAAAAAAAAAAAAAAAACQ"
STATE = ss.WriteState(5, 6, 7, 8, [ss.StateBatch(7, 9, 0, 1)])
WRITTEN = {
    "stateEpoch": 5,
    "leaderEpoch": 6,
    "startOffset": 7,
    "deliveryCompleteCount": 8,
    "stateBatches": [{"firstOffset": 7, "lastOffset": 9, "deliveryState": 0, "deliveryCount": 1}],
}


def key(partition: int, topic: str = TOPIC, group: str = "g") -> ss.SharePartitionKey:
    return ss.SharePartitionKey(group, topic, partition)


class Folded:
    """A folding, the requests that went out, and what became of each call."""

    def __init__(self) -> None:
        self.connected = True
        self.refuses: Exception | None = None
        self.hold: asyncio.Event | None = None
        self.connects = 0
        self.requests: list[tuple[int, dict[str, Any]]] = []
        self.answers: list[Callable[[Any], None]] = []
        self.became: list[tuple[Any, ...]] = []
        connection = SimpleNamespace(version_of=lambda api_key: API_VERSIONS[api_key][1], send=self._send)

        async def connect(_: object) -> Any:
            self.connects += 1
            await (asyncio.sleep(0) if self.hold is None else self.hold.wait())
            if self.refuses is not None:
                raise self.refuses
            return connection

        cluster = SimpleNamespace(opened=lambda _: connection if self.connected else None, connection=connect)
        self.folding = Folding(cast("Any", cluster), self._done, self._done)

    def _done(self, call: Call, *what: Any) -> None:
        call.over = True
        self.became.append((call.operation.key.partition, *what))

    def _send(self, api_key: int, version: int, body: bytes, decode: Callable[..., Any], done: Callable[[Any], None]) -> None:
        self.requests.append((api_key, ss.decode_message(api_key, version, body)))

        def answered(what: Any) -> None:
            if isinstance(what, LostError):
                done(what)
                return
            # In the frame there is a header before the message.
            frame = b"head" + ss.encode_message(api_key, version, what, response=True)
            done(decode(version, frame, 4))

        self.answers.append(answered)

    async def ask(self, *asked: Operation) -> list[Call]:
        calls = [Call(operation, asyncio.get_running_loop().create_future()) for operation in asked]
        for call in calls:
            self.folding.submit(BROKER, call)
        await asyncio.sleep(0.001)
        return calls

    @property
    def partitions(self) -> list[int]:
        """Number of share partitions in each request."""
        return [sum(len(topic["partitions"]) for topic in asked["topics"]) for _, asked in self.requests]


@on_loop
async def test_a_request_has_each_topic_once() -> None:
    folded = Folded()
    await folded.ask(*(operations.read(key(number, topic), 4) for number, topic in ((0, TOPIC), (1, OTHER), (2, TOPIC))))
    rows = [{"partition": number, "leaderEpoch": 4} for number in range(3)]
    topics = [{"topicId": TOPIC, "partitions": [rows[0], rows[2]]}, {"topicId": OTHER, "partitions": [rows[1]]}]
    assert folded.requests == [(READ, {"groupId": "g", "topics": topics})]
    # On the connection that there is.
    assert folded.connects == 0
    read: list[dict[str, Any]] = [
        {"partition": number, "errorCode": code, "errorMessage": said, "stateEpoch": 1, "startOffset": 2, "stateBatches": []}
        for number, code, said in ((0, 0, None), (2, 74, "late"), (1, 0, None))
    ]
    results = [{"topicId": TOPIC, "partitions": read[:2]}, {"topicId": OTHER, "partitions": read[2:]}]
    folded.answers[0]({"results": results})
    assert folded.became == [(0, 0, None, read[0]), (2, 74, "late", read[1]), (1, 0, None, read[2])]


@on_loop
async def test_writes_go_out_with_their_states() -> None:
    folded = Folded()
    await folded.ask(operations.write(key(0), STATE), operations.write(key(1), STATE))
    rows = [{"partition": number, **WRITTEN} for number in range(2)]
    assert folded.requests == [(WRITE, {"groupId": "g", "topics": [{"topicId": TOPIC, "partitions": rows}]})]
    results = [{"partition": number, "errorCode": 3 * number, "errorMessage": None} for number in range(2)]
    folded.answers[0]({"results": [{"topicId": TOPIC, "partitions": results}]})
    assert folded.became == [(0, 0, None, {}), (1, 3, None, {})]


@on_loop
async def test_groups_and_requests_of_other_kinds_go_out_by_themselves() -> None:
    folded = Folded()
    await folded.ask(operations.delete(key(0)), operations.delete(key(1, group="h")), operations.read(key(2), 4))
    assert [(api_key, asked["groupId"]) for api_key, asked in folded.requests] == [(DELETE, "g"), (DELETE, "h"), (READ, "g")]


@on_loop
async def test_what_an_answer_leaves_out_is_lost() -> None:
    folded = Folded()
    await folded.ask(operations.delete(key(0)), operations.delete(key(1)))
    stray = {"partition": 9, "errorCode": 0, "errorMessage": None}
    folded.answers[0]({"results": [{"topicId": TOPIC, "partitions": [{**stray, "partition": 0}, stray]}]})
    (first, (number, lost)) = folded.became
    assert (first[:2], number) == ((0, 0), 1)
    assert isinstance(lost, LostError)
    assert str(lost) == "broker 1 (one:9092): the answer says nothing about the share partition"
    assert (lost.code, lost.sent, lost.retriable) == (-1, True, False)


@pytest.mark.parametrize("refuses", [LostError("one", "gone", code=13, sent=False), ShareStateError("no")])
@on_loop
async def test_no_connection_is_the_failure_of_all_who_wait_for_it(refuses: Exception) -> None:
    folded = Folded()
    folded.connected, folded.refuses = False, refuses
    calls = await folded.ask(*(operations.delete(key(number)) for number in range(3)))
    assert folded.became == [(number, refuses) for number in range(3)]
    assert [call.sent for call in calls] == [False] * 3
    # The next ones are sent once there is a connection.
    folded.refuses = None
    (later,) = await folded.ask(operations.delete(key(7)))
    assert (folded.partitions, later.sent) == ([1], True)


@on_loop
async def test_what_is_lost_is_lost_for_all_that_are_not_over() -> None:
    folded = Folded()
    calls = await folded.ask(*(operations.delete(key(number)) for number in range(3)))
    calls[1].over = True
    lost = LostError("one", "gone", code=13, sent=True)
    folded.answers[0](lost)
    assert folded.became == [(0, lost), (2, lost)]
    await folded.ask(operations.delete(key(7)))
    assert folded.partitions == [3, 1]


@on_loop
async def test_how_many_go_out_and_when() -> None:
    folded = Folded()
    # Two requests are in progress where many wait, and no third.
    await folded.ask(*(operations.delete(key(number)) for number in range(128)))
    assert folded.partitions == [64, 64]
    await folded.ask(*(operations.delete(key(number)) for number in range(200, 300)))
    assert folded.partitions == [64, 64]
    folded.answers[0](LostError("one", "gone", code=13, sent=True))
    await asyncio.sleep(0.001)
    assert folded.partitions == [64, 64, 100]
    # With one in progress so few wait for its end.
    folded = Folded()
    await folded.ask(operations.delete(key(0)))
    await folded.ask(*(operations.delete(key(number)) for number in range(1, 64)))
    assert folded.partitions == [1]
    await folded.ask(operations.delete(key(64)))
    assert folded.partitions == [1, 64]


@on_loop
async def test_a_request_is_no_larger_than_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PARTITIONS", 3)
    folded = Folded()
    calls = [Call(operations.delete(key(number)), asyncio.get_running_loop().create_future()) for number in range(5)]
    calls[1].over = True
    for call in calls:
        folded.folding.submit(BROKER, call)
    await asyncio.sleep(0.001)
    assert folded.partitions == [3]
    assert [call.sent for call in calls] == [True, False, True, True, False]
    monkeypatch.setattr(module, "MAX_BYTES", 128)
    folded = Folded()
    await folded.ask(*(operations.delete(key(number)) for number in range(3)))
    assert folded.partitions == [2]
    # One always goes out, however large it is.
    folded = Folded()
    monkeypatch.setattr(module, "MAX_BYTES", 1)
    await folded.ask(*(operations.delete(key(number)) for number in range(2)))
    assert folded.partitions == [1]


@on_loop
async def test_closing_ends_the_opening_of_connections() -> None:
    folded = Folded()
    folded.connected, folded.hold = False, asyncio.Event()
    await folded.ask(operations.delete(key(0)))
    assert len(asyncio.all_tasks()) == 2
    await folded.folding.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert (folded.connects, folded.requests, folded.became) == (1, [], [])


@on_loop
async def test_no_connection_is_opened_for_calls_that_are_over() -> None:
    folded = Folded()
    folded.connected = False
    calls = [Call(operations.delete(key(number)), asyncio.get_running_loop().create_future()) for number in range(3)]
    for call in calls:
        folded.folding.submit(BROKER, call)
    for call in calls:
        call.over = True
    await asyncio.sleep(0.001)
    assert (folded.connects, folded.requests) == (0, [])
    # The next one is sent as if they had not been there.
    calls = await folded.ask(*(operations.delete(key(number)) for number in range(2)))
    await asyncio.sleep(0.001)
    assert (folded.connects, folded.partitions, [call.sent for call in calls]) == (1, [2], [True, True])
