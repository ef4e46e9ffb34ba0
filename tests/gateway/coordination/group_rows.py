"""Groups as ShareGroupDescribe and ListGroups tell of them: what is asked, and rows of what is expected."""

from __future__ import annotations

from typing import Any

from share_state.gateway import Operation, Resource, Rule
from tests.gateway.orchard import IDS, ME, Orchard
from tests.gateway.serving import MEMBER
from tests.gateway.wire.codec import Message

OTHER = "BBBBBBBBBBBBBBBBBBBBBB"
#: Assignments are made at once, not a second after the last.
BROKER = {"group.share.heartbeat.interval.ms": "6000", "group.share.assignment.interval.ms": "0"}
NOT_ASKED = -2147483648


def rule(operation: Operation, resource: Resource, name: str) -> Rule:
    return Rule(ME, operation, resource, name, False, True)


def describe(trees: Orchard, *groups: str, operations: bool = False) -> list[Message]:
    asked = {"groupIds": list(groups), "includeAuthorizedOperations": operations}
    answer = trees.ask("ShareGroupDescribe", 1, asked)
    assert set(answer) == {"groups"}
    return list(answer["groups"])


def described(group: str, **fields: Any) -> Message:
    return {
        "errorCode": 0,
        "errorMessage": None,
        "groupId": group,
        "groupState": "Stable",
        "groupEpoch": 1,
        "assignmentEpoch": 1,
        "assignorName": "simple",
        "members": [],
        "authorizedOperations": NOT_ASKED,
        **fields,
    }


def not_described(group: str, code: int, message: str | None) -> Message:
    empty = {"groupState": "", "groupEpoch": 0, "assignmentEpoch": 0, "assignorName": ""}
    return described(group, errorCode=code, errorMessage=message, **empty)


def member_row(topics: list[tuple[str, list[int]]], **fields: Any) -> Message:
    rows = [{"topicId": IDS[name], "topicName": name, "partitions": numbers} for name, numbers in topics]
    return {
        "memberId": MEMBER,
        "rackId": None,
        "memberEpoch": 1,
        "clientId": "lab",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": [name for name, _ in topics],
        "assignment": {"topicPartitions": rows},
        **fields,
    }


def listed(trees: Orchard, version: int = 5, **filters: list[str]) -> list[str]:
    answer = trees.ask("ListGroups", version, filters)
    assert set(answer) == {"errorCode", "groups"}
    assert answer["errorCode"] == 0
    return [f"{row['groupId']} {row.get('groupState')}" for row in answer["groups"]]
