"""Offsets of share groups while records are held, the store fails, upstream is gone, or a state has an epoch of its own."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from share_state.errors import InvalidRequestError, StoreError
from share_state.gateway.clock import lock_ms
from share_state.types import SharePartitionKey
from tests.gateway.orchard import IDS, NO_ID, NOWHERE, PEARS, PLUMS, Orchard, orchard
from tests.gateway.serving import MEMBER, Instead, fetch
from tests.gateway.wire.codec import Message

ACCEPT, RELEASE = 1, 2


def broken(*_: object, **__: object) -> Any:
    raise StoreError("the disk is full")


def key(trees: Orchard, group: str, topic: str, number: int = 0) -> SharePartitionKey:
    known = trees.gateway._upstream.known_by_name(topic)
    assert known is not None
    return SharePartitionKey(group, known.topic_id, number)


def shown(trees: Orchard, group: str, topic: str, *numbers: int) -> list[tuple[int, int, int, int]]:
    """Start offset, leader epoch, lag and code of each partition."""
    asked = {"groupId": group, "topics": [{"topicName": topic, "partitions": list(numbers)}]}
    (row,) = trees.ask("DescribeShareGroupOffsets", 1, {"groups": [asked]})["groups"]
    assert (row["errorCode"], len(row["topics"])) == (0, 1)
    rows = row["topics"][0]["partitions"]
    assert [one["partitionIndex"] for one in rows] == list(numbers)
    assert {one["errorMessage"] for one in rows} == {None}
    return [(one["startOffset"], one["leaderEpoch"], one["lag"], one["errorCode"]) for one in rows]


def alter(trees: Orchard, group: str, topic: str, *partitions: tuple[int, int]) -> Message:
    rows = [{"partitionIndex": number, "startOffset": offset} for number, offset in partitions]
    asked = {"groupId": group, "topics": [{"topicName": topic, "partitions": rows}]}
    return trees.ask("AlterShareGroupOffsets", 0, asked)


def delete(trees: Orchard, group: str, *topics: str) -> Message:
    return trees.ask("DeleteShareGroupOffsets", 0, {"groupId": group, "topics": [{"topicName": name} for name in topics]})


def codes_of(answer: Message) -> list[int]:
    assert (answer["errorCode"], answer["errorMessage"]) == (0, None)
    return [one["errorCode"] for row in answer["responses"] for one in row.get("partitions", [row])]


def take(trees: Orchard, group: str, topic: str, **limits: Any) -> tuple[list[tuple[int, int]], int]:
    """Fetch of partition 0 until there are records: which were acquired, and the epoch that is next."""
    topic_id = trees.upstream.topics[topic].topic_id
    deadline = time.monotonic() + 20
    epoch = 0
    while True:
        asked = fetch(group, epoch, [(topic_id, 0)] if epoch == 0 else [], maxWaitMs=200, **limits)
        answer = trees.ask("ShareFetch", 1, asked)
        assert answer["errorCode"] == 0
        epoch += 1
        rows = [row for one in answer["responses"] for row in one["partitions"]]
        if found := [(one["firstOffset"], one["lastOffset"]) for row in rows for one in row["acquiredRecords"]]:
            return found, epoch
        assert time.monotonic() < deadline


def settle(trees: Orchard, group: str, topic: str, epoch: int, batch: tuple[int, int, int]) -> None:
    """Settle records in one way, from the first to the last."""
    first, last, way = batch
    rows = [{"firstOffset": first, "lastOffset": last, "acknowledgeTypes": [way]}]
    partition = {"partitionIndex": 0, "acknowledgementBatches": rows}
    asked = {
        "groupId": group,
        "memberId": MEMBER,
        "shareSessionEpoch": epoch,
        "topics": [{"topicId": trees.upstream.topics[topic].topic_id, "partitions": [partition]}],
    }
    answer = trees.ask("ShareAcknowledge", 1, asked)
    assert (answer["errorCode"], answer["responses"][0]["partitions"][0]["errorCode"]) == (0, 0)


def test_lag_counts_neither_what_is_before_the_start_nor_what_is_settled_after_it(trees: Orchard) -> None:
    here = trees.gateway.identity.generation
    trees.join("eater", [PLUMS])
    assert shown(trees, "eater", PLUMS, 0) == [(-1, 0, -1, 0)]
    acquired, epoch = take(trees, "eater", PLUMS)
    assert acquired == [(0, 9)]
    settle(trees, "eater", PLUMS, epoch, (5, 6, ACCEPT))
    assert shown(trees, "eater", PLUMS, 0, 1) == [(0, here, 8, 0), (-1, 0, -1, 0)]
    settle(trees, "eater", PLUMS, epoch + 1, (0, 1, ACCEPT))
    assert shown(trees, "eater", PLUMS, 0) == [(2, here, 6, 0)]
    settle(trees, "eater", PLUMS, epoch + 2, (9, 9, ACCEPT))
    assert shown(trees, "eater", PLUMS, 0) == [(2, here, 5, 0)]
    # Not loaded, it shows the same.
    trees.beat("eater", -1)
    place, node = key(trees, "eater", PLUMS), trees.gateway.plane.node
    node.state_changed("eater", place.topic_id, now_ms=lock_ms())
    assert node.shown(place) is None
    assert shown(trees, "eater", PLUMS, 0) == [(2, here, 5, 0)]


def test_a_start_that_moved_without_a_write_is_kept_when_it_is_shown(trees: Orchard) -> None:
    here = trees.gateway.identity.generation
    trees.upstream.create("kiwis")
    for _ in range(2):
        trees.upstream.append("kiwis", 0, [b"x"] * 5)
    trees.join("pruned", ["kiwis"])
    _, epoch = take(trees, "pruned", "kiwis")
    settle(trees, "pruned", "kiwis", epoch, (0, 9, RELEASE))
    place = key(trees, "pruned", "kiwis")
    store = trees.gateway._store
    assert shown(trees, "pruned", "kiwis", 0) == [(0, here, 10, 0)]
    with trees.upstream.lock:
        trees.upstream.topics["kiwis"].partitions[0].log.delete_below(5)
    trees.upstream.append("kiwis", 0, [b"x"])
    deadline = time.monotonic() + 20
    while shown(trees, "pruned", "kiwis", 0) != [(5, here, 6, 0)]:
        assert time.monotonic() < deadline
        trees.ask("ShareFetch", 1, fetch("pruned", 0, [(trees.upstream.topics["kiwis"].topic_id, 0)], maxRecords=1))
        time.sleep(0.02)
    assert store.read_summary(place).start_offset == 5


def test_other_topics_stay_in_memory_when_one_is_altered_or_deleted(trees: Orchard) -> None:
    trees.join("loaded", [PLUMS, PEARS])
    assert take(trees, "loaded", PLUMS)[0] == [(0, 9)]
    assert take(trees, "loaded", PEARS)[0] == [(0, 1)]
    trees.join("beside", [PEARS])
    # The records that the member held in the other group are not these.
    assert take(trees, "beside", PEARS)[0] == [(0, 1)]
    trees.beat("loaded", -1)
    served = trees.gateway.plane.node.shown
    assert codes_of(alter(trees, "loaded", PEARS, (0, 1))) == [0]
    assert served(key(trees, "loaded", PEARS)) is None
    assert served(key(trees, "loaded", PLUMS)) is not None
    assert codes_of(delete(trees, "loaded", PEARS)) == [0]
    assert served(key(trees, "loaded", PLUMS)) is not None
    assert codes_of(delete(trees, "loaded", PLUMS)) == [0]
    assert served(key(trees, "loaded", PLUMS)) is None
    assert served(key(trees, "beside", PEARS)) is not None


def test_the_epoch_of_a_state_rises_with_the_group_or_by_itself(trees: Orchard) -> None:
    store = trees.gateway._store

    def epoch(group: str, number: int) -> int:
        return store.read_summary(key(trees, group, PLUMS, number)).state_epoch

    assert codes_of(alter(trees, "epochs", PLUMS, (0, 5))) == [0]
    assert epoch("epochs", 0) == 1
    # It was cut with its log, and is ahead of its group.
    assert store.reset_states([(key(trees, "epochs", PLUMS, 0), 50, 4)]) == [None]
    assert codes_of(alter(trees, "epochs", PLUMS, (1, 2), (0, 6))) == [0, 0]
    assert (epoch("epochs", 0), epoch("epochs", 1)) == (51, 2)
    assert shown(trees, "epochs", PLUMS, 0, 1) == [(6, 0, 4, 0), (2, 0, 3, 0)]


def test_one_state_that_is_not_altered_does_not_keep_the_others(trees: Orchard, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = InvalidRequestError("not this one", kafka_code=42)
    states = trees.gateway._store

    def initialize(requests: list[Any]) -> list[Any]:
        outcomes = states.reset_states([request for request in requests if request[0].partition != 1])
        return [refusal if request[0].partition == 1 else outcomes.pop(0) for request in requests]

    monkeypatch.setattr(trees.gateway._groups, "_states", Instead(states, reset_states=initialize))
    assert codes_of(alter(trees, "partly", PLUMS, (0, 1), (1, 1), (2, 1))) == [0, 42, 0]
    monkeypatch.undo()
    assert trees.gateway._groups.store.share_partitions("partly") == [(key(trees, "partly", PLUMS).topic_id, PLUMS, [0, 2])]


def test_states_that_cannot_be_deleted_stay(trees: Orchard, monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes_of(alter(trees, "kept", PLUMS, (0, 1))) == codes_of(alter(trees, "kept", PEARS, (0, 1))) == [0]
    states, plums = trees.gateway._store, key(trees, "kept", PLUMS).topic_id

    calls = []

    def delete_states(keys: list[SharePartitionKey]) -> list[Any]:
        calls.append(keys)
        full = StoreError("the disk is full")
        return [full if key.topic_id == plums else states.delete_states([key])[0] for key in keys]

    monkeypatch.setattr(trees.gateway._groups, "_states", Instead(states, delete_states=delete_states))
    # No code of Kafka's: UNKNOWN_SERVER_ERROR.
    answer = delete(trees, "kept", PLUMS, PEARS)
    assert codes_of(answer) == [-1, 0]
    # One write for all topics.
    assert [len(keys) for keys in calls] == [2]
    text = "The server experienced an unexpected error when processing the request."
    assert [(row["topicId"], row["errorMessage"]) for row in answer["responses"]] == [(IDS[PLUMS], text), (IDS[PEARS], None)]
    monkeypatch.undo()
    assert states.read_summary(key(trees, "kept", PLUMS)).start_offset == 1
    assert states.read_summary(key(trees, "kept", PEARS)).start_offset == -1
    # What was begun is tried again, and then there is nothing left.
    assert codes_of(delete(trees, "kept", PLUMS)) == [0]
    assert states.read_summary(key(trees, "kept", PLUMS)).start_offset == -1
    again = delete(trees, "kept", PLUMS)["responses"]
    assert [(row["topicId"], row["errorCode"]) for row in again] == [(NO_ID, 3)]
    assert again[0]["errorMessage"] == "There is no offset information to delete."


def test_a_store_that_fails_is_no_coordinator(
    trees: Orchard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert codes_of(alter(trees, "failing", PEARS, (0, 1))) == [0]
    groups = trees.gateway._groups
    text = "The coordinator is not available."
    monkeypatch.setattr(groups, "store", Instead(groups.store, begin_alter_offsets=broken, finish_delete_offsets=broken))
    refused = {"errorCode": 15, "errorMessage": text, "responses": []}
    assert alter(trees, "failing", PEARS, (0, 0)) == refused
    assert delete(trees, "failing", PEARS) == refused
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "offsets were not altered: the disk is full: group='failing'",
        "offsets were not deleted: the disk is full: group='failing'",
    ]


def test_what_is_not_durable_was_not_done(
    trees: Orchard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    groups = trees.gateway._groups
    assert trees.join("durable", [PEARS])["errorCode"] == 0
    monkeypatch.setattr(groups, "store", Instead(groups.store, is_durable=lambda _ticket: False, wait=broken))
    nothing = {"errorMessage": None, "memberId": None, "memberEpoch": 0, "heartbeatIntervalMs": 0, "assignment": None}
    assert trees.beat("durable", -1) == {"errorCode": 15, **nothing}
    was_failing = groups.is_failing
    (row,) = trees.ask("DeleteGroups", 2, {"groupsNames": ["durable"]})["results"]
    assert (row["groupId"], row["errorCode"]) == ("durable", 15)
    monkeypatch.undo()
    assert trees.join("durable", [PEARS])["errorCode"] == 0
    assert was_failing
    assert not groups.is_failing
    told = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert [text.split(": group=")[0] for text in told] == [
        "a heartbeat is not durable: the disk is full",
        "groups were not deleted: the disk is full",
    ]


def test_a_state_that_cannot_be_read_is_not_told(trees: Orchard, monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes_of(alter(trees, "unread", PLUMS, (0, 1), (1, 1), (2, 1))) == [0, 0, 0]
    states = trees.gateway._store

    def read_summary(place: SharePartitionKey) -> Any:
        if place.partition == 1:
            return states.read_summary(place)
        raise StoreError("the disk is full") if place.partition == 0 else InvalidRequestError("no state")

    monkeypatch.setattr(trees.gateway._offsets._shown, "_store", Instead(states, read_summary=read_summary))
    assert shown(trees, "unread", PLUMS, 0, 1, 2) == [(-1, 0, -1, 15), (1, 0, 4, 0), (-1, 0, -1, 0)]


def test_what_is_known_of_topics_does_while_upstream_is_gone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with orchard(tmp_path) as trees:
        assert codes_of(alter(trees, "alone", PEARS, (0, 1))) == [0]
        trees.upstream.stop()
        assert codes_of(alter(trees, "alone", PEARS, (0, 0), (1, 0))) == [0, 3]
        # The end of the log is not known: NETWORK_EXCEPTION.
        assert shown(trees, "alone", PEARS, 0) == [(0, 0, -1, 13)]
        wanted = [{"name": name, "partitions": [{"partitionIndex": 0, "timestamp": -1}]} for name in (NOWHERE, PEARS)]
        answer = trees.ask("ListOffsets", 7, {"replicaId": -1, "isolationLevel": 0, "topics": wanted})
        row = {"partitionIndex": 0, "timestamp": -1, "offset": -1, "leaderEpoch": -1}
        assert answer == {
            "topics": [
                {"name": NOWHERE, "partitions": [{**row, "errorCode": 3}]},
                {"name": PEARS, "partitions": [{**row, "errorCode": 13}]},
            ]
        }
        assert [row["topicId"] for row in delete(trees, "alone", NOWHERE, PEARS)["responses"]] == [NO_ID, IDS[PEARS]]
    texts = [record.getMessage() for record in caplog.records if "for its topics" in record.getMessage()]
    assert len(texts) == 4
    assert all(text.startswith("upstream cannot be reached for its topics: ") for text in texts)
    assert all("127.0.0.1" in text for text in texts)
