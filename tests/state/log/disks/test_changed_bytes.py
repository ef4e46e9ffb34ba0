"""Every byte of a small store on disk is changed, and its files are cut: the command line and the readers that Spark's tasks call
show the same, or say which file is wrong, and where."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest

import share_state as ss
from share_state import frames
from share_state.errors import RowError
from tests.cli_in_process import run_here

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
#: The whole, or one change a byte and every seventh length.
ALL = os.environ.get("SHARE_STATE_ALL_BYTES") == "1"
#: The fastest shows the states of every change; the others take their turns.
COMMANDS = ("dump", "history", "anomalies")


class Change(NamedTuple):
    """Change of a file."""

    file: Path
    begins: int
    data: bytes
    turn: int

    @property
    def is_segment(self) -> bool:
        return self.file.suffix == ".log"


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    with ss.open(path, segment_bytes=1024) as store:
        for number in range(4):
            store.reset_state(ss.SharePartitionKey("orders-workers", TOPIC, number), 0, number, wall_ms=1000)
    return path


def ways(byte: int, at: int) -> list[int]:
    every = [byte ^ 1, byte ^ 0x80, byte ^ 0xFF, 0 if byte else 0x20]
    return every if ALL else [every[at % len(every)]]


def changes(path: Path, step: int = 1) -> Iterator[Change]:
    """Each change is there while it is looked at, and taken back; every `step`-th, unless all are asked for."""
    turn = 0
    for file in sorted(entry for entry in path.rglob("*") if entry.is_file()):
        whole = file.read_bytes()
        changed = [
            (at, whole[:at] + bytes([other]) + whole[at + 1 :]) for at in range(len(whole)) for other in ways(whole[at], at)
        ]
        changed += [(length, whole[:length]) for length in range(0, len(whole), 1 if ALL else 7)]
        for begins, data in changed[:: 1 if ALL else step]:
            file.write_bytes(data)
            yield Change(file, begins, data, turn)
            turn += 1
        file.write_bytes(whole)


def assert_told(text: str, change: Change) -> None:
    """The file, and the byte or one before it."""
    assert change.is_segment, change
    assert str(change.file) in text, (change, text)
    places = [int(place) for place in re.findall(r"at byte (\d+)", text)]
    assert places, (change, text)
    assert min(places) <= change.begins, (change, text)


def test_the_command_line_shows_the_same_or_names_the_place(closed: Path) -> None:
    whole = {command: run_here(command, closed) for command in ("state", *COMMANDS)}
    assert all(ran.returncode == 0 for ran in whole.values())
    told = cases = 0
    for change in changes(closed, 5):
        others = COMMANDS if ALL else (COMMANDS[change.turn % 3],) if change.turn % 4 == 0 else ()
        for command in ("state", *others):
            ran = run_here(command, closed)
            cases += 1
            if ran.returncode == 0:
                assert ran.stdout == whole[command].stdout, (command, change)
                continue
            assert ran.returncode == 4, (command, change, ran)
            assert_told(ran.stderr, change)
            told += 1
    assert cases > 150
    assert told > 100


def test_the_readers_of_spark_tasks_give_the_same_or_name_the_place(closed: Path) -> None:
    def read() -> tuple[list[pa.RecordBatch], list[dict[str, object]]]:
        scan = frames.read(closed)
        return list(frames.state(scan)), scan.findings

    states, findings = read()
    assert sum(batch.num_rows for batch in states) == 4
    assert findings == []
    told = cases = 0
    for change in changes(closed):
        cases += 1
        try:
            found, findings = read()
        except RowError as error:
            # A row that cannot follow the one before it.
            found, row = [], str(error)
        else:
            row = ""
        if row:
            assert change.is_segment, change
            assert re.search(r"state partition 0, offset -?\d+", row), (change, row)
            told += 1
            continue
        if not findings:
            assert found == states, change
            continue
        # A task raises for it, or makes a row of it in the table of errors.
        assert any(finding["kind"] != "torn_tail" for finding in findings), (change, findings)
        assert_told(" ".join(str(finding["message"]) for finding in findings), change)
        told += 1
    assert cases > 600
    assert told > 400


def test_opening_refuses_or_has_the_same(closed: Path) -> None:
    with ss.open(closed) as store:
        whole = list(store.states())
    refused = same = 0
    for change in changes(closed, 3):
        before = {file: file.read_bytes() for file in closed.rglob("*") if file.is_file()}
        try:
            with ss.open(closed) as store:
                assert list(store.states()) == whole, change
            same += 1
        except ss.errors.ShareStateError as error:
            text = str(error)
            assert str(change.file) in text, (change, text)
            refused += 1
        # Opening and closing write the file about the directory anew.
        for file, data in before.items():
            file.write_bytes(data)
    assert refused > 150
    assert same > 10
