"""What clients may see of groups: descriptions and lists (RPC 77, 15, 16)."""

from __future__ import annotations

from typing import Any, Final

from share_state.gateway.access import CLUSTER_NAME, Operation, Resource
from share_state.gateway.groups import Groups
from share_state.gateway.requests import Client
from share_state.gateway.upstream.cluster import Upstream
from share_state.kafka import codes

__all__ = ["GroupDescriptions"]

_NOT_ASKED: Final = -(1 << 31)
_SHARE: Final = "share"
_HAS_HIDDEN_TOPICS: Final = "The group has described topic(s) that the client is not authorized to describe."
#: DescribeGroups says that a group is not of its kind from this version on; before, that it is dead.
_SAYS_NOT_FOUND: Final = 6
#: Bits of what may be done to a group: read, delete, describe, describe configs, alter configs.
_OPERATIONS: Final = (
    (Operation.READ, 3),
    (Operation.DELETE, 6),
    (Operation.DESCRIBE, 8),
    (Operation.DESCRIBE_CONFIGS, 10),
    (Operation.ALTER_CONFIGS, 11),
)


class GroupDescriptions:
    """Describes and lists groups.

    Args:
        groups: the groups.
        upstream: the cluster with the topics.
    """

    def __init__(self, groups: Groups, upstream: Upstream) -> None:
        self._groups = groups
        self._upstream = upstream

    async def describe(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer ShareGroupDescribe (RPC 77)."""
        # What is shown is on the disk.
        await self._groups.durable(self._groups.store.ticket())
        rows = [self._described(client, group, asked["includeAuthorizedOperations"]) for group in asked["groupIds"]]
        return {"groups": rows}

    async def describe_classic(self, client: Client, version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DescribeGroups (RPC 15): none of the groups here is of that kind."""
        says_so = version >= _SAYS_NOT_FOUND
        hidden = {group for group in asked["groups"] if not client.may(Operation.DESCRIBE, Resource.GROUP, group)}
        rows = [
            _hidden(group)
            if group in hidden
            else {
                "errorCode": codes.GROUP_ID_NOT_FOUND if says_so else codes.NONE,
                "errorMessage": self._not_classic(group) if says_so else None,
                "groupId": group,
                "groupState": "Dead",
                "protocolType": "",
                "protocolData": "",
                "members": [],
                "authorizedOperations": _NOT_ASKED,
            }
            for group in asked["groups"]
        ]
        return {"groups": rows}

    def _not_classic(self, group: str) -> str:
        return _not_found(group) if self._groups.store.describe(group) is None else f"Group {group} is not a classic group."

    async def list_groups(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer ListGroups (RPC 16)."""
        states = {state.lower() for state in asked.get("statesFilter") or ()}
        types = {kind.lower() for kind in asked.get("typesFilter") or ()}
        if types and _SHARE not in types:
            return {"errorCode": codes.NONE, "groups": []}
        sees_all = client.may(Operation.DESCRIBE, Resource.CLUSTER, CLUSTER_NAME)
        rows = [
            {"groupId": group, "protocolType": _SHARE, "groupState": state, "groupType": _SHARE}
            for group, state in self._groups.store.groups()
            if (not states or state.lower() in states) and (sees_all or client.may(Operation.DESCRIBE, Resource.GROUP, group))
        ]
        return {"errorCode": codes.NONE, "groups": rows}

    def _described(self, client: Client, group: str, with_operations: bool) -> dict[str, Any]:
        if not client.may(Operation.DESCRIBE, Resource.GROUP, group):
            return _undescribed(group, codes.GROUP_AUTHORIZATION_FAILED, "Group authorization failed.")
        if not group:
            return _undescribed(group, codes.INVALID_GROUP_ID, None)
        found = self._groups.store.describe(group)
        if found is None:
            return _undescribed(group, codes.GROUP_ID_NOT_FOUND, _not_found(group))
        members = []
        for member in found["members"]:
            topics = []
            for topic_id, partitions in member["assignment"]:
                topic = self._upstream.known(topic_id)
                if topic is not None:
                    topics.append({"topicId": topic_id, "topicName": topic.name, "partitions": partitions})
            if not all(client.may(Operation.DESCRIBE, Resource.TOPIC, topic["topicName"]) for topic in topics):
                return {
                    **found,
                    "errorCode": codes.TOPIC_AUTHORIZATION_FAILED,
                    "errorMessage": _HAS_HIDDEN_TOPICS,
                    "members": [],
                    "authorizedOperations": _NOT_ASKED,
                }
            members.append({**member, "assignment": {"topicPartitions": topics}})
        operations = _NOT_ASKED
        if with_operations:
            operations = sum(1 << bit for operation, bit in _OPERATIONS if client.may(operation, Resource.GROUP, group))
        return {
            **found,
            "errorCode": codes.NONE,
            "errorMessage": None,
            "members": members,
            "authorizedOperations": operations,
        }


def _hidden(group: str) -> dict[str, Any]:
    return {
        "errorCode": codes.GROUP_AUTHORIZATION_FAILED,
        "errorMessage": None,
        "groupId": group,
        "groupState": "",
        "protocolType": "",
        "protocolData": "",
        "members": [],
        "authorizedOperations": _NOT_ASKED,
    }


def _not_found(group: str) -> str:
    return f"Group {group} not found."


def _undescribed(group: str, code: int, message: str | None) -> dict[str, Any]:
    return {
        "errorCode": code,
        "errorMessage": message,
        "groupId": group,
        "groupState": "",
        "groupEpoch": 0,
        "assignmentEpoch": 0,
        "assignorName": "",
        "members": [],
        "authorizedOperations": _NOT_ASKED,
    }
