"""Requests about states, answered whole: what the store is asked, in which calls, and the texts of what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

import share_state as ss
from share_state.errors import ShareStateError, StoreError
from share_state.kafka.coordinator_states import States, Topic
from tests.kafka.scripted import DELETE, INITIALIZE, READ, SUMMARY, TOPIC, WRITE

OTHER = "AAAAAAAAAAAAAAAAAAAACQ"
ZERO = "AAAAAAAAAAAAAAAAAAAAAA"
TOPICS = {"orders": Topic(TOPIC, 2), "others": Topic(OTHER, 1)}
BATCH = {"firstOffset": 3, "lastOffset": 4, "deliveryState": 2, "deliveryCount": 1}
ROWS: dict[int, dict[str, Any]] = {
    INITIALIZE: {"stateEpoch": 2, "startOffset": 3},
    READ: {"leaderEpoch": 4},
    WRITE: {"stateEpoch": 2, "leaderEpoch": 4, "startOffset": 5, "deliveryCompleteCount": 9, "stateBatches": [BATCH]},
    DELETE: {},
    SUMMARY: {"leaderEpoch": 0},
}
STATE = ss.WriteState(2, 4, 5, 9, [ss.StateBatch(3, 4, 2, 1)])
#: The arguments of a persister after the key.
GIVEN: dict[int, tuple[Any, ...]] = {INITIALIZE: (2, 3), READ: (4,), WRITE: (STATE,), DELETE: (), SUMMARY: ()}
NAMES = {INITIALIZE: "reset", READ: "read", WRITE: "write", DELETE: "delete"}
NOTHING: dict[int, dict[str, Any]] = {
    INITIALIZE: {},
    READ: {"stateEpoch": 0, "startOffset": 0, "stateBatches": []},
    WRITE: {},
    DELETE: {},
    SUMMARY: {"stateEpoch": 0, "leaderEpoch": 0, "startOffset": 0, "deliveryCompleteCount": -1},
}


class Single:
    """A persister that takes one request at a time; it notes each and does as it is set."""

    def __init__(self, outcome: object = None) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.outcome = outcome
        self.reset_state = self.named("reset_state")
        self.read_state = self.named("read_state")
        self.write_state = self.named("write_state")
        self.delete_state = self.named("delete_state")
        self.read_summary = self.named("read_summary")

    def named(self, name: str) -> Callable[..., Any]:
        def method(*arguments: object) -> object:
            self.calls.append((name, *arguments))
            if isinstance(self.outcome, Exception):
                raise self.outcome
            return self.outcome

        return method


class Many(Single):
    """A persister that takes many at once as well."""

    def __init__(self, outcome: object = None) -> None:
        super().__init__(outcome)
        self.reset_states = self.named("reset_states")
        self.read_states = self.named("read_states")
        self.write_states = self.named("write_states")
        self.delete_states = self.named("delete_states")


def states(store: Single, topics: dict[str, Topic] | None = TOPICS) -> States:
    return States(cast("Any", store), topics)


def message(api_key: int, *places: tuple[str, int], **fields: Any) -> dict[str, Any]:
    rows = [{"topicId": topic, "partitions": [{"partition": number, **ROWS[api_key], **fields}]} for topic, number in places]
    return {"groupId": "g", "topics": rows}


def key(topic: str, number: int) -> ss.SharePartitionKey:
    return ss.SharePartitionKey("g", topic, number)


def result(topic: str, number: int, code: int = 0, text: str | None = None, **found: Any) -> dict[str, Any]:
    return {"topicId": topic, "partitions": [{"partition": number, "errorCode": code, "errorMessage": text, **found}]}


def found(api_key: int) -> tuple[object, dict[str, Any]]:
    """A persister's answer, and the fields that come of it."""
    if api_key == READ:
        read = ss.ReadStateResult(2, 5, [ss.StateBatch(3, 4, 2, 1)])
        return read, {"stateEpoch": 2, "startOffset": 5, "stateBatches": [BATCH]}
    if api_key == SUMMARY:
        shown = {"stateEpoch": 2, "leaderEpoch": 4, "startOffset": 5, "deliveryCompleteCount": 9}
        return ss.StateSummary(2, 4, 5, 9), shown
    return None, {}


@pytest.mark.parametrize("api_key", sorted(ROWS))
def test_a_store_is_asked_for_each_partition_in_order(api_key: int) -> None:
    returned, shown = found(api_key)
    store = Single(returned)
    places = ((TOPIC, 1), (OTHER, 0))
    assert states(store).answer(api_key, 1, message(api_key, *places)) == {
        "results": [result(TOPIC, 1, **shown), result(OTHER, 0, **shown)]
    }
    name = "read_summary" if api_key == SUMMARY else f"{NAMES[api_key]}_state"
    assert store.calls == [(name, key(*place), *GIVEN[api_key]) for place in places]


@pytest.mark.parametrize("api_key", sorted(NAMES))
def test_a_store_that_takes_many_is_asked_once_and_not_for_what_there_is_not(api_key: int) -> None:
    returned, shown = found(api_key)
    refused = ss.FencedLeaderEpochError("late", kafka_code=74)
    store = Many([returned, refused])
    places = ((TOPIC, 1), (OTHER, 1), (OTHER, 0))
    asked = message(api_key, *places)
    answered = states(store).answer(api_key, 1, asked)["results"]
    text = "The leader epoch in the request is older than the epoch on the broker."
    assert answered[0] == result(TOPIC, 1, **shown)
    # The second topic is named twice, with its partitions one by one.
    assert answered[1]["topicId"] == OTHER
    first, second = answered[1]["partitions"]
    assert first == {"partition": 0, "errorCode": 74, "errorMessage": text, **NOTHING[api_key]}
    assert (second["partition"], second["errorCode"]) == (1, 42 if api_key in {READ, WRITE} else 3)
    keys = [key(TOPIC, 1), key(OTHER, 0)]
    given = keys if api_key == DELETE else [(one, *GIVEN[api_key]) for one in keys]
    assert store.calls == [(f"{NAMES[api_key]}_states", given)]


