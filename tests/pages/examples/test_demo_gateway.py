"""The gateway's demo, small: real share consumers, real kills, a mock cluster."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import share_state
from examples.gateway.journal import Event, Journal, Reader
from examples.gateway.plan import GROUP, PARTITIONS, Place, Plan, members
from share_state import AcknowledgeType
from tests.cli_runner import environment
from tests.recordings import REPOSITORY

COMMAND = [sys.executable, "-W", "error", str(REPOSITORY / "examples" / "gateway" / "run.py"), "--directory", "demo"]
RECORDS = 5_000
#: They are fixed by the plan, whatever happens: 24 records are rejected, and one a partition is poison.
ARCHIVED = 24 + PARTITIONS


def test_every_record_is_accounted_for(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--records", str(RECORDS), "--format", "json"],
        cwd=tmp_path,
        env=environment(NO_COLOR="1"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result == json.loads((tmp_path / "demo" / "result.json").read_text())
    assert result["passed"]
    assert [check["against"] for check in result["checks"]] == [""] * 11
    figures = result["figures"]
    assert (figures["records"], figures["accepted"], figures["archived"]) == (RECORDS, RECORDS - ARCHIVED, ARCHIVED)
    assert 0 < figures["settled_before_the_kill"] < RECORDS
    assert figures["deliveries"] >= RECORDS + figures["released"] - PARTITIONS
    for happened in ("released", "rejected", "lost_locks", "writes", "bytes", "restart_ms"):
        assert figures[happened] > 0

    # The command that it names shows the state. Its words are for people, and go to stderr here.
    (command,) = (line.removeprefix("$ ") for line in done.stderr.splitlines() if line.startswith("$ "))
    path = shlex.split(command)[-1]
    shown = subprocess.run(
        [sys.executable, "-m", "share_state", "state", path, "--format", "jsonl"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    rows = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [(row["group"], row["partition"]) for row in rows] == [(GROUP, partition) for partition in range(PARTITIONS)]
    assert [row["start_offset"] + row["delivery_complete_count"] for row in rows] == [RECORDS // PARTITIONS] * PARTITIONS


def test_ctrl_c_leaves_no_child(tmp_path: Path) -> None:
    demo = subprocess.Popen(
        [*COMMAND, "--records", "100000"],
        cwd=tmp_path,
        env=environment(NO_COLOR="1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert demo.stdout is not None
    for line in demo.stdout:
        if "share consumers, each" in line:
            break
    children = [
        int(child)
        for child in Path(f"/proc/{demo.pid}/task/{demo.pid}/children").read_text().split()
        # What multiprocessing starts for itself ends by itself, some time later.
        if "resource_tracker" not in Path(f"/proc/{child}/cmdline").read_text()
    ]
    assert len(children) == len(members()) + 1  # the gateway
    demo.send_signal(signal.SIGINT)
    _, errors = demo.communicate(timeout=60)
    assert demo.returncode == 130
    assert errors.startswith("Interrupted.")
    assert errors.count("\n") == 1
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)
    # Nobody holds the state any more.
    with share_state.open(tmp_path / "demo" / "state" / "state", create=False):
        pass


@pytest.mark.parametrize("records", ["100", "5002", "1000000"])
def test_a_number_of_records_that_cannot_be_is_refused(tmp_path: Path, records: str) -> None:
    done = subprocess.run(
        [*COMMAND, "--records", records], cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 2
    assert f"--records is {records}, not a multiple of 4 from 1000 to 160000" in done.stderr


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "mine").touch()
    done = subprocess.run(COMMAND, cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert "holds something that is not the demo's" in done.stderr
    assert (tmp_path / "demo" / "mine").exists()


def test_a_journal_is_read_while_it_grows_and_up_to_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "worker.jsonl"
    reader = Reader(path)
    assert reader.more() == []
    journal = Journal("worker-1", path)
    journal.write(Event.READY)
    assert [entry.event for entry in reader.more()] == [Event.READY]
    accept, reject = AcknowledgeType.ACCEPT, AcknowledgeType.REJECT
    kinds = {10: accept, 11: accept, 12: reject, 14: accept}
    journal.write(Event.SENT, ((Place(2, offset), 1, kind) for offset, kind in kinds.items()))
    with path.open("ab") as file:
        file.write(b'["worker-1", "conf')
    found = reader.more()
    assert [(entry.partition, entry.first_offset, entry.last_offset, entry.acknowledge_type) for entry in found] == [
        (2, 10, 11, accept),
        (2, 12, 12, reject),
        (2, 14, 14, accept),
    ]
    assert reader.more() == []


def test_every_answer_is_given_and_all_but_the_poison_end() -> None:
    plan = Plan(Path("unused"), RECORDS)
    answers = {place: {plan.answer(place, count) for count in range(1, 6)} for place in plan.places}
    assert set().union(*answers.values()) == {AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT}
    assert {place for place, given in answers.items() if given == {AcknowledgeType.RELEASE}} == plan.poison
    assert sum(AcknowledgeType.REJECT in given for given in answers.values()) == ARCHIVED - PARTITIONS
    assert len({plan.value(place) for place in plan.places}) == RECORDS
    assert len(members()) == 6
