"""Records, topic ids and keys as the recordings spell them, and as share_state's codec does."""

from __future__ import annotations

import base64
import uuid
from typing import Any

import share_state

from .recordings import FormatError, Json

#: ``key_type`` of a recording → record type of the state topic.
TYPE_OF_KEY = {"ShareSnapshotKey": 0, "ShareUpdateKey": 1}


def hyphenated(topic_id: str) -> str:
    """A topic id as a hyphenated UUID, from any of the spellings in use."""
    if len(topic_id) == 36:
        return str(uuid.UUID(topic_id))
    padded = topic_id.replace("+", "-").replace("/", "_") + "=" * (-len(topic_id) % 4)
    return str(uuid.UUID(bytes=base64.urlsafe_b64decode(padded)))


def base64url(topic_id: str) -> str:
    """A topic id as Kafka's unpadded URL-safe base64."""
    return base64.urlsafe_b64encode(uuid.UUID(hyphenated(topic_id)).bytes).decode().rstrip("=")


def encode_record(flat: Json) -> tuple[bytes, bytes | None]:
    """The bytes of ``{"type", "key", "value"}``; the codec nests each part with its type or version."""
    value = flat["value"]
    return share_state.encode_record(
        {
            "key": {"type": str(flat["type"]), "data": flat["key"]},
            # The record type stands once in a record, in its key.
            "value": None if value is None else {"version": "0", "data": value},
        }
    )


def decode_record(key: bytes, value: bytes | None) -> Json:
    """The inverse of :func:`encode_record`."""
    nested = share_state.decode_record(key, value)
    return {
        "type": int(nested["key"]["type"]),
        "key": nested["key"]["data"],
        "value": None if nested["value"] is None else nested["value"]["data"],
    }


def from_recording(record: Json) -> Json:
    """A recorded record as ``encode_record`` takes it and ``decode_record`` gives it."""
    if set(record) != {"key_type", "key", "value", "key_hex", "value_hex"}:
        raise FormatError(f"unknown form of a record: {sorted(record)}")
    value = record["value"]
    if value is not None:
        if set(value) != {"version", "message"} or value["version"] != 0:
            raise FormatError(f"unknown form of a record value: {value}")
        value = value["message"]
    return {"type": TYPE_OF_KEY[record["key_type"]], "key": record["key"], "value": value}


def comparable(decoded: Json) -> Json:
    """A decoded record with one spelling of the topic id, and without a tag that says nothing.

    Kafka's converter leaves a delivery complete count of -1 out, which is the tag's default.
    """
    key = dict(decoded["key"])
    key["topicId"] = hyphenated(str(key["topicId"]))
    value: dict[str, Any] | None = decoded["value"]
    if value is not None:
        value = dict(value)
        if value.get("deliveryCompleteCount") == -1:
            del value["deliveryCompleteCount"]
        value["stateBatches"] = [dict(batch) for batch in value["stateBatches"]]
    return {"type": int(decoded["type"]), "key": key, "value": value}


def snapshot_message(state: Json) -> Json:
    """The value of a snapshot record, from the shard's in-memory form."""
    return {
        "snapshotEpoch": state["snapshot_epoch"],
        "stateEpoch": state["state_epoch"],
        "leaderEpoch": state["leader_epoch"],
        "startOffset": state["start_offset"],
        "deliveryCompleteCount": state["delivery_complete_count"],
        "createTimestamp": state["create_ts"],
        "writeTimestamp": state["write_ts"],
        "stateBatches": _batches(state),
    }


def update_message(state: Json) -> Json:
    """The value of an update record, from the shard's in-memory form."""
    return {
        "snapshotEpoch": state["snapshot_epoch"],
        "leaderEpoch": state["leader_epoch"],
        "startOffset": state["start_offset"],
        "deliveryCompleteCount": state["delivery_complete_count"],
        "stateBatches": _batches(state),
    }


def _batches(state: Json) -> list[Json]:
    names = ("firstOffset", "lastOffset", "deliveryState", "deliveryCount")
    return [dict(zip(names, batch, strict=True)) for batch in state["batches"]]
