"""Answers of a share coordinator to RPC 83 to 87: Kafka's codes and texts, decided by our own coordinator.

Answers were compared with those of Kafka brokers. They differ where the coordinator's rules do on purpose: a start offset,
delivery count, delivery state or batch that Kafka takes and cannot use is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from share_state._core import ReadStateResult, ShareCoordinator, StateSummary, WriteState
from share_state.errors import ShareStateError, StoreError
from share_state.kafka import codes
from share_state.persister import ManyAtOnce, Persister
from share_state.types import SharePartitionKey, StateBatch

__all__ = ["States", "Topic"]

_INITIALIZE, _READ, _WRITE, _DELETE, _SUMMARY = 83, 84, 85, 86, 87
_ZERO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
_COUNTS_COMPLETE: Final = 1

#: Kafka's texts (``org.apache.kafka.common.protocol.Errors``, ``ShareCoordinatorShard``).
_UNKNOWN_TOPIC_TEXT: Final = "This server does not host this topic-partition."
_TEXTS: Final = {
    codes.FENCED_LEADER_EPOCH: "The leader epoch in the request is older than the epoch on the broker.",
    codes.FENCED_STATE_EPOCH: "The coordinator rejected the request because the state epoch did not match.",
    codes.UNKNOWN_TOPIC_OR_PARTITION: _UNKNOWN_TOPIC_TEXT,
}
_FIELD_TEXTS: Final = {
    "partition": "The partition id cannot be a negative number.",
    "state_epoch": "The state epoch cannot be a negative number.",
    "leader_epoch": "The leader epoch cannot be a negative number.",
}
_UNINITIALIZED_TEXTS: Final = {
    _READ: "Read operation on uninitialized share partition not allowed.",
    _WRITE: "Write operation on uninitialized share partition not allowed.",
}

_Message: TypeAlias = dict[str, Any]
#: The arguments of a persister's method.
_Request: TypeAlias = tuple[Any, ...]


class Topic(NamedTuple):
    """A topic that exists.

    Attributes:
        topic_id: its id, in base64.
        partitions: how many partitions it has.
    """

    topic_id: str
    partitions: int


class States:
    """Answers requests from a store.

    The share partitions of one request are worked on in their order. A store that takes many at once gets them so, and waits
    for its disk once.

    Args:
        store: where the state is kept.
        topics: the topics that exist, by name; ``None`` if every topic exists, with any number of partitions.
    """

    def __init__(self, store: Persister, topics: Mapping[str, Topic] | None) -> None:
        self._topics = None if topics is None else dict(topics)
        #: Knows no state: it refuses what is asked about topics that do not exist, in Kafka's order of checks.
        self._nowhere = ShareCoordinator()
        self._one: dict[int, Callable[..., Any]] = {
            _INITIALIZE: store.reset_state,
            _READ: store.read_state,
            _WRITE: store.write_state,
            _DELETE: store.delete_state,
            _SUMMARY: store.read_summary,
        }
        self._many: dict[int, Callable[[list[Any]], list[Any]]] = {}
        if isinstance(store, ManyAtOnce):
            self._many = {
                _INITIALIZE: store.reset_states,
                _READ: store.read_states,
                _WRITE: store.write_states,
                _DELETE: lambda requests: store.delete_states([key for (key,) in requests]),
            }

    def answer(self, api_key: int, version: int, asked: _Message) -> _Message:
        """Answer a request. This may wait for a disk."""
        topics = asked["topics"]
        if not asked["groupId"] or not all(topic["partitions"] for topic in topics):
            # Kafka answers these with nothing at all (`ShareCoordinatorService`).
            return {"results": []}
        requests: list[_Request] = []
        for topic in topics:
            for partition in topic["partitions"]:
                key = SharePartitionKey(asked["groupId"], topic["topicId"], partition["partition"])
                requests.append((key, *_arguments(api_key, partition)))
        results: dict[str, dict[int, _Message]] = {topic["topicId"]: {} for topic in topics}
        for request, done in zip(requests, self._carry_out(api_key, requests), strict=True):
            key = request[0]
            # A partition that is named twice is worked on twice and answered once.
            results[key.topic_id][key.partition] = {"partition": key.partition, **_result(api_key, version, done)}
        return {
            "results": [
                {"topicId": topic_id, "partitions": [partitions[number] for number in sorted(partitions)]}
                for topic_id, partitions in results.items()
            ]
        }

    def _carry_out(self, api_key: int, requests: list[_Request]) -> list[Any]:
        """Return what became of each: what the persister returned, or the error that it raised."""
        exist = [self._exists(request[0]) for request in requests]
        done = iter(self._ask([request for request, exists in zip(requests, exist, strict=True) if exists], api_key))
        return [
            next(done) if exists else _outcome(self._refuse, (api_key, request[0], request[1:]))
            for request, exists in zip(requests, exist, strict=True)
        ]

    def _ask(self, requests: list[_Request], api_key: int) -> list[Any]:
        many = self._many.get(api_key)
        if many is None:
            return [_outcome(self._one[api_key], request) for request in requests]
        try:
            done = many(requests)
            if len(done) != len(requests):
                raise StoreError(f"the store answers {len(done)} of {len(requests)} requests")
        except ShareStateError as unusable:
            return [unusable] * len(requests)
        return done

    def _exists(self, key: SharePartitionKey) -> bool:
        if self._topics is None:
            return key.topic_id != _ZERO_ID
        return any(topic.topic_id == key.topic_id and key.partition < topic.partitions for topic in self._topics.values())

    def _refuse(self, api_key: int, key: SharePartitionKey, arguments: _Request) -> None:
        """Refuse what is asked about a topic that does not exist."""
        # The zero id stands for no topic with us; on the wire it is a topic that does not exist.
        group, topic_id, partition = key if key.topic_id != _ZERO_ID else (key.group, "_" * 21 + "w", key.partition)
        if api_key == _INITIALIZE:
            self._nowhere.initialize(group, topic_id, partition, *arguments, wall_ms=0, topic_exists=False)
        elif api_key == _READ:
            self._nowhere.read(group, topic_id, partition, *arguments, wall_ms=0, topic_exists=False)
        elif api_key == _WRITE:
            self._nowhere.write(group, topic_id, partition, *arguments, wall_ms=0, topic_exists=False)
        elif api_key == _DELETE:
            self._nowhere.delete(group, topic_id, partition, topic_exists=False)
        else:
            self._nowhere.summary(group, topic_id, partition, topic_exists=False)


def _outcome(work: Callable[..., Any], arguments: tuple[Any, ...]) -> object:
    try:
        return work(*arguments)
    except ShareStateError as refused:
        return refused


def _arguments(api_key: int, asked: _Message) -> _Request:
    """Return what the persister's method takes after the key."""
    if api_key == _INITIALIZE:
        return asked["stateEpoch"], asked["startOffset"]
    if api_key == _READ:
        return (asked["leaderEpoch"],)
    return (_write_state(asked),) if api_key == _WRITE else ()


