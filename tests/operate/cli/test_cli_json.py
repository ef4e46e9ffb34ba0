"""The JSON of `state` and `history`: its schemas, its page, and that it tells what the tables tell."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import share_state as ss
from share_state.cli.state.json_rows import STATE_VERSION
from share_state.cli.state.summary import Summary
from share_state.operate import analysis
from share_state.operate.analysis import names
from share_state.operate.analysis.json_rows import HISTORY_VERSION
from tests.cli_in_process import run_here
from tests.operate.json_page import check, schema_of
from tests.operate.json_schema import breaches
from tests.recordings import JOBS, ORDERS, recording_id, recordings

COMMANDS = {"state": STATE_VERSION, "history": HISTORY_VERSION}

each_command = pytest.mark.parametrize("command", COMMANDS)
each_recording = pytest.mark.parametrize("directory", recordings(), ids=recording_id)


def lines(command: str, directory: Path) -> list[dict[str, Any]]:
    ran = run_here(command, directory, "--format", "jsonl")
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


@each_recording
@each_command
def test_every_line_of_a_recorded_directory_is_as_its_schema_says(command: str, directory: Path) -> None:
    schema = check(command, COMMANDS[command], lines(command, directory))
    assert schema["properties"]["schema_version"] == {"const": COMMANDS[command]}
    assert len(schema["properties"]) > 20


@each_command
def test_the_document_is_an_array_of_the_lines(command: str) -> None:
    assert json.loads(run_here(command, JOBS, "--format", "json").stdout) == lines(command, JOBS)


def test_a_state_carries_every_column_of_the_table() -> None:
    [row] = [row for row in lines("state", ORDERS) if row["group"] == "orders-workers" and row["start_offset"] == 1255]
    renamed = {"end_offset": "window_end"}
    assert {renamed.get(name, name) for name in row} >= set(Summary._fields)
    assert row["reason"] == "record 1258 is available after 2 deliveries; 1255-1257 are settled and passed with the next write"
    assert (row["oldest_unsettled"], row["end_offset"], row["highest_delivery_count"]) == (1258, 1435, 3)
    assert (row["available"], row["acknowledged"], row["archiving"], row["archived"]) == (118, 56, 0, 7)
    assert row["state_partition"] == 1
    assert row["batches"][0] == {
        "first_offset": 1255,
        "last_offset": 1255,
        "delivery_state": 4,
        "delivery_state_name": "archived",
        "delivery_count": 3,
    }


def test_a_state_partition_is_the_one_that_holds_the_state() -> None:
    held = {row[:3]: row.state_partition for row in analysis.states(JOBS)}
    shown = {(row["group"], row["topic_id"], row["partition"]): row["state_partition"] for row in lines("state", JOBS)}
    assert shown == held
    assert len(set(held.values())) > 1


def test_times_come_as_text_and_as_ms() -> None:
    for row, told in zip(analysis.history(JOBS), lines("history", JOBS), strict=True):
        assert told["at_timestamp"] == row.at_timestamp
        assert datetime.fromisoformat(told["at_time"]).timestamp() * 1000 == pytest.approx(row.at_timestamp, abs=0.5)
    for state in lines("state", JOBS):
        assert datetime.fromisoformat(state["write_time"]).timestamp() * 1000 == pytest.approx(state["write_timestamp"], abs=0.5)
        assert datetime.fromisoformat(state["create_time"]).timestamp() * 1000 == pytest.approx(
            state["create_timestamp"], abs=0.5
        )
    assert names.iso_8601(2**62) is None


def test_what_a_schema_forbids_is_found() -> None:
    schema = schema_of("history", HISTORY_VERSION)
    row = lines("history", JOBS)[0]
    for wrong in ({"cause": "magic"}, {"partition": -1}, {"at_time": "yesterday"}, {"partition": True}, {"more": 1}):
        assert len(breaches(schema, row | wrong)) == 1, wrong
    del row["group"]
    assert breaches(schema, row) == ["$ has no group"]


def test_the_times_of_a_state_are_those_of_its_last_snapshot() -> None:
    snapshots, last_written = {}, {}
    for *_, timestamp, key, value in analysis.scan_path(ORDERS):
        told: dict[str, Any] = ss.decode_record(key, value)
        place = told["key"]["data"]["groupId"], told["key"]["data"]["topicId"], told["key"]["data"]["partition"]
        last_written[place] = timestamp
        if told["key"]["type"] == "0" and told["value"] is not None:
            snapshots[place] = told["value"]["data"]["createTimestamp"], told["value"]["data"]["writeTimestamp"]
    rows = lines("state", ORDERS)
    assert {(row["create_timestamp"], row["write_timestamp"]) for row in rows} <= set(snapshots.values())
    # Updates follow the snapshots: the times are not those of the last write, and the schema does not say so.
    assert max(row["write_timestamp"] for row in rows) < max(last_written.values())
    properties = schema_of("state", STATE_VERSION)["properties"]
    for name in ("create_timestamp", "write_timestamp"):
        assert (
            "of the last snapshot" in properties[name]["description"]
            or "the last snapshot was written" in properties[name]["description"]
        )
    assert "updates after it do not count" in properties["write_timestamp"]["description"]
