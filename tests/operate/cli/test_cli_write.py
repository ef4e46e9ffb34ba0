"""Values that cannot be written are told as such, and tables fit what they are written to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from share_state.cli.shared import findings
from share_state.cli.shared.listening import announce
from share_state.cli.shared.output import flush_stdout, watch_stdout
from share_state.operate.reading.plain import Finding
from tests.cli_runner import COMMAND, environment, run
from tests.recordings import JOBS, ORDERS


@pytest.mark.parametrize(
    "arguments",
    [
        ["state", str(ORDERS)],
        ["state", str(ORDERS), "--format", "json"],
        ["dump", str(ORDERS)],
        ["history", str(ORDERS), "--format", "jsonl"],
        ["anomalies", str(ORDERS)],
        ["spark-doctor", "--no-job"],
        ["coordinator", "--listen", "127.0.0.1:0", "--path", "state"],
        ["--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_a_full_disk_behind_stdout_is_no_fault_of_the_input(arguments: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("w", encoding="ascii") as full:
        ran = subprocess.run(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
    assert (ran.returncode, ran.stderr) == (6, "share-state: cannot write to stdout: No space left on device\n")


def test_a_process_without_stdout_still_ends_well() -> None:
    ran = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "--version"],
        env=environment(),
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


READERS = ["state", "dump", "history", "anomalies", "spark-doctor"]


def arguments_of(command: str) -> list[str]:
    return [command, "--no-job"] if command == "spark-doctor" else [command, str(ORDERS)]


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("form", ["table", "json", "jsonl"])
def test_a_process_without_stdout_says_that_it_cannot_write(command: str, form: str) -> None:
    arguments = [*arguments_of(command), *(["--format", form] if command != "spark-doctor" else [])]
    ran = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, *arguments],
        env=environment(),
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (6, "share-state: cannot write to stdout: it is closed\n")


@pytest.mark.parametrize("arguments", [*map(arguments_of, READERS), ["--help"], ["--version"], ["state", "--help"]], ids=" ".join)
def test_a_reader_that_is_gone_is_no_failure(arguments: list[str]) -> None:
    ours, theirs = os.pipe()
    # Nobody reads from the first byte on, as after `| true`.
    os.close(ours)
    try:
        ran = subprocess.run(
            [*COMMAND, *arguments],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
    finally:
        os.close(theirs)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_server_whose_first_line_nobody_reads_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "w", encoding="utf-8") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        watch_stdout()
        announce("serving")
        # What is written later goes nowhere.
        announce("still serving")
        flush_stdout()


def test_a_piped_table_is_as_wide_as_columns_says() -> None:
    narrow, wide = run("state", ORDERS, COLUMNS="80").stdout, run("state", ORDERS, COLUMNS="400").stdout
    assert max(map(len, narrow.splitlines())) <= 80
    assert "WHAT HOLDS THE START OFFSET" not in narrow
    assert wide == run("state", ORDERS).stdout
    assert wide.startswith("GROUP ")


@pytest.mark.parametrize(
    ("command", "columns"), [("dump", ["OFFSET", "KIND", "BATCHES"]), ("history", ["AT", "CAUSE", "CHANGE"])]
)
def test_lines_have_a_header(command: str, columns: list[str]) -> None:
    lines = run(command, JOBS).stdout.splitlines()
    assert [column for column in columns if column in lines[0].split()] == columns
    assert sum(line == lines[0] for line in lines) == 1


def test_a_finding_names_its_file_once(capsys: pytest.CaptureFixture[str]) -> None:
    torn: Finding = {
        "file": "a.log",
        "position": 7,
        "kind": "torn_tail",
        "message": "a.log at byte 7: unfinished batch of 9 bytes",
    }
    record: Finding = {"file": "b.log", "position": 5, "kind": "record", "message": "the record at offset 5 cannot be decoded"}
    findings.show([torn, record])
    assert capsys.readouterr().err.splitlines() == [
        "torn_tail: a.log at byte 7: unfinished batch of 9 bytes",
        "record: b.log: the record at offset 5 cannot be decoded",
    ]
