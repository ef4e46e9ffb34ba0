"""Which scenarios of a release before 4.4 expect what the 4.4 rules forbid.

There is one rule set here, Kafka 4.4 plus trunk's idempotent initialise. The coordinator of earlier releases
differs in four points; a scenario that shows one of them is skipped under ``pre-4.4 rule``. The predicate
looks at what was recorded, so that a scenario nobody has seen yet is judged by its content.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .recordings import Json, Scenario

#: Scenarios known to contradict the 4.4 rules, with the point in which they do.
BY_NAME = {
    "testReadStateLeaderEpochUpdateNoUpdate": "a negative leader epoch is answered 74, not 42",
}

_INVALID_REQUEST = 42


def contradicts_44(scenario: Scenario) -> str | None:
    """The point in which the recording contradicts the 4.4 rules; ``None`` when it does not."""
    named = BY_NAME.get(scenario.name)
    if named is not None:
        return named
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
    if op["op"] != "writeState":
        return None
    for key, partition in _requests(op):
        held = memory.get(key)
        if held is None or any(_codes(op)):
            continue
        if partition["startOffset"] < held["start_offset"]:
            return "the start offset regresses"
        same_start = partition["startOffset"] == held["start_offset"]
        count = partition.get("deliveryCompleteCount", -1)
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
