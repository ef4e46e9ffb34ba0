"""Answers about groups: lists, descriptions and deletion, whole and row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from share_state.gateway import Operation, Resource
from tests.gateway.coordination.group_rows import (
    BROKER,
    NOT_ASKED,
    OTHER,
    describe,
    described,
    listed,
    member_row,
    not_described,
    rule,
)
from tests.gateway.orchard import PEARS, PLUMS, Orchard, orchard
from tests.gateway.wire.codec import Message
from tests.gateway.wire.connection import Connection

#: READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS.
EVERYTHING = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11


@pytest.fixture(scope="module")
def options() -> dict[str, Any]:
    return {"broker": BROKER}


def delete(trees: Orchard, *groups: str) -> Message:
    return trees.ask("DeleteGroups", 2, {"groupsNames": list(groups)})


def test_groups_are_described_row_by_row(trees: Orchard) -> None:
    trees.join("shown", [PLUMS, PEARS])
    trees.join("emptied", [PEARS])
    trees.beat("emptied", -1)
    with Connection(trees.gateway.bootstrap_servers, "other") as connection:
        asked = {"groupId": "shown", "memberId": OTHER, "memberEpoch": 0, "rackId": "r1", "subscribedTopicNames": [PEARS]}
        assert connection.ask("ShareGroupHeartbeat", 1, asked)["memberEpoch"] == 2
    trees.beat("shown", 1)
    members = [
        member_row([(PEARS, [0]), (PLUMS, [0, 1, 2])], memberEpoch=2),
        member_row([(PEARS, [0])], memberId=OTHER, memberEpoch=2, rackId="r1", clientId="other"),
    ]
    assert describe(trees, "absent", "shown", "", "emptied") == [
        not_described("absent", 69, "Group absent not found."),
        described("shown", groupEpoch=2, assignmentEpoch=2, members=members),
        not_described("", 24, None),
        described("emptied", groupState="Empty", groupEpoch=2, assignmentEpoch=2),
    ]


def test_what_may_be_done_to_a_group_is_told_to_who_asks(trees: Orchard) -> None:
    trees.join("operations", [PEARS])
    members = [member_row([(PEARS, [0])])]
    assert describe(trees, "operations", "absent", operations=True) == [
        described("operations", members=members, authorizedOperations=EVERYTHING),
        not_described("absent", 69, "Group absent not found."),
    ]
    topic = rule(Operation.DESCRIBE, Resource.TOPIC, PEARS)
    with trees.rules.only(rule(Operation.DELETE, Resource.GROUP, "operations"), topic):
        (row,) = describe(trees, "operations", operations=True)
        assert row == described("operations", members=members, authorizedOperations=1 << 6 | 1 << 8)
        assert describe(trees, "operations") == [described("operations", members=members)]


def test_groups_and_topics_that_are_hidden_are_not_described(trees: Orchard) -> None:
    trees.join("open", [PEARS])
    trees.join("closed", [PLUMS, PEARS])
    open_, closed = (rule(Operation.DESCRIBE, Resource.GROUP, name) for name in ("open", "closed"))
    pears = rule(Operation.DESCRIBE, Resource.TOPIC, PEARS)
    text = "The group has described topic(s) that the client is not authorized to describe."
    with trees.rules.only(open_, closed, pears):
        assert describe(trees, "closed", "open", "other", operations=True) == [
            described("closed", errorCode=29, errorMessage=text),
            described("open", members=[member_row([(PEARS, [0])])], authorizedOperations=1 << 8),
            not_described("other", 30, "Group authorization failed."),
        ]


def test_no_group_is_a_classic_one(trees: Orchard) -> None:
    def classic(group: str, code: int, message: str | None, state: str = "Dead") -> Message:
        return {
            "errorCode": code,
            "errorMessage": message,
            "groupId": group,
            "groupState": state,
            "protocolType": "",
            "protocolData": "",
            "members": [],
            "authorizedOperations": NOT_ASKED,
        }

    trees.join("share", [PEARS])
    with trees.rules.only(*(rule(Operation.DESCRIBE, Resource.GROUP, name) for name in ("share", "absent"))):
        answer = trees.ask("DescribeGroups", 6, {"groups": ["absent", "secret", "share"]})
        assert answer == {
            "groups": [
                classic("absent", 69, "Group absent not found."),
                classic("secret", 30, None, ""),
                classic("share", 69, "Group share is not a classic group."),
            ]
        }
        # Before, such a group was dead, and messages had no place.
        answer = trees.ask("DescribeGroups", 5, {"groups": ["absent", "secret", "share"]})
        asked = {"groups": ["share", "secret"], "includeAuthorizedOperations": True}
        told = [
            row["authorizedOperations"] for version in (5, 6) for row in trees.ask("DescribeGroups", version, asked)["groups"]
        ]
        assert told == [1 << 8, NOT_ASKED, NOT_ASKED, NOT_ASKED]
    rows = [classic("absent", 0, None), classic("secret", 30, None, ""), classic("share", 0, None)]
    assert answer == {"groups": [{name: value for name, value in row.items() if name != "errorMessage"} for row in rows]}


def test_groups_are_listed_as_far_as_they_are_asked_for(tmp_path: Path) -> None:
    with orchard(tmp_path) as trees:
        assert listed(trees) == []
        for group in ("stable", "empty", "hidden"):
            trees.join(group, [PEARS])
        trees.beat("empty", -1)
        row = {"groupId": "stable", "protocolType": "share", "groupState": "Stable", "groupType": "share"}
        assert trees.ask("ListGroups", 5, {})["groups"] == [
            {**row, "groupId": "empty", "groupState": "Empty"},
            {**row, "groupId": "hidden"},
            row,
        ]
        everything = ["empty Empty", "hidden Stable", "stable Stable"]
        assert listed(trees, statesFilter=["sTABLE"]) == everything[1:]
        assert listed(trees, statesFilter=["Dead", "EMPTY"]) == everything[:1]
        assert listed(trees, statesFilter=["Empty", "Stable"]) == everything
        assert listed(trees, statesFilter=["Dead"]) == []
        assert listed(trees, typesFilter=["consumer", "Share"]) == everything
        assert listed(trees, typesFilter=["SHARE"], statesFilter=["empty"]) == everything[:1]
        assert listed(trees, typesFilter=["consumer"]) == []
        assert trees.ask("ListGroups", 5, {"typesFilter": ["classic"]}) == {"errorCode": 0, "groups": []}
        # Before states could be asked for, and before they were told.
        assert listed(trees, 4, statesFilter=["empty"]) == everything[:1]
        assert listed(trees, 3) == ["empty None", "hidden None", "stable None"]
        seen = [rule(Operation.DESCRIBE, Resource.GROUP, name) for name in ("empty", "stable")]
        with trees.rules.only(*seen):
            assert listed(trees) == [everything[0], everything[2]]
            assert listed(trees, statesFilter=["stable"]) == everything[2:]
        with trees.rules.only(rule(Operation.DESCRIBE, Resource.CLUSTER, "kafka-cluster")):
            assert listed(trees) == everything
            assert listed(trees, statesFilter=["empty"]) == everything[:1]


def test_groups_are_deleted_row_by_row(trees: Orchard) -> None:
    for group in ("gone", "kept", "busy"):
        trees.join(group, [PEARS, PLUMS])
    for group in ("gone", "kept"):
        trees.beat(group, -1)
    # Nothing of what was is met by a group of the same name.
    alter = {"topicName": PEARS, "partitions": [{"partitionIndex": 0, "startOffset": 1}]}
    assert trees.ask("AlterShareGroupOffsets", 0, {"groupId": "gone", "topics": [alter]})["errorCode"] == 0
    with trees.rules.only(*(rule(Operation.DELETE, Resource.GROUP, name) for name in ("absent", "busy", "gone", ""))):
        # Once each, however often they are named.
        answer = delete(trees, "absent", "busy", "kept", "gone", "", "gone", "absent", "kept")
    assert answer == {
        "results": [
            {"groupId": "absent", "errorCode": 69},
            {"groupId": "busy", "errorCode": 68},
            {"groupId": "kept", "errorCode": 30},
            {"groupId": "gone", "errorCode": 0},
            {"groupId": "", "errorCode": 69},
        ]
    }
    gone, kept = describe(trees, "gone", "kept")
    assert gone == not_described("gone", 69, "Group gone not found.")
    assert kept["groupState"] == "Empty"
    assert delete(trees, "gone") == {"results": [{"groupId": "gone", "errorCode": 69}]}
    assert trees.join("gone", [PEARS])["memberEpoch"] == 1
    asked = {"groupId": "gone", "topics": [{"topicName": PEARS, "partitions": [0]}]}
    (row,) = trees.ask("DescribeShareGroupOffsets", 1, {"groups": [asked]})["groups"][0]["topics"]
    assert row["partitions"][0]["startOffset"] == -1


def test_a_deletion_syncs_each_log_as_often_for_many_groups_as_for_one(trees: Orchard) -> None:
    """Count what each log of the gateway syncs while groups are deleted."""
    stores: list[Any] = [trees.gateway._store, trees.gateway._groups.store]

    def synced(*groups: str) -> list[int]:
        before = [store.counters()["fsyncs"] for store in stores]
        delete(trees, *groups)
        return [store.counters()["fsyncs"] - then for store, then in zip(stores, before, strict=True)]

    names = [f"many-{number}" for number in range(20)]
    for name in names:
        trees.join(name, [PEARS, PLUMS])
        assert synced(name) == [0, 0]  # It has a member.
        trees.beat(name, -1)
    # What is deleted is written first, then the states, then the groups.
    assert synced(names[0]) == [1, 2]
    assert synced(*names[1:]) == [1, 2]
    assert synced(*names, "absent", "") == [0, 0]
    assert describe(trees, *names) == [not_described(name, 69, f"Group {name} not found.") for name in names]
