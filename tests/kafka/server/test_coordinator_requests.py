"""Requests to the share coordinator server, frame for frame, without a connection: answers, and what a stranger is answered."""

from __future__ import annotations

import asyncio
import struct
from typing import Any, cast

import pytest

from share_state.errors import UnsupportedVersionError, WireDecodeError
from share_state.kafka import ShareCoordinatorServer, Topic
from share_state.kafka.client.peers import Address
from share_state.kafka.logins import Login, Users
from tests.kafka.scripted import AUTHENTICATE, FIND, HANDSHAKE, INITIALIZE, METADATA, SUMMARY, TOPIC, VERSIONS, WRITE
from tests.kafka.server.coordinator_stand_ins import (
    Writer,
    answer,
    authenticate,
    find,
    handshake,
    header,
    received,
    request,
    server,
)

HERE = Address("host", 4321)
USERS = {"alice": "secret"}
GOOD, WRONG = b"\0alice\0secret", b"\0alice\0wrong"
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


def respond(coordinator: ShareCoordinatorServer, payload: bytes) -> bytes | None:
    return asyncio.run(coordinator.respond(payload, HERE))


SOFTWARE = {"clientSoftwareName": "x", "clientSoftwareVersion": "1"}
LET_IN = {"errorCode": 0, "errorMessage": None, "authBytes": b"", "sessionLifetimeMs": 0}


# One request.


def test_a_server_is_one_broker_of_a_cluster_of_its_own() -> None:
    topics = {"orders": Topic(TOPIC, 0)}
    asked = {"topics": None, "allowAutoTopicCreation": False, "includeTopicAuthorizedOperations": False}
    told = answer(METADATA, 12, respond(server(topics=topics), request(METADATA, 12, asked)))
    assert told == {
        "throttleTimeMs": 0,
        "brokers": [{"nodeId": 1, "host": "host", "port": 4321, "rack": None}],
        "clusterId": "share-state-coordinator",
        "controllerId": 1,
        "topics": [
            {
                "errorCode": 0,
                "name": "orders",
                "topicId": TOPIC,
                "isInternal": False,
                "partitions": [],
                "topicAuthorizedOperations": -(1 << 31),
            }
        ],
    }
    named = answer(METADATA, 13, respond(server(node_id=7, cluster_id="mine"), request(METADATA, 13, asked)))
    assert (named["clusterId"], named["controllerId"], named["errorCode"], named["topics"]) == ("mine", 7, 0, [])


@pytest.mark.parametrize("version", [4, 5, 6])
def test_a_coordinator_is_found_where_the_request_came_in(version: int) -> None:
    (row,) = answer(FIND, version, respond(server(), request(FIND, version, find())))["coordinators"]
    if version == 6:
        here = {"nodeId": 1, "host": "host", "port": 4321, "errorCode": 0, "errorMessage": ""}
        assert row == {"key": f"g:{TOPIC}:0", **here}
    else:
        assert (row["nodeId"], row["errorCode"]) == (-1, 42)


@pytest.mark.parametrize("version", [0, 1])
def test_the_oldest_and_the_newest_version_of_a_request_are_answered(version: int) -> None:
    coordinator = server()
    row = {"partition": 1, "stateEpoch": 2, "startOffset": 3}
    begun = {"groupId": "g", "topics": [{"topicId": TOPIC, "partitions": [row]}]}
    done = {"results": [{"topicId": TOPIC, "partitions": [{"partition": 1, "errorCode": 0, "errorMessage": None}]}]}
    assert answer(INITIALIZE, 0, respond(coordinator, request(INITIALIZE, 0, begun))) == done
    counted = {"deliveryCompleteCount": 6} if version else {}
    change: dict[str, Any] = {"partition": 1, "stateEpoch": 2, "leaderEpoch": 4, "startOffset": 5, **counted, "stateBatches": []}
    written = {"groupId": "g", "topics": [{"topicId": TOPIC, "partitions": [change]}]}
    assert answer(WRITE, version, respond(coordinator, request(WRITE, version, written))) == done
    asked = {"groupId": "g", "topics": [{"topicId": TOPIC, "partitions": [{"partition": 1, "leaderEpoch": 4}]}]}
    (topic,) = answer(SUMMARY, version, respond(coordinator, request(SUMMARY, version, asked)))["results"]
    told = {"partition": 1, "errorCode": 0, "errorMessage": None, "stateEpoch": 2, "leaderEpoch": 0, "startOffset": 5}
    assert topic == {"topicId": TOPIC, "partitions": [{**told, **counted}]}


KNOWN = "0003000c000d 000a00040006 001200000004 005300000000 005400000000 005500000001 005600000000 005700000001"
LOGINS = "001100010001 002400020002"


