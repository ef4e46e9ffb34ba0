"""What clients may see of groups: descriptions and lists (RPC 77, 15, 16)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from share_state.errors import ShareStateError
from share_state.gateway.access import CLUSTER_NAME, Operation, Resource
from share_state.gateway.answers import text_of
from share_state.gateway.groups import Groups, not_share_group
from share_state.gateway.limits import size_of
from share_state.gateway.net import Net
from share_state.gateway.ordinary_groups import OrdinaryGroups
from share_state.gateway.refusals import NOT_ASKED, refused_classic, refused_group
from share_state.gateway.requests import Client
from share_state.gateway.upstream.cluster import Upstream
from share_state.kafka import codes

__all__ = ["GroupDescriptions"]

_SHARE: Final = "share"
_DESCRIBE_GROUPS: Final = 15
_SHARE_GROUP_DESCRIBE: Final = 77
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
        net: catches what a group raises.
        ordinary: groups of other kinds, where clients reach them through the gateway.
    """

    def __init__(self, groups: Groups, upstream: Upstream, *, net: Net, ordinary: OrdinaryGroups | None = None) -> None:
        self._groups = groups
        self._upstream = upstream
        self._net = net
        self._ordinary = ordinary

    async def describe(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer ShareGroupDescribe (RPC 77)."""
        # What is shown is on the disk.
        await self._groups.durable(self._groups.store.ticket())

        async def described(group: str) -> dict[str, Any]:
            row = self._described(client, group, asked["includeAuthorizedOperations"])
            if row["errorCode"] == codes.GROUP_ID_NOT_FOUND and await self._groups.is_other_kind(group):
                return refused_group(group, codes.GROUP_ID_NOT_FOUND, not_share_group(group))
            return row

        def refuse(group: str, code: int) -> dict[str, Any]:
            return refused_group(group, code, text_of(code))

        return {
            "groups": await self._net.rows(client, _SHARE_GROUP_DESCRIBE, dict.fromkeys(asked["groupIds"]), described, refuse)
        }

    async def describe_classic(self, client: Client, version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DescribeGroups (RPC 15): none of the groups here is of that kind."""
        says_so = version >= _SAYS_NOT_FOUND
        with_operations = asked.get("includeAuthorizedOperations", False)
        ordinary = await self._described_upstream(dict.fromkeys(asked["groups"]))

        async def described(group: str) -> dict[str, Any]:
            if not client.may(Operation.DESCRIBE, Resource.GROUP, group):
                return refused_classic(group, codes.GROUP_AUTHORIZATION_FAILED)
            if isinstance(ordinary, Exception) and self._groups.store.describe(group) is None:
                raise ordinary
            row = None if isinstance(ordinary, Exception) else ordinary.get(group)
            if row is None or row["errorCode"] == codes.GROUP_ID_NOT_FOUND:
                text = self._not_classic(group) if row is None else row["errorMessage"]
                code = codes.GROUP_ID_NOT_FOUND if says_so else codes.NONE
                row = refused_classic(group, code, text if says_so else None, "Dead")
            is_told = with_operations and row["errorCode"] == codes.NONE
            return {**row, "authorizedOperations": _operations(client, group) if is_told else NOT_ASKED}

        return {
            "groups": await self._net.rows(client, _DESCRIBE_GROUPS, dict.fromkeys(asked["groups"]), described, refused_classic)
        }

    async def _described_upstream(self, groups: Iterable[str]) -> dict[str, dict[str, Any]] | ShareStateError:
        """Return the rows of ordinary groups by name, or why there are none to be had."""
        if self._ordinary is None:
            return {}
        try:
            return await self._ordinary.described([group for group in groups if self._groups.store.describe(group) is None])
        except ShareStateError as lost:
            return lost

    def _not_classic(self, group: str) -> str:
        return _not_found(group) if self._groups.store.describe(group) is None else f"Group {group} is not a classic group."

    async def list_groups(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer ListGroups (RPC 16)."""
        states = {state.lower() for state in asked.get("statesFilter") or ()}
        types = {kind.lower() for kind in asked.get("typesFilter") or ()}
        rows = [
            {"groupId": group, "protocolType": _SHARE, "groupState": state, "groupType": _SHARE}
            async for group, state in self._net.slices.of(self._groups.store.groups())
        ]
        if self._ordinary is not None and types != {_SHARE}:
            rows += [row for row in await self._ordinary.listed() if self._groups.store.describe(row["groupId"]) is None]
        sees_all = client.may(Operation.DESCRIBE, Resource.CLUSTER, CLUSTER_NAME)
        rows = [
            row
            async for row in self._net.slices.of(rows)
            if (not types or row["groupType"].lower() in types)
            and (not states or row["groupState"].lower() in states)
            and (sees_all or client.may(Operation.DESCRIBE, Resource.GROUP, row["groupId"]))
        ]
        await self._net.answers.reserve(client, sum(map(size_of, rows)))
        return {"errorCode": codes.NONE, "groups": rows}

    def _described(self, client: Client, group: str, with_operations: bool) -> dict[str, Any]:
        if not client.may(Operation.DESCRIBE, Resource.GROUP, group):
            return refused_group(group, codes.GROUP_AUTHORIZATION_FAILED, "Group authorization failed.")
        if not group:
            return refused_group(group, codes.INVALID_GROUP_ID, None)
        found = self._groups.store.describe(group)
        if found is None:
            return refused_group(group, codes.GROUP_ID_NOT_FOUND, _not_found(group))
        members = []
        for member in found["members"]:
            topics = []
            for topic_id, partitions in member["assignment"]:
                topic = self._upstream.known(topic_id)
                if topic is not None:
                    topics.append({"topicId": topic_id, "topicName": topic.name, "partitions": partitions})
            if not all(client.sees(topic["topicName"]) for topic in topics):
                return {
                    **found,
                    "errorCode": codes.TOPIC_AUTHORIZATION_FAILED,
                    "errorMessage": _HAS_HIDDEN_TOPICS,
                    "members": [],
                    "authorizedOperations": NOT_ASKED,
                }
            members.append({**member, "assignment": {"topicPartitions": topics}})
        return {
            **found,
            "errorCode": codes.NONE,
            "errorMessage": None,
            "members": members,
            "authorizedOperations": _operations(client, group) if with_operations else NOT_ASKED,
        }


def _operations(client: Client, group: str) -> int:
    return sum(1 << bit for operation, bit in _OPERATIONS if client.may(operation, Resource.GROUP, group))


def _not_found(group: str) -> str:
    return f"Group {group} not found."
