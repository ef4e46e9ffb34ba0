"""What the share coordinator server answers, field by field, without a connection."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import share_state as ss
from share_state.errors import UnsupportedVersionError, WireDecodeError
from share_state.kafka import ShareCoordinatorServer, Topic
from share_state.kafka.coordinator_answers import Answers
from share_state.kafka.coordinator_states import States
from share_state.kafka.framing import frame
from share_state.kafka.peers import Address
from share_state.persister import MemoryPersister
from tests.python.kafka_persister.scripted import DELETE, FIND, INITIALIZE, METADATA, READ, SUMMARY, TOPIC, VERSIONS, WRITE

HERE = Address("host", 9092)
ZERO = "AAAAAAAAAAAAAAAAAAAAAA"
OTHER = "AAAAAAAAAAAAAAAAAAAACQ"
TOPICS = {"orders": Topic(TOPIC, 2), "empty": Topic(OTHER, 0)}
MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an"
    " incompatible broker. See the broker logs for more details."
)


def answers(topics: dict[str, Topic] | None = None) -> Answers:
    return Answers(MemoryPersister(), topics, 7, "cluster")


# Who coordinates.


def coordinator(key: str, key_type: int = 2, version: int = 6) -> dict[str, Any]:
    answer = answers().answer(FIND, version, {"keyType": key_type, "coordinatorKeys": [key]}, HERE)
    assert answer["throttleTimeMs"] == 0
    (found,) = answer["coordinators"]
    assert set(answer) == {"throttleTimeMs", "coordinators"}
    return dict(found)


@pytest.mark.parametrize("key", [f"g:{TOPIC}:0", f"a:b:{TOPIC}:12", f"g:{TOPIC}:-3"])
def test_this_broker_coordinates_every_share_partition(key: str) -> None:
    assert coordinator(key) == {
        "key": key, "nodeId": 7, "host": "host", "port": 9092, "errorCode": 0, "errorMessage": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "key_type", "version", "code", "message"),
    [
        ("g", 0, 6, 15, ""),
        ("t", 1, 6, 15, ""),
        (f"g:{TOPIC}:0", 3, 6, 42, MALFORMED),
        (f"g:{TOPIC}:0", 2, 5, 42, MALFORMED),
        ("g", 2, 6, 42, ""),
        (f":{TOPIC}:0", 2, 6, 42, ""),
        (f"g:{TOPIC}:x", 2, 6, 42, ""),
        (f"g:{TOPIC}:--1", 2, 6, 42, ""),
        ("g:topic:0", 2, 6, 42, ""),
    ],
)
def test_nobody_coordinates_what_is_no_share_partition(key: str, key_type: int, version: int, code: int, message: str) -> None:
    nobody = {"key": key, "nodeId": -1, "host": "", "port": -1}
    assert coordinator(key, key_type, version) == {**nobody, "errorCode": code, "errorMessage": message}


def test_keys_are_answered_in_their_order() -> None:
    keys = [f"g:{TOPIC}:{number}" for number in (2, 0, 1)]
    found = answers().answer(FIND, 6, {"keyType": 2, "coordinatorKeys": keys}, HERE)["coordinators"]
    assert [one["key"] for one in found] == keys


# Which topics there are.


def entry(code: int, name: str | None, topic_id: str, partitions: int = 0) -> dict[str, Any]:
    rows = [
        {
            "errorCode": 0, "partitionIndex": index, "leaderId": 7, "leaderEpoch": 0,
            "replicaNodes": [7], "isrNodes": [7], "offlineReplicas": [],
        }
        for index in range(partitions)
    ]  # fmt: skip
    return {
        "errorCode": code, "name": name, "topicId": topic_id, "isInternal": False,
        "partitions": rows, "topicAuthorizedOperations": -(1 << 31),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, [entry(0, "orders", TOPIC, 2), entry(0, "empty", OTHER)]),
        ([], []),
        ([("orders", ZERO)], [entry(0, "orders", TOPIC, 2)]),
        ([(None, OTHER), (None, TOPIC)], [entry(0, "empty", OTHER), entry(0, "orders", TOPIC, 2)]),
        ([("none", TOPIC)], [entry(3, "none", TOPIC)]),
        ([(None, ZERO)], [entry(100, None, ZERO)]),
    ],
)
def test_topics_are_told_by_name_and_by_id(asked: list[tuple[str | None, str]] | None, expected: list[dict[str, Any]]) -> None:
    topics = None if asked is None else [{"name": name, "topicId": topic_id} for name, topic_id in asked]
    assert answers(TOPICS).answer(METADATA, 12, {"topics": topics}, HERE) == {
        "throttleTimeMs": 0,
        "brokers": [{"nodeId": 7, "host": "host", "port": 9092, "rack": None}],
        "clusterId": "cluster",
        "controllerId": 7,
        "topics": expected,
        "errorCode": 0,
    }


def test_where_every_topic_exists_none_is_told() -> None:
    assert answers().answer(METADATA, 12, {"topics": None}, HERE)["topics"] == []
    (told,) = answers().answer(METADATA, 12, {"topics": [{"name": "orders", "topicId": ZERO}]}, HERE)["topics"]
    assert told == entry(3, "orders", ZERO)


# The states.

BATCH = {"firstOffset": 3, "lastOffset": 4, "deliveryState": 2, "deliveryCount": 1}
FIELDS: dict[int, dict[str, Any]] = {
    INITIALIZE: {"stateEpoch": 2, "startOffset": 3},
    READ: {"leaderEpoch": 4},
    WRITE: {"stateEpoch": 2, "leaderEpoch": 4, "startOffset": -1, "deliveryCompleteCount": 9, "stateBatches": [BATCH]},
    DELETE: {},
    SUMMARY: {"leaderEpoch": 0},
}


def message(api_key: int, partitions: list[int], topic: str = TOPIC, group: str = "g", **fields: Any) -> dict[str, Any]:
    rows = [{"partition": number, **FIELDS[api_key], **fields} for number in partitions]
    return {"groupId": group, "topics": [{"topicId": topic, "partitions": rows}]}


class OneAtATime:
    """A persister that takes one request at a time."""

    def __init__(self) -> None:
        store = MemoryPersister()
        self.initialize_state = store.initialize_state
        self.read_state = store.read_state
        self.write_state = store.write_state
        self.delete_state = store.delete_state
        self.read_summary = store.read_summary


@pytest.fixture(params=["memory", "one at a time", "durable"])
def states(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[States]:
    if request.param == "durable":
        with ss.open(tmp_path / "store") as store:
            yield States(store, TOPICS)
    else:
        yield States(MemoryPersister() if request.param == "memory" else cast("Any", OneAtATime()), TOPICS)


def row(states: States, api_key: int, version: int = 1, **fields: Any) -> dict[str, Any]:
    (topic,) = states.answer(api_key, version, message(api_key, [1], **fields))["results"]
    assert topic["topicId"] == fields.get("topic", TOPIC)
    (partition,) = topic["partitions"]
    return dict(partition)


def test_a_share_partition_through_its_life(states: States) -> None:
    done = {"partition": 1, "errorCode": 0, "errorMessage": None}
    assert row(states, INITIALIZE) == done
    assert row(states, READ) == {**done, "stateEpoch": 2, "startOffset": 3, "stateBatches": []}
    assert row(states, WRITE) == done
    assert row(states, READ) == {**done, "stateEpoch": 2, "startOffset": 3, "stateBatches": [BATCH]}
    assert row(states, WRITE, startOffset=5, deliveryCompleteCount=1, stateBatches=[]) == done
    summary = {**done, "stateEpoch": 2, "leaderEpoch": 4, "startOffset": 5}
    assert row(states, SUMMARY) == {**summary, "deliveryCompleteCount": 1}
    # Version 0 does not say what is complete.
    assert row(states, SUMMARY, version=0) == summary
    assert row(states, DELETE) == done
    uninitialized = {"partition": 1, "errorCode": 0, "errorMessage": None, "leaderEpoch": 0, "stateEpoch": 0, "startOffset": -1}
    assert row(states, SUMMARY) == {**uninitialized, "deliveryCompleteCount": -1}


def test_a_write_of_version_0_does_not_say_what_is_complete(states: States) -> None:
    row(states, INITIALIZE)
    asked = message(WRITE, [1], startOffset=5, stateBatches=[])
    del asked["topics"][0]["partitions"][0]["deliveryCompleteCount"]
    states.answer(WRITE, 0, asked)
    assert (row(states, SUMMARY)["startOffset"], row(states, SUMMARY)["deliveryCompleteCount"]) == (5, -1)


NOTHING: dict[int, dict[str, Any]] = {
    INITIALIZE: {},
    READ: {"stateEpoch": 0, "startOffset": 0, "stateBatches": []},
    WRITE: {},
    DELETE: {},
    SUMMARY: {"stateEpoch": 0, "leaderEpoch": 0, "startOffset": 0, "deliveryCompleteCount": -1},
}


def refusal_of_none(api_key: int) -> tuple[int, str]:
    """Whether it was initialized is looked at before whether there is such a topic."""
    verb = {READ: "Read", WRITE: "Write"}.get(api_key)
    if verb is None:
        return 3, "This server does not host this topic-partition."
    return 42, f"{verb} operation on uninitialized share partition not allowed."


@pytest.mark.parametrize("api_key", sorted(NOTHING))
@pytest.mark.parametrize(("topic", "number"), [("AAAAAAAAAAAAAAAAAAAAZQ", 0), (TOPIC, 2), (OTHER, 0)])
def test_a_topic_or_a_partition_that_does_not_exist(states: States, api_key: int, topic: str, number: int) -> None:
    (answered,) = states.answer(api_key, 1, message(api_key, [number], topic))["results"]
    code, text = refusal_of_none(api_key)
    nothing = {"partition": number, "errorCode": code, "errorMessage": text, **NOTHING[api_key]}
    assert answered == {"topicId": topic, "partitions": [nothing]}


@pytest.mark.parametrize("api_key", sorted(NOTHING))
def test_the_zero_id_is_no_topic_even_where_all_exist(api_key: int) -> None:
    found = row(States(MemoryPersister(), None), api_key, topic=ZERO)
    assert (found["errorCode"], found["errorMessage"]) == refusal_of_none(api_key)


@pytest.mark.parametrize(
    ("api_key", "fields", "code", "text"),
    [
        (WRITE, {"stateEpoch": 1}, 124, "The coordinator rejected the request because the state epoch did not match."),
        (WRITE, {"leaderEpoch": 3}, 74, "The leader epoch in the request is older than the epoch on the broker."),
        (READ, {"leaderEpoch": 3}, 74, "The leader epoch in the request is older than the epoch on the broker."),
        (INITIALIZE, {"stateEpoch": 1}, 124, "The coordinator rejected the request because the state epoch did not match."),
        (INITIALIZE, {"stateEpoch": -1}, 42, "The state epoch cannot be a negative number."),
        (READ, {"leaderEpoch": -1}, 42, "The leader epoch cannot be a negative number."),
        (WRITE, {"leaderEpoch": -1}, 42, "The leader epoch cannot be a negative number."),
    ],
)
def test_a_refusal_has_the_code_and_the_text_of_kafka(
    states: States, api_key: int, fields: dict[str, Any], code: int, text: str
) -> None:
    for before in (INITIALIZE, READ, WRITE):
        assert row(states, before)["errorCode"] == 0
    refused = {"partition": 1, "errorCode": code, "errorMessage": text, **NOTHING[api_key]}
    assert row(states, api_key, **fields) == refused


@pytest.mark.parametrize(("api_key", "verb"), [(READ, "Read"), (WRITE, "Write")])
def test_what_was_not_initialized_is_told(states: States, api_key: int, verb: str) -> None:
    text = f"{verb} operation on uninitialized share partition not allowed."
    assert row(states, api_key) == {"partition": 1, "errorCode": 42, "errorMessage": text, **NOTHING[api_key]}


@pytest.mark.parametrize("api_key", sorted(NOTHING))
def test_a_negative_partition_is_told(states: States, api_key: int) -> None:
    ((answered,),) = (topic["partitions"] for topic in states.answer(api_key, 1, message(api_key, [-1]))["results"])
    text = "The partition id cannot be a negative number."
    assert answered == {"partition": -1, "errorCode": 42, "errorMessage": text, **NOTHING[api_key]}


def test_a_request_of_nobody_and_one_of_nothing_have_no_results(states: States) -> None:
    row(states, INITIALIZE)
    assert states.answer(READ, 1, message(READ, [1], group="")) == {"results": []}
    asked = message(READ, [1])
    asked["topics"].append({"topicId": OTHER, "partitions": []})
    assert states.answer(READ, 1, asked) == {"results": []}
    assert states.answer(READ, 1, {"groupId": "g", "topics": []}) == {"results": []}


def test_partitions_are_answered_in_order_and_once(states: States) -> None:
    two = message(INITIALIZE, [1, 5, 0, 1])
    two["topics"].append({"topicId": OTHER, "partitions": [{"partition": 0, "stateEpoch": 0, "startOffset": 0}]})
    first, second = states.answer(INITIALIZE, 0, two)["results"]
    assert [(one["partition"], one["errorCode"]) for one in first["partitions"]] == [(0, 0), (1, 0), (5, 3)]
    assert (second["topicId"], [one["errorCode"] for one in second["partitions"]]) == (OTHER, [3])


# Requests as they come.


def respond(server: ShareCoordinatorServer, payload: bytes) -> bytes | None:
    return asyncio.run(server.respond(payload, HERE))


def test_versions_are_these() -> None:
    body = ss.encode_message(VERSIONS, 3, {"clientSoftwareName": "x", "clientSoftwareVersion": "1"})
    known = {3: (12, 13), 10: (4, 6), 18: (0, 4), 83: (0, 0), 84: (0, 0), 85: (0, 1), 86: (0, 0), 87: (0, 1)}
    logins = {17: (1, 1), 36: (2, 2)}
    for users, expected in ((None, known), ({"alice": "x"}, {**known, **logins})):
        server = ShareCoordinatorServer(MemoryPersister(), users=users)
        answered = respond(server, struct.pack(">hhih", VERSIONS, 3, 5, 1) + b"t\0" + body)
        assert answered is not None
        assert answered[4:8] == struct.pack(">i", 5)
        told = ss.decode_message(VERSIONS, 3, answered[8:], response=True)
        rows = {api["apiKey"]: (api["minVersion"], api["maxVersion"]) for api in told["apiKeys"]}
        assert (rows, told["errorCode"], told["throttleTimeMs"]) == (expected, 0, 0)
        # In version 0 and 1, and in version 0 for whoever asks in one that nobody knows.
        table = b"".join(struct.pack(">hhh", key, *versions) for key, versions in expected.items())
        for version, code, throttle in ((0, 0, b""), (1, 0, bytes(4)), (5, 35, b""), (-1, 35, b"")):
            head = struct.pack(">hhih", VERSIONS, version, 6, -1) + (b"\0" if version >= 3 else b"")
            whole = struct.pack(">ihi", 6, code, len(expected)) + table + throttle
            assert respond(server, head) == frame(whole)


@pytest.mark.parametrize(("api_key", "version"), [(3, 11), (3, 14), (10, 3), (10, 7), (85, 2), (85, -1), (1, 12), (17, 1)])
def test_a_request_or_a_version_that_is_not_known_is_named(api_key: int, version: int) -> None:
    with pytest.raises(UnsupportedVersionError, match=f"^request {api_key} version {version} is not known$"):
        respond(ShareCoordinatorServer(MemoryPersister(), users={"alice": "x"}), struct.pack(">hhih", api_key, version, 1, -1))


@pytest.mark.parametrize("size", range(4))
def test_a_request_has_a_key_and_a_version(size: int) -> None:
    with pytest.raises(WireDecodeError, match="a request ends within its header") as refused:
        respond(ShareCoordinatorServer(MemoryPersister()), b"\0" * size)
    assert (refused.value.position, refused.value.kind) == (size, "truncated")


def test_an_answer_has_the_correlation_id_of_its_request() -> None:
    body = ss.encode_message(INITIALIZE, 0, message(INITIALIZE, [1]))
    answered = respond(ShareCoordinatorServer(MemoryPersister()), struct.pack(">hhih", INITIALIZE, 0, 99, 1) + b"t\0" + body)
    assert answered is not None
    assert answered[4:9] == struct.pack(">ib", 99, 0)
    (topic,) = ss.decode_message(INITIALIZE, 0, answered[9:], response=True)["results"]
    assert topic["partitions"] == [{"partition": 1, "errorCode": 0, "errorMessage": None}]
