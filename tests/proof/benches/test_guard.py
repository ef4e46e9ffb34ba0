"""The guard compares counts only where the compiler and the processor are those that they were recorded with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from benches import environment, guard
from benches.environment import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = json.loads(guard.BASELINE.read_text(encoding="utf-8"))


def run_with(programs: dict[str, str], directory: Path) -> subprocess.CompletedProcess[str]:
    """`python -m benches.guard` on a machine whose programs of these names say something else."""
    for name, script in programs.items():
        path = directory / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
    environ = os.environ | {"PATH": f"{directory}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "benches.guard"]
    return subprocess.run(command, cwd=REPOSITORY, env=environ, capture_output=True, text=True, check=False)


def test_another_compiler_compares_nothing_and_says_so(tmp_path: Path) -> None:
    ran = run_with({"rustc": "echo 'rustc 9.99.0 (another)'", "cargo": "exit 77"}, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "SKIPPED: bench-guard compared nothing" in ran.stderr
    assert f"compiler  recorded: {RECORDED['rust']}" in ran.stderr
    assert "compiler  here:     rustc 9.99.0 (another)" in ran.stderr
    assert ran.stdout == ""


def test_another_processor_compares_nothing_and_says_so() -> None:
    there = {"rust": "rustc 1", "cpu": "one model"}
    note = "\n".join(guard.skip_note(there, there | {"cpu": "another model"}))
    assert "SKIPPED" in note
    assert "processor recorded: one model" in note
    assert "processor here:     another model" in note
    assert "compiler" not in note


def test_the_same_compiler_and_processor_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    class BuiltError(Exception):
        """The guard went on to its program."""

    def build(name: str) -> Path:
        raise BuiltError(name)

    monkeypatch.setattr(environment, "compiler", lambda: RECORDED["rust"])
    monkeypatch.setattr(environment, "processor", lambda: RECORDED["cpu"])
    monkeypatch.setattr(guard, "rust", build)
    monkeypatch.setattr(sys, "argv", ["guard"])
    with pytest.raises(BuiltError, match="oplog"):
        guard.main()


def test_the_counts_were_recorded_with_the_pinned_compiler() -> None:
    pinned = tomllib.loads((REPOSITORY / "rust-toolchain.toml").read_text(encoding="utf-8"))["toolchain"]
    assert RECORDED["rust"].startswith(f"rustc {pinned['channel']} ")
    least = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["rust-version"]
    assert [int(part) for part in least.split(".")] <= [int(part) for part in pinned["channel"].split(".")]
    assert {"rustfmt", "clippy"} <= set(pinned["components"])


def test_the_gate_runs_the_guard_after_the_tests() -> None:
    gate = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert "if make test && make bench-guard; then" in gate
    chain = next(line for line in (REPOSITORY / "Makefile").read_text(encoding="utf-8").splitlines() if line.startswith("test:"))
    assert "bench-guard" not in chain.partition("##")[0]


def test_what_needs_too_much_is_counted_again() -> None:
    recorded = {"steady": 100.0, "unlucky": 100.0, "grown": 100.0}
    counts = {"unlucky": iter((105.0, 112.0, 101.0)), "grown": iter((115.0, 114.0, 116.0))}
    measured = guard.counted_again(
        recorded, {"steady": 109.0, "unlucky": 112.0, "grown": 113.0, "new": 7.0}, lambda name: next(counts[name])
    )
    assert measured == {"steady": 109.0, "unlucky": 101.0, "grown": 113.0, "new": 7.0}
    assert guard.compare(recorded | {"new": 7.0}, measured)[1] == ["grown needs 13.0% more instructions than recorded"]
