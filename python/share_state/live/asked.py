"""What a cluster says of itself when it is asked: topics, ends, share groups, configurations. Nothing is joined or changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

from share_state.analysis.topic_id import base64_id, hyphenated
from share_state.kafka import codes
from share_state.kafka.clock import LoopClock
from share_state.kafka.connection import Connection, ConnectionOptions
from share_state.kafka.connections import Connections
from share_state.kafka.errors import KafkaPersisterError
from share_state.kafka.peers import Address, LostError, Node, spoken
from share_state.kafka.security import SecurityOptions
from share_state.live.rights import Missing, NotAllowedError, Right

__all__ = ["FETCH", "Asked", "Group", "Member", "Resource", "Topic", "UnansweredError"]

FETCH: Final = 1
_LIST_OFFSETS, _METADATA, _FIND_COORDINATOR = 2, 3, 10
_LIST_GROUPS, _DESCRIBE_CONFIGS, _DESCRIBE_SHARE_GROUPS = 16, 32, 77
_APIS: Final = {
    # By topic ids, as every cluster with share groups has them; the decoder ends at 17.
    FETCH: (13, 17),
    _LIST_OFFSETS: spoken(_LIST_OFFSETS),
    _METADATA: spoken(_METADATA, since=12),
    _FIND_COORDINATOR: spoken(_FIND_COORDINATOR, since=4),
    _LIST_GROUPS: spoken(_LIST_GROUPS, since=5),
    17: spoken(17, since=1),
    18: (3, 3),
    _DESCRIBE_CONFIGS: spoken(_DESCRIBE_CONFIGS),
    36: spoken(36, since=2),
    _DESCRIBE_SHARE_GROUPS: spoken(_DESCRIBE_SHARE_GROUPS),
}
_ZERO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
_LATEST: Final = -1
_SHARE: Final = "share"
_LEADERLESS: Final[Mapping[str, Any]] = {"leaderId": -1, "replicaNodes": (), "isrNodes": ()}
_NOT_ALLOWED: Final = frozenset(
    {codes.TOPIC_AUTHORIZATION_FAILED, codes.GROUP_AUTHORIZATION_FAILED, codes.CLUSTER_AUTHORIZATION_FAILED}
)
#: Groups in one request.
_AT_ONCE: Final = 200
#: Bytes of an answer to Fetch, and one batch that is larger.
_MAX_FRAME: Final = 256 << 20

#: No broker could be asked, or one has refused.
UnansweredError = (LostError, KafkaPersisterError)


class Resource(IntEnum):
    """What has a configuration: Kafka's resource types."""

    TOPIC = 2
    BROKER = 4
    GROUP = 32