@pytest.mark.parametrize("store", [Single, Many])
@pytest.mark.parametrize("api_key", sorted(ROWS))
def test_a_store_that_cannot_be_used_is_an_error_of_every_partition(store: type[Single], api_key: int) -> None:
    answered = states(store(StoreError("the disk is full"))).answer(api_key, 1, message(api_key, (TOPIC, 1), (OTHER, 0)))
    assert answered == {
        "results": [
            result(TOPIC, 1, -1, "the disk is full", **NOTHING[api_key]),
            result(OTHER, 0, -1, "the disk is full", **NOTHING[api_key]),
        ]
    }


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_store_that_answers_too_few_or_too_many_requests(count: int) -> None:
    answered = states(Many([None] * count)).answer(DELETE, 0, message(DELETE, (TOPIC, 1), (OTHER, 0)))
    text = f"the store answers {count} of 2 requests"
    assert answered == {"results": [result(TOPIC, 1, -1, text), result(OTHER, 0, -1, text)]}


@pytest.mark.parametrize(
    ("refused", "code", "text"),
    [
        (ss.FencedStateEpochError("x"), 124, "The coordinator rejected the request because the state epoch did not match."),
        (ss.UnknownPartitionError("x"), 3, "This server does not host this topic-partition."),
        (ss.InvalidRequestError("x"), 42, "Write operation on uninitialized share partition not allowed."),
        (ss.InvalidRequestError("x", field="partition"), 42, "The partition id cannot be a negative number."),
        (ss.InvalidRequestError("x", field="state_epoch"), 42, "The state epoch cannot be a negative number."),
        (ss.InvalidRequestError("x", field="leader_epoch"), 42, "The leader epoch cannot be a negative number."),
        # Kafka has no text for these.
        (ss.InvalidRequestError("no such offset", field="start_offset"), 42, "no such offset"),
        (ShareStateError("too busy", kafka_code=14), 14, "too busy"),
        (ShareStateError("lost"), -1, "lost"),
    ],
)
def test_a_refusal_has_kafkas_text_where_there_is_one(refused: ShareStateError, code: int, text: str) -> None:
    answered = states(Single(refused)).answer(WRITE, 1, message(WRITE, (TOPIC, 1)))
    assert answered == {"results": [result(TOPIC, 1, code, text)]}


@pytest.mark.parametrize(
    ("api_key", "code", "text"),
    [
        (INITIALIZE, 42, "own text"),
        (READ, 42, "Read operation on uninitialized share partition not allowed."),
        (DELETE, 42, "own text"),
        (SUMMARY, 42, "own text"),
    ],
)
def test_only_reads_and_writes_need_a_state(api_key: int, code: int, text: str) -> None:
    answered = states(Single(ss.InvalidRequestError("own text"))).answer(api_key, 1, message(api_key, (TOPIC, 1)))
    assert answered == {"results": [result(TOPIC, 1, code, text, **NOTHING[api_key])]}


@pytest.mark.parametrize(
    ("api_key", "fields", "text"),
    [
        (INITIALIZE, {"startOffset": -2}, "start_offset is -2; expected >= -1"),
        (WRITE, {"startOffset": -3}, "start_offset is -3; expected >= -1"),
        (WRITE, {"deliveryCompleteCount": -7}, "delivery_complete_count is -7; expected >= -1"),
        (WRITE, {"stateBatches": [{**BATCH, "lastOffset": 1}]}, "state_batches[0].last_offset is 1; expected >= first_offset"),
    ],
)
def test_a_refusal_names_the_share_partition_that_was_asked_about(api_key: int, fields: dict[str, Any], text: str) -> None:
    place = '(share partition "g", 00000000-0000-0000-0000-000000000009, 1)'
    store = Single()
    answered = states(store).answer(api_key, 1, message(api_key, (OTHER, 1), **fields))
    assert answered == {"results": [result(OTHER, 1, 42, f"{text} {place}")]}
    assert store.calls == []


@pytest.mark.parametrize("api_key", sorted(ROWS))
def test_a_store_is_not_asked_about_the_zero_id(api_key: int) -> None:
    store = Single()
    (answered,) = states(store, None).answer(api_key, 1, message(api_key, (ZERO, 1)))["results"]
    (row,) = answered["partitions"]
    assert (answered["topicId"], row["partition"], row["errorCode"]) == (ZERO, 1, 42 if api_key in {READ, WRITE} else 3)
    assert store.calls == []


@pytest.mark.parametrize(("number", "exists"), [(0, True), (1, True), (2, False)])
def test_a_topic_has_so_many_partitions(number: int, exists: bool) -> None:
    store = Single()
    states(store).answer(DELETE, 0, message(DELETE, (TOPIC, number)))
    assert bool(store.calls) is exists
    # Where every topic exists, every partition does.
    anywhere = Single()
    states(anywhere, None).answer(DELETE, 0, message(DELETE, (TOPIC, number)))
    assert anywhere.calls == [("delete_state", key(TOPIC, number))]
