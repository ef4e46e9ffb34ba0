"""Requests and responses of the coordinator suite: JSON as recorded, and their wire bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from share_state import ReadStateResult, StateSummary, decode_message, encode_message

from .record_json import hyphenated
from .recordings import FormatError, Json
from .schema import require

Points = list[tuple[str, object, object]]

#: Operation of the shard → API key of its request.
API_KEYS = {
    "initializeState": 83,
    "readStateAndMaybeUpdateLeaderEpoch": 84,
    "writeState": 85,
    "deleteState": 86,
    "readStateSummary": 87,
}

_HIGHEST_VERSION = {83: 0, 84: 0, 85: 1, 86: 0, 87: 1}


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request as recorded; ``wire_hex`` is missing where the recorder took the arguments apart."""

    api_key: int
    version: int
    data: Json
    wire_hex: str | None

    @classmethod
    def parse(cls, op: Json) -> RecordedRequest:
        """From an operation's ``args``: a whole request, or (group, topic id, partition)."""
        api_key = API_KEYS[op["op"]]
        args = op["args"]
        if len(args) == 1 and isinstance(args[0], dict):
            request = args[0]
            require(request, frozenset({"type", "data", "version", "wire_hex"}), "the request")
            return cls(api_key, request["version"], request["data"], request["wire_hex"])
        if len(args) == 3 and isinstance(args[2], dict):
            group, topic_id, partition = args
            topics = [{"topicId": topic_id, "partitions": [partition]}]
            data = {"groupId": group, "topics": topics}
            return cls(api_key, _HIGHEST_VERSION[api_key], data, None)
        raise FormatError(f"unknown form of arguments: {args!r}")

    @property
    def group(self) -> str:
        """The group the request is for."""
        return str(self.data["groupId"])

    def partitions(self) -> Iterator[tuple[str, Json]]:
        """Each (topic id, partition) asked about."""
        for topic in self.data["topics"]:
            for partition in topic["partitions"]:
                yield topic["topicId"], partition


def check_request(request: RecordedRequest) -> Points:
    """The recorded request bytes read as the recorded request, and are what we write."""
    if request.wire_hex is None:
        return []
    points: Points = []
    decoded = decode_message(request.api_key, request.version, bytes.fromhex(request.wire_hex))
    if _plain(decoded) != _plain(request.data):
        points.append(("request read from its bytes", request.data, decoded))
    encoded = encode_message(request.api_key, request.version, request.data)
    if encoded.hex() != request.wire_hex:
        points.append(("request bytes", request.wire_hex, encoded.hex()))
    return points


def response_of(op: Json, request: RecordedRequest, results: list[tuple[str, Json, int, object]]) -> Points:
    """The response for these results, compared with the recorded one and its bytes.

    A refusal's text is not compared: the recording leaves it out, and its wording is Kafka's.
    """
    topics: dict[str, list[Json]] = {}
    refused = False
    for topic_id, partition, code, answer in results:
        entry: Json = {"partition": partition["partition"], "errorCode": code}
        if code == 0:
            entry["errorMessage"] = None
        else:
            refused = True
        if request.api_key in (84, 87):
            entry.update(_answer(request.api_key, answer))
        topics.setdefault(topic_id, []).append(entry)
    response: Json = {"results": [{"topicId": topic, "partitions": parts} for topic, parts in topics.items()]}
    recorded = op["result"]["response"]
    points: Points = []
    if _plain(recorded) != _plain(response):
        points.append((f"{op['op']}: response", recorded, response))
    wire = op.get("response_wire_hex")
    if wire is not None and not refused:
        encoded = encode_message(request.api_key, request.version, response, response=True)
        if encoded.hex() != wire:
            points.append((f"{op['op']}: response bytes", wire, encoded.hex()))
        decoded = decode_message(request.api_key, request.version, bytes.fromhex(wire), response=True)
        if _plain(decoded) != _plain(recorded):
            points.append((f"{op['op']}: response read from its bytes", recorded, decoded))
    return points


def _answer(api_key: int, answer: object) -> Json:
    """The fields a read or a summary adds; a refusal has them at their defaults."""
    if api_key == 84:
        if isinstance(answer, ReadStateResult):
            return {
                "stateEpoch": answer.state_epoch,
                "startOffset": answer.start_offset,
                "stateBatches": [
                    {
                        "firstOffset": batch.first_offset,
                        "lastOffset": batch.last_offset,
                        "deliveryState": int(batch.delivery_state),
                        "deliveryCount": batch.delivery_count,
                    }
                    for batch in answer.state_batches
                ],
            }
        return {"stateEpoch": 0, "startOffset": 0, "stateBatches": []}
    if isinstance(answer, StateSummary):
        return {
            "stateEpoch": answer.state_epoch,
            "leaderEpoch": answer.leader_epoch,
            "startOffset": answer.start_offset,
            "deliveryCompleteCount": answer.delivery_complete_count,
        }
    return {"stateEpoch": 0, "leaderEpoch": 0, "startOffset": 0, "deliveryCompleteCount": -1}


def _plain(message: Any) -> Any:
    """A message with one spelling of topic ids, without what its version has not or a default says."""
    if isinstance(message, dict):
        return {
            name: hyphenated(value) if name == "topicId" else _plain(value)
            for name, value in message.items()
            if not (name == "errorMessage" and value is None) and not (name == "deliveryCompleteCount" and value == -1)
        }
    if isinstance(message, (list, tuple)):
        return [_plain(value) for value in message]
    return message
