"""Trying a mutant: it is put into a copy of the repository, built, and the tests of its crate run until one fails."""

from __future__ import annotations

import itertools
import os
import re
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from scripts.mutants_rust.mutant import CAUGHT, REPOSITORY, SURVIVED, TIMED_OUT, UNVIABLE, Crate, Mutant

WORK: Final = REPOSITORY / "build/mutants"
TREE: Final = WORK / "tree"
_TEMPORARY: Final = WORK / "tmp"


class Cost(NamedTuple):
    """Seconds of the processor and of the clock."""

    cpu: float
    clock: float


#: Least limits of the tests. A loop without an end is found by the processor's time, which no other process takes away; a thread
#: that waits for nothing, by the clock's.
_LEAST: Final = Cost(30, 150)
#: And so many times what they take without a mutant.
_TIMES: Final = 10
#: Bytes of addresses: a mutant that fills the memory aborts by itself.
_MEMORY: Final = 8 << 30
#: Message of cargo about a process that somebody else ended. It says nothing about the mutant.
_ENDED: Final = re.compile(r"signal: (9|15), SIG")


def renew_tree(tree: Path = TREE) -> None:
    """Make the copy what git knows of the repository as it is now. A file that is the same keeps its time, and so its build."""
    names = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True, cwd=REPOSITORY).stdout
    wanted = {name for name in names.split("\0") if name and (REPOSITORY / name).is_file()}
    for path in [path for path in tree.rglob("*") if path.is_file()]:
        if str(path.relative_to(tree)) not in wanted:
            path.unlink()
    for name in wanted:
        source, target = REPOSITORY / name, tree / name
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            # Not with its time: a build of a mutant is newer, and would pass for one of this file.
            shutil.copyfile(source, target)


class Trials:
    """The trials of one crate."""

    def __init__(self, crate: Crate) -> None:
        self._crate = crate
        skipped = [word for name in crate.never for word in ("--skip", name)]
        early = [*skipped, *(word for name in crate.late for word in ("--skip", name))]
        rounds = [
            (crate.first, early),
            (crate.targets, early),
            (crate.targets, [*crate.late, *skipped]),
            (crate.late_targets, skipped),
        ]
        there = [bool(crate.first), True, bool(crate.late), bool(crate.late_targets)]
        self._rounds = list(itertools.compress(rounds, there))
        self._costs: dict[int, Cost] = {}

    def prepare(self) -> None:
        """Build and test without a mutant."""
        self._baseline(0)

    def outcome(self, mutant: Mutant) -> str:
        """Say what became of a mutant."""
        for number in range(len(self._rounds)):
            # Unchanged sources are tested first, so that a test that fails anyhow catches nothing.
            self._baseline(number)
            with _changed(TREE / mutant.change.file, mutant):
                if not self._builds(number):
                    return UNVIABLE
                outcome = self._test(number)
            if outcome != SURVIVED:
                return outcome
        return SURVIVED

    def _baseline(self, number: int) -> None:
        if number in self._costs:
            return
        self._builds(number, unchanged=True)
        before, began = _cpu(), time.monotonic()
        outcome = self._test(number)
        if outcome != SURVIVED:
            raise SystemExit(f"the tests of {self._crate.name} fail without a mutant: {outcome}")
        self._costs[number] = Cost(_cpu() - before, time.monotonic() - began)

    def _builds(self, number: int, *, unchanged: bool = False) -> bool:
        command = [*self._command(number), "--no-run"]
        done = subprocess.run(command, cwd=TREE, env=_environment(), check=False, capture_output=True, text=True)
        if done.returncode and (unchanged or "could not compile" not in done.stderr or _ENDED.search(done.stderr)):
            raise SystemExit(done.stderr)
        return done.returncode == 0

    def _test(self, number: int) -> str:
        shutil.rmtree(_TEMPORARY, ignore_errors=True)
        _TEMPORARY.mkdir(parents=True)
        command = [*self._command(number), "--", *self._rounds[number][1]]
        cost = self._costs.get(number)
        limits = cost and Cost(max(_LEAST.cpu, _TIMES * cost.cpu), max(_LEAST.clock, _TIMES * cost.clock))
        return run_tests(command, TREE, limits)

    def _command(self, number: int) -> list[str]:
        return ["cargo", "test", "--locked", "--package", self._crate.name, *self._rounds[number][0]]


def run_tests(command: list[str], folder: Path, limits: Cost | None = None) -> str:
    """Run tests until the first one fails or their time is up."""

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        if limits:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limits.cpu), int(limits.cpu) + 5))

    with subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=bounded,  # noqa: PLW1509 - it only limits the child
    ) as process:
        # The end of the clock's time ends the output.
        timer = threading.Timer(limits.clock if limits else threading.TIMEOUT_MAX, _kill, [process])
        timer.start()
        try:
            told = next(filter(None, map(_told, process.stdout or ())), None)
            in_time = timer.is_alive()
            status = None if told else process.wait()
        finally:
            timer.cancel()
            # Whatever comes after the first failure is not waited for.
            _kill(process)
    if told:
        return told
    if not in_time:
        return TIMED_OUT
    if status and status < 0:
        raise SystemExit(f"somebody else ended the tests: signal {-status}")
    return CAUGHT if status else SURVIVED


def _told(line: str) -> str | None:
    """Read what a line of cargo or of the tests says of the mutant."""
    if _ENDED.search(line):
        raise SystemExit(f"somebody else ended the tests: {line}")
    if line.startswith("test ") and line.rstrip().endswith("... FAILED"):
        return CAUGHT
    return TIMED_OUT if "SIGXCPU" in line else None


def _kill(process: subprocess.Popen[str]) -> None:
    # Once it was waited for, its number may be another's.
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _changed(path: Path, mutant: Mutant) -> Iterator[None]:
    text = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied(text), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "CARGO_TARGET_DIR": str(WORK / "target"),
        "CARGO_PROFILE_DEV_DEBUG": "0",
        # Longer to build, and a sixth of the time to run.
        "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
        "CARGO_INCREMENTAL": "1",
        # Of a test that is killed something is left.
        "TMPDIR": str(_TEMPORARY),
    }
