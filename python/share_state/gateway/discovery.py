"""How clients find their way: Metadata, FindCoordinator, DescribeCluster. Every way leads to the gateway."""

from __future__ import annotations

from typing import Any, Final

from share_state.gateway.access import Operation, Resource
from share_state.gateway.answers import text_of
from share_state.gateway.identity import Identity
from share_state.gateway.relay import Relay
from share_state.gateway.requests import Client
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.gateway.upstream.topics import ZERO_ID, Topic
from share_state.kafka import codes
from share_state.kafka.peers import Address

__all__ = ["Discovery"]

_GROUP: Final = 0
_TRANSACTION: Final = 1
#: With share partitions, whose coordinator is the gateway's own affair.
_KEY_TYPES: Final = frozenset({_GROUP, _TRANSACTION, 2})
#: "Was not asked what the client may do" (``MetadataResponse.AUTHORIZED_OPERATIONS_OMITTED``).
_NOT_ASKED: Final = -(1 << 31)
_ALL_BY_EMPTY: Final = 0
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
    """

    def __init__(
        self, upstream: Upstream, identity: Identity, node_id: int, advertised: Address | None, relay: Relay | None
    ) -> None:
        self._upstream = upstream
        self._identity = identity
        self._node_id = node_id
        self._advertised = advertised
        self._relay = relay
        #: Whether upstream has said that it coordinates ordinary groups.
        self._has_groups_upstream = False

    async def metadata(self, client: Client, version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer Metadata (RPC 3). A topic is never created, whatever the client allows."""
        rows = await self._topics(client, version, asked["topics"])
        return {
            "brokers": [self._broker(client)],
            "clusterId": self._identity.cluster_id,
            "controllerId": self._node_id,
            "topics": rows,
            "clusterAuthorizedOperations": _NOT_ASKED,
            "errorCode": codes.NONE,
        }

    async def find_coordinator(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer FindCoordinator (RPC 10): groups are coordinated here."""
        key_type = asked.get("keyType", _GROUP)
        keys = asked["coordinatorKeys"] if "coordinatorKeys" in asked else [asked["key"]]
        found = []
        for key in keys:
            code = await self._coordinates(client, key_type, key)
            host, port = self._here(client) if code == codes.NONE else ("", -1)
            node_id = self._node_id if code == codes.NONE else -1
            message = _text(code, is_one="coordinatorKeys" not in asked, is_known=key_type in _KEY_TYPES)
            found.append({"nodeId": node_id, "host": host, "port": port, "errorCode": code, "errorMessage": message})
        if "coordinatorKeys" not in asked:
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
            "clusterAuthorizedOperations": _NOT_ASKED,
        }

    def endpoint(self, client: Client) -> tuple[int, str, int, str | None]:
        """Return the gateway as a node of ShareFetch's NodeEndpoints."""
        return (self._node_id, *self._here(client), None)

    def _here(self, client: Client) -> Address:
        return self._advertised or client.here

    def _broker(self, client: Client) -> dict[str, Any]:
        host, port = self._here(client)
        return {"nodeId": self._node_id, "host": host, "port": port, "rack": None}

    async def _topics(self, client: Client, version: int, asked: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
        try:
            if asked is None or (not asked and version == _ALL_BY_EMPTY):
                topics = await self._upstream.all_topics()
                return [self._topic(topic) for topic in topics if self._may_see(client, topic.name)]
            names = [row["name"] for row in asked if row["name"] is not None]
            by_name = await self._upstream.topics(name for name in names if self._may_see(client, name))
            ids = [row["topicId"] for row in asked if row["name"] is None]
            by_id = await self._upstream.topics_by_id(ids) if ids else {}
        except UpstreamError:
            # What was known last, so that clients that need nothing new go on.
            return [self._remembered(row) for row in asked or ()]
        rows = []
        for row in asked:
            name, topic_id = row["name"], row.get("topicId", ZERO_ID)
            if name is not None:
                code = codes.UNKNOWN_TOPIC_OR_PARTITION if self._may_see(client, name) else codes.TOPIC_AUTHORIZATION_FAILED
                rows.append(self._topic(by_name[name]) if name in by_name else _missing(name, ZERO_ID, code))
            elif topic_id in by_id and self._may_see(client, by_id[topic_id].name):
                rows.append(self._topic(by_id[topic_id]))
            else:
                rows.append(_missing(None, topic_id, codes.UNKNOWN_TOPIC_ID))
        return rows

    def _remembered(self, row: dict[str, Any]) -> dict[str, Any]:
        name, topic_id = row["name"], row.get("topicId", ZERO_ID)
        topic = self._upstream.known_by_name(name) if name is not None else self._upstream.known(topic_id)
        return _missing(name, topic_id, codes.LEADER_NOT_AVAILABLE) if topic is None else self._topic(topic)

    @staticmethod
    def _may_see(client: Client, name: str) -> bool:
        return client.may(Operation.DESCRIBE, Resource.TOPIC, name)

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
            "topicAuthorizedOperations": _NOT_ASKED,
        }


def _no_endpoint(endpoint: int) -> dict[str, Any]:
    """Refuse to describe a cluster of which this is no endpoint (``AuthHelper.computeDescribeClusterResponse``)."""
    is_controller = endpoint == _CONTROLLERS
    return {
        "errorCode": codes.MISMATCHED_ENDPOINT_TYPE if is_controller else codes.UNSUPPORTED_ENDPOINT_TYPE,
        "errorMessage": "This is an endpoint of brokers." if is_controller else f"Unsupported endpoint type {endpoint}",
        "endpointType": _BROKERS,
        "clusterId": "",
        "controllerId": -1,
        "brokers": [],
        "clusterAuthorizedOperations": _NOT_ASKED,
    }


def _text(code: int, *, is_one: bool, is_known: bool) -> str:
    """Return Kafka's text: in answers about one key also "NONE", in answers about several only for a type that there is not."""
    if is_one:
        return text_of(code) or "NONE"
    return "" if is_known else text_of(code) or ""


def _missing(name: str | None, topic_id: str, code: int) -> dict[str, Any]:
    return {
        "errorCode": code,
        "name": name,
        "topicId": topic_id,
        "isInternal": False,
        "partitions": [],
        "topicAuthorizedOperations": _NOT_ASKED,
    }
