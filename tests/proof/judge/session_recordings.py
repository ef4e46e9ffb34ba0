"""The recorded conformance files of share sessions as input of the driver: Kafka 4.4.0 must answer as was recorded."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kafka.home import judge_command
from tests.proof.conformance.recordings import Json, Scenario, load

#: Kafka's own test lets a double answer a release, of a session that there is not.
STUBBED = frozenset(
    {
        "testReleaseSessionWithNullShareSession",
        "testReleaseSessionWithEmptyTopicPartitions",
        "testShareGroupListener",
    }
)


@dataclass(slots=True)
class Played:
    """Result of a file."""

    operations: int = 0
    #: Releases that a double answered.
    stubbed: int = 0
    differences: list[str] = field(default_factory=list)


def play(path: Path) -> Played:
    """Play every scenario of a file on Kafka's own classes and compare after every operation."""
    played = Played()
    scenarios = load(path).scenarios
    requests = [json.dumps({"suite": "share_session", "ops": _with_cache(s)}) for s in scenarios]
    ran = subprocess.run(judge_command(), input="\n".join(requests) + "\n", capture_output=True, text=True, check=True)
    for scenario, line in zip(scenarios, ran.stdout.splitlines(), strict=True):
        given = json.loads(line).get("ops")
        if given is None:
            played.differences.append(f"{scenario.name}: {line}")
        else:
            _compare(scenario, given[1:], played)
    return played


def _with_cache(scenario: Scenario) -> list[Json]:
    """The operations, after the making of the cache that each of them tells the size of."""
    return [{"op": "create", "max_sessions": scenario.ops[0]["max_sessions"]}, *scenario.ops]


def _compare(scenario: Scenario, given: list[Json], played: Played) -> None:
    for index, (recorded, now) in enumerate(zip(scenario.ops, given, strict=True)):
        played.operations += 1
        if recorded["op"] == "releaseSession" and recorded["result"] == {} and scenario.name in STUBBED:
            played.stubbed += 1
            continue
        expected = (_result(recorded["result"]), sorted(recorded["sessions"], key=_key))
        actual = (_result(now["result"]), now["sessions"])
        if expected != actual:
            where = f"{scenario.name} op {index} ({recorded['op']})"
            played.differences.append(f"{where}\n  recorded {json.dumps(expected)}\n  4.4.0    {json.dumps(actual)}")


def _key(session: Json) -> tuple[str, str]:
    return session["key"]["group"], session["key"]["member"]


def _result(result: Any) -> Any:
    """A result as both tell it: of a released partition the recordings have the whole answer, the driver the code."""
    if isinstance(result, list):
        return [[tip, answer["errorCode"] if isinstance(answer, dict) else answer] for tip, answer in result]
    if isinstance(result, dict) and "error" in result:
        return result["error"]
    return result
