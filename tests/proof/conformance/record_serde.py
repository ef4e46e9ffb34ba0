"""The ``record_serde*`` suite: key and value bytes of the state topic, both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from share_state.errors import ShareStateError

from .record_json import comparable, decode_record, encode_record, from_recording, snapshot_message, update_message
from .recordings import FormatError, Json, Scenario, require
from .report import Difference, Outcome
from .skips import refuse_unplayable

_STATE_FIELDS = frozenset(
    {
        "snapshot_epoch",
        "state_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
        "batches",
        "create_ts",
        "write_ts",
    }
)


def run(scenario: Scenario) -> Outcome:
    """Each operation of the scenario is a pure function of its arguments."""
    refuse_unplayable(scenario.ops, _OPERATIONS)
    outcome = Outcome(scenario.name)
    for index, op in enumerate(scenario.ops):
        try:
            require(op, frozenset({"op", "args", "result"}), f"op {index}")
            if op.get("op") not in _OPERATIONS:
                raise FormatError(f"unknown operation {op.get('op')}")
            expected, actual = _OPERATIONS[op["op"]](op["args"], op["result"])
        except FormatError as error:
            expected, actual = "known", str(error)
        if expected != actual:
            outcome.differences.append(Difference(scenario.name, index, op["op"], expected, actual))
    return outcome


def _deserialize(args: list[Any], result: Any) -> tuple[object, object]:
    key = bytes.fromhex(args[0]["hex"])
    value = None if args[1] is None else bytes.fromhex(args[1]["hex"])
    refused = isinstance(result, dict) and "error" in result
    try:
        decoded = decode_record(key, value)
    except ShareStateError as error:
        return ("refused", "refused") if refused else (result, repr(error))
    if refused:
        return "refused", decoded
    expected = comparable(from_recording(result))
    actual = comparable(decoded)
    if expected != actual:
        return expected, actual
    encoded = encode_record(decoded)
    return (result["key_hex"], result["value_hex"]), _hex(encoded)


def _serialize_key(args: list[Any], result: Any) -> tuple[object, object]:
    key, _ = encode_record(from_recording(args[0]))
    return result["hex"], key.hex()


def _serialize_value(args: list[Any], result: Any) -> tuple[object, object]:
    _, value = encode_record(from_recording(args[0]))
    return (None if result is None else result["hex"]), None if value is None else value.hex()


def _new_record(record_type: int, message: Callable[[Json], Json] | None) -> Callable[[list[Any], Any], tuple[object, object]]:
    def build(args: list[Any], result: Any) -> tuple[object, object]:
        group, topic_id, partition = args[:3]
        value: Json | None = None
        if message is not None:
            require(args[3], _STATE_FIELDS, "the state of a record")
            value = message(args[3])
        record = {
            "type": record_type,
            "key": {"groupId": group, "topicId": topic_id, "partition": partition},
            "value": value,
        }
        if comparable(record) != comparable(from_recording(result)):
            return from_recording(result), record
        return (result["key_hex"], result["value_hex"]), _hex(encode_record(record))

    return build


def _hex(encoded: tuple[bytes, bytes | None]) -> tuple[str, str | None]:
    key, value = encoded
    return key.hex(), None if value is None else value.hex()


_OPERATIONS: dict[str, Callable[[list[Any], Any], tuple[object, object]]] = {
    "deserialize": _deserialize,
    "serializeKey": _serialize_key,
    "serializeValue": _serialize_value,
    "newShareSnapshotRecord": _new_record(0, snapshot_message),
    "newShareUpdateRecord": _new_record(1, update_message),
    "newShareStateTombstoneRecord": _new_record(0, None),
}
