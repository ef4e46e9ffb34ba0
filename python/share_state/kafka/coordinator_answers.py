"""Answers of a share coordinator, without the network: where share partitions and topics are, and their states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from share_state._core import parse_coordinator_key
from share_state.kafka import codes
from share_state.kafka.client.peers import Address
from share_state.kafka.coordinator_states import States, Topic
from share_state.persister import Persister

__all__ = ["Answers"]

_FIND_COORDINATOR, _METADATA = 10, 3
_SHARE: Final = 2
#: Kafka's stand-in for "may do" when it was not asked (`MetadataResponse.AUTHORIZED_OPERATIONS_OMITTED`).
_NOT_ASKED: Final = -(1 << 31)

_MALFORMED_TEXT: Final = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an"
    " incompatible broker. See the broker logs for more details."
)

_Message: TypeAlias = dict[str, Any]


class Answers:
    """Answers requests from a store.

    Args:
        store: where the state is kept.
        topics: the topics that exist, by name; ``None`` if every topic exists, with any number of partitions.
        node_id: id of this broker.
        cluster_id: id of the cluster.
    """

    def __init__(self, store: Persister, topics: Mapping[str, Topic] | None, node_id: int, cluster_id: str) -> None:
        self._states = States(store, topics)
        self._topics = None if topics is None else dict(topics)
        self._node_id = node_id
        self._cluster_id = cluster_id

    def answer(self, api_key: int, version: int, asked: _Message, here: Address) -> _Message:
        """Answer a request that came in at ``here``. This may wait for a disk."""
        if api_key == _FIND_COORDINATOR:
            return self._find_coordinator(version, asked, here)
        if api_key == _METADATA:
            return self._metadata(asked, here)
        return self._states.answer(api_key, version, asked)

    def _find_coordinator(self, version: int, asked: _Message, here: Address) -> _Message:
        nobody = {"nodeId": -1, "host": "", "port": -1}
        coordinators = []
        for text in asked["coordinatorKeys"]:
            if asked["keyType"] in (0, 1):
                # Groups and transactions: there is nobody for them here.
                found = {**nobody, "errorCode": codes.COORDINATOR_NOT_AVAILABLE, "errorMessage": ""}
            elif asked["keyType"] != _SHARE or version < 6:  # noqa: PLR2004  the first version with share partitions
                found = {**nobody, "errorCode": codes.INVALID_REQUEST, "errorMessage": _MALFORMED_TEXT}
            elif not _is_coordinator_key(text):
                found = {**nobody, "errorCode": codes.INVALID_REQUEST, "errorMessage": ""}
            else:
                place = {"nodeId": self._node_id, "host": here.host, "port": here.port}
                found = {**place, "errorCode": codes.NONE, "errorMessage": ""}
            coordinators.append({"key": text, **found})
        return {"throttleTimeMs": 0, "coordinators": coordinators}

    def _metadata(self, asked: _Message, here: Address) -> _Message:
        topics = self._topics or {}
        names = {topic.topic_id: name for name, topic in topics.items()}
        if asked["topics"] is None:
            found = [self._topic(name, topic) for name, topic in topics.items()]
        else:
            found = []
            for one in asked["topics"]:
                by_id = one["name"] is None
                name = names.get(one["topicId"]) if by_id else one["name"]
                topic = topics.get(name) if name is not None else None
                if name is not None and topic is not None:
                    found.append(self._topic(name, topic))
                else:
                    code = codes.UNKNOWN_TOPIC_ID if by_id else codes.UNKNOWN_TOPIC_OR_PARTITION
                    found.append(_topic_entry(code, one["name"], one["topicId"], []))
        broker = {"nodeId": self._node_id, "host": here.host, "port": here.port, "rack": None}
        return {
            "throttleTimeMs": 0,
            "brokers": [broker],
            "clusterId": self._cluster_id,
            "controllerId": self._node_id,
            "topics": found,
            "errorCode": codes.NONE,
        }

    def _topic(self, name: str, topic: Topic) -> _Message:
        me = self._node_id
        partitions = [
            {
                "errorCode": codes.NONE,
                "partitionIndex": index,
                "leaderId": me,
                "leaderEpoch": 0,
                "replicaNodes": [me],
                "isrNodes": [me],
                "offlineReplicas": [],
            }
            for index in range(topic.partitions)
        ]
        return _topic_entry(codes.NONE, name, topic.topic_id, partitions)


def _topic_entry(code: int, name: str | None, topic_id: str, partitions: list[_Message]) -> _Message:
    return {
        "errorCode": code,
        "name": name,
        "topicId": topic_id,
        "isInternal": False,
        "partitions": partitions,
        "topicAuthorizedOperations": _NOT_ASKED,
    }


def _is_coordinator_key(text: str) -> bool:
    # Kafka takes any number as partition here, a negative one included.
    head, _, number = text.rpartition(":")
    try:
        group = parse_coordinator_key(f"{head}:{number.removeprefix('-')}").group
    except ValueError:
        return False
    return bool(group)
