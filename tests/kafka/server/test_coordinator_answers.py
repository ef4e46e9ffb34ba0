"""The coordinator's answers as a whole: which topics a request of states is about, and what the caller may change later."""

from __future__ import annotations

from typing import Any

import pytest

from share_state.kafka.client.peers import Address
from share_state.kafka.coordinator_answers import Answers
from share_state.kafka.coordinator_states import Topic
from share_state.persister import MemoryPersister
from tests.kafka.scripted import DELETE, FIND, INITIALIZE, METADATA, SUMMARY, TOPIC

HERE = Address("host", 9092)
ZERO = "AAAAAAAAAAAAAAAAAAAAAA"
OTHER = "AAAAAAAAAAAAAAAAAAAACQ"
TOPICS = {"orders": Topic(TOPIC, 2), "empty": Topic(OTHER, 0)}
ROW = {
    INITIALIZE: {"partition": 1, "stateEpoch": 2, "startOffset": 3},
    DELETE: {"partition": 1},
    SUMMARY: {"partition": 1, "leaderEpoch": 0},
}
NO_TOPIC = {"partition": 1, "errorCode": 3, "errorMessage": "This server does not host this topic-partition."}


def asked(api_key: int, topic_id: str) -> dict[str, Any]:
    return {"groupId": "g", "topics": [{"topicId": topic_id, "partitions": [ROW[api_key]]}]}


def results(topic_id: str, **row: Any) -> dict[str, Any]:
    return {"results": [{"topicId": topic_id, "partitions": [row]}]}


@pytest.mark.parametrize("api_key", [INITIALIZE, DELETE])
def test_states_are_kept_for_the_topics_that_exist(api_key: int) -> None:
    answers = Answers(MemoryPersister(), {"orders": Topic(TOPIC, 2)}, 7, "cluster")
    assert answers.answer(api_key, 0, asked(api_key, TOPIC), HERE) == results(TOPIC, partition=1, errorCode=0, errorMessage=None)
    assert answers.answer(api_key, 0, asked(api_key, OTHER), HERE) == results(OTHER, **NO_TOPIC)


@pytest.mark.parametrize(("version", "complete"), [(0, {}), (1, {"deliveryCompleteCount": 0})])
def test_a_state_is_answered_in_the_version_that_was_asked(version: int, complete: dict[str, int]) -> None:
    answers = Answers(MemoryPersister(), None, 7, "cluster")
    answers.answer(INITIALIZE, 0, asked(INITIALIZE, TOPIC), HERE)
    assert answers.answer(SUMMARY, version, asked(SUMMARY, TOPIC), HERE) == results(
        TOPIC, partition=1, errorCode=0, errorMessage=None, stateEpoch=2, leaderEpoch=0, startOffset=3, **complete
    )


def test_a_topic_that_is_added_later_does_not_exist() -> None:
    topics = {"orders": Topic(TOPIC, 1)}
    answers = Answers(MemoryPersister(), topics, 7, "cluster")
    topics["other"] = Topic(OTHER, 2)
    assert [topic["name"] for topic in answers.answer(METADATA, 12, {"topics": None}, HERE)["topics"]] == ["orders"]
    assert answers.answer(INITIALIZE, 0, asked(INITIALIZE, OTHER), HERE) == results(OTHER, **NO_TOPIC)


def test_each_key_of_a_request_has_its_own_answer() -> None:
    answers = Answers(MemoryPersister(), None, 7, "cluster")
    keys = [f"g:{TOPIC}:0", "g", f"h:{TOPIC}:1"]
    here = {"nodeId": 7, "host": "host", "port": 9092, "errorCode": 0, "errorMessage": ""}
    nobody = {"nodeId": -1, "host": "", "port": -1, "errorCode": 42, "errorMessage": ""}
    assert answers.answer(FIND, 6, {"keyType": 2, "coordinatorKeys": keys}, HERE) == {
        "throttleTimeMs": 0,
        "coordinators": [{"key": keys[0], **here}, {"key": "g", **nobody}, {"key": keys[2], **here}],
    }
    # A client of groups is not sent here, nor one of transactions.
    groups = answers.answer(FIND, 4, {"keyType": 0, "coordinatorKeys": ["g", "h"]}, HERE)
    unavailable = {**nobody, "errorCode": 15}
    assert groups == {"throttleTimeMs": 0, "coordinators": [{"key": "g", **unavailable}, {"key": "h", **unavailable}]}


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
    assert Answers(MemoryPersister(), TOPICS, 7, "cluster").answer(METADATA, 12, {"topics": topics}, HERE) == {
        "throttleTimeMs": 0,
        "brokers": [{"nodeId": 7, "host": "host", "port": 9092, "rack": None}],
        "clusterId": "cluster",
        "controllerId": 7,
        "topics": expected,
        "errorCode": 0,
    }


def test_where_every_topic_exists_none_is_told() -> None:
    answers = Answers(MemoryPersister(), None, 7, "cluster")
    assert answers.answer(METADATA, 12, {"topics": None}, HERE)["topics"] == []
    (told,) = answers.answer(METADATA, 12, {"topics": [{"name": "orders", "topicId": ZERO}]}, HERE)["topics"]
    assert told == entry(3, "orders", ZERO)
