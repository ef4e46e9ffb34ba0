"""Relay: it passes on whole frames, each client's over its own connection, without the gateway's leader epochs."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.gateway import Limits
from share_state.gateway.access import Access
from share_state.gateway.counts import Counts
from share_state.gateway.net import Net
from share_state.gateway.relay import Relay
from share_state.gateway.requests import Client
from share_state.kafka.client.peers import Address, LostError, Node
from tests.gateway.wire.codec import Message, encode
from tests.gateway.wire.connection import request_header

BROKER = Address("upstream", 9092)
PRODUCE, FETCH, LIST, EPOCH_ENDS, INIT, VOTE = 0, 1, 2, 23, 22, 52
Done = Callable[[Any], None]


def lost(sent: bool = True) -> LostError:
    return LostError("broker 1", "gone", code=13, sent=sent)


class Opened:
    """A connection to upstream that answers by hand or at once."""

    def __init__(self) -> None:
        self.sent: list[tuple[bytes, Done | None]] = []
        #: Answer to each request, or nothing.
        self.says: Any = None
        self.offered: dict[int, tuple[int, int]] = {}
        self.asked: list[tuple[int, Message]] = []
        self.answer: Message = {}

    async def request(self, api_key: int, message: Message) -> Message:
        self.asked.append((api_key, message))
        return self.answer

    def send_frame(self, payload: bytes, done: Done | None) -> None:
        self.sent.append((payload, done))
        if done is not None and self.says is not None:
            done(self.says)


class Lane:
    """Connections to upstream: one broker."""

    def __init__(self) -> None:
        self.made = Opened()
        self.nodes: list[Node] = []
        self.closed = 0
        self.is_lost = False

    async def connection(self, node: Node) -> Opened:
        self.nodes.append(node)
        if self.is_lost:
            raise lost(sent=False)
        return self.made

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1


class Upstream:
    """The upstream, as far as a relay needs it."""

    def __init__(self) -> None:
        self.lanes: dict[str, Lane] = {}
        self.own: list[Lane] = []

    def lane(self, name: str) -> Lane:
        return self.lanes.setdefault(name, Lane())

    def connections(self, *, request_timeout: float) -> Lane:
        # A member that joins a group waits for all others, as long as each may take for its records.
        assert request_timeout >= 3600
        made = Lane()
        made.made.says = b"\x00\x00\x00\x63answer"
        self.own.append(made)
        return made


def relay(upstream: Upstream, *, made_up: bool = False) -> Relay:
    options, counts = SimpleNamespace(upstream=(BROKER,), limits=Limits()), Counts()
    registry = SimpleNamespace(has_made_up_ids=made_up)
    return Relay(cast("Any", upstream), cast("Any", registry), cast("Any", options), counts=counts, net=Net(counts))


def client(number: int = 1) -> Client:
    return Client(number, "client", Address("here", 1), Access())


def request(key: int, version: int, body: bytes, correlation: int = 0x01020304) -> bytes:
    return request_header(key, version, correlation, "me") + body


@pytest.mark.parametrize(
    ("made_up", "offered", "told"),
    [
        (False, {0: (0, 13), 1: (4, 17), 3: (0, 13)}, {0: (0, 13), 1: (4, 17), 3: (0, 13)}),
        (True, {0: (0, 13), 1: (4, 17), 3: (0, 13)}, {0: (0, 12), 1: (4, 12), 3: (0, 13)}),
        (True, {0: (3, 9), 1: (4, 11)}, {0: (3, 9), 1: (4, 11)}),
        (True, {1: (4, 13)}, {1: (4, 12)}),
        (True, {0: (3, 13)}, {0: (3, 12)}),
        (False, {17: (0, 1), 36: (0, 2), 35: (0, 4), 16: (0, 5)}, {35: (0, 4), 16: (0, 5)}),
    ],
)
def test_versions_are_those_of_upstream(made_up: bool, offered: dict[int, Any], told: dict[int, Any]) -> None:
    upstream = Upstream()
    upstream.lane("relay").made.offered = offered
    assert asyncio.run(relay(upstream, made_up=made_up).versions()) == told
    assert upstream.lanes["relay"].nodes == [(-1, BROKER)]


def test_coordinators_are_looked_for_at_the_broker() -> None:
    upstream = Upstream()
    upstream.lane("relay").made.answer = {"coordinators": [{"errorCode": 15}, {"errorCode": 7}]}
    assert asyncio.run(relay(upstream).find_coordinator(1, "t")) == 15
    assert upstream.lanes["relay"].made.asked == [(10, {"key": "t", "keyType": 1, "coordinatorKeys": ["t"]})]
    assert upstream.lanes["relay"].nodes == [(-1, BROKER)]


def test_each_client_has_a_connection_of_its_own() -> None:
    upstream = Upstream()

    async def run() -> None:
        made = relay(upstream)
        assert made.requests == 0
        first, second = request(INIT, 0, b"one"), request(INIT, 0, b"two", 0x7FFFFFFF)
        # The correlation id is the client's own; before it, the length.
        assert await made.respond(client(1), first) == b"\0\0\0\x0a\x01\x02\x03\x04answer"
        assert await made.respond(client(2), second) == b"\0\0\0\x0a\x7f\xff\xff\xffanswer"
        assert await made.respond(client(1), second) == b"\0\0\0\x0a\x7f\xff\xff\xffanswer"
        assert made.requests == 3
        assert [[payload for payload, _ in lane.made.sent] for lane in upstream.own] == [[first, second], [second]]
        assert [lane.nodes for lane in upstream.own] == [[(-1, BROKER)] * 2, [(-1, BROKER)]]
        # Who is gone has none any more; who comes back gets a new one.
        made.gone(client(1))
        made.gone(client(1))
        made.gone(client(3))
        await asyncio.sleep(0.01)
        assert [lane.closed for lane in upstream.own] == [1, 0]
        await made.respond(client(1), first)
        made.gone(client(2))
        await made.close()
        assert [lane.closed for lane in upstream.own] == [1, 1, 1]
        await made.close()
        assert [lane.closed for lane in upstream.own] == [1, 1, 1]

    asyncio.run(run())


def test_a_request_that_is_not_answered_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    upstream = Upstream()
    caplog.set_level(logging.WARNING, "share_state.gateway.relay")
    asked = request(INIT, 0, bytes(6))
    answer = struct.pack(">iiihqh", 20, 0x01020304, 0, 14, -1, -1)

    async def run() -> None:
        made = relay(upstream)
        await made.respond(client(), asked)
        upstream.own[0].made.says = lost()
        assert await made.respond(client(), asked) == answer
        upstream.own[0].is_lost = True
        assert await made.respond(client(), asked) == answer
        # Of one broker to another: there is no form for its answer.
        assert await made.respond(client(), request(VOTE, 0, b"")) is None
        assert made.requests == 4

    asyncio.run(run())
    who = "client='' host=client principal='User:ANONYMOUS' software=''"
    not_forwarded = [f"a request was not forwarded: {lost(sent)}: {who}" for sent in (True, False, False)]
    closed = f"closed a connection: no answer to request {VOTE} can say error 7: {who}"
    assert [record.getMessage() for record in caplog.records] == [*not_forwarded, closed]


def test_an_answer_to_who_has_stopped_waiting_is_dropped() -> None:
    upstream = Upstream()

    async def run() -> None:
        made = relay(upstream)
        await made.respond(client(), request(INIT, 0, b""))
        upstream.own[0].made.says = None
        waits = asyncio.create_task(made.respond(client(), request(INIT, 0, b"")))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)
        _, done = upstream.own[0].made.sent[1]
        assert done is not None
        done(b"\0\0\0\0late")
        done(lost())

    asyncio.run(run())


NOBODY_OLD, NOBODY = b"\xff\xff", b"\0"


@pytest.mark.parametrize(
    ("key", "version", "body", "is_answered"),
    [
        (PRODUCE, 8, NOBODY_OLD + b"\0\0", False),
        (PRODUCE, 3, NOBODY_OLD + b"\0\0" + b"rest", False),
        (PRODUCE, 9, NOBODY + b"\0\0" + b"rest", False),
        (PRODUCE, 12, NOBODY + b"\0\0", False),
        (PRODUCE, 8, NOBODY_OLD + b"\0\x01", True),
        (PRODUCE, 8, NOBODY_OLD + b"\xff\xff", True),
        (PRODUCE, 9, NOBODY + b"\0\x01", True),
        (PRODUCE, 9, NOBODY + b"\xff\xff", True),
        # With a transactional id: "a" and "".
        (PRODUCE, 8, b"\0\x01a\0\0", True),
        (PRODUCE, 8, b"\0\0\0\0", True),
        (PRODUCE, 9, b"\x02a\0\0", True),
        (PRODUCE, 9, b"\x01\0\0", True),
        (INIT, 0, NOBODY_OLD + b"\0\0", True),
    ],
)
def test_a_producer_without_acknowledgements_gets_no_answer(key: int, version: int, body: bytes, is_answered: bool) -> None:
    upstream = Upstream()
    payload = request(key, version, body)
    told = asyncio.run(relay(upstream).respond(client(), payload))
    ((sent, done),) = upstream.own[0].made.sent
    assert sent == payload
    assert (done is not None, bool(told)) == (is_answered, is_answered)
    assert is_answered or told == b""


def without_epochs(key: int, version: int, body: bytes) -> bytes:
    """The body that upstream gets of a request."""
    upstream = Upstream()
    head = request(key, version, b"")
    asyncio.run(relay(upstream).respond(client(), head + body))
    ((sent, _),) = upstream.own[0].made.sent
    assert sent[: len(head)] == head
    return sent[len(head) :]


@pytest.mark.parametrize("version", [9, 11, 12])
def test_a_fetch_goes_on_without_the_epoch_of_the_gateway(version: int) -> None:
    def body(epoch: int) -> bytes:
        rows = [
            {"partition": number, "currentLeaderEpoch": epoch, "fetchOffset": 5, "logStartOffset": 3, "partitionMaxBytes": 9}
            for number in (2, 0)
        ]
        topics = [{"topic": "b", "partitions": rows}, {"topic": "a", "partitions": rows[:1]}, {"topic": "c", "partitions": []}]
        return encode(FETCH, version, {"maxWaitMs": 1, "minBytes": 2, "maxBytes": 3, "isolationLevel": 1, "topics": topics})

    assert without_epochs(FETCH, version, body(7)) == body(-1)
    assert without_epochs(FETCH, version, body(-1)) == body(-1)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_question_for_the_end_of_an_epoch_keeps_the_epoch_that_it_is_about(version: int) -> None:
    def body(epoch: int) -> bytes:
        rows = [{"partition": number, "currentLeaderEpoch": epoch, "leaderEpoch": number + 4} for number in (0, 1)]
        more = {"replicaId": -1} if version >= 3 else {}
        return encode(EPOCH_ENDS, version, {**more, "topics": [{"topic": name, "partitions": rows} for name in "ba"]})

    assert without_epochs(EPOCH_ENDS, version, body(7)) == body(-1)
    # What follows a message is nobody's.
    assert without_epochs(EPOCH_ENDS, version, body(7) + b"more") == body(-1)


def test_epochs_of_other_requests_are_left_as_they_are() -> None:
    row = {"partitionIndex": 0, "currentLeaderEpoch": 7, "timestamp": -1}
    body = encode(LIST, 6, {"topics": [{"name": "a", "partitions": [row]}]})
    assert without_epochs(LIST, 6, body) == body
