"""Errors as answers to requests that are passed on: every version of everything that a broker takes."""

from __future__ import annotations

import random

import pytest
from kio.index import load_request_schema
from kio.schema.index import api_key_map

from share_state.errors import WireDecodeError
from share_state.gateway.opaque_answers import error_answer
from tests.gateway.wire import api_key, decode, encode, flexible, name_of, versions
from tests.gateway.wire.chance import drawn
from tests.gateway.wire.codec import Message
from tests.gateway.wire.connection import request_header
from tests.kafka.wire.kio_oracle import kio_bytes

CODE = 31
TOPIC_ID = "0f0e0d0c-0000-4000-8000-00000000beef"
#: Requests that the gateway answers itself.
OWN = frozenset({2, 3, 10, 15, 16, 17, 18, 32, 33, 36, 42, 44, 60, 74, 76, 77, 78, 79, 90, 91, 92})
#: Requests among brokers and controllers, and a few of administrators: their connection is closed.
WITHOUT = frozenset({
    "AllocateProducerIds", "AlterClientQuotas", "AlterPartition", "AlterReplicaLogDirs", "AlterUserScramCredentials",
    "AssignReplicasToDirs", "BeginQuorumEpoch", "BrokerHeartbeat", "BrokerRegistration", "ControlledShutdown",
    "ControllerRegistration", "DeleteShareGroupState", "DescribeProducers", "EndQuorumEpoch", "Envelope", "FetchSnapshot",
    "InitializeShareGroupState", "LeaderAndIsr", "ReadShareGroupState", "ReadShareGroupStateSummary", "StopReplica",
    "UpdateMetadata", "UpdateRaftVoter", "Vote", "WriteShareGroupState", "WriteTxnMarkers",
})  # fmt: skip
#: The first versions of these have no place for an error.
TOO_OLD = frozenset({("DescribeLogDirs", 1), ("DescribeLogDirs", 2), ("ElectLeaders", 0), ("OffsetFetch", 1)})
TOPICS = [{"name": "t", "partitionIndexes": [1, 2]}]
ANSWERED = [key for key in sorted(api_key_map) if key not in OWN and name_of(key) not in WITHOUT]


def codes_in(answer: object) -> set[int]:
    """Every error code, wherever it stands."""
    if isinstance(answer, list):
        return {code for one in answer for code in codes_in(one)}
    if not isinstance(answer, dict):
        return set()
    own = {value for name, value in answer.items() if name.lower().endswith("errorcode") and name != "topicConfigErrorCode"}
    return own | codes_in(list(answer.values()))


def answered(key: int, version: int, body: bytes) -> Message | None:
    frame = error_answer(request_header(key, version, 7, "me") + body, CODE)
    if frame is None:
        return None
    assert (int.from_bytes(frame[:4]), int.from_bytes(frame[4:8])) == (len(frame) - 4, 7)
    return decode(key, version, frame[8 + flexible(key, version) :], response=True)


@pytest.mark.parametrize("key", ANSWERED, ids=name_of)
def test_whatever_is_asked_the_answer_has_no_other_code(key: int) -> None:
    chance = random.Random(key)  # noqa: S311 - test data
    for version in versions(key):
        found = set()
        for _ in range(20):
            answer = answered(key, version, kio_bytes(drawn(chance, load_request_schema(key, version))))
            if answer is None:
                # A Produce that nobody may answer is among them.
                assert name_of(key) == "Produce" or (name_of(key), version) in TOO_OLD
                continue
            assert answer.get("throttleTimeMs", 0) == 0
            found |= codes_in(answer)
        assert found == (set() if (name_of(key), version) in TOO_OLD else {CODE}), version


@pytest.mark.parametrize("key", [key for key in api_key_map if name_of(key) in WITHOUT], ids=name_of)
def test_what_has_no_form_is_not_answered(key: int) -> None:
    for version in versions(key):
        assert answered(key, version, encode(key, version, {})) is None


@pytest.mark.parametrize(
    ("name", "version", "topics", "partitions", "field"),
    [
        ("Produce", 9, "topicData", "partitionData", "index"),
        ("Produce", 13, "topicData", "partitionData", "index"),
        ("Fetch", 4, "topics", "partitions", "partition"),
        ("Fetch", 12, "topics", "partitions", "partition"),
        ("Fetch", 13, "topics", "partitions", "partition"),
        ("OffsetCommit", 8, "topics", "partitions", "partitionIndex"),
        ("TxnOffsetCommit", 3, "topics", "partitions", "partitionIndex"),
        ("OffsetForLeaderEpoch", 3, "topics", "partitions", "partition"),
        ("DeleteRecords", 1, "topics", "partitions", "partitionIndex"),
    ],
)
def test_each_partition_has_the_error(name: str, version: int, topics: str, partitions: str, field: str) -> None:
    key = api_key(name)
    by = "topicId" if version == 13 else "topic" if name in {"Fetch", "OffsetForLeaderEpoch"} else "name"
    named = TOPIC_ID if by == "topicId" else "t"
    asked: Message = {topics: [{by: named, partitions: [{field: 3}, {field: 4}]}]}
    answer = answered(key, version, encode(key, version, asked | ({"acks": 1} if name == "Produce" else {})))
    assert answer is not None
    (rows,) = (value for value in answer.values() if isinstance(value, list) and value)
    (row,) = rows
    assert row[by] == named
    (told,) = (value for value in row.values() if isinstance(value, list))
    places = [next(one[place] for place in ("partitionIndex", "partition", "index") if place in one) for one in told]
    assert (places, [one["errorCode"] for one in told]) == ([3, 4], [CODE, CODE])


def test_each_topic_and_group_has_the_error() -> None:
    for name, version, asked, rows in (
        ("CreateTopics", 7, {"topics": [{"name": "a"}, {"name": "b"}]}, "topics"),
        ("DeleteTopics", 5, {"topicNames": ["a", "b"]}, "responses"),
        ("DeleteTopics", 6, {"topics": [{"name": "a"}, {"name": "b"}]}, "responses"),
        ("CreatePartitions", 3, {"topics": [{"name": "a"}, {"name": "b"}]}, "results"),
("OffsetFetch", 9, {"groups": [{"groupId": "a", "topics": TOPICS}, {"groupId": "b"}]}, "groups"),
        ("ConsumerGroupDescribe", 1, {"groupIds": ["a", "b"]}, "groups"),
        ("DescribeTransactions", 0, {"transactionalIds": ["a", "b"]}, "transactionStates"),
    ):  # fmt: skip
        answer = answered(api_key(name), version, encode(api_key(name), version, asked))
        assert answer is not None
        told = [
            (next(row[field] for field in ("name", "groupId", "transactionalId") if field in row), row["errorCode"])
            for row in answer[rows]
        ]
        assert told == [("a", CODE), ("b", CODE)], name


def test_nobody_answers_a_producer_that_waits_for_nothing() -> None:
    assert answered(0, 9, encode(0, 9, {"acks": 0, "topicData": []})) is None


def test_a_request_names_so_much_that_is_refused() -> None:
    for count in (9_999, 10_000):
        asked = {"groupId": "g", "topics": [{"name": "t", "partitions": [{"partitionIndex": 1}] * count}]}
        body = encode(8, 5, asked)
        if count < 10_000:
            answer = answered(8, 5, body)
            assert answer is not None
            assert len(answer["topics"][0]["partitions"]) == count
        else:
            with pytest.raises(WireDecodeError, match="more than 10000 elements"):
                answered(8, 5, body)
