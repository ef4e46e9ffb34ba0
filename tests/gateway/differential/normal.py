"""Part of an answer that has to be equal on both servers: fields by path, with what is each server's own masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.gateway.differential.view import View
from tests.gateway.wire import api_key
from tests.gateway.wire.batches import headers, whole_bytes
from tests.gateway.wire.codec import Message

#: Answers in place of a message.
CLOSED, UNREADABLE = "connection closed", "unreadable answer"
CUT_OFF = "bytes of a batch that is cut off"

Fields = dict[str, Any]

#: Names an element of a list by, so that order does not count; the first that it has.
_NAMES = (
    "topicId", "topicName", "topic", "name", "groupId", "partitionIndex", "partition", "memberId", "resourceName", "key",
    "apiKey",
)  # fmt: skip
#: Whatever these hold, in any answer.
_DROPPED = frozenset(
    {
        "throttleTimeMs", "clusterId", "controllerId", "nodeEndpoints", "host", "port", "nodeId", "rack", "brokers",
        "leaderId", "replicaNodes", "isrNodes", "offlineReplicas", "leaderEpoch", "currentLeader", "finalizedFeaturesEpoch",
    }
)  # fmt: skip
#: Texts for people: that there is one, and whether it is empty, counts, what it says does not.
_TEXTS = frozenset({"errorMessage", "acknowledgeErrorMessage", "documentation"})
#: Sets, in the order of a hash.
_SETS = frozenset({"subscribedTopicNames"})
#: Epochs of groups count assignments; when a server assigns is its own affair.
_GROUP_EPOCHS = frozenset({"memberEpoch", "groupEpoch", "assignmentEpoch"})


def fields(view: View, key: int, answer: Message | str) -> Fields:
    """An answer as fields by path."""
    if isinstance(answer, str):
        return {"": answer}
    return dict(_walk(view, "", _share_fetch(answer) if key == api_key("ShareFetch") else answer))


def acquired(partition: Message) -> dict[int, int]:
    """Delivery counts of the offsets that a partition's answer hands out."""
    return {
        offset: one["deliveryCount"]
        for one in partition["acquiredRecords"]
        for offset in range(one["firstOffset"], one["lastOffset"] + 1)
    }


def _share_fetch(answer: Message) -> Message:
    responses = []
    for topic in answer["responses"]:
        partitions = []
        for partition in topic["partitions"]:
            told = dict(partition)
            told["records"] = _batches(partition["records"] or b"")
            told["acquiredRecords"] = [
                f"{one['firstOffset']}-{one['lastOffset']}x{one['deliveryCount']}" for one in partition["acquiredRecords"]
            ]
            partitions.append(told)
        responses.append({**topic, "partitions": partitions})
    return {**answer, "responses": responses}


def _batches(data: bytes) -> list[str]:
    """Batches by offsets and checksum; of a producer with an id, which each cluster chooses, by offsets alone."""
    told = []
    for header in headers(data):
        content = f"crc {header.crc:08x}" if header.producer_id < 0 else f"count {header.records}"
        told.append(f"{header.base_offset}-{header.last_offset} {content}")
    if cut := len(data) - whole_bytes(data):
        told.append(f"{cut} {CUT_OFF}")
    return told


def _walk(view: View, path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in _DROPPED:
                yield from _field(view, f"{path}.{name}" if path else name, name, inner)
    elif isinstance(value, list):
        yield f"{path}[]", len(value)
        seen: Counter[str] = Counter()
        for number, inner in enumerate(value):
            name = _element(view, number, inner)
            seen[name] += 1
            yield from _walk(view, f"{path}[{name}{'#' * (seen[name] - 1)}]", inner)
    else:
        yield path, value


def _field(view: View, path: str, name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if name == "topicId":
        yield path, view.topic_names.get(value, value)
    elif name in _SETS and value is not None:
        yield from _walk(view, path, sorted(value))
    elif name in _TEXTS:
        yield path, "some text" if value else value
    elif name in _GROUP_EPOCHS and isinstance(value, int) and value > 0:
        yield path, "some epoch"
    elif name == "assignment" and value is not None:
        # Who gets what depends on the order of a hash over member ids and topic ids.
        yield path, "some assignment"
    else:
        yield from _walk(view, path, value)


def _element(view: View, number: int, value: Any) -> str:
    if not isinstance(value, dict):
        # Rows in an order that says something: ranges, offsets.
        return str(number)
    for name in _NAMES:
        if value.get(name) is not None:
            return str(view.topic_names.get(value[name], value[name]))
    return str(number)
