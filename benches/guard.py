"""Compares the instructions of guarded operations with those recorded: what a busy machine cannot blur.

    python -m benches.guard            fails when an operation needs over 10% more than recorded
    python -m benches.guard --record   records what it needs now

A small operation log of each is replayed on the Rust engine under callgrind, once and three times, and so is the same log
without its timed operations: the difference is what is timed. The numbers hold for one compiler and one model of processor,
which are recorded beside them. Where either differs nothing is compared: the run says so, names both sides and succeeds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benches import environment
from benches.oplog import HEADER, OPERATION, OpLog, timed
from benches.plan import Row
from benches.programs import generate, rust

BASELINE = Path(__file__).resolve().parent / "guard.json"
#: Part by which an operation may exceed the recorded number.
TOLERANCE = 0.10
#: Guarded operations; those of W1 and W4 that have no durability go over the same logs as those that have one.
ROWS = (
    *(Row("W1-durable", 500, durability=durability) for durability in ("", "never", "polled")),
    Row("W1-durable", 1),
    *(Row("W4-durable", 10_000, durability=durability) for durability in ("", "never")),
    Row("W2", 500),
    Row("W3", 1_000),
    Row("W4", 1_000),
    Row("W4-together", 4_000),
    Row("W5", 4_000),
    Row("W6-next", 4_000),
    Row("W7", 4_000),
    Row("W8", 1_000),
    Row("W9", 4_096),
    Row("W11", 4_000),
    Row("W12", 4_000),
    Row("encode", 100),
)
#: Number of new counts for an operation that seems to need too much: one program's counts differ a little from run to run.
_AGAIN = 3
_SIDES = (("compiler ", "rust"), ("processor", "cpu"))
_COLLECTED = re.compile(r"Collected : (\d+)")


class NoValgrindError(Exception):
    """valgrind is missing and cannot be installed."""


def valgrind() -> str:
    """valgrind, installed where it is missing and that is possible."""
    found = shutil.which("valgrind")
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "install", "--yes", "--quiet", "valgrind"], check=False, stdout=sys.stderr)
        found = shutil.which("valgrind")
    if found is None:
        raise NoValgrindError("valgrind was not found, and could not be installed with apt-get: install it.")
    return found


def instructions(directory: Path, row: Row) -> float:
    """Return the number of instructions that an element of the row needs."""
    path = generate(row.workload, row.size, seed=1, into=directory)
    whole, rest = (_replayed(log, row.durability, directory) for log in (path, _untimed(path)))
    return (whole - rest) / OpLog.read(path).elements


def _untimed(path: Path) -> Path:
    """The same log without its timed operations."""
    data = path.read_bytes()
    header = np.frombuffer(data, HEADER, 1).copy()
    ops = np.frombuffer(data, OPERATION, int(header["ops"][0]), HEADER.itemsize)
    left = ops[~timed(ops)]
    header["ops"] = len(left)
    untimed = path.with_suffix(".untimed")
    untimed.write_bytes(header.tobytes() + left.tobytes() + data[HEADER.itemsize + ops.nbytes :])
    return untimed


def _replayed(log: Path, durability: str, directory: Path) -> float:
    """The instructions of one replay, without those of the process and of the first replays in it."""
    durably = ["--durable", durability, "--dir", str(directory)] if durability else []
    once, thrice = (_collected([str(rust("oplog")), "run", str(log), *durably], f"replays {times}\n") for times in (1, 3))
    return (thrice - once) / 2


def _collected(command: list[str], asked: str) -> int:
    callgrind = [valgrind(), "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    ran = subprocess.run(callgrind, input=asked, capture_output=True, text=True, check=True)
    found = _COLLECTED.search(ran.stderr)
    assert found is not None, ran.stderr
    return int(found[1])


def here() -> dict[str, str]:
    """Return the facts that the counts depend on besides the code."""
    return {"rust": environment.compiler(), "cpu": environment.processor()}


def skip_note(recorded: dict[str, str], found: dict[str, str]) -> list[str]:
    """The lines that say why nothing is compared; none where compiler and processor are those recorded."""
    differing = [(name, recorded[key], found[key]) for name, key in _SIDES if recorded[key] != found[key]]
    if not differing:
        return []
    rows = [line for name, then, now in differing for line in (f"  {name} recorded: {then}", f"  {name} here:     {now}")]
    return ["SKIPPED: bench-guard compared nothing. Its counts were recorded elsewhere:", *rows]


def counted_again(recorded: dict[str, float], measured: dict[str, float], count: Callable[[str], float]) -> dict[str, float]:
    """Return what was measured; for an operation that needs too much, the least of several counts."""
    return {
        operation: min(now, *(count(operation) for _ in range(_AGAIN)))
        if now > recorded.get(operation, now) * (1 + TOLERANCE)
        else now
        for operation, now in measured.items()
    }


def compare(recorded: dict[str, float], measured: dict[str, float]) -> tuple[list[str], list[str]]:
    """A line an operation, and what is wrong."""
    lines, wrong = [], []
    for operation, now in measured.items():
        before = recorded.get(operation)
        if before is None:
            wrong.append(f"{operation} is not recorded")
            continue
        growth = now / before - 1
        lines.append(f"{operation:34}{before:12,.0f}{now:12,.0f}{growth:+8.1%}")
        if growth > TOLERANCE:
            wrong.append(f"{operation} needs {growth:.1%} more instructions than recorded")
    wrong += [f"{operation} was recorded and is not there any more" for operation in recorded if operation not in measured]
    return lines, wrong


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--record", action="store_true")
    record = arguments.parse_args().record
    recorded = json.loads(BASELINE.read_text(encoding="utf-8"))
    if not record and (note := skip_note(recorded, here())):
        print("\n".join(note), file=sys.stderr)
        return 0
    rust("oplog")
    try:
        valgrind()
    except NoValgrindError as error:
        print(error, file=sys.stderr)
        return 1
    rows = {row.name: row for row in ROWS}
    with TemporaryDirectory() as directory, ThreadPoolExecutor(os.cpu_count()) as pool:

        def count(operation: str) -> float:
            return instructions(Path(directory) / operation, rows[operation])

        measured = dict(zip(rows, pool.map(count, rows), strict=True))
        if record:
            about = here() | {"instructions": {name: round(n, 1) for name, n in measured.items()}}
            BASELINE.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
            print(f"{len(measured)} operations recorded in {BASELINE}")
            return 0
        measured = counted_again(recorded["instructions"], measured, count)
    lines, wrong = compare(recorded["instructions"], measured)
    print(f"{'instructions':34}{'recorded':>12}{'now':>12}")
    print("\n".join(lines))
    for text in wrong:
        print(text, file=sys.stderr)
    if wrong:
        print("If the growth is meant: python -m benches.guard --record", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
