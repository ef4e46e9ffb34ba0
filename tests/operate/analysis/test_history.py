"""History of every record: the rows of recorded logs give the folded state, after every record."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import share_state as ss
from share_state.operate import analysis
from tests.cli_in_process import run_here
from tests.operate.analysis.history_replay import Key, Replayed, replay
from tests.recordings import JOBS, KNOWN_DUMP_LINES, ORDERS, recording_id, recordings

each_recording = pytest.mark.parametrize("directory", recordings(), ids=recording_id)

TOPIC_ID = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"


@each_recording
def test_the_rows_give_what_the_fold_gives_at_the_end(directory: Path) -> None:
    states: dict[Key, Replayed] = {}
    scan = analysis.history(directory)
    for row in scan:
        replay(states, row)
    assert scan.findings == []
    done, total = scan.progress
    assert done == total > 0
    folded, _ = analysis.fold_path(directory)
    assert len(folded) == len(states) > 0
    for state in folded:
        ours = states[(state["group"], state["topic_id"], state["partition"])]
        for name in ("snapshot_epoch", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count"):
            assert getattr(ours.row, name) == state[name]
        assert ours.batches() == state["batches"]
        assert ours.row.snapshot_offset is not None


@each_recording
def test_the_rows_give_what_a_coordinator_has_after_every_record(directory: Path) -> None:
    coordinators: dict[int, ss.ShareCoordinator] = {}
    histories: dict[int, analysis.History] = {}
    states: dict[Key, Replayed] = {}
    told: list[analysis.HistoryRow] = []
    records = 0
    for partition, _segment, offset, timestamp, key, value in analysis.scan_path(directory):
        coordinator = coordinators.setdefault(partition, ss.ShareCoordinator())
        coordinator.replay(offset, key, value)
        rows = histories.setdefault(partition, analysis.History(partition)).replay(offset, timestamp, key, value)
        for row in rows:
            replay(states, row)
            state = coordinator.state(*row[:3])
            assert (state is None) == (row.cause == analysis.HistoryCause.DELETED)
        if rows and (state := coordinator.state(*rows[0][:3])) is not None:
            assert states[rows[0][:3]].batches() == state["batches"]
        told.extend(rows)
        records += 1
    assert told == list(analysis.history(directory))
    assert records >= KNOWN_DUMP_LINES.get(directory.name, 1)


@each_recording
def test_columns_are_the_rows(directory: Path) -> None:
    rows = list(analysis.history(directory))
    scan = analysis.history(directory)
    at = 0
    while (columns := scan.columns(max_rows=1000)) is not None:
        keys = columns.pop("keys")
        count = len(columns["key"])
        assert {len(column) for column in columns.values()} == {count}
        for i in range(count):
            row = rows[at + i]
            assert keys[columns["key"][i]] == row[:3]
            assert ss._core.HISTORY_CAUSES[columns["cause"][i]] == row.cause
            for name in set(columns) - {"key", "cause"}:
                number = getattr(row, name)
                assert columns[name][i] == (-1 if number is None else number)
                assert columns[name].dtype == np.int64
        at += count
    assert at == len(rows) > 1000


def test_every_cause_has_its_name_on_both_sides() -> None:
    assert [str(cause) for cause in analysis.HistoryCause] == ss._core.HISTORY_CAUSES


def test_the_causes_of_a_real_log_are_those_of_sound_brokers() -> None:
    counts = Counter(row.cause for directory in (ORDERS, JOBS) for row in analysis.history(directory))
    sound = {"initialised", "start_offset_resolved", "released", "accepted", "archived", "passed", "deleted"}
    assert set(counts) == sound
    assert counts["initialised"] == 14
    assert counts["deleted"] == 4


def test_one_share_partition_and_one_offset_can_be_picked() -> None:
    chosen: dict[str, Any] = {"group": "orders-workers", "topic_id": TOPIC_ID, "partition": 1}
    whole = [row for row in analysis.history(ORDERS) if row[:3] == tuple(chosen.values())]
    assert list(analysis.history(ORDERS, **chosen)) == whole != []
    of_one = [row for row in whole if row.first_offset is None or row.first_offset <= 1258 <= (row.last_offset or 0)]
    assert list(analysis.history(ORDERS, **chosen, offset=1258)) == of_one
    assert [row.cause for row in of_one if row.first_offset is not None] == ["released", "released"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"topic_id": "x"}, ValueError),
        ({"partition": True}, TypeError),
        ({"partition": 2**31}, OverflowError),
        ({"offset": "1"}, TypeError),
    ],
)
def test_a_wrong_choice_is_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        analysis.history(JOBS, **arguments)


def test_what_cannot_be_read_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        analysis.history(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="max_rows is 0"):
        analysis.history(JOBS).columns(0)
    machine = analysis.History()
    with pytest.raises(ss.errors.WireDecodeError):
        machine.replay(0, 0, b"\x00", None)
    _partition, _segment, offset, timestamp, key, value = next(iter(analysis.scan_path(JOBS)))
    assert [row.cause for row in machine.replay(offset, timestamp, key, value)] == ["initialised"]


def test_the_command_shows_the_rows() -> None:
    lines = run_here("history", JOBS, "--format", "jsonl")
    assert (lines.returncode, lines.stderr) == (0, "")
    rows = [json.loads(line) for line in lines.stdout.splitlines()]
    told = [row._asdict() for row in analysis.history(JOBS)]
    assert [{name: row[name] for name in of} for row, of in zip(rows, told, strict=True)] == told
    assert json.loads(run_here("history", JOBS, "--format", "json").stdout) == rows
    table = run_here("history", JOBS)
    assert (table.returncode, table.stderr) == (0, "")
    _header, *shown = table.stdout.splitlines()
    headings = [line for line in shown if not line.startswith(" ")]
    assert len(shown) - len(headings) == len(rows)


def test_the_command_follows_one_offset() -> None:
    choice = ("--group", "jobs-leaver", "--topic-id", "a2XFxMapRgiNHPxu1K130g", "--partition", "0", "--offset", "17")
    result = run_here("history", JOBS, *choice)
    assert (result.returncode, result.stderr) == (0, "")
    assert [line.split("  ", 2)[-1] for line in result.stdout.splitlines() if "  17-18  " in line] != []
    assert "available×3 -> acknowledged×4" in result.stdout
