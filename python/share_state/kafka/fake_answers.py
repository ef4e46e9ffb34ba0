"""What a share coordinator answers, without the network: Kafka's codes and texts, decided by our own coordinator.

Answers were compared with those of a Kafka 4.4.0 broker. They differ where the coordinator's rules do on purpose: a start
offset, delivery count, delivery state or batch that Kafka takes and cannot use is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from share_state._core import ShareCoordinator, WriteState, parse_coordinator_key
from share_state.errors import ShareStateError
from share_state.kafka import codes
from share_state.kafka.peers import Address
from share_state.persister import Persister
from share_state.types import SharePartitionKey, StateBatch

__all__ = ["Answers", "Topic"]

_FIND_COORDINATOR, _METADATA = 10, 3
_INITIALIZE, _READ, _WRITE, _DELETE, _SUMMARY = 83, 84, 85, 86, 87
_SHARE: Final = 2
_ZERO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
_COUNTS_COMPLETE: Final = 1
#: Kafka's stand-in for "may do" when it was not asked (`MetadataResponse.AUTHORIZED_OPERATIONS_OMITTED`).
_NOT_ASKED: Final = -(1 << 31)

#: Kafka's texts (``org.apache.kafka.common.protocol.Errors``, ``ShareCoordinatorShard``).
_UNKNOWN_TOPIC_TEXT: Final = "This server does not host this topic-partition."
_TEXTS: Final = {
    codes.FENCED_LEADER_EPOCH: "The leader epoch in the request is older than the epoch on the broker.",
    codes.FENCED_STATE_EPOCH: "The coordinator rejected the request because the state epoch did not match.",
    codes.UNKNOWN_TOPIC_OR_PARTITION: _UNKNOWN_TOPIC_TEXT,
}
_FIELD_TEXTS: Final = {
    "partition": "The partition id cannot be a negative number.",
    "stateEpoch": "The state epoch cannot be a negative number.",
    "leaderEpoch": "The leader epoch cannot be a negative number.",
}
_UNINITIALIZED_TEXTS: Final = {
    _READ: "Read operation on uninitialized share partition not allowed.",
    _WRITE: "Write operation on uninitialized share partition not allowed.",
}
_MALFORMED_TEXT: Final = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an"
    " incompatible broker. See the broker logs for more details."
)

_Message: TypeAlias = dict[str, Any]


class Topic(NamedTuple):
    """A topic that exists.

    Attributes:
        topic_id: its id, in base64.
        partitions: how many partitions it has.
    """

    topic_id: str
    partitions: int


class Answers:
    """Answers requests from a store.

    Args:
        store: where the state is kept.
        topics: the topics that exist, by name; ``None`` when every topic exists, with any number of partitions.
        node_id: id of this broker.
        cluster_id: id of the cluster.
    """

    def __init__(self, store: Persister, topics: Mapping[str, Topic] | None, node_id: int, cluster_id: str) -> None:
        self._store = store
        self._topics = None if topics is None else dict(topics)
        self._node_id = node_id
        self._cluster_id = cluster_id
        #: Knows no state: it refuses what is asked about topics that do not exist, in Kafka's order of checks.
        self._nowhere = ShareCoordinator()

    def answer(self, api_key: int, version: int, asked: _Message, here: Address) -> _Message:
        """Answer a request that came in at ``here``. This may wait for a disk."""
        if api_key == _FIND_COORDINATOR:
            return self._find_coordinator(version, asked, here)
        if api_key == _METADATA:
            return self._metadata(asked, here)
        return self._state(api_key, version, asked)

    def _state(self, api_key: int, version: int, asked: _Message) -> _Message:
        topics = asked["topics"]
        if not asked["groupId"] or not all(topic["partitions"] for topic in topics):
            # Kafka answers these with nothing at all (`ShareCoordinatorService`).
            return {"results": []}
        results: dict[str, dict[int, _Message]] = {}
        for topic in topics:
            of_topic = results.setdefault(topic["topicId"], {})
            for partition in topic["partitions"]:
                number = partition["partition"]
                key = SharePartitionKey(asked["groupId"], topic["topicId"], number)
                # A partition that is named twice is worked on twice and answered once.
                of_topic[number] = {"partition": number, **self._result(api_key, version, key, partition)}
        return {
            "results": [
                {"topicId": topic_id, "partitions": [partitions[number] for number in sorted(partitions)]}
                for topic_id, partitions in results.items()
            ]
        }

    def _result(self, api_key: int, version: int, key: SharePartitionKey, asked: _Message) -> _Message:
        work = self._work(api_key) if self._exists(key) else self._refuse(api_key)
        try:
            done = work(key, asked)
        except ShareStateError as refused:
            code, text = _refusal(api_key, refused)
            done = {"errorCode": code, "errorMessage": text, **_nothing(api_key)}
        else:
            done = {"errorCode": codes.NONE, "errorMessage": None, **done}
        if api_key == _SUMMARY and version < _COUNTS_COMPLETE:
            del done["deliveryCompleteCount"]
        return done

    def _exists(self, key: SharePartitionKey) -> bool:
        if self._topics is None:
            return key.topic_id != _ZERO_ID
        return any(topic.topic_id == key.topic_id and key.partition < topic.partitions for topic in self._topics.values())

    def _work(self, api_key: int) -> Callable[[SharePartitionKey, _Message], _Message]:
        return {
            _INITIALIZE: self._initialize,
            _READ: self._read,
            _WRITE: self._write,
            _DELETE: self._delete,
            _SUMMARY: self._summary,
        }[api_key]

    def _initialize(self, key: SharePartitionKey, asked: _Message) -> _Message:
        self._store.initialize_state(key, asked["stateEpoch"], asked["startOffset"])
        return {}

    def _read(self, key: SharePartitionKey, asked: _Message) -> _Message:
        found = self._store.read_state(key, asked["leaderEpoch"])
        batches = [
            {"firstOffset": first, "lastOffset": last, "deliveryState": state, "deliveryCount": count}
            for first, last, state, count in found.state_batches
        ]
        return {"stateEpoch": found.state_epoch, "startOffset": found.start_offset, "stateBatches": batches}

    def _write(self, key: SharePartitionKey, asked: _Message) -> _Message:
        self._store.write_state(key, _write_state(asked))
        return {}

    def _delete(self, key: SharePartitionKey, _asked: _Message) -> _Message:
        self._store.delete_state(key)
        return {}

    def _summary(self, key: SharePartitionKey, _asked: _Message) -> _Message:
        found = self._store.read_summary(key)
        return {
            "stateEpoch": found.state_epoch,
            "leaderEpoch": found.leader_epoch,
            "startOffset": found.start_offset,
            "deliveryCompleteCount": found.delivery_complete_count,
        }

    def _refuse(self, api_key: int) -> Callable[[SharePartitionKey, _Message], _Message]:
        """Refuse what is asked about a topic that does not exist."""

        def refuse(key: SharePartitionKey, asked: _Message) -> _Message:
            # The zero id stands for no topic with us; on the wire it is a topic that does not exist.
            group, topic_id, partition = key if key.topic_id != _ZERO_ID else (key.group, "_" * 21 + "w", key.partition)
            if api_key == _INITIALIZE:
                epoch, start = asked["stateEpoch"], asked["startOffset"]
                self._nowhere.initialize(group, topic_id, partition, epoch, start, wall_ms=0, topic_exists=False)
            elif api_key == _READ:
                self._nowhere.read(group, topic_id, partition, asked["leaderEpoch"], wall_ms=0, topic_exists=False)
            elif api_key == _WRITE:
                state = _write_state(asked)
                self._nowhere.write(group, topic_id, partition, state, wall_ms=0, topic_exists=False)
            elif api_key == _DELETE:
                self._nowhere.delete(group, topic_id, partition, topic_exists=False)
            else:
                self._nowhere.summary(group, topic_id, partition, topic_exists=False)
            return {}

        return refuse

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


def _write_state(asked: _Message) -> WriteState:
    batches = [
        StateBatch(batch["firstOffset"], batch["lastOffset"], batch["deliveryState"], batch["deliveryCount"])
        for batch in asked["stateBatches"]
    ]
    complete = asked.get("deliveryCompleteCount", -1)
    return WriteState(asked["stateEpoch"], asked["leaderEpoch"], asked["startOffset"], complete, batches)


def _is_coordinator_key(text: str) -> bool:
    # Kafka takes any number as partition here, a negative one included.
    head, _, number = text.rpartition(":")
    try:
        group = parse_coordinator_key(f"{head}:{number.removeprefix('-')}").group
    except ValueError:
        return False
    return bool(group)


def _refusal(api_key: int, refused: ShareStateError) -> tuple[int, str]:
    code = codes.UNKNOWN_SERVER_ERROR if refused.kafka_code is None else refused.kafka_code
    if code == codes.INVALID_REQUEST:
        text = _UNINITIALIZED_TEXTS.get(api_key) if refused.field is None else _FIELD_TEXTS.get(refused.field)
    else:
        text = _TEXTS.get(code)
    return code, text or str(refused)


def _nothing(api_key: int) -> _Message:
    """Give the fields of an answer that is an error."""
    if api_key == _READ:
        return {"stateEpoch": 0, "startOffset": 0, "stateBatches": []}
    if api_key == _SUMMARY:
        return {"stateEpoch": 0, "leaderEpoch": 0, "startOffset": 0, "deliveryCompleteCount": -1}
    return {}
