"""How clients find their way: Metadata, FindCoordinator, DescribeCluster. Every way leads to the gateway."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from share_state.gateway.access import Operation, Resource
from share_state.gateway.answers import text_of
from share_state.gateway.identity import Identity
from share_state.gateway.net import Net
from share_state.gateway.refusals import NOT_ASKED, REFUSALS, refused_cluster, refused_coordinator, refused_topic
from share_state.gateway.relay import Relay
from share_state.gateway.requests import Client
from share_state.gateway.topic_names import is_topic_name
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.gateway.upstream.topics import Topic
from share_state.kafka import codes
from share_state.kafka.client.metadata import ZERO_ID
from share_state.kafka.client.peers import Address

__all__ = ["Discovery", "features"]

_METADATA: Final = 3
#: About the bytes of a partition, and of a topic without its name, in Metadata.
_PARTITION_BYTES: Final = 40
_TOPIC_BYTES: Final = 60
_FIND_COORDINATOR: Final = 10
_GROUP: Final = 0
_TRANSACTION: Final = 1
#: With share partitions, whose coordinator is the gateway's own affair.
_KEY_TYPES: Final = frozenset({_GROUP, _TRANSACTION, 2})
_ALL_BY_EMPTY: Final = 0
#: The first version of Metadata that may name topics by id; 10 and 11 have the field, and refuse it.
_BY_ID: Final = 12
#: Types of endpoints (``EndpointType``).
_BROKERS, _CONTROLLERS = 1, 2


class Discovery:
    """One broker that leads every partition and coordinates every group.

    Args:
        upstream: the cluster with the topics.
        identity: cluster id and generation; the latter is the leader epoch of every partition.
        node_id: id of the one broker.
        advertised: where clients find it; ``None`` for where they have found it before.
        relay: passes transactions and ordinary groups on, which so are coordinated here too; ``None`` for none.
        net: catches what a key raises.
    """

    def __init__(
        self,
        upstream: Upstream,
        identity: Identity,
        node_id: int,
        *,
        advertised: Address | None,
        relay: Relay | None,
        net: Net,
    ) -> None:
        self._upstream = upstream
        self._identity = identity
        self._node_id = node_id
        self._advertised = advertised
        self._relay = relay
        self._net = net
        #: Whether upstream has said that it coordinates ordinary groups.
        self._has_groups_upstream = False

    async def metadata(self, client: Client, version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer Metadata (RPC 3). A topic is never created, whatever the client allows."""
        code = _refusal(version, asked["topics"] or [])
        rows: list[dict[str, Any]] | None
        if code != codes.NONE:
            rows = REFUSALS[_METADATA](asked, code)["topics"]
        elif asked["topics"] is None or (not asked["topics"] and version == _ALL_BY_EMPTY):
            rows = await self._all(client)
        else:
            rows = await self._topics(client, asked["topics"])
        return {
            "brokers": [] if rows is None else [self._broker(client)],
            "clusterId": self._identity.cluster_id,
            "controllerId": -1 if rows is None else self._node_id,
            "topics": rows or [],
            "clusterAuthorizedOperations": NOT_ASKED,
            "errorCode": code,
        }

    async def find_coordinator(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer FindCoordinator (RPC 10): groups are coordinated here."""
        key_type = asked.get("keyType", _GROUP)
        is_one = "coordinatorKeys" not in asked
        # A key is answered once: who names it again finds it by its name.
        keys = [asked["key"]] if is_one else list(dict.fromkeys(asked["coordinatorKeys"]))

        async def find(key: str) -> dict[str, Any]:
            code = await self._coordinates(client, key_type, key)
            if code != codes.NONE:
                return refuse(key, code)
            host, port = self._here(client)
            message = _text(code, is_one=is_one, is_known=True)
            return {"nodeId": self._node_id, "host": host, "port": port, "errorCode": code, "errorMessage": message}

        def refuse(_key: str, code: int) -> dict[str, Any]:
            return refused_coordinator(code, _text(code, is_one=is_one, is_known=key_type in _KEY_TYPES))

        found = await self._net.rows(client, _FIND_COORDINATOR, keys, find, refuse)
        if is_one:
            return found[0]
        return {"coordinators": [{"key": key, **row} for key, row in zip(keys, found, strict=True)]}

    async def _coordinates(self, client: Client, key_type: int, key: str) -> int:
        """Return Kafka's code for a client that looks for a coordinator: 0 where it is the gateway."""
        if key_type == _GROUP and not client.may(Operation.DESCRIBE, Resource.GROUP, key):
            return codes.GROUP_AUTHORIZATION_FAILED
        if key_type not in {_GROUP, _TRANSACTION}:
            return codes.INVALID_REQUEST
        if self._relay is None or (key_type == _GROUP and self._has_groups_upstream):
            return codes.NONE if key_type == _GROUP else codes.COORDINATOR_NOT_AVAILABLE
        try:
            code = await self._relay.find_coordinator(key_type, key)
        except UpstreamError:
            code = codes.COORDINATOR_NOT_AVAILABLE
        if key_type == _TRANSACTION:
            return code
        self._has_groups_upstream = code == codes.NONE
        return codes.NONE

    async def describe_cluster(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer DescribeCluster (RPC 60)."""
        endpoint = asked.get("endpointType", _BROKERS)
        if endpoint != _BROKERS:
            return _no_endpoint(endpoint)
        broker = self._broker(client)
        return {
            "errorCode": codes.NONE,
            "errorMessage": None,
            "endpointType": endpoint,
            "clusterId": self._identity.cluster_id,
            "controllerId": self._node_id,
            "brokers": [{"brokerId": broker["nodeId"], "host": broker["host"], "port": broker["port"], "rack": None}],
            "clusterAuthorizedOperations": NOT_ASKED,
        }

    def _here(self, client: Client) -> Address:
        return self._advertised or client.here

    def _broker(self, client: Client) -> dict[str, Any]:
        host, port = self._here(client)
        return {"nodeId": self._node_id, "host": host, "port": port, "rack": None}

    async def _topics(self, client: Client, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
        unknown_name, unknown_id = codes.UNKNOWN_TOPIC_OR_PARTITION, codes.UNKNOWN_TOPIC_ID
        # As Kafka: a topic is answered once, and where there are ids the names do not count.
        ids = dict.fromkeys(row["topicId"] for row in asked if row.get("topicId", ZERO_ID) != ZERO_ID)
        named = dict.fromkeys(row["name"] for row in asked if not ids)
        names = [name for name in named if client.sees(name) and is_topic_name(name)]
        try:
            by_name = await self._upstream.topics(names)
            by_id = await self._upstream.topics_by_id(ids) if ids else {}
        except UpstreamError:
            # What was known last, so that clients that need nothing new go on.
            by_name = {name: topic for name in names if (topic := self._upstream.known_by_name(name)) is not None}
            by_id = {topic_id: topic for topic_id in ids if (topic := self._upstream.known(topic_id)) is not None}
            unknown_name = unknown_id = codes.LEADER_NOT_AVAILABLE
        await self._reserve(client, [*by_name.values(), *by_id.values()], others=len(named) + len(ids))
        rows = []
        async for name in self._net.slices.of(named):
            if name in by_name:
                rows.append(self._topic(by_name[name]))
                continue
            known = unknown_name if is_topic_name(name) else codes.INVALID_TOPIC_EXCEPTION
            rows.append(refused_topic(name, ZERO_ID, known if client.sees(name) else codes.TOPIC_AUTHORIZATION_FAILED))
        async for topic_id in self._net.slices.of(ids):
            topic = by_id.get(topic_id)
            is_seen = topic is not None and client.sees(topic.name)
            rows.append(self._topic(topic) if topic is not None and is_seen else refused_topic(None, topic_id, unknown_id))
        return rows

    async def _all(self, client: Client) -> list[dict[str, Any]] | None:
        """Return all topics that a client may see, while upstream is away as far as they are known.

        ``None`` where upstream has never told of all: an answer without topics would say that there are none. A broker that has
        just started is as ignorant, and answers without brokers, after which clients ask again.
        """
        topics: list[Topic] | None
        try:
            topics = await self._upstream.all_topics()
        except UpstreamError:
            topics = self._upstream.all_known()
        if topics is None:
            return None
        seen = [topic async for topic in self._net.slices.of(topics) if client.sees(topic.name)]
        await self._reserve(client, seen)
        return [self._topic(topic) async for topic in self._net.slices.of(seen)]

    async def _reserve(self, client: Client, topics: Collection[Topic], others: int = 0) -> None:
        """Count the answer before it is made: a client that reads slowly may ask again and again, on many connections."""
        size = sum(_PARTITION_BYTES * len(topic.partitions) + len(topic.name) for topic in topics)
        await self._net.answers.reserve(client, size + _TOPIC_BYTES * (len(topics) + others))

    def _topic(self, topic: Topic) -> dict[str, Any]:
        node = [self._node_id]
        return {
            "errorCode": codes.NONE,
            "name": topic.name,
            "topicId": topic.topic_id,
            "isInternal": topic.is_internal,
            "partitions": [
                {
                    "errorCode": codes.NONE,
                    "partitionIndex": index,
                    "leaderId": self._node_id,
                    "leaderEpoch": self._identity.generation,
                    "replicaNodes": node,
                    "isrNodes": node,
                    "offlineReplicas": [],
                }
                for index in range(len(topic.partitions))
            ],
            "topicAuthorizedOperations": NOT_ASKED,
        }


def features(version: int) -> dict[str, Any]:
    """Return the features of ApiVersions: that there are share groups, for people who look; no client does."""
    supported = [{"name": "share.version", "minVersion": 0, "maxVersion": 1}]
    finalized = [{"name": "share.version", "maxVersionLevel": 1, "minVersionLevel": 1}]
    # Older clients refuse a feature whose least version is 0.
    has_zero = version >= 4  # noqa: PLR2004
    return {
        **({"supportedFeatures": supported} if has_zero else {}),
        "finalizedFeaturesEpoch": 0,
        "finalizedFeatures": finalized,
    }


def _refusal(version: int, asked: list[dict[str, Any]]) -> int:
    """Return the code of a request that Kafka refuses as a whole (``KafkaApis.handleTopicMetadataRequest``)."""
    has_ids = any(row.get("topicId", ZERO_ID) != ZERO_ID for row in asked)
    is_nameless = any(row["name"] is None for row in asked)
    if version < _BY_ID:
        return codes.INVALID_REQUEST if has_ids or is_nameless else codes.NONE
    # Neither a name nor an id: Kafka fails over it.
    return codes.UNKNOWN_SERVER_ERROR if is_nameless and not has_ids else codes.NONE


def _no_endpoint(endpoint: int) -> dict[str, Any]:
    """Refuse to describe a cluster of which this is no endpoint (``AuthHelper.computeDescribeClusterResponse``)."""
    is_controller = endpoint == _CONTROLLERS
    return refused_cluster(
        codes.MISMATCHED_ENDPOINT_TYPE if is_controller else codes.UNSUPPORTED_ENDPOINT_TYPE,
        "This is an endpoint of brokers." if is_controller else f"Unsupported endpoint type {endpoint}",
    )


def _text(code: int, *, is_one: bool, is_known: bool) -> str:
    """Return Kafka's text: in answers about one key also "NONE", in answers about several only for a type that there is not."""
    if is_one:
        return text_of(code) or "NONE"
    return "" if is_known else text_of(code) or ""
