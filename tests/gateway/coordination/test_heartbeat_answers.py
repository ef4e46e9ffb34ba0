"""Answers to heartbeats, whole, and what becomes of a member that sends none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import Operation, Resource
from tests.gateway.coordination.group_rows import BROKER, OTHER, describe, described, listed, member_row, not_described, rule
from tests.gateway.orchard import IDS, NOWHERE, PEARS, PLUMS, Orchard, orchard
from tests.gateway.serving import MEMBER
from tests.gateway.wire.codec import Message


@pytest.fixture(scope="module")
def options() -> dict[str, Any]:
    return {"broker": BROKER}


def beaten(epoch: int, topics: list[tuple[str, list[int]]] | None, member: str = MEMBER) -> Message:
    rows = None if topics is None else [{"topicId": IDS[name], "partitions": numbers} for name, numbers in topics]
    return {
        "errorCode": 0,
        "errorMessage": None,
        "memberId": member,
        "memberEpoch": epoch,
        "heartbeatIntervalMs": 6000,
        "assignment": None if rows is None else {"topicPartitions": rows},
    }


def not_beaten(code: int, message: str | None = None) -> Message:
    return {
        "errorCode": code,
        "errorMessage": message,
        "memberId": None,
        "memberEpoch": 0,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }


def test_a_member_joins_stays_and_leaves(trees: Orchard) -> None:
    assert trees.join("life", [PLUMS, PEARS]) == beaten(1, [(PEARS, [0]), (PLUMS, [0, 1, 2])])
    assert trees.beat("life", 1) == beaten(1, None)
    assert trees.beat("life", 1, [PEARS]) == beaten(2, [(PEARS, [0])])
    assert trees.beat("life", -1) == {**beaten(-1, None), "heartbeatIntervalMs": 0}
    assert trees.beat("life", 2) == not_beaten(25, f"Member {MEMBER} is not a member of group life.")
    assert trees.join("life", [PEARS]) == beaten(4, [(PEARS, [0])])


def test_groups_do_not_know_the_members_of_others(trees: Orchard) -> None:
    assert trees.join("one", [PEARS]) == beaten(1, [(PEARS, [0])])
    assert trees.join("one", [PLUMS], OTHER) == beaten(2, [(PLUMS, [0, 1, 2])], OTHER)
    assert trees.join("two", [PLUMS]) == beaten(1, [(PLUMS, [0, 1, 2])])
    assert trees.beat("two", 1, member=OTHER) == not_beaten(25, f"Member {OTHER} is not a member of group two.")


def test_heartbeats_that_are_refused(trees: Orchard) -> None:
    assert trees.join("", [PEARS]) == not_beaten(42, "GroupId can't be empty.")
    for blank in (" ", "\t\n", "\0 "):
        assert trees.join(blank, [PEARS]) == not_beaten(42, "GroupId can't be empty.")
        assert trees.join("refused", [PEARS], blank) == not_beaten(42, "MemberId can't be empty.")
        asked = {"groupId": "refused", "memberId": MEMBER, "memberEpoch": 0, "subscribedTopicNames": [PEARS]}
        assert trees.ask("ShareGroupHeartbeat", 1, {**asked, "rackId": blank}) == not_beaten(42, "RackId can't be empty.")
    assert trees.join("refused", [PEARS], "") == not_beaten(42)
    assert trees.join("refused", [PEARS], "x" * 37) == not_beaten(42)
    assert trees.join("refused", []) == not_beaten(42, "SubscribedTopicNames must be set in first request.")
    assert trees.beat("refused", 1) == not_beaten(25, f"Member {MEMBER} is not a member of group refused.")
    assert describe(trees, "refused") == [not_described("refused", 69, "Group refused not found.")]
    assert trees.join("refused", [PEARS], "x" * 36) == beaten(1, [(PEARS, [0])], "x" * 36)


def test_heartbeats_that_are_not_allowed(trees: Orchard) -> None:
    mine, pears = rule(Operation.READ, Resource.GROUP, "mine"), rule(Operation.DESCRIBE, Resource.TOPIC, PEARS)
    with trees.rules.only(mine, pears):
        assert trees.join("mine", [PLUMS, PEARS]) == not_beaten(29)
        assert trees.join("mine", [PEARS]) == beaten(1, [(PEARS, [0])])
        assert trees.beat("mine", 1) == beaten(1, None)
        assert trees.join("yours", [PEARS]) == not_beaten(30)


def test_a_topic_that_is_made_after_a_member_asked_for_it(trees: Orchard) -> None:
    trees.join("early", [PEARS, "figs"])
    (row,) = describe(trees, "early")
    assert row["members"] == [member_row([(PEARS, [0])], subscribedTopicNames=["figs", PEARS])]
    trees.upstream.create("figs")
    try:
        answer = trees.beat("early", 1, [PEARS, "figs"])
        rows = {one["topicId"]: one["partitions"] for one in answer["assignment"]["topicPartitions"]}
        assert rows == {IDS[PEARS]: [0], trees.upstream.topics["figs"].topic_id: [0]}
    finally:
        trees.upstream.delete("figs")


def test_a_member_without_a_heartbeat_is_taken_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "share_state.gateway")
    session = {"group.share.min.session.timeout.ms": "1", "group.share.session.timeout.ms": "100"}
    with orchard(tmp_path, broker=session) as trees:
        trees.join("silent", [PEARS])
        trees.join("quiet", [PEARS], OTHER)
        deadline = time.monotonic() + 20
        while listed(trees) != ["quiet Empty", "silent Empty"]:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    texts = [record.getMessage() for record in caplog.records if record.getMessage().startswith("no heartbeat")]
    assert sorted(texts) == [
        f"no heartbeat in time: group='quiet' member='{OTHER}'",
        f"no heartbeat in time: group='silent' member='{MEMBER}'",
    ]


def test_members_have_a_whole_session_after_a_restart(tmp_path: Path) -> None:
    with orchard(tmp_path) as trees:
        trees.join("lasting", [PEARS])
        trees.join("left", [PEARS])
        trees.beat("left", -1)
    with orchard(tmp_path) as trees:
        assert listed(trees) == ["lasting Stable", "left Empty"]
        assert trees.beat("lasting", 1) == {**beaten(1, None), "heartbeatIntervalMs": 5000}
        assert describe(trees, "lasting") == [described("lasting", members=[member_row([(PEARS, [0])])])]


def test_topics_that_nobody_knows_are_asked_for_while_upstream_is_gone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with orchard(tmp_path) as trees:
        trees.join("known", [PEARS])
        trees.upstream.stop()
        # What is known is not asked for again.
        assert trees.join("calm", [PEARS])["assignment"] == {"topicPartitions": [{"topicId": IDS[PEARS], "partitions": [0]}]}
        assert trees.join("lost", [NOWHERE, PEARS])["errorCode"] == 0
    texts = [record.getMessage() for record in caplog.records if "unknown" in record.getMessage()]
    assert len(texts) == 1
    assert texts[0].startswith("topics ['nowhere'] are unknown, and upstream cannot be reached: ")
    assert not texts[0].endswith(("None", ": "))
