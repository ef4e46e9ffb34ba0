"""`share-state trace` over recorded directories: its table, its JSON, its picture, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from share_state.operate import plot
from share_state.operate.analysis.trace import RecordTrace
from share_state.operate.analysis.trace_json import TRACE_VERSION
from tests.cli_in_process import run_here
from tests.operate.json_page import check
from tests.recordings import JOBS, ORDERS

TOPIC = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
OTHER = "6b65c5c4-c6a9-4608-8d1c-fc6ed4ad77d2"
RECORD = ("orders-workers", TOPIC, "1", "1251")


def test_the_table_has_a_line_an_event() -> None:
    ran = run_here("trace", ORDERS, *RECORD)
    assert (ran.returncode, ran.stderr) == (0, "")
    head, columns, *events, end = ran.stdout.splitlines()[:9]
    assert head == f"orders-workers  {TOPIC}  1  offset 1251  (__share_group_state-1)"
    assert columns.split() == ["AT", "TIME", "(UTC)", "SINCE", "EVENT"]
    assert events[3] == (
        "     615  2026-11-21T09:45:02.116Z   +2.017 s  available again after delivery 2: released, or its lock ran out"
    )
    assert end == "At the end of the log: archived after 3 deliveries."
    assert "When it was produced is not in the state topic." in ran.stdout


def test_it_is_as_wide_as_the_terminal() -> None:
    ran = run_here("trace", ORDERS, *RECORD, columns=80)
    assert max(map(len, ran.stdout.splitlines())) <= 80


@pytest.mark.parametrize("offset", ["0", "300", "1251", "1258"])
def test_json_is_as_its_schema_and_page_say(offset: str) -> None:
    ran = run_here("trace", ORDERS, *RECORD[:3], offset, "--format", "jsonl")
    found = json.loads(ran.stdout)
    check("trace", TRACE_VERSION, [found], "event", "member")
    assert (found["topic"], found["members"], found["log_end_offset"], found["delivery_limit"]) == (None, None, None, None)
    [document] = json.loads(run_here("trace", ORDERS, *RECORD[:3], offset, "--format", "json").stdout)
    assert document == found


def test_an_id_in_base64_is_the_same_topic() -> None:
    assert run_here("trace", ORDERS, "orders-workers", "Xz_yUKmhQhW7NshHKP1g6A", 1, 1251) == run_here("trace", ORDERS, *RECORD)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((RECORD[0], "orders", "1", "1"), f"TOPIC orders is no topic id; a directory has no names, and these ids: {TOPIC}"),
        (("nobody", TOPIC, "1", "1"), "GROUP nobody is not in the log, which has orders-"),
        ((*RECORD[:2], "9", "1"), f"PARTITION 9 of GROUP orders-workers of TOPIC {TOPIC} is not in the log, which has 0, 1"),
        ((RECORD[0], OTHER, "1", "1"), f"TOPIC {OTHER} of GROUP orders-workers is not in the log, which has"),
        ((*RECORD[:3], "1436"), "offset 1436 was never seen: the log tells of offsets up to 1435"),
        ((*RECORD[:3], str(2**63)), f"OFFSET is {2**63}; expected 0 to {2**63 - 1}"),
        ((*RECORD[:2], str(2**31), "1"), f"PARTITION is {2**31}; expected 0 to {2**31 - 1}"),
        ((*RECORD, "-o", "life.txt"), "life.txt has an unknown suffix; expected one of .png, .svg, .pdf"),
        ((*RECORD, "--timeout", "1"), "--timeout applies only to a cluster"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_refused(arguments: tuple[str, ...], words: str) -> None:
    ran = run_here("trace", ORDERS, *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr


def test_a_path_that_is_not_there_is_told(tmp_path: Path) -> None:
    ran = run_here("trace", tmp_path / "nowhere", *RECORD)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "nowhere" in ran.stderr


def test_the_life_is_drawn_beside_what_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Figure:
        def __init__(self, trace: RecordTrace) -> None:
            self.trace = trace

        def savefig(self, path: Path) -> None:
            path.write_text(f"{self.trace.offset} {len(self.trace.events)}", encoding="utf-8")

    monkeypatch.setattr(plot, "life", Figure)
    picture = tmp_path / "life.svg"
    ran = run_here("trace", ORDERS, *RECORD, "-o", picture)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert picture.read_text("utf-8") == "1251 6"
    assert run_here("trace", ORDERS, *RECORD, "-o", tmp_path / "no" / "life.svg").returncode == 3


def test_names_from_the_log_are_escaped() -> None:
    ran = run_here("trace", JOBS, "a\x1b[31mgroup", TOPIC, "0", "1")
    assert ran.returncode == 2
    assert "\x1b" not in ran.stderr
    assert "a\\x1b[31mgroup" in ran.stderr
