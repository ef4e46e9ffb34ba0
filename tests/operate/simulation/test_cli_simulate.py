"""`share-state simulate`: its table, its JSON, its picture, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from share_state.cli.app import app
from share_state.cli.simulate import command as simulate_command
from share_state.cli.simulate.output import SIMULATE_VERSION
from share_state.operate.simulation import ASSUMPTIONS, picture
from share_state.operate.simulation.simulate import Prediction
from tests.cli_runner import run
from tests.made_up_log import ARCHIVED, AVAILABLE, MadeUpLog
from tests.operate.json_page import check
from tests.operate.simulation.made_up_runs import BEGIN
from tests.recordings import JOBS, ORDERS, REPOSITORY

RECORDING = REPOSITORY / "tests" / "data" / "kafka-state" / "simulated-4.4.0"
TODAY = ("--today", "lock-duration=1s,members=2")


def words(text: str) -> str:
    return " ".join(text.replace("│", "").split())


def shown(*arguments: str | Path) -> Result:
    """Run in this process, which is quicker."""
    return CliRunner().invoke(app, ["simulate", *map(str, arguments)], env={"COLUMNS": "400"})


def rows(*arguments: str | Path) -> list[dict[str, Any]]:
    ran = shown(*arguments, "--format", "jsonl")
    assert (ran.exit_code, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_the_table_has_what_was_recorded_and_what_would_have_been() -> None:
    ran = run("simulate", RECORDING, "short-locks", *TODAY, "--try", "lock-duration=3s", "--try", "members=4", "--runs", "2")
    assert (ran.returncode, ran.stderr) == (0, "")
    head, _, *lines = ran.stdout.splitlines()
    assert re.split(r"  +", head.strip()) == [
        "SETTINGS", "REDELIVERIES", "LOCK EXPIRIES", "AT LIMIT", "DRAIN", "START STOOD P50", "P99", "LONGEST", "BUSY",
    ]  # fmt: skip
    cells = [re.split(r"  +", line.strip()) for line in lines[:4]]
    assert [row[0] for row in cells] == ["recorded", "today, simulated", "lock-duration=3s", "members=4"]
    assert cells[0][1:] == ["185", "74", "14", "17.55s", "0.10s", "1.04s", "1.82s", "-"]
    assert all(len(row) == 9 for row in cells)
    settings = "lock-duration=1s delivery-limit=3 max-record-locks=2000 members=2 mode=batch max-poll-records=10"
    assert lines[4] == f"2000 records; {settings}"
    assert [line.split()[0] for line in lines[5:7]] == ["work:", "failures:"]


def test_where_it_is_narrow_each_set_of_settings_is_a_block() -> None:
    ran = run("simulate", RECORDING, "short-locks", *TODAY, "--runs", "1", COLUMNS="60")
    assert ran.stdout.splitlines()[:2] == ["recorded", "  redeliveries 185  lock expiries 74  at limit 14  drain"]
    assert max(map(len, ran.stdout.splitlines())) <= 60


def test_json_is_as_its_schema_and_page_say() -> None:
    found = rows(RECORDING, "short-locks", *TODAY, "--lock-duration", "2s", "--members", "3", "--runs", "2")
    assert [row["scenario"] for row in found] == ["recorded", "today", "try"]
    check("simulate", SIMULATE_VERSION, found, "model")
    assert found[2]["settings"] == found[1]["settings"] | {"lock_duration_ms": 2000, "members": 3}
    assert all(set(ASSUMPTIONS) < set(row["assumptions"]) for row in found)


def test_every_run_of_the_command_says_the_same() -> None:
    first, second, other = (rows(RECORDING, "long-locks", "--runs", "1", "--seed", seed) for seed in ("5", "5", "6"))
    assert first == second
    assert first != other


@pytest.mark.parametrize(
    ("directory", "group", "records"),
    [(ORDERS, "orders-workers", 3498), (ORDERS, "orders-tx-workers", 404), (JOBS, "jobs-workers", 1825)],
)
def test_recorded_directories_can_be_simulated(directory: Path, group: str, records: int) -> None:
    """Members come and go in them, and are killed: what the model does not reproduce, it says."""
    found = rows(directory, group, "--today", "lock-duration=2s,members=3", "--try", "members=6", "--runs", "2")
    assert [row["records"] for row in found] == [records] * 3
    for row in found[1:]:
        assert row["accepted"]["mean"] + row["rejected"]["mean"] + row["archived_at_limit"]["mean"] == pytest.approx(records)
        assert row["drain_ms"]["mean"] > 0
    assert found[0]["model"]["not_reproduced"] == found[2]["model"]["not_reproduced"]


def test_one_share_partition_can_be_chosen() -> None:
    topic_id = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
    [row, _] = rows(ORDERS, "orders-workers", "--topic-id", topic_id, "--partition", "1", "--runs", "1")
    assert row["share_partitions"] == [{"topic_id": topic_id, "partition": 1}]
    assert row["settings"]["delivery_limit"] == 3


def test_a_processing_time_is_taken_instead_of_the_logs() -> None:
    [_, today] = rows(RECORDING, "short-locks", *TODAY, "--processing-time", "p50=1ms,p99=5ms", "--runs", "1")
    assert today["model"]["processing"] == {"kind": "given", "record_p50_ms": 1.0, "record_p99_ms": 5.0}
    assert today["lock_expiries"]["mean"] == 0
    assert today["drain_ms"]["mean"] < 3000
    assert "drain_ms" in today["model"]["not_reproduced"]


def test_end_offsets_tell_when_records_came(tmp_path: Path) -> None:
    begin = rows(RECORDING, "short-locks", *TODAY, "--runs", "1")[0]["model"]["begin_timestamp"]
    ends = tmp_path / "ends.csv"
    ends.write_text(f"{begin},0\n{begin + 30_000},2000\n", encoding="utf-8")
    [_, today] = rows(RECORDING, "short-locks", *TODAY, "--end-offsets", ends, "--runs", "1")
    assert today["drain_ms"]["mean"] >= 30_000
    assert today["assumptions"][-1].startswith("Records became available evenly")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("nobody",), "--group nobody is not in the log, which has long-locks, more-deliveries, more-members, short-locks"),
        (("short-locks", "--partition", "7"), "--partition 7 of --group short-locks is not in the log, which has 0"),
        (("short-locks", "--try", "lock-duration=999ms"),
         "--try: lock-duration is 999; share.record.lock.duration.ms must be at least 1000"),
        (("short-locks", "--delivery-limit", "26"), "delivery-limit is 26; share.delivery.count.limit must be at most 25"),
        (("short-locks", "--members", "0"), "members is 0; expected 1 to 1000"),
        (("short-locks", "--mode", "fast"), "mode is fast; expected batch or record"),
        (("short-locks", "--today", "speed=9"), "--today: speed=9 is not a setting"),
        (("short-locks", "--today", "delivery-limit=2"), "delivery-limit is 2, and a record was delivered 3 times"),
        (("short-locks", "--processing-time", "fast"), "--processing-time: processing-time is fast; expected a duration"),
        (("short-locks", "--output", "x.txt"), "x.txt has an unknown suffix; expected one of .png, .svg, .pdf"),
        (("short-locks", "--runs", "0"), "--runs is 0; expected 1 to 1000"),
        (("short-locks", "--seed", "-1"), "--seed is -1; expected 0 to 2147483647"),
        (("short-locks", "--log-batch", "0"), "--log-batch is 0; expected 1 to 2147483647"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_by_name_and_value(arguments: tuple[str, ...], reason: str) -> None:
    ran = shown(RECORDING, *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert reason in words(ran.stderr)


def test_end_offsets_of_several_share_partitions_are_refused(tmp_path: Path) -> None:
    ends = tmp_path / "ends.csv"
    ends.write_text("1,0\n", encoding="utf-8")
    ran = shown(ORDERS, "orders-workers", "--end-offsets", ends)
    assert (ran.exit_code, "is for one share partition" in words(ran.stderr)) == (2, True)
    ends.write_text("2,0\n1,5\n", encoding="utf-8")
    ran = shown(RECORDING, "short-locks", "--end-offsets", ends)
    assert (ran.exit_code, "end_offsets must ascend: 1,5 follows 2,0" in words(ran.stderr)) == (2, True)


def test_a_path_that_is_not_there_is_status_3(tmp_path: Path) -> None:
    ran = shown(tmp_path / "nothing", "g")
    assert (ran.exit_code, ran.stdout) == (3, "")


def test_damage_is_told_beside_what_can_be_simulated(tmp_path: Path) -> None:
    log = tmp_path / "log"
    shutil.copytree(RECORDING, log, copy_function=shutil.copyfile)
    [segment] = [path for path in log.glob("*/*.log") if b"short-locks" in path.read_bytes()]
    segment.write_bytes(segment.read_bytes()[:-7])
    ran = run("simulate", log, "short-locks", *TODAY, "--runs", "1")
    assert (ran.returncode, "torn_tail" in ran.stderr) == (4, True)
    assert ran.stdout.startswith("SETTINGS")


def test_the_picture_shows_every_set_of_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the package that draws: what it is given."""

    class Figure:
        def __init__(self, _recorded: object, begin_ms: float, predictions: list[Prediction]) -> None:
            self.told = [begin_ms > 0, *(len(one.runs) for one in predictions)]

        def savefig(self, path: Path) -> None:
            path.write_text(json.dumps(self.told), encoding="utf-8")

    monkeypatch.setattr(simulate_command, "draw", Figure)
    file = tmp_path / "picture.svg"
    ran = shown(RECORDING, "short-locks", *TODAY, "--try", "members=4", "--runs", "2", "-o", file)
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert json.loads(file.read_text(encoding="utf-8")) == [True, 2, 2]
    assert picture.__all__ == ["draw"]


