"""The net below every handler: strange texts are answered as Java reads them, and what a handler raises is an answer too."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from share_state._core import api_table, decode_message, encode_message
from share_state.errors import EnginePoisonedError, StoreError
from share_state.gateway import Limits, net
from share_state.gateway.answers import text_of
from share_state.gateway.counts import Counts
from tests.gateway.coordination.group_rows import described, member_row
from tests.gateway.orchard import PEARS, PLUMS, Orchard, orchard
from tests.gateway.serving import MEMBER, Instead
from tests.gateway.wire import api_key, name_of, versions
from tests.gateway.wire.codec import Message, decode, encode
from tests.gateway.wire.connection import Connection

#: Bytes that are not UTF-8, and how Java reads them.
NOT_TEXT, READ = b"a\xff\xc3(", "a\ufffd\ufffd("


@pytest.mark.parametrize(
    ("name", "version", "message", "told"),
    [
        ("Metadata", 1, {"topics": [{"name": NOT_TEXT}]}, lambda answer: answer["topics"][0]["name"]),
        ("Metadata", 9, {"topics": [{"name": NOT_TEXT}]}, lambda answer: answer["topics"][0]["name"]),
        ("FindCoordinator", 4, {"coordinatorKeys": [NOT_TEXT]}, lambda answer: answer["coordinators"][0]["key"]),
        ("DescribeGroups", 0, {"groups": [NOT_TEXT]}, lambda answer: answer["groups"][0]["groupId"]),
        ("DeleteGroups", 2, {"groupsNames": [NOT_TEXT]}, lambda answer: answer["results"][0]["groupId"]),
        ("ShareGroupDescribe", 1, {"groupIds": [NOT_TEXT]}, lambda answer: answer["groups"][0]["groupId"]),
    ],
)
def test_a_text_that_is_not_utf_8_is_answered(
    there: Orchard, name: str, version: int, message: Message, told: Callable[[Message], str]
) -> None:
    assert told(there.ask(name, version, message)) == READ


def test_a_client_id_that_is_not_utf_8_is_shown_as_java_reads_it(trees: Orchard) -> None:
    key, version = api_key("ShareGroupHeartbeat"), 1
    body = encode(key, version, {"groupId": "odd", "memberId": MEMBER, "memberEpoch": 0, "subscribedTopicNames": [PEARS]})
    head = key.to_bytes(2) + version.to_bytes(2) + (1).to_bytes(4) + len(NOT_TEXT).to_bytes(2) + NOT_TEXT + b"\0"
    with Connection(trees.gateway.bootstrap_servers) as connection:
        connection._correlation = 1
        connection.send_frame(head + body)
        assert decode(key, version, connection.receive(key, version), response=True)["errorCode"] == 0
        assert connection.ask("ApiVersions", 0)["errorCode"] == 0
    (row,) = trees.ask("ShareGroupDescribe", 1, {"groupIds": ["odd"]})["groups"]
    assert row == described("odd", members=[member_row([(PEARS, [0])], clientId=READ)])


def test_a_text_that_is_too_long_once_it_is_read_is_refused(trees: Orchard) -> None:
    # Each byte becomes three, and no answer could hold it.
    with Connection(trees.gateway.bootstrap_servers) as connection, pytest.raises(Exception, match="closed"):
        connection.ask("ShareGroupDescribe", 1, {"groupIds": [b"\xff" * 11_000]})
    assert trees.ask("ApiVersions", 0, {})["errorCode"] == 0


def fail(*_: Any, **__: Any) -> NoReturn:
    raise KeyError("a fault of ours")


def fail_for(name: str, real: Callable[..., Any], wrong: Exception) -> Callable[..., Any]:
    """A function that fails for one group."""

    def call(group: str, *rest: Any, **more: Any) -> Any:
        if group == name:
            raise wrong
        return real(group, *rest, **more)

    return call


def place_of(topic: str) -> Message:
    return {"topicName": topic, "partitions": [{"partitionIndex": 0, "startOffset": 1}]}


#: Requests, the call that fails in each, and the errors in the answer.
WHOLE: list[tuple[str, int, Message, str]] = [
    ("ListGroups", 5, {}, "groups"),
    (
        "ShareGroupHeartbeat",
        1,
        {"groupId": "g", "memberId": MEMBER, "memberEpoch": 0, "subscribedTopicNames": [PEARS]},
        "heartbeat",
    ),
    ("ShareGroupDescribe", 1, {"groupIds": ["g"]}, "ticket"),
    ("AlterShareGroupOffsets", 0, {"groupId": "g", "topics": [place_of(PEARS)]}, "begin_alter_offsets"),
    ("DeleteShareGroupOffsets", 0, {"groupId": "g", "topics": [{"topicName": PEARS}]}, "share_partitions"),
]


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: str(case[0]))
def test_a_handler_that_fails_is_an_answer(
    there: Orchard, caplog: pytest.LogCaptureFixture, case: tuple[str, int, Message, str]
) -> None:
    name, version, message, call = case
    groups, counts = there.gateway._groups, there.gateway.counts
    real, before = groups.store, counts.failures[api_key(name)]
    groups.store = Instead(real, **{call: fail})  # type: ignore[assignment]
    try:
        answer = there.ask(name, version, message)
    finally:
        groups.store = real
    row = answer["groups"][0] if name == "ShareGroupDescribe" else answer
    assert row["errorCode"] == -1
    assert counts.failures[api_key(name)] == before + 1
    (line,) = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert line.exc_info
    assert f"request={name!r}" in line.getMessage()
    assert "client='lab'" in line.getMessage()
    assert name == "ListGroups" or "'g'" in line.getMessage()
    # The connection lives, and the next one of the kind is served.
    assert there.ask("ListGroups", 5, {})["errorCode"] == 0


def test_one_group_that_fails_leaves_the_others(there: Orchard) -> None:
    for group in ("one", "two", "three"):
        there.join(group, [PEARS])
        there.beat(group, -1)
    groups = there.gateway._groups
    real = groups.store
    wrong = StoreError("no disk", kafka_code=56)
    groups.store = Instead(  # type: ignore[assignment]
        real,
        describe=fail_for("two", real.describe, wrong),
        share_partitions=fail_for("two", real.share_partitions, wrong),
        begin_delete_group=fail_for("two", real.begin_delete_group, KeyError("two")),
    )
    try:
        names = ["one", "two", "three"]
        shown = there.ask("ShareGroupDescribe", 1, {"groupIds": names})["groups"]
        offsets = there.ask("DescribeShareGroupOffsets", 1, {"groups": [{"groupId": name, "topics": None} for name in names]})
        deleted = there.ask("DeleteGroups", 2, {"groupsNames": names})["results"]
    finally:
        groups.store = real
    assert [(row["groupId"], row["errorCode"]) for row in shown] == [("one", 0), ("two", 56), ("three", 0)]
    assert [(row["groupId"], row["errorCode"]) for row in offsets["groups"]] == [("one", 0), ("two", 56), ("three", 0)]
    assert [(row["groupId"], row["errorCode"]) for row in deleted] == [("one", 0), ("two", -1), ("three", 0)]


def test_topics_and_coordinators_that_fail(there: Orchard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(there.gateway._upstream, "topics", fail)
    told = there.ask("Metadata", 13, {"topics": [{"name": PEARS}]})
    assert (told["errorCode"], [(row["name"], row["errorCode"]) for row in told["topics"]]) == (-1, [(PEARS, -1)])
    asked = {"replicaId": -1, "topics": [{"name": PLUMS, "partitions": [{"partitionIndex": 1, "timestamp": -1}]}]}
    (row,) = there.ask("ListOffsets", 5, asked)["topics"]
    assert [(one["partitionIndex"], one["errorCode"]) for one in row["partitions"]] == [(1, -1)]
    monkeypatch.setattr(there.gateway._discovery, "_coordinates", fail)
    assert there.ask("FindCoordinator", 1, {"key": "g"})["errorCode"] == -1
    assert [row["errorCode"] for row in there.ask("FindCoordinator", 4, {"coordinatorKeys": ["g", "h"]})["coordinators"]] == [
        -1,
        -1,
    ]


def test_a_request_is_answered_that_has_met_a_fault_of_the_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: object, **__: object) -> NoReturn:
        raise EnginePoisonedError("a fault of ours")

    with orchard(tmp_path) as made:
        plane = made.gateway.plane
        monkeypatch.setattr(plane, "node", Instead(plane.node, set_topics=panic, keep_counts=panic, upstream_lost=panic))
        made.upstream.create("new")
        (row,) = made.ask("Metadata", 12, {"topics": [{"name": "new"}]})["topics"]
        assert (row["errorCode"], len(row["partitions"])) == (0, 1)
        assert str(plane.wrong) == "a fault of ours"


def test_texts_beside_codes() -> None:
    unexpected = "The server experienced an unexpected error when processing the request."
    assert {code: text_of(code) for code in (0, -1, 3, 15, 24, 29, 30, 42, 68, 121, 56)} == {
        0: None,
        -1: unexpected,
        3: "This server does not host this topic-partition.",
        15: "The coordinator is not available.",
        24: "The group id is invalid.",
        29: "Topic authorization failed.",
        30: "Group authorization failed.",
        42: "The request is malformed, or was sent to a server of another kind.",
        68: "The group is not empty.",
        121: "The record state is invalid. The acknowledgement of delivery could not be completed.",
        56: unexpected,
    }


@pytest.mark.parametrize("key", sorted(net._ROWS_LAST), ids=name_of)
def test_rows_that_are_written_in_slices_are_the_same_bytes(key: int) -> None:
    _, oldest, newest, _ = api_table()[key]

    async def written(version: int, answer: Message) -> tuple[bytes, int]:
        made = net.Net(Counts(), Limits(slice=0.0))
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.create_task(others())
        found = await made.encoded(key, version, answer)
        beside.cancel()
        return found, turns

    for version in range(oldest, min(newest, versions(key)[-1]) + 1):
        empty = decode_message(key, version, encode(key, version, {}, response=True), response=True)
        field = next((name for name, value in empty.items() if isinstance(value, list)), "")
        if not field:
            assert (name_of(key), version < 4) == ("FindCoordinator", True)
            continue
        # The length of most takes three bytes in the versions that are flexible.
        counts = ((0, 0), (100, 0), (101, 2), (128, 2), (16_500, 165))
        for count, slices in counts if version in {oldest, newest} else counts[:-1]:
            answer = decode_message(key, version, encode(key, version, {field: [{}] * count}, response=True), response=True)
            whole = encode_message(key, version, answer, response=True)
            found, turns = asyncio.run(written(version, answer))
            assert found == whole
            assert turns >= slices
