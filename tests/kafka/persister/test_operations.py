"""The five requests of a persister: what is asked, what is refused before it is sent, and what an answer becomes."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

import share_state as ss
from share_state.errors import InvalidRequestError
from share_state.kafka import operations
from share_state.kafka.operations import Operation
from tests.kafka.scripted import TOPIC

KEY = ss.SharePartitionKey("workers", TOPIC, 3)
STATE = ss.WriteState(5, 6, 7, 8, [ss.StateBatch(7, 9, 0, 1), ss.StateBatch(10, 12, 2, 2)])


def test_what_is_asked() -> None:
    assert operations.initialize(KEY, 5, 9) == (83, "initialize", KEY, {"partition": 3, "stateEpoch": 5, "startOffset": 9}, 64)
    assert operations.read(KEY, 4) == (84, "read", KEY, {"partition": 3, "leaderEpoch": 4}, 64)
    assert operations.write(KEY, STATE) == (85, "write", KEY, (TOPIC, 3, STATE), 64 + 2 * 22)
    read = operations.read_for(operations.write(KEY, STATE))
    assert read == (84, "write", KEY, {"partition": 3, "leaderEpoch": 6}, 64)
    assert operations.delete(KEY) == (86, "delete", KEY, {"partition": 3}, 64)
    assert operations.summary(KEY) == (87, "read the summary of", KEY, {"partition": 3, "leaderEpoch": 0}, 64)


def test_a_topic_id_is_spelled_as_in_messages() -> None:
    hexadecimal = str(uuid.UUID(bytes=bytes(range(16))))
    assert operations.normal(KEY._replace(topic_id=hexadecimal)) == KEY
    assert operations.normal(KEY) == KEY
    colons = KEY._replace(group="a:b:1")
    assert operations.normal(colons) == colons


@pytest.mark.parametrize("group", ["\ud800", "g" * 32_768], ids=["no text", "too long"])
def test_a_group_that_no_message_can_hold(group: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"^the group cannot be sent: ") as refused:
        operations.normal(KEY._replace(group=group))
    assert refused.value.field == "groupId"


@pytest.mark.parametrize("wrong", [True, 3.0])
def test_what_equals_a_partition_is_none(wrong: Any) -> None:
    # The same number is remembered.
    assert operations.normal(KEY._replace(partition=1)).partition == 1
    assert operations.normal(KEY).partition == 3
    with pytest.raises(TypeError):
        operations.normal(KEY._replace(partition=wrong))


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda key: operations.initialize(key, 1, 0), "partition"),
        (lambda key: operations.read(key, 1), "partition"),
        (lambda key: operations.write(key, STATE), "partition"),
        (operations.delete, "partition"),
        (operations.summary, "partition"),
        (lambda _: operations.initialize(KEY, -2, 0), "state_epoch"),
        (lambda _: operations.initialize(KEY, 1, -2), "start_offset"),
    ],
)
def test_what_a_coordinator_could_only_refuse_is_refused(make: Callable[[ss.SharePartitionKey], Operation], field: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        make(KEY._replace(partition=-1))
    assert refused.value.field == field


def test_what_answers_become() -> None:
    rows = [{"firstOffset": 7, "lastOffset": 9, "deliveryState": 2, "deliveryCount": 3}]
    answer = {"stateEpoch": 5, "startOffset": 7, "stateBatches": rows}
    assert operations.read_result(answer) == ss.ReadStateResult(5, 7, [ss.StateBatch(7, 9, 2, 3)])
    told = {"stateEpoch": 5, "leaderEpoch": 6, "startOffset": 7}
    assert operations.summary_result({**told, "deliveryCompleteCount": 8}) == ss.StateSummary(5, 6, 7, 8)
    # In version 0 nothing is said of it.
    assert operations.summary_result(told) == ss.StateSummary(5, 6, 7, -1)
