"""`state` agrees with what real brokers answered, `dump` with what Kafka's own tool printed."""

import base64
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.cli_in_process import run_here
from tests.recordings import (
    JOBS,
    KNOWN_DUMP_LINES,
    ORDERS,
    SHARED,
    UNINITIALISED,
    dump_lines,
    read_answers,
    recording_id,
    recordings,
    shared_is_required,
)

BATCH = ("first_offset", "last_offset", "delivery_state", "delivery_count")
ANSWERED = (
    "group",
    "topic_id",
    "partition",
    "snapshot_epoch",
    "state_epoch",
    "leader_epoch",
    "start_offset",
    "delivery_complete_count",
)

each_recording = pytest.mark.parametrize("directory", recordings(), ids=recording_id)


def test_the_recordings_are_at_hand() -> None:
    found = recordings()
    assert {ORDERS, JOBS} <= set(found)
    assert not shared_is_required() or len(found) > len([ORDERS, JOBS]), f"{SHARED} is missing"


@each_recording
def test_dump_prints_what_kafkas_own_tool_printed(directory: Path) -> None:
    recorded = dump_lines(directory)
    result = run_here("dump", directory, "--format", "jsonl")
    assert (result.returncode, result.stderr) == (0, "")
    printed = result.stdout.splitlines()
    compared = 0
    for ours, kafkas in zip(printed, recorded, strict=True):
        assert ours == kafkas
        compared += 1
    assert compared == KNOWN_DUMP_LINES.get(directory.name, len(recorded)) > 0


@each_recording
def test_state_is_what_the_broker_answered(directory: Path) -> None:
    result = run_here("state", directory, "--format", "jsonl")
    assert (result.returncode, result.stderr) == (0, "")
    states = [json.loads(line) for line in result.stdout.splitlines()]
    ours = {(row["group"], row["topic_id"], row["partition"]): row for row in states}
    assert list(ours) == sorted(ours), "lines are in order of group, topic id and partition"
    snapshots = last_snapshot_epochs(directory)
    compared = 0
    for answer in read_answers(directory):
        key = (answer["group"], answer["topic_id"], answer["partition"])
        if answer["read"]["error"] == UNINITIALISED:
            assert key not in ours, "a deleted key is absent"
        else:
            assert answered_part(ours.pop(key)) == expected_state(answer, snapshots[key])
        compared += 1
    assert not ours, "no key that the broker does not know"
    assert compared == len(read_answers(directory)) > 0


def answered_part(row: dict[str, Any]) -> dict[str, Any]:
    """Part of a row that a broker can answer too."""
    batches = [[batch[name] for name in BATCH] for batch in row["batches"]]
    return {name: row[name] for name in ANSWERED} | {"batches": batches}


def expected_state(answer: dict[str, Any], snapshot_epoch: int) -> dict[str, Any]:
    read, summary = answer["read"], answer["summary"]
    assert read["error"] == summary["error"] == 0
    return {
        "group": answer["group"],
        "topic_id": answer["topic_id"],
        "partition": answer["partition"],
        "snapshot_epoch": snapshot_epoch,
        "state_epoch": read["state_epoch"],
        "leader_epoch": summary["leader_epoch"],
        "start_offset": read["start_offset"],
        "delivery_complete_count": summary["delivery_complete_count"],
        "batches": read["batches"],
    }


def last_snapshot_epochs(directory: Path) -> dict[tuple[str, str, int], int]:
    """No request tells the snapshot epoch: the last snapshot in Kafka's dump does."""
    epochs = {}
    for line in dump_lines(directory):
        record = json.loads(line)
        if record["key"]["type"] == "0" and record["value"] is not None:
            identity = record["key"]["data"]
            topic_id = str(UUID(bytes=base64.urlsafe_b64decode(identity["topicId"] + "==")))
            key = (identity["groupId"], topic_id, identity["partition"])
            epochs[key] = record["value"]["data"]["snapshotEpoch"]
    return epochs


def test_json_is_one_array_of_the_same_objects() -> None:
    lines = run_here("dump", JOBS, "--format", "jsonl").stdout.splitlines()
    array = json.loads(run_here("dump", JOBS, "--format", "json").stdout)
    assert array == [json.loads(line) for line in lines]
    assert len(array) == KNOWN_DUMP_LINES["jobs-4.4.0"]