def _write_state(asked: _Message) -> WriteState:
    batches = [
        StateBatch(batch["firstOffset"], batch["lastOffset"], batch["deliveryState"], batch["deliveryCount"])
        for batch in asked["stateBatches"]
    ]
    complete = asked.get("deliveryCompleteCount", -1)
    return WriteState(asked["stateEpoch"], asked["leaderEpoch"], asked["startOffset"], complete, batches)


def _result(api_key: int, version: int, done: object) -> _Message:
    if isinstance(done, ShareStateError):
        code, text = _refusal(api_key, done)
        result = {"errorCode": code, "errorMessage": text, **_nothing(api_key)}
    else:
        result = {"errorCode": codes.NONE, "errorMessage": None, **_found(done)}
    if api_key == _SUMMARY and version < _COUNTS_COMPLETE:
        del result["deliveryCompleteCount"]
    return result


def _found(done: object) -> _Message:
    if isinstance(done, ReadStateResult):
        batches = [
            {"firstOffset": first, "lastOffset": last, "deliveryState": state, "deliveryCount": count}
            for first, last, state, count in done.state_batches
        ]
        return {"stateEpoch": done.state_epoch, "startOffset": done.start_offset, "stateBatches": batches}
    if isinstance(done, StateSummary):
        return {
            "stateEpoch": done.state_epoch,
            "leaderEpoch": done.leader_epoch,
            "startOffset": done.start_offset,
            "deliveryCompleteCount": done.delivery_complete_count,
        }
    return {}


def _refusal(api_key: int, refused: ShareStateError) -> tuple[int, str]:
    code = codes.UNKNOWN_SERVER_ERROR if refused.kafka_code is None else refused.kafka_code
    if code == codes.INVALID_REQUEST:
        text = _UNINITIALIZED_TEXTS.get(api_key) if refused.field is None else _FIELD_TEXTS.get(refused.field)
    else:
        text = _TEXTS.get(code)
    return code, text or str(refused)


def _nothing(api_key: int) -> _Message:
    """Return the fields of an answer that is an error."""
    if api_key == _READ:
        return {"stateEpoch": 0, "startOffset": 0, "stateBatches": []}
    if api_key == _SUMMARY:
        return {"stateEpoch": 0, "leaderEpoch": 0, "startOffset": 0, "deliveryCompleteCount": -1}
    return {}
