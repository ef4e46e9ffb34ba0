"""Questions to a cluster: topics, ends, share groups, configurations. Nothing is joined or changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from share_state.kafka import codes
from share_state.kafka.client.apis import (
    DESCRIBE_SHARE_GROUPS,
    FETCH,
    FIND_COORDINATOR,
    LIST_GROUPS,
    METADATA,
    VERSIONS,
    spoken_since,
)
from share_state.kafka.client.client import MAX_FRAME, Client
from share_state.kafka.client.configs import Resource, describe_configs
from share_state.kafka.client.connection import ConnectionOptions
from share_state.kafka.client.connections import Connections
from share_state.kafka.client.coordinators import OF_GROUPS, find_coordinators
from share_state.kafka.client.metadata import Topic, by_id, by_name, topic_of
from share_state.kafka.client.offsets import LATEST, OffsetQuestion
from share_state.kafka.client.peers import Address, Node
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.clock import LoopClock
from share_state.operate.analysis.topic_id import hyphenated
from share_state.operate.live.rights import Missing, NotAllowedError, Right

__all__ = ["Asked", "Group", "Member"]

#: Versions that are needed: topics by their ids, as every cluster with share groups has them, and groups of one type.
_NEEDED: Final = spoken_since({FETCH: 13, METADATA: 12, FIND_COORDINATOR: 4, LIST_GROUPS: 5, VERSIONS: 3})
_SHARE: Final = "share"
_NOT_ALLOWED: Final = frozenset(
    {codes.TOPIC_AUTHORIZATION_FAILED, codes.GROUP_AUTHORIZATION_FAILED, codes.CLUSTER_AUTHORIZATION_FAILED}
)
#: Groups of one request.
_AT_ONCE: Final = 200


class Member(NamedTuple):
    """A member of a share group."""

    member_id: str
    client_id: str
    client_host: str
    rack_id: str | None
    subscribed_topics: tuple[str, ...]
    #: Topic id and partition of each share partition that it may fetch.
    assignment: tuple[tuple[str, int], ...]


class Group(NamedTuple):
    """A share group, as its coordinator describes it."""

    group: str
    #: ``Empty``, ``Stable`` or ``Dead``.
    state: str
    group_epoch: int
    assignment_epoch: int
    members: tuple[Member, ...]


class Asked:
    """Connections to ask by. All of it lives on one event loop.

    Args:
        bootstrap: addresses of some brokers.
        security: how connections are secured.
        request_timeout: seconds that an answer may take.
    """

    def __init__(self, bootstrap: Sequence[Address], security: SecurityOptions, *, request_timeout: float = 10.0) -> None:
        options = ConnectionOptions(
            security,
            LoopClock(),
            "share-state-live",
            connect_timeout=request_timeout,
            request_timeout=request_timeout,
            max_frame=MAX_FRAME,
            apis=_NEEDED,
        )
        self._client = Client(bootstrap, options)

    def connections(self) -> Connections:
        """Make connections for somebody who closes them again. See :meth:`Client.connections`."""
        return self._client.connections()

    def node(self, node_id: int) -> Node | None:
        """Return a broker by its id, as of the last question for topics."""
        return self._client.node(node_id)

    def node_ids(self) -> tuple[int, ...]:
        """Return the ids of the brokers, as of the last question for topics."""
        return tuple(sorted(node.id for node in self._client.nodes()))

    async def need_share_groups(self) -> None:
        """Ask a broker whether it knows share groups.

        Raises:
            BrokerTooOldError: it does not: it is older than Kafka 4.2.
            UnansweredError: no broker could be asked.
        """
        connection = await self._client.any()
        for api_key in (FETCH, DESCRIBE_SHARE_GROUPS):
            connection.version_of(api_key)

    async def topic(self, name: str) -> Topic | None:
        """Ask for a topic by its name; None where there is none.

        Raises:
            NotAllowedError: it may not be described.
            UnansweredError: no broker could be asked.
        """
        (row,) = (await self._client.metadata(by_name([name])))["topics"]
        if row["errorCode"] == codes.TOPIC_AUTHORIZATION_FAILED:
            raise NotAllowedError(Right("DESCRIBE", "topic", name))
        return topic_of(row)

    async def topics(self, topic_ids: Iterable[str], missing: Missing) -> dict[str, Topic]:
        """Ask for topics by their ids, and for the brokers; topics that were deleted are left out.

        Raises:
            UnansweredError: no broker could be asked.
        """
        answer = await self._client.metadata(by_id(sorted(set(topic_ids))))
        found = {}
        for row in answer["topics"]:
            if row["errorCode"] == codes.TOPIC_AUTHORIZATION_FAILED:
                missing.add(Right("DESCRIBE", "topic", topic_id=hyphenated(row["topicId"])))
            elif (topic := topic_of(row)) is not None:
                found[topic.topic_id] = topic
        return found

    async def offsets(
        self, wanted: Iterable[tuple[Topic, int]], missing: Missing, *, at: int = LATEST, isolation: int = 0
    ) -> dict[tuple[str, int], int]:
        """Ask the leaders where partitions end, or for ``at`` -2 where they begin; a partition that cannot be asked is left out.

        With ``isolation`` 1 the end is the last stable offset: that of the first open transaction, if there is one.

        Returns:
            Offsets by topic id and partition.
        """
        by_node: dict[Node, list[OffsetQuestion]] = {}
        ids = {}
        for topic, partition in wanted:
            node = self.node(topic.leaders[partition]) if 0 <= partition < len(topic.leaders) else None
            if node is not None:
                ids[topic.name] = topic.topic_id
                by_node.setdefault(node, []).append(OffsetQuestion(topic.name, partition, at))
        told = await self._client.offsets(by_node, isolation=isolation)
        denied = {name for (name, _), one in told.items() if one.error_code == codes.TOPIC_AUTHORIZATION_FAILED}
        missing |= {Right("DESCRIBE", "topic", name) for name in denied}
        return {(ids[name], partition): one.offset for (name, partition), one in told.items() if one.error_code == codes.NONE}

    async def share_groups(self) -> list[str]:
        """Ask every broker for the share groups that it coordinates; a group that may not be described is left out.

        Raises:
            UnansweredError: a broker could not be asked.
        """
        message = {"statesFilter": [], "typesFilter": [_SHARE]}
        connections = await asyncio.gather(*map(self._client.connection, self._client.nodes()))
        answers = await asyncio.gather(*(one.request(LIST_GROUPS, message) for one in connections))
        return sorted({row["groupId"] for answer in answers for row in answer["groups"]})

    async def described(self, groups: Iterable[str], missing: Missing) -> dict[str, Group]:
        """Ask the coordinators for members and assignments; a group that is gone, or has no coordinator, is left out.

        Raises:
            UnansweredError: a broker could not be asked.
        """
        found: dict[str, Group] = {}
        by_node = await self._coordinators(sorted(set(groups)))
        for node, names in by_node.items():
            connection = await self._client.connection(node)
            for first in range(0, len(names), _AT_ONCE):
                message = {"groupIds": names[first : first + _AT_ONCE], "includeAuthorizedOperations": False}
                answer = await connection.request(DESCRIBE_SHARE_GROUPS, message)
                for row in answer["groups"]:
                    if row["errorCode"] == codes.GROUP_AUTHORIZATION_FAILED:
                        missing.add(Right("DESCRIBE", "group", row["groupId"]))
                    elif row["errorCode"] == codes.NONE:
                        found[row["groupId"]] = _group(row)
        return found

    async def configs(self, resource: Resource, names: Iterable[str], missing: Missing) -> dict[str, dict[str, str]]:
        """Ask for configurations: names and values, those of the broker where a resource has none of its own.

        Args:
            resource: of which kind they are.
            names: of groups or topics, or the id of one broker.
            missing: takes the rights that are missing.

        Raises:
            UnansweredError: no broker could be asked.
        """
        wanted = sorted(set(names))
        if not wanted:
            return {}
        node = self.node(int(wanted[0])) if resource is Resource.BROKER else None
        connection = await (self._client.any() if node is None else self._client.connection(node))
        found = {}
        for name, one in (await describe_configs(connection, resource, wanted)).items():
            if one.error_code in _NOT_ALLOWED:
                cluster = resource is Resource.BROKER
                missing.add(Right("DESCRIBE_CONFIGS", "cluster" if cluster else resource.name.lower(), "" if cluster else name))
            elif one.error_code == codes.NONE:
                found[name] = {key: value for key, value in one.values.items() if value is not None}
        return found

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    async def _coordinators(self, groups: list[str]) -> dict[Node, list[str]]:
        found: dict[Node, list[str]] = {}
        if groups:
            for group, one in (await find_coordinators(await self._client.any(), OF_GROUPS, groups)).items():
                if one.error_code == codes.NONE:
                    found.setdefault(one.node, []).append(group)
        return found


def _group(row: Mapping[str, Any]) -> Group:
    members = tuple(
        Member(
            member["memberId"],
            member["clientId"],
            member["clientHost"],
            member["rackId"],
            tuple(member["subscribedTopicNames"]),
            tuple(
                (hyphenated(topic["topicId"]), partition)
                for topic in member["assignment"]["topicPartitions"]
                for partition in topic["partitions"]
            ),
        )
        for member in row["members"]
    )
    return Group(row["groupId"], row["groupState"], row["groupEpoch"], row["assignmentEpoch"], members)
