"""The parent's part: starts the serving process, kills it half-way, starts it again."""

import multiprocessing
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from examples.demo.journal import read_journal, settled_offsets
from examples.demo.plan import Plan
from examples.demo.serve import serve

#: The whole job takes a few seconds; a serving process that is at it for so long hangs.
_PATIENCE_SECONDS = 60
_LOOK_SECONDS = 0.02

# A process of its own that shares nothing with this one: no thread, no lock, no open file.
_processes = multiprocessing.get_context("spawn")


class ServingError(Exception):
    """The serving process did not do what it should."""


@dataclass(frozen=True, slots=True)
class Serving:
    """Life of a serving process."""

    #: As of `multiprocessing`: 0, or minus the signal that ended it.
    exit_code: int
    seconds: float


def serve_with_a_kill(plan: Plan, console: Console) -> tuple[Serving, Serving]:
    """Serve, SIGKILL at some moment around the middle, serve the rest from the log."""
    kill_at = round(plan.unsettled * random.uniform(0.4, 0.6))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("settled"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("serving", total=plan.unsettled)
        before: set[int] = set()

        def settled(serving: int) -> int:
            count = len(before | settled_offsets(read_journal(plan.journal(serving))))
            progress.update(task, completed=count)
            return count

        killed = _run(plan, 1, progress.console, stop=lambda: settled(1) >= kill_at)
        before = settled_offsets(read_journal(plan.journal(1)))
        progress.print(
            f"SIGKILL after {killed.seconds:.2f} s: {len(before)} of {plan.unsettled} records were confirmed as settled"
        )
        finished = _run(plan, 2, progress.console, stop=lambda: settled(2) < 0)
        progress.update(task, completed=plan.unsettled)
        progress.print(f"Finished from the log after another {finished.seconds:.2f} s")
    return killed, finished


def _run(plan: Plan, serving: int, console: Console, *, stop: Callable[[], bool]) -> Serving:
    """Run a serving process until it ends, or until `stop` and then a little: the kill may hit at any instruction."""
    process = _processes.Process(target=serve, args=(plan, serving), name=f"serving-{serving}")
    begun = time.monotonic()
    try:
        start_deaf_to_ctrl_c(process)
        console.print(f"Serving process {process.pid}, leader epoch {plan.leader_epoch(serving)}")
        while process.is_alive() and not stop():
            if time.monotonic() - begun > _PATIENCE_SECONDS:
                raise ServingError(f"serving process {process.pid} did not finish in {_PATIENCE_SECONDS} s")
            process.join(_LOOK_SECONDS)
        if process.is_alive():
            time.sleep(random.uniform(0, 2 * _LOOK_SECONDS))
            process.kill()
        process.join()
    finally:
        # However this ends, also by Ctrl-C: no child is left.
        if process.pid is not None:
            process.kill()
            process.join()
    exit_code = process.exitcode
    if exit_code is None or exit_code > 0:
        raise ServingError(f"serving process {process.pid} failed with exit code {exit_code}")
    return Serving(exit_code, time.monotonic() - begun)


def start_deaf_to_ctrl_c(process: SpawnProcess) -> None:
    """Start a process that inherits that SIGINT is ignored: Ctrl-C reaches it too, but it is for its parent to end it."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.start()
    finally:
        signal.signal(signal.SIGINT, handler)
