"""Requests that are small or many, and cost more than they look: told by bytes and counts, never by time."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import Access, Limits
from share_state.gateway.requests import Client
from share_state.kafka.client.peers import Address
from tests.gateway.orchard import IDS, NO_ID, PEARS, PLUMS, Orchard, orchard
from tests.gateway.serving import fetch, heartbeat
from tests.gateway.wire.codec import Message, api_key, decode, encode
from tests.gateway.wire.connection import Connection, Disconnected, request_header

MIB = 1 << 20


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


@pytest.mark.parametrize(("count", "is_answered"), [(64, True), (65, False), (MIB // 4, False)])
def test_a_header_has_at_most_64_tagged_fields(there: Orchard, count: int, is_answered: bool) -> None:
    tags = varint(count) + b"".join(varint(tag) + b"\0" for tag in range(min(count, 70))) + b"\0" * (2 * max(count - 70, 0))
    key = api_key("ListGroups")
    there.connection.send_frame(request_header(key, 3, 0, "me", header_tags=False) + tags + b"\0")
    if is_answered:
        assert struct.unpack_from(">i", there.connection._exactly(8), 4) == (0,)
    else:
        with pytest.raises(Disconnected):
            there.connection.receive(key, 3)
        with Connection(there.gateway.bootstrap_servers) as another:
            assert another.offered()


#: A request, the bytes before the elements' count, those of an element, and what follows them.
ELEMENTS = [
    ("FindCoordinator", 4, b"\0", b"\1", b"\0"),
    ("Metadata", 9, b"", b"\1\0", b"\0\0\0\0"),
    ("DescribeConfigs", 4, b"", b"\x20\1\1\0", b"\0\0\0"),
    ("DescribeShareGroupOffsets", 1, b"", b"\1\1\0", b"\0"),
    ("ShareAcknowledge", 2, b"\2g\2m\0\0\0\0\0", bytes(16) + b"\1\0", b"\0"),
    ("ListGroups", 5, b"\1", b"\1", b"\0"),
]


@pytest.mark.parametrize(("name", "version", "before", "element", "after"), ELEMENTS)
def test_a_request_has_at_most_so_many_elements(
    there: Orchard, name: str, version: int, *, before: bytes, element: bytes, after: bytes
) -> None:
    most = there.gateway.options.limits.elements
    there.connection.exchange(api_key(name), version, before + varint(most + 1) + element * most + after)
    with pytest.raises(Disconnected):
        there.connection.exchange(api_key(name), version, before + varint(most + 2) + element * (most + 1) + after)


def offsets(topic: str, *partitions: int) -> Message:
    return {"topicName": topic, "partitions": [{"partitionIndex": one, "startOffset": 1} for one in partitions]}


def resource(kind: int, name: str, *names: str) -> Message:
    return {"resourceType": kind, "resourceName": name, "configurationKeys": list(names) or None}


LOCK, LIMIT = "share.record.lock.duration.ms", "share.delivery.count.limit"
TWICE_PLUMS: list[Message] = [{"topicName": PLUMS, "partitions": [0, 1, 0]}, {"topicName": PLUMS, "partitions": [1, 2]}]
#: Requests that name the same again and again, and what their answers name, in its order.
REPEATS: list[tuple[str, int, Message, Callable[[Message], list[Any]], list[Any]]] = [
    (
        "FindCoordinator",
        4,
        {"keyType": 0, "coordinatorKeys": ["a", "", "a"]},
        lambda said: keys(said["coordinators"], "key"),
        ["a", ""],
    ),
    ("Metadata", 12, {"topics": [{"name": PLUMS}] * 3}, lambda said: keys(said["topics"], "name"), [PLUMS]),
    ("Metadata", 12, {"topics": [{"name": "no-such"}] * 3}, lambda said: keys(said["topics"], "name"), ["no-such"]),
    (
        "Metadata",
        12,
        {"topics": [{"topicId": IDS[PEARS], "name": None}, {"topicId": NO_ID[:-1] + "9", "name": None}] * 2},
        lambda said: keys(said["topics"], "topicId"),
        [IDS[PEARS], NO_ID[:-1] + "9"],
    ),
    (
        "DescribeConfigs",
        4,
        {"resources": [resource(32, "a", LOCK), resource(32, "b"), resource(2, PEARS), resource(32, "a", LIMIT)] * 2},
        lambda said: [(one["resourceName"], len(one["configs"])) for one in said["results"]],
        [("a", 2), ("b", 11), (PEARS, 0)],
    ),
    ("DescribeGroups", 5, {"groups": ["a", "b", "a"]}, lambda said: keys(said["groups"], "groupId"), ["a", "b"]),
    ("ShareGroupDescribe", 1, {"groupIds": ["a", "b", "a", ""]}, lambda said: keys(said["groups"], "groupId"), ["a", "b", ""]),
    ("DeleteGroups", 2, {"groupsNames": ["a", "b", "a"]}, lambda said: keys(said["results"], "groupId"), ["a", "b"]),
    (
        "DescribeShareGroupOffsets",
        1,
        {
            "groups": [
                {"groupId": "a", "topics": TWICE_PLUMS},
                {"groupId": "b", "topics": []},
                {"groupId": "a", "topics": TWICE_PLUMS},
            ]
        },
        lambda said: [(one["groupId"], places(one["topics"])) for one in said["groups"]],
        [("a", [(PLUMS, [0, 1, 2])]), ("b", [])],
    ),
    (
        "AlterShareGroupOffsets",
        0,
        {"groupId": "altered", "topics": [offsets(PLUMS, 0, 0), offsets(PEARS, 0), offsets(PLUMS, 1, 0)]},
        lambda said: places(said["responses"]),
        [(PLUMS, [0, 0, 1, 0]), (PEARS, [0])],
    ),
    (
        "DeleteShareGroupOffsets",
        0,
        {"groupId": "altered", "topics": [{"topicName": PLUMS}, {"topicName": PEARS}, {"topicName": PLUMS}]},
        lambda said: keys(said["responses"], "topicName"),
        [PLUMS, PEARS],
    ),
    (
        "ListOffsets",
        5,
        {"replicaId": -1, "topics": [{"name": PLUMS, "partitions": [{"partitionIndex": 0, "timestamp": -1}] * 2}] * 2},
        lambda said: [(one["name"], keys(one["partitions"], "partitionIndex")) for one in said["topics"]],
        [(PLUMS, [0])],
    ),
]


def keys(rows: list[Message], name: str) -> list[Any]:
    return [row[name] for row in rows]


def places(topics: list[Message]) -> list[Any]:
    return [(one["topicName"], keys(one["partitions"], "partitionIndex")) for one in topics]


@pytest.mark.parametrize(("name", "version", "message", "named", "expected"), REPEATS)
def test_what_is_named_again_is_answered_once(
    there: Orchard, name: str, version: int, *, message: Message, named: Callable[[Message], list[Any]], expected: list[Any]
) -> None:
    assert named(there.ask(name, version, message)) == expected


def test_the_offset_that_is_named_last_holds(there: Orchard) -> None:
    topics = [{"topicName": PLUMS, "partitions": [{"partitionIndex": 0, "startOffset": at} for at in (3, 7, 5)]}]
    assert there.ask("AlterShareGroupOffsets", 0, {"groupId": "last", "topics": topics})["errorCode"] == 0
    asked = {"groups": [{"groupId": "last", "topics": None}]}
    (group,) = there.ask("DescribeShareGroupOffsets", 0, asked)["groups"]
    assert [one["startOffset"] for one in group["topics"][0]["partitions"]] == [5]


#: More requests than are answered while a long one arrives and its answer is written.
FEW = 5
MANY = [f"{number:05}" for number in range(5000)]
LONG: list[tuple[str, int, Message]] = [
    ("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": MANY}),
    ("Metadata", 8, {"topics": [{"name": name} for name in MANY]}),
    ("DescribeGroups", 5, {"groups": MANY}),
    ("DescribeConfigs", 4, {"resources": [resource(32, name, LOCK) for name in MANY]}),
    (
        "IncrementalAlterConfigs",
        1,
        {"resources": [{"resourceType": 32, "resourceName": name, "configs": []} for name in MANY], "validateOnly": False},
    ),
    ("ShareGroupDescribe", 1, {"groupIds": MANY}),
    ("DeleteGroups", 2, {"groupsNames": MANY}),
    ("DescribeShareGroupOffsets", 1, {"groups": [{"groupId": name, "topics": []} for name in MANY]}),
    (
        "DescribeShareGroupOffsets",
        1,
        {"groups": [{"groupId": "one", "topics": [{"topicName": n, "partitions": []} for n in MANY]}]},
    ),
    ("AlterShareGroupOffsets", 0, {"groupId": "long", "topics": [{"topicName": name, "partitions": []} for name in MANY]}),
    ("DeleteShareGroupOffsets", 0, {"groupId": "long", "topics": [{"topicName": name} for name in MANY]}),
    ("ListOffsets", 5, {"replicaId": -1, "topics": [{"name": name, "partitions": []} for name in MANY]}),
]


@pytest.fixture(scope="module")
def sliced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Orchard]:
    """A gateway that gives way to others after each element."""
    with orchard(tmp_path_factory.mktemp("sliced"), limits=Limits(slice=0.0)) as made:
        yield made


@pytest.mark.parametrize(("name", "version", "message"), LONG)
def test_others_are_served_while_a_long_request_is_answered(sliced: Orchard, name: str, version: int, message: Message) -> None:
    key = api_key(name)
    with Connection(sliced.gateway.bootstrap_servers) as long, Connection(sliced.gateway.bootstrap_servers) as observer:
        long.send(key, version, encode(key, version, message))
        long._socket.setblocking(False)
        served = 0
        while not is_answered(long):
            observer.offered()
            served += 1
        long.patience(60)
        long.receive(key, version)
    assert served >= FEW


def is_answered(connection: Connection) -> bool:
    try:
        return bool(connection._socket.recv(1, 2))
    except BlockingIOError:
        return False


def test_rows_beyond_the_longest_answer_are_asked_for_again(tmp_path: Path) -> None:
    with orchard(tmp_path, limits=Limits(answer=10_000)) as made:
        groups = [f"group {number:03}" for number in range(300)]
        left, rounds = groups, 0
        while left:
            rows = made.ask("ShareGroupDescribe", 1, {"groupIds": left})["groups"]
            assert [row["groupId"] for row in rows] == left
            told = [row["groupId"] for row in rows if row["errorCode"] != 14]
            assert told == left[: len(told)] != []
            left, rounds = left[len(told) :], rounds + 1
        assert rounds > 2
        assert made.gateway._answers.free == made.gateway.options.limits.answers


def test_configurations_beyond_the_longest_answer_are_refused(tmp_path: Path) -> None:
    with orchard(tmp_path, limits=Limits(answer=20_000)) as made:
        asked = [resource(32, f"group {number:03}") for number in range(100)]
        rows = made.ask("DescribeConfigs", 4, {"resources": asked})["results"]
        assert keys(rows, "resourceName") == keys(asked, "resourceName")
        told = [row for row in rows if row["errorCode"] == 0]
        assert len({str(row["configs"]) for row in told}) == 1
        assert 0 < len(told) < 50
        text = "The answer has become too long: ask for fewer resources at once."
        assert {(row["errorCode"], row["errorMessage"], str(row["configs"])) for row in rows[len(told) :]} == {(42, text, "[]")}


def test_a_member_subscribes_to_so_many_topics(there: Orchard) -> None:
    names = [f"{number:031}" for number in range(2048)]
    assert there.ask("ShareGroupHeartbeat", 1, heartbeat("many", names))["errorCode"] == 0
    answer = there.ask("ShareGroupHeartbeat", 1, heartbeat("too many", [*names, "x"]))
    text = "the subscribed topics have 65538 characters, expected at most 65536"
    assert (answer["errorCode"], answer["errorMessage"]) == (42, text)
    assert there.ask("ShareGroupDescribe", 1, {"groupIds": ["too many"]})["groups"][0]["errorCode"] == 69


def test_a_share_session_has_so_many_partitions(tmp_path: Path) -> None:
    with orchard(tmp_path, limits=Limits(elements=100)) as made:
        strange = [(NO_ID[:-1] + "9", number) for number in range(150)]
        assert made.ask("ShareFetch", 1, fetch("group", 0, strange[:60], maxRecords=0))["errorCode"] == 0
        assert made.ask("ShareFetch", 1, fetch("group", 1, strange[60:120], maxRecords=0))["errorCode"] == 42
        # The session is gone, so that the client opens another one.
        assert made.ask("ShareFetch", 1, fetch("group", 2, [], maxRecords=0))["errorCode"] == 122
        assert made.gateway.plane.node.figures()["sessions"] == 0


@pytest.mark.parametrize(
    ("name", "version", "message", "rows"),
    [
        ("Metadata", 12, {"topics": [{"name": name} for name in MANY]}, 5000),
        ("Metadata", 12, {"topics": None}, 302),
        ("ListConfigResources", 1, {"resourceTypes": [2, 4]}, 303),
    ],
)
def test_a_large_answer_waits_for_room(tmp_path: Path, name: str, version: int, message: Message, rows: int) -> None:
    with orchard(tmp_path, limits=Limits(answers=1 << 20)) as made, Connection(made.gateway.bootstrap_servers) as other:
        for number in range(300):
            made.upstream.create(f"{number:0240}")
        key = api_key(name)
        answers = made.gateway._answers
        holder = Client(0, "", Address("", 0), Access())
        answers.hold(holder, 1 << 20)
        made.connection.send(key, version, encode(key, version, message))
        while not answers.waiting:
            other.offered()
        # Small answers do not wait.
        assert len(other.ask("Metadata", 12, {"topics": [{"name": MANY[0]}]})["topics"]) == 1
        made.connection._socket.setblocking(False)
        assert not is_answered(made.connection)
        made.connection.patience(60)
        server = made.gateway.server._server
        assert server is not None
        server.get_loop().call_soon_threadsafe(answers.give_back, holder)
        answer = decode(key, version, made.connection.receive(key, version), response=True)
        assert max(len(value) for value in answer.values() if isinstance(value, list)) == rows


@pytest.mark.parametrize("by", ["name", "topicId"])
def test_upstream_is_asked_for_a_thousand_topics_at_a_time(there: Orchard, by: str) -> None:
    names = [f"none-{number}" if by == "name" else f"00000000-0000-0000-0001-{number:012x}" for number in range(2500)]
    before = len(there.upstream.requests("Metadata"))
    rows = [{"name": None, by: name} for name in names]
    answer = there.ask("Metadata", 12, {"topics": rows})
    assert [row[by] for row in answer["topics"]] == names
    asked = [len(one.message["topics"] or ()) for one in there.upstream.requests("Metadata")[before:]]
    assert (max(asked), sum(asked) >= len(names)) == (1000, True)
