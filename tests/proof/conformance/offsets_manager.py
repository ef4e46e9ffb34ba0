"""The ``offsets_manager*`` suite: which prefix of a state partition's log may be dropped.

Kafka keeps this in a class of its own; in share_state it is what a coordinator learns by replay, so an
update of a key is a snapshot replayed at that offset and a deletion is a tombstone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from share_state import ShareCoordinator

from .record_json import encode_record, hyphenated
from .recordings import FormatError, Json, Scenario, require
from .report import Difference, Outcome
from .skips import refuse_unplayable

#: Kafka's "not set yet".
_UNSET = 2**63 - 1
_OPERATIONS = frozenset({"create", "updateState", "lastRedundantOffset"})
_KEY_FIELDS = frozenset({"group", "topic_id", "partition"})


def run(scenario: Scenario) -> Outcome:
    """Plays a sequence of updates and questions."""
    refuse_unplayable(scenario.ops, _OPERATIONS)
    outcome = Outcome(scenario.name)
    coordinator: ShareCoordinator | None = None
    for index, op in enumerate(scenario.ops):
        try:
            if op.get("op") == "create":
                require(op, frozenset({"op"}), "create")
                coordinator = ShareCoordinator()
                continue
            if coordinator is None:
                raise FormatError("an operation before create")
            _step(outcome, coordinator, index, op)
        except FormatError as error:
            outcome.differences.append(Difference(scenario.name, index, "format", "known", str(error)))
            break
    return outcome


def _step(outcome: Outcome, coordinator: ShareCoordinator, index: int, op: Json) -> None:
    require(op, frozenset({"op", "args", "result", "state"}), f"op {index}")
    state = op["state"]
    require(state, frozenset({"offsets", "last_redundant"}), f"state of op {index}")
    redundant = coordinator.last_redundant_offset

    def differ(what: str, expected: object, actual: object) -> None:
        outcome.differences.append(Difference(outcome.scenario, index, what, expected, actual))

    if op["op"] == "updateState":
        key, offset, is_delete = op["args"]
        require(key, _KEY_FIELDS, "the key")
        coordinator.replay(offset, *_record(key, is_delete))
    elif op["op"] == "lastRedundantOffset":
        if redundant() != op["result"]:
            differ("last redundant offset", op["result"], redundant())
    else:
        raise FormatError(f"unknown operation {op['op']}")
    # Kafka answers "nothing redundant" for offset 0 as well: there is nothing below it to drop.
    held = state["last_redundant"]
    expected = None if held in (0, _UNSET) else held
    if redundant() != expected:
        differ("last redundant offset held", expected, redundant())
    keys = sorted(_names(key) for key, _ in state["offsets"] or ())
    known = sorted(_names(entry) for entry in coordinator.states())
    if keys != known:
        differ("keys with state", keys, known)


def _names(key: Mapping[str, Any]) -> tuple[str, str, int]:
    return key["group"], hyphenated(key["topic_id"]), key["partition"]


def _record(key: Json, is_delete: bool) -> tuple[bytes, bytes | None]:
    value: Json | None = None
    if not is_delete:
        value = {
            "snapshotEpoch": 0,
            "stateEpoch": 0,
            "leaderEpoch": 0,
            "startOffset": 0,
            "deliveryCompleteCount": 0,
            "createTimestamp": 0,
            "writeTimestamp": 0,
            "stateBatches": [],
        }
    return encode_record(
        {
            "type": 0,
            "key": {
                "groupId": key["group"],
                "topicId": key["topic_id"],
                "partition": key["partition"],
            },
            "value": value,
        }
    )