def ran_out(first_ms: int, lock_ms: int, *, quick: bool = False) -> list[tuple[int, tuple[int, int, int, int]]]:
    """Fetches of three members, whose locks all run out until the limit; or of which one is answered sooner."""
    writes = []
    for member in range(3):
        for count in range(1, 6):
            state = ARCHIVED if count == 5 else AVAILABLE
            sooner = lock_ms // 2 if quick and member == 0 and count > 1 else 0
            writes.append((first_ms + member * 700 + count * lock_ms - sooner, (member * 50, member * 50 + 49, state, count)))
    return sorted(writes)


@pytest.mark.parametrize("members", ["1", "3"])
def test_where_every_delivery_ran_into_its_lock_the_time_of_work_is_asked_for(tmp_path: Path, members: str) -> None:
    log = MadeUpLog()
    log.snapshot(BEGIN)
    for ms, batch in ran_out(BEGIN, 30_000):
        log.update(ms, [batch], start=0)
    directory = log.written(tmp_path / "log")
    today = ("--today", f"delivery-limit=5,members={members}")
    for output in ((), ("--format", "json")):
        ran = shown(directory, "g", *today, *output)
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert "every delivery ran into its lock, so how long a record takes is not known" in words(ran.stderr)
        assert "give --processing-time" in words(ran.stderr)
    told = shown(directory, "g", *today, "--processing-time", "200ms", "--runs", "1")
    assert told.exit_code == 0
    assert "kind=given" in told.stdout


def test_one_fetch_that_was_answered_in_time_tells_it(tmp_path: Path) -> None:
    log = MadeUpLog()
    log.snapshot(BEGIN)
    for ms, batch in ran_out(BEGIN, 30_000, quick=True):
        log.update(ms, [batch], start=0)
    ran = shown(log.written(tmp_path / "log"), "g", "--today", "delivery-limit=5,members=3", "--runs", "1")
    assert (ran.exit_code, "kind=fitted" in ran.stdout) == (0, True)
