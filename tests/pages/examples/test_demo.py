"""The demo as `make demo` runs it: in processes of its own, with a real kill."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import share_state
from tests.cli_runner import environment
from tests.recordings import REPOSITORY

SCRIPT = str(REPOSITORY / "examples" / "demo" / "run.py")


def test_the_demo_serves_all_through_a_kill(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", SCRIPT, "--directory", "demo"],
        cwd=tmp_path,
        env=environment(NO_COLOR="1"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout

    result = json.loads((tmp_path / "demo" / "result.json").read_text())
    assert result["passed"]
    assert [check["against"] for check in result["checks"]] == [""] * 10
    figures = result["figures"]
    assert (figures["records"], figures["served"], figures["acknowledged"] + figures["archived"]) == (333, 270, 333)
    assert 0 < figures["settled_before_the_kill"] < 270
    assert figures["deliveries"] >= 270 + figures["released"] - 1
    assert figures["redeliveries"] >= figures["redeliveries_after_the_kill"]
    for happened in ("released", "rejected", "renewed", "lock_timeouts", "writes", "bytes"):
        assert figures[happened] > 0

    # The command that it names shows the state: every record up to the end is settled.
    (command,) = (line.removeprefix("$ ") for line in done.stdout.splitlines() if line.startswith("$ "))
    shown = subprocess.run(
        [*shlex.split(command), "--format", "jsonl"], cwd=tmp_path, env=environment(), capture_output=True, check=True, timeout=60
    )
    states = [json.loads(line) for line in shown.stdout.splitlines()]
    assert len(states) == 4
    (served,) = (state for state in states if (state["group"], state["partition"]) == ("orders-workers", 1))
    assert served["leader_epoch"] == 2
    assert served["batches"][-1]["last_offset"] == 1587
    assert {batch["delivery_state_name"] for batch in served["batches"]} <= {"acknowledged", "archived"}


@pytest.mark.parametrize("serving_processes", [1, 2])
def test_ctrl_c_leaves_no_child(tmp_path: Path, serving_processes: int) -> None:
    # Without warnings, as a user runs it: an import that Ctrl-C interrupts leaves its file for the collector, which warns.
    demo = subprocess.Popen(
        [sys.executable, SCRIPT, "--directory", "demo"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert demo.stdout is not None
    started = (line.split()[2].rstrip(",") for line in demo.stdout if line.startswith("Serving process "))
    child = [int(next(started)) for _ in range(serving_processes)][-1]
    demo.send_signal(signal.SIGINT)
    _, errors = demo.communicate(timeout=60)
    assert demo.returncode == 130
    assert errors.startswith("Interrupted.")
    assert errors.count("\n") == 1
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    # Nobody holds the state any more.
    with share_state.open(tmp_path / "demo" / "state", create=False) as store:
        assert len(store.states()) == 4
