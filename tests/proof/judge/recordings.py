"""The recorded conformance files of share partitions as input of the driver: Kafka 4.4.0 must answer as was recorded.

The files were recorded from Kafka's trunk of 2026-08-22, after the 4.4 branch cut, by Kafka's own tests and by random sequences.
Where an operation cannot be played as it was recorded, or 4.4.0 does otherwise, a reason stands here; a reason that explains
nothing is an error.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kafka.home import judge_command
from tests.proof.conformance.recordings import Json, Scenario, load

#: Calls of several threads are no sequence.
THREADS = "threads: records an interleaving of concurrent calls, not a sequence"
#: Kafka's own test lets its double do what the recording has no word for.
NOT_RECORDED = {
    "testMaybeInitializeWithInvalidTopicIdResponse": "the answer was for another topic, which is not recorded",
    "testWriteShareGroupStateWithInvalidTopicsData": "the answer was for another topic, which is not recorded",
    "testMaybeInitializeWithReadException": "the persister threw, which is recorded as an answer that failed",
    "testWriteShareGroupStateWithWriteException": "the persister threw, which is recorded as an answer that failed",
}
#: Both fire the same time-outs with the same batches.
ORDER = "time-outs of one deadline come in another order, and their payloads' start offsets follow it"
IN_ANOTHER_ORDER = frozenset(
    {
        "testAcquisitionLockOnAcknowledgingMultipleSubsetRecordBatchWithGapOffsets",
        "testLsoMovementWithPendingAcknowledgements",
        "testLsoMovementWithPerOffsetRenewal",
    }
)
#: Found in the random sequences; what the next fetch offset is was compared all the same wherever it is recorded.
HINT = "the recorder asked for the next fetch offset in between, which clears Kafka's hint find_next_fetch_offset"

_COMPARED = ("expect", "persister_writes", "dlq_enqueued", "lock_timeouts_fired")
_FLAG = "find_next_fetch_offset"


@dataclass(slots=True)
class Played:
    """Result of a file."""

    #: Scenarios played from end to end with the recorded results.
    agree: int = 0
    #: Scenarios of which a part was not compared, by reason; the rest of each agreed.
    in_part: Counter[str] = field(default_factory=Counter)
    #: Scenarios not played, by reason.
    left_out: Counter[str] = field(default_factory=Counter)
    operations: int = 0
    differences: list[str] = field(default_factory=list)


def play(path: Path) -> Played:
    """Play every scenario of a file on Kafka's own class and compare after every operation."""
    played = Played()
    scenarios = load(path).scenarios
    sequences = [s for s in scenarios if "multithreaded" not in s.tags]
    if len(sequences) < len(scenarios):
        played.left_out[THREADS] = len(scenarios) - len(sequences)
    requests = [json.dumps({"suite": "share_partition", "clock": "recorder", "ops": s.ops}) for s in sequences]
    ran = subprocess.run(judge_command(), input="\n".join(requests) + "\n", capture_output=True, text=True, check=True)
    for scenario, line in zip(sequences, ran.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        if "ops" not in answer:
            played.differences.append(f"{scenario.name}: {line}")
        else:
            _compare(scenario, answer["ops"], played)
    return played


def _compare(scenario: Scenario, given: list[Json], played: Played) -> None:
    recorded_states: dict[int, Json] = {}
    given_states: dict[int, Json] = {}
    reasons: set[str] = set()
    for index, (recorded, now) in enumerate(zip(scenario.ops, given, strict=True)):
        where = f"{scenario.name} op {index} ({recorded['op']})"
        if "unknown" in now:
            played.differences.append(f"{where}: not driven")
            return
        latest = len(given_states) - 1
        at = recorded.get("partition_index", latest if recorded["op"] == "advance_clock" else 0)
        recorded_states.update(_states(recorded, recorded.get("partition_index", 0)))
        given_states.update(_states(now, at))
        points = [what for what in _COMPARED if recorded.get(what) != now.get(what)]
        if points == ["lock_timeouts_fired"] and scenario.name in IN_ANOTHER_ORDER:
            reasons.add(ORDER)
            points = [] if _unordered(recorded) == _unordered(now) else points
        if recorded_states != given_states:
            hint = _without_hint(recorded_states) == _without_hint(given_states)
            reasons.update([HINT] if hint else [])
            points += [] if hint else ["state"]
        if points and scenario.name in NOT_RECORDED:
            played.in_part[NOT_RECORDED[scenario.name]] += 1
            return
        if points:
            what = points[0]
            shown = (recorded_states, given_states) if what == "state" else (recorded.get(what), now.get(what))
            played.differences.append(f"{where}: {what}\n  recorded {json.dumps(shown[0])}\n  4.4.0    {json.dumps(shown[1])}")
            return
        played.operations += 1
    if scenario.name in NOT_RECORDED or (scenario.name in IN_ANOTHER_ORDER and ORDER not in reasons):
        played.differences.append(f"{scenario.name}: agrees, so its reason explains nothing")
    played.in_part.update(reasons)
    played.agree += not reasons


def _states(op: Json, index: int) -> Iterator[tuple[int, Json]]:
    for state in op.get("states", ()):
        yield state["partition_index"], {name: value for name, value in state.items() if name != "partition_index"}
    if "state" in op:
        yield index, op["state"]


def _without_hint(states: dict[int, Json]) -> dict[int, Json]:
    return {at: {name: value for name, value in state.items() if name != _FLAG} for at, state in states.items()}


def _unordered(op: Json) -> list[Any]:
    """The time-outs with what each wrote, without what follows from their order."""

    def batches(timeout: Json) -> list[Any]:
        return [[write["batches"], write["result"]] for write in timeout.get("persister_writes", ())]

    return sorted([t["member"], t["first"], t["last"], batches(t)] for t in op["lock_timeouts_fired"])
