"""Which scenarios of a release before 4.4 expect what the 4.4 rules forbid.

There is one rule set here, Kafka 4.4 plus trunk's idempotent initialise. The coordinator of earlier releases
differs in four points; a scenario that shows one of them is skipped under ``pre-4.4 rule``. The predicate
looks at what was recorded, so that a scenario nobody has seen yet is judged by its content.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .recordings import Json, Scenario

_INVALID_REQUEST = 42
_NOT_CHANGED = -1
_UNKNOWN_COUNT = -1


def contradicts_44(scenario: Scenario) -> str | None:
    """The point in which the recording contradicts the 4.4 rules; ``None`` when it does not."""
    memory: dict[tuple[str, str, int], Json] = {}
    for op in scenario.ops:
        found = _negative_epochs(op) or _regress(op, memory) or _repeated_initialise(op, memory)
        if found is not None:
            return found
        state = op.get("state")
        if isinstance(state, dict) and isinstance(state.get("share_state"), list):
            memory = {_key(key): value for key, value in state["share_state"]}
    return None


def _requests(op: Json) -> Iterator[tuple[tuple[str, str, int], Json]]:
    args: list[Any] = op.get("args", [])
    if len(args) == 1 and isinstance(args[0], dict) and "data" in args[0]:
        data = args[0]["data"]
        for topic in data.get("topics", ()):
            for partition in topic["partitions"]:
                yield (data["groupId"], topic["topicId"], partition["partition"]), partition
    elif len(args) == 3 and isinstance(args[2], dict) and "partition" in args[2]:
        yield (args[0], args[1], args[2]["partition"]), args[2]


def _codes(op: Json) -> list[int]:
    result = op.get("result")
    response = result.get("response") if isinstance(result, dict) else None
    if not isinstance(response, dict):
        return []
    return [p["errorCode"] for topic in response["results"] for p in topic["partitions"]]


def _negative_epochs(op: Json) -> str | None:
    if op["op"] in ("deleteState", "readStateSummary", "replay"):
        return None
    negative = any(partition.get(name, 0) < 0 for _, partition in _requests(op) for name in ("leaderEpoch", "stateEpoch"))
    if negative and any(code != _INVALID_REQUEST for code in _codes(op)):
        return "a negative epoch is not answered 42"
    return None


def _regress(op: Json, memory: dict[tuple[str, str, int], Json]) -> str | None:
    """Whether a write yields a record that takes back what the memory holds."""
    if op["op"] != "writeState":
        return None
    for record in op["result"]["records"]:
        key, value = record["key"], record["value"]
        held = memory.get((key["groupId"], key["topicId"], key["partition"]))
        if held is None or value is None:
            continue
        start = value["message"]["startOffset"]
        if start != _NOT_CHANGED and start < held["start_offset"]:
            return "the start offset regresses"
        same_start = start in (_NOT_CHANGED, held["start_offset"])
        count = value["message"].get("deliveryCompleteCount", _UNKNOWN_COUNT)
        if same_start and count < held["delivery_complete_count"]:
            return "the delivery complete count regresses"
    return None


def _repeated_initialise(op: Json, memory: dict[tuple[str, str, int], Json]) -> str | None:
    if op["op"] != "initializeState":
        return None
    for key, partition in _requests(op):
        held = memory.get(key)
        if held is None:
            continue
        same = (held["state_epoch"], held["start_offset"]) == (
            partition["stateEpoch"],
            partition["startOffset"],
        )
        if same and op["result"]["records"]:
            return "a repeated initialise writes a record"
    return None


def _key(key: Json) -> tuple[str, str, int]:
    return key["group"], key["topic_id"], key["partition"]