@pytest.mark.parametrize(("users", "keys"), [(None, KNOWN), (USERS, f"{KNOWN} {LOGINS}")])
def test_the_versions_that_are_offered_byte_for_byte(users: dict[str, str] | None, keys: str) -> None:
    coordinator = server(users)
    count = len(keys.split())
    plain = f"{count:08x} {keys}"
    tagged = f"{count + 1:02x} {keys.replace(' ', '00 ')} 00"
    for version, expected in (
        (0, f"0000 {plain}"),
        (1, f"0000 {plain} 00000000"),
        (2, f"0000 {plain} 00000000"),
        (3, f"0000 {tagged} 00000000 00"),
        (4, f"0000 {tagged} 00000000 00"),
        # Who asks in a version that nobody knows is answered in version 0.
        (5, f"0023 {plain}"),
        (-1, f"0023 {plain}"),
    ):
        asked = request(VERSIONS, version, SOFTWARE) if version in {3, 4} else header(VERSIONS, version) + b"\0" * (version > 4)
        body = bytes.fromhex(expected)
        assert respond(coordinator, asked) == struct.pack(">ii", len(body) + 4, 77) + body, version


@pytest.mark.parametrize("body", [b"", b"\x02x\x02"])
def test_a_request_for_versions_is_read_to_its_end(body: bytes) -> None:
    with pytest.raises(WireDecodeError):
        respond(server(), header(VERSIONS, 3) + b"\0" + body)


def test_four_bytes_are_a_key_and_a_version() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"^request 18505 version 1 is not known$"):
        respond(server(), b"\x48\x49\0\x01")
    for payload in (b"", b"\0\x12\0"):
        with pytest.raises(WireDecodeError) as refused:
            respond(server(), payload)
        expected = ("a request ends within its header", len(payload), "truncated")
        assert (refused.value.args[0], refused.value.position, refused.value.kind) == expected


# Before a login.


def introduce(login: Login, payload: bytes) -> bytes:
    return asyncio.run(server(USERS)._introduction(login, payload, HERE))


def test_a_login_is_answered_step_by_step() -> None:
    login = Login(Users(USERS))
    versions = request(VERSIONS, 3, SOFTWARE)
    assert introduce(login, versions) == respond(server(USERS), versions)
    assert introduce(login, header(VERSIONS, 9) + b"\0") == respond(server(USERS), header(VERSIONS, 9) + b"\0")
    assert answer(HANDSHAKE, 1, introduce(login, handshake()), 1) == {"errorCode": 0, "mechanisms": MECHANISMS}
    assert (login.over, login.failed) == (False, False)
    assert answer(AUTHENTICATE, 2, introduce(login, authenticate(GOOD)), 2) == LET_IN
    assert (login.over, login.failed, login.name) == (True, False, "alice")


def test_a_login_that_fails_is_answered_with_its_reason() -> None:
    login = Login(Users(USERS))
    assert answer(HANDSHAKE, 1, introduce(login, handshake("GSSAPI")), 1) == {"errorCode": 33, "mechanisms": MECHANISMS}
    introduce(login, handshake())
    why = "Authentication failed: Invalid username or password"
    refused = {**LET_IN, "errorCode": 58, "errorMessage": why}
    assert answer(AUTHENTICATE, 2, introduce(login, authenticate(WRONG)), 2) == refused


@pytest.mark.parametrize(("api_key", "version"), [(17, 0), (17, 2), (36, 1), (36, 3), (10, 6), (3, 12), (83, 0), (99, -1)])
def test_a_stranger_is_not_answered_otherwise(api_key: int, version: int) -> None:
    with pytest.raises(UnsupportedVersionError) as refused:
        introduce(Login(Users(USERS)), header(api_key, version))
    assert str(refused.value) == f"request {api_key} version {version} of a client that has not logged in"


@pytest.mark.parametrize(
    ("said", "expected", "left"),
    [((GOOD,), True, b"\0\0\0\4rest"), ((WRONG,), False, b"\0\0\0\4rest"), ((), False, b"")],
)
async def test_who_is_let_in_is_who_has_logged_in(said: tuple[bytes, ...], expected: bool, left: bytes) -> None:
    writer = Writer()
    reader = received(handshake(), *map(authenticate, said), *([b"rest"] if said else []))
    let_in = await server(USERS)._let_in(Login(Users(USERS)), reader, cast("Any", writer), HERE)
    assert let_in is expected
    assert len(writer.sent) == 1 + len(said)
    assert writer.drained == list(range(1, 2 + len(said)))
    # The bytes after a login are not read as a part of it.
    assert await reader.read() == left
