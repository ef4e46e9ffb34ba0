"""Anomalies as a person sees them, on a terminal and in a pipe; and the message for a log of which nothing can be read."""

import json
import re
from pathlib import Path

import pytest

from share_state.cli.anomalies.view import shortened
from tests.cli_runner import run, run_on_terminal
from tests.recordings import JOBS, ORDERS

SEGMENT = JOBS / "__share_group_state-0" / "00000000000000000000.log"


def words(text: str) -> list[str]:
    return text.split()


@pytest.mark.parametrize("columns", [80, 100])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(columns: int) -> None:
    wrapped = run("anomalies", ORDERS, COLUMNS=str(columns))
    assert max(map(len, wrapped.stdout.splitlines())) <= columns
    assert not [line for line in wrapped.stdout.splitlines() if line != line.rstrip()]
    assert run_on_terminal("anomalies", ORDERS, columns=columns) == (1, wrapped.stdout)
    rows = [json.loads(line) for line in run("anomalies", ORDERS, "--format", "jsonl").stdout.splitlines()]
    told = " ".join(words(wrapped.stdout))
    for row in rows:
        evidence = shortened(row["evidence"], 3 * (columns - 2))
        assert " ".join(words(evidence)) in told
        assert row["advice"] in told
        assert len(evidence) < len(row["evidence"]) or row["kind"] != "archive_burst"


def test_evidence_is_indented_on_every_line() -> None:
    [_summary, _more, *lines] = run("anomalies", ORDERS, COLUMNS="80").stdout.splitlines()
    assert {re.match(" *", line)[0] for line in lines if not re.match("[A-Z]{4,}  |What to do:", line)} == {"  ", "    "}  # type: ignore[index]


def test_in_a_pipe_nothing_is_wrapped_or_cut() -> None:
    lines = run("anomalies", ORDERS).stdout.splitlines()
    rows = [json.loads(line) for line in run("anomalies", ORDERS, "--format", "jsonl").stdout.splitlines()]
    assert len(rows) == 27
    for line, row in zip(lines[3 : 1 + 3 * len(rows) : 3], rows, strict=True):
        assert line.startswith(f"  {row['evidence']}")


@pytest.mark.parametrize(
    ("most", "told"),
    [
        pytest.param(99, "2 of 7: 1-3, 5, 9-10; the limit is 3", id="fits"),
        pytest.param(7, "2 of 7: 1-3, 5, … and 2 more (--format json lists all); the limit is 3", id="cut"),
        pytest.param(6, "2 of 7: 1-3, … and 3 more (--format json lists all); the limit is 3", id="shorter"),
        pytest.param(1, "2 of 7: 1-3, … and 3 more (--format json lists all); the limit is 3", id="one-is-always-shown"),
    ],
)
def test_a_long_list_is_cut_and_its_rest_is_counted(most: int, told: str) -> None:
    assert shortened("2 of 7: 1-3, 5, 9-10; the limit is 3", most) == told


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("anomalies", "Nothing is wrong in what could be read."),
        ("state", "No share partition has state in what could be read."),
        ("history", "No change is in what could be read."),
    ],
)
def test_where_nothing_can_be_read_nothing_is_called_well(command: str, told: str, tmp_path: Path) -> None:
    torn = tmp_path / "__share_group_state-0"
    torn.mkdir()
    (torn / SEGMENT.name).write_bytes(SEGMENT.read_bytes()[:20])
    result = run(command, torn)
    assert (result.returncode, result.stdout) == (4, told + "\n")
    assert result.stderr.startswith("torn_tail: ")