class Topic(NamedTuple):
    """A topic."""

    name: str
    #: Hyphenated UUID.
    topic_id: str
    #: The broker that leads each partition; -1 for none.
    leaders: tuple[int, ...]
    #: The brokers that keep each partition, and of those the ones that are in sync.
    replicas: tuple[tuple[int, ...], ...] = ()
    in_sync: tuple[tuple[int, ...], ...] = ()


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
        self._options = ConnectionOptions(
            security,
            LoopClock(),
            "share-state-live",
            connect_timeout=request_timeout,
            request_timeout=request_timeout,
            max_frame=_MAX_FRAME,
            apis=_APIS,
        )
        self._bootstrap = list(bootstrap)
        self._control = Connections(bootstrap, self._options)
        self._nodes: dict[int, Node] = {}

    def connections(self) -> Connections:
        """Make connections for somebody who closes them again: what waits for new records holds up no question."""
        addresses = [node.address for node in self._nodes.values()] + self._bootstrap
        return Connections(list(dict.fromkeys(addresses)), self._options)

    def node(self, node_id: int) -> Node | None:
        """Return a broker by its id, as of the last question for topics."""
        return self._nodes.get(node_id)

    def node_ids(self) -> tuple[int, ...]:
        """Return the ids of the brokers, as of the last question for topics."""
        return tuple(sorted(self._nodes))

    async def need_share_groups(self) -> None:
        """Ask a broker whether it knows share groups.

        Raises:
            BrokerTooOldError: it does not: it is older than Kafka 4.2.
            UnansweredError: no broker could be asked.
        """
        connection = await self._control.any()
        for api_key in (FETCH, _DESCRIBE_SHARE_GROUPS):
            connection.version_of(api_key)

    async def topic(self, name: str) -> Topic | None:
        """Ask for a topic by its name; None where there is none.

        Raises:
            NotAllowedError: it may not be described.
            UnansweredError: no broker could be asked.
        """
        (row,) = await self._metadata([{"topicId": _ZERO_ID, "name": name}])
        if row["errorCode"] == codes.TOPIC_AUTHORIZATION_FAILED:
            raise NotAllowedError(Right("DESCRIBE", "topic", name))
        return _topic(row)

    async def topics(self, topic_ids: Iterable[str], missing: Missing) -> dict[str, Topic]:
        """Ask for topics by their ids, and for the brokers; topics that were deleted are left out.

        Raises:
            UnansweredError: no broker could be asked.
        """
        rows = await self._metadata([{"topicId": base64_id(topic_id), "name": None} for topic_id in sorted(set(topic_ids))])
        found = {}
        for row in rows:
            if row["errorCode"] == codes.TOPIC_AUTHORIZATION_FAILED:
                missing.add(Right("DESCRIBE", "topic", topic_id=hyphenated(row["topicId"])))
            elif (topic := _topic(row)) is not None:
                found[topic.topic_id] = topic
        return found

    async def _metadata(self, topics: list[dict[str, Any]]) -> list[dict[str, Any]]:
        message = {"topics": topics, "allowAutoTopicCreation": False, "includeTopicAuthorizedOperations": False}
        answer = await (await self._control.any()).request(_METADATA, message)
        self._nodes = {row["nodeId"]: Node(row["nodeId"], Address(row["host"], row["port"])) for row in answer["brokers"]}
        told: list[dict[str, Any]] = answer["topics"]
        return told

    async def offsets(
        self, wanted: Iterable[tuple[Topic, int]], missing: Missing, *, at: int = _LATEST
    ) -> dict[tuple[str, int], int]:
        """Ask the leaders where partitions end, or for ``at`` -2 where they begin; a partition that cannot be asked is left out.

        Returns:
            Offsets by topic id and partition.
        """
        by_node: dict[Node, dict[str, list[dict[str, int]]]] = {}
        ids = {}
        for topic, partition in wanted:
            node = self._nodes.get(topic.leaders[partition]) if 0 <= partition < len(topic.leaders) else None
            if node is not None:
                ids[topic.name] = topic.topic_id
                row = {"partitionIndex": partition, "currentLeaderEpoch": -1, "timestamp": at}
                by_node.setdefault(node, {}).setdefault(topic.name, []).append(row)
        found: dict[tuple[str, int], int] = {}
        for answer in await asyncio.gather(*(self._offsets(node, topics) for node, topics in by_node.items())):
            for topic_row in answer:
                for row in topic_row["partitions"]:
                    if row["errorCode"] == codes.TOPIC_AUTHORIZATION_FAILED:
                        missing.add(Right("DESCRIBE", "topic", topic_row["name"]))
                    elif row["errorCode"] == codes.NONE:
                        found[ids[topic_row["name"]], row["partitionIndex"]] = row["offset"]
        return found

    async def _offsets(self, node: Node, topics: Mapping[str, list[dict[str, int]]]) -> list[dict[str, Any]]:
        rows = [{"name": name, "partitions": partitions} for name, partitions in topics.items()]
        message = {"replicaId": -1, "isolationLevel": 0, "topics": rows, "timeoutMs": 10_000}
        try:
            answer = await (await self._control.connection(node)).request(_LIST_OFFSETS, message)
        except LostError:
            return []
        told: list[dict[str, Any]] = answer["topics"]
        return told

    async def share_groups(self) -> list[str]:
        """Ask every broker for the share groups that it coordinates; a group that may not be described is left out.

        Raises:
            UnansweredError: a broker could not be asked.
        """
        message = {"statesFilter": [], "typesFilter": [_SHARE]}
        nodes = list(self._nodes.values())
        connections = await asyncio.gather(*(self._control.connection(node) for node in nodes))
        answers = await asyncio.gather(*(one.request(_LIST_GROUPS, message) for one in connections))
        return sorted({row["groupId"] for answer in answers for row in answer["groups"]})

    async def described(self, groups: Iterable[str], missing: Missing) -> dict[str, Group]:
        """Ask the coordinators for members and assignments; a group that is gone, or has no coordinator, is left out.

        Raises:
            UnansweredError: a broker could not be asked.
        """
        found: dict[str, Group] = {}
        by_node = await self._coordinators(sorted(set(groups)))
        for node, names in by_node.items():
            connection = await self._control.connection(node)
            for first in range(0, len(names), _AT_ONCE):
                message = {"groupIds": names[first : first + _AT_ONCE], "includeAuthorizedOperations": False}
                answer = await connection.request(_DESCRIBE_SHARE_GROUPS, message)
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
        resources = [{"resourceType": resource, "resourceName": name, "configurationKeys": None} for name in wanted]
        message = {"resources": resources, "includeSynonyms": False, "includeDocumentation": False}
        node = self._nodes.get(int(wanted[0])) if resource is Resource.BROKER else None
        connection = await (self._control.any() if node is None else self._control.connection(node))
        answer = await connection.request(_DESCRIBE_CONFIGS, message)
        found = {}
        for row in answer["results"]:
            name = row["resourceName"]
            if row["errorCode"] in _NOT_ALLOWED:
                cluster = resource is Resource.BROKER
                missing.add(Right("DESCRIBE_CONFIGS", "cluster" if cluster else resource.name.lower(), "" if cluster else name))
            elif row["errorCode"] == codes.NONE:
                found[name] = {entry["name"]: entry["value"] for entry in row["configs"] if entry["value"] is not None}
        return found

    async def close(self) -> None:
        """Close every connection."""
        await self._control.close()

    async def _coordinators(self, groups: list[str]) -> dict[Node, list[str]]:
        found: dict[Node, list[str]] = {}
        connection: Connection | None = None
        for first in range(0, len(groups), _AT_ONCE):
            connection = connection or await self._control.any()
            message = {"keyType": 0, "coordinatorKeys": groups[first : first + _AT_ONCE]}
            answer = await connection.request(_FIND_COORDINATOR, message)
            for row in answer["coordinators"]:
                if row["errorCode"] == codes.NONE:
                    found.setdefault(Node(row["nodeId"], Address(row["host"], row["port"])), []).append(row["key"])
        return found


def _topic(row: Mapping[str, Any]) -> Topic | None:
    """Take a topic; one whose leaders are being elected exists."""
    if row["errorCode"] not in {codes.NONE, codes.LEADER_NOT_AVAILABLE} or row["name"] is None:
        return None
    by_index = {partition["partitionIndex"]: partition for partition in row["partitions"]}
    partitions = [by_index.get(index, _LEADERLESS) for index in range(len(by_index))]
    return Topic(
        row["name"],
        hyphenated(row["topicId"]),
        tuple(one["leaderId"] for one in partitions),
        tuple(tuple(one["replicaNodes"]) for one in partitions),
        tuple(tuple(one["isrNodes"]) for one in partitions),
    )


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
