"""Anomalies of the recorded logs are what their clients did; and the command that shows them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from share_state.operate import analysis
from share_state.operate.analysis import AnomalyConfig, AnomalyKind
from tests.cli_in_process import run_here
from tests.recordings import JOBS, ORDERS

#: The settings of the recorded groups, as their clients noted them.
LIMITS = {"workers": 3, "tx-workers": 5, "leaver": 5}
LOCKS_MS = {"workers": 2000, "tx-workers": 3000, "leaver": 15000}


def groups(directory: Path, settings: dict[str, int]) -> dict[str, int]:
    prefix = directory.name.split("-")[0]
    return {f"{prefix}-{name}": value for name, value in settings.items()}


def kinds(rows: list[analysis.Anomaly]) -> Counter[tuple[str, str]]:
    return Counter((row.kind, row.group.split("-", 1)[1]) for row in rows)


@pytest.mark.parametrize("config", [None, AnomalyConfig(delivery_count_limits=groups(ORDERS, LIMITS))], ids=["log", "given"])
def test_orders_with_the_defaults(config: AnomalyConfig | None) -> None:
    rows = list(analysis.anomalies(ORDERS, config))
    assert kinds(rows) == {
        (AnomalyKind.ARCHIVE_BURST, "leaver"): 2,
        (AnomalyKind.ARCHIVE_BURST, "workers"): 1,
        (AnomalyKind.POISON_RECORD, "workers"): 9,
        (AnomalyKind.LATE_OR_POISON, "workers"): 12,
        (AnomalyKind.POISON_RECORD, "tx-workers"): 3,
    }
    # The clients of the leaver released 604 records at their fifth delivery.
    bursts = [row.evidence.split(" ", 1)[0] for row in rows if row.group == "orders-leaver"]
    assert sorted(bursts) == ["300", "304"]


def test_jobs_with_the_defaults() -> None:
    rows = list(analysis.anomalies(JOBS))
    assert kinds(rows) == {
        (AnomalyKind.ARCHIVE_BURST, "leaver"): 2,
        (AnomalyKind.ARCHIVE_BURST, "workers"): 1,
        (AnomalyKind.POISON_RECORD, "workers"): 10,
        (AnomalyKind.LATE_OR_POISON, "workers"): 5,
        (AnomalyKind.POISON_RECORD, "tx-workers"): 4,
        (AnomalyKind.LATE_OR_POISON, "tx-workers"): 1,
    }
    # ... and those of this one 263.
    bursts = [row.evidence.split(" ", 1)[0] for row in rows if row.group == "jobs-leaver"]
    assert sorted(bursts) == ["124", "139"]


def test_orders_with_thresholds_of_a_recording_of_twenty_seconds() -> None:
    config = AnomalyConfig(stuck_ms=2000, stuck_records=50, record_lock_durations_ms=groups(ORDERS, LOCKS_MS), gap_ms=2000)
    rows = [row for row in analysis.anomalies(ORDERS, config) if row.kind in {"start_offset_stuck", "lock_expiry_loop"}]
    # Members answered after their locks had run out (INVALID_RECORD_STATE in their notes), and too late again at the last
    # attempt, which goes out one record at a time; meanwhile the start offset stood.
    assert [(row.kind, row.partition, row.first_offset) for row in rows] == [
        (AnomalyKind.LOCK_EXPIRY_LOOP, 0, 13),
        (AnomalyKind.START_OFFSET_STUCK, 0, 14),
        (AnomalyKind.LOCK_EXPIRY_LOOP, 1, 1251),
        (AnomalyKind.LOCK_EXPIRY_LOOP, 1, 1255),
    ]
    # Each of the loops ended at the limit, and is told once.
    assert all("also late_or_poison" in row.evidence for row in rows if row.kind == AnomalyKind.LOCK_EXPIRY_LOOP)
    assert {row.group for row in rows} == {"orders-workers"}


def by_text(rows: list[dict[str, Any]]) -> list[str]:
    """Rows in an order of their own."""
    return sorted(map(json.dumps, rows))


def test_the_command_shows_what_is_wrong() -> None:
    lines = run_here("anomalies", ORDERS, "--format", "jsonl")
    assert (lines.returncode, lines.stderr) == (1, "")
    rows = [json.loads(line) for line in lines.stdout.splitlines()]
    assert by_text(rows) == by_text([row._asdict() for row in analysis.anomalies(ORDERS)])
    table = run_here("anomalies", ORDERS, columns=10_000)
    assert (table.returncode, table.stderr) == (1, "")
    summary, *blocks = table.stdout.splitlines()
    assert summary == "27 findings: 3 critical, 24 warning; 3 archive_burst, 12 late_or_poison, 12 poison_record"
    blocks, (title, *advice) = blocks[: 3 * len(rows)], blocks[3 * len(rows) :]
    assert [head.split("  ")[:3] for head in blocks[::3]] == [
        [row["severity"].upper(), row["kind"], row["group"]] for row in rows
    ]
    assert [row["severity"] for row in rows] == ["critical"] * 3 + ["warning"] * 24
    assert title == "What to do:"
    assert [line.split(":")[0] for line in advice] == ["  archive_burst", "  late_or_poison", "  poison_record"]


def test_the_command_takes_a_choice_and_thresholds() -> None:
    choice = ("--group", "jobs-tx-workers", "--partition", "0")
    nothing = run_here("anomalies", JOBS, *choice, "--set", "delivery_count_limit=9")
    assert (nothing.returncode, nothing.stdout) == (0, "Nothing is wrong, as far as the log tells.\n")
    array = run_here("anomalies", JOBS, *choice, "--format", "json")
    assert (array.returncode, len(json.loads(array.stdout))) == (1, 5)
    for wrong in ("stuck=1", "stuck_ms", "stuck_ms=x", "stuck_ms=0", "record_lock_durations_ms=1"):
        assert run_here("anomalies", JOBS, "--set", wrong).returncode == 2, wrong


def test_the_command_takes_what_the_log_does_not_tell(tmp_path: Path) -> None:
    [topic_id] = {row.topic_id for row in analysis.states(ORDERS, group="orders-workers", partition=1)}
    samples = {(topic_id, 1): [(1795254300000 + minute * 60_000, 4000 + minute * 500) for minute in range(10)]}
    ends, topics = tmp_path / "ends.csv", tmp_path / "topics"
    lines = [f"{topic_id},1,{ms},{end}\n" for ms, end in reversed(samples[topic_id, 1])]
    ends.write_text("\n".join(lines), encoding="utf-8")
    topics.write_text(f"{topic_id}\n\n", encoding="utf-8")
    told = run_here("anomalies", ORDERS, "--log-end-offsets", ends, "--live-topics", topics, "--format", "jsonl")
    assert (told.returncode, told.stderr) == (1, "")
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    assert by_text(rows) == by_text(
        [row._asdict() for row in analysis.anomalies(ORDERS, log_end_offsets=samples, live_topics=[topic_id])]
    )
    assert {"growing_lag", "deleted_topic"} <= {row["kind"] for row in rows}
    ends.write_text("", encoding="utf-8")
    without = run_here("anomalies", ORDERS, "--log-end-offsets", ends, "--format", "jsonl")
    of_log = [row._asdict() for row in analysis.anomalies(ORDERS)]
    assert by_text([json.loads(line) for line in without.stdout.splitlines()]) == by_text(of_log)
    for wrong in (f"{topic_id},1,5", f"{topic_id},1,5,x", "orders,1,5,6", "\0"):
        ends.write_text(wrong + "\n", encoding="utf-8")
        assert run_here("anomalies", ORDERS, "--log-end-offsets", ends).returncode == 2, wrong
    assert run_here("anomalies", ORDERS, "--live-topics", tmp_path / "nowhere").returncode == 2
    topics.write_text("orders\n", encoding="utf-8")
    assert run_here("anomalies", ORDERS, "--live-topics", topics).returncode == 2
