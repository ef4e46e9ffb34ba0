"""Cost of the processes of a session of Spark: CPU time, and the memory of its Python workers."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Self

__all__ = ["Watch", "cpu_seconds"]

_POLL_SECONDS = 0.05
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
#: Indexes of fields, counted from the state: the parent, then user and system time of the process and its ended children.
_PARENT = 1
_CPU = slice(11, 15)


class Watch:
    """Looks at the workers below this process, now and then, for as long as it is entered.

    The kernel keeps the most that a process ever had; only what it got since the last look before its end is missed.
    """

    def __init__(self) -> None:
        self._most = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._ended.set()
        self._thread.join()

    def most(self) -> int:
        """Return the most bytes that any one worker had in memory."""
        return self._most

    def _look(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            for process in _workers(os.getpid()):
                self._most = max(self._most, _peak(process))


def cpu_seconds(top: int) -> float:
    """Return the CPU time of all processes below `top`, those that have ended included where somebody waited for them."""
    stats = _stats()
    parents = {process: int(fields[_PARENT]) for process, fields in stats.items()}
    spent = (sum(int(ticks) for ticks in stats[process][_CPU]) for process in stats if _is_below(process, top, parents))
    return sum(spent) / _TICKS


def _workers(top: int) -> list[int]:
    """Return the processes below `top` that Spark's daemon has forked."""
    parents = {process: int(fields[_PARENT]) for process, fields in _stats().items()}
    return [process for process in parents if _is_below(process, top, parents) and _is_worker(process, parents)]


def _stats() -> dict[int, list[str]]:
    """Return what the kernel says of each process, from its state on."""
    found: dict[int, list[str]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
    return found


def _is_below(process: int, top: int, parents: dict[int, int]) -> bool:
    while process in parents:
        process = parents[process]
        if process == top:
            return True
    return False


def _is_worker(process: int, parents: dict[int, int]) -> bool:
    """A worker and its daemon have the same command line, and the daemon's parent is the JVM."""
    try:
        return all(b"pyspark.daemon" in (_PROC / str(one) / "cmdline").read_bytes() for one in (process, parents[process]))
    except OSError:
        return False


def _peak(process: int) -> int:
    try:
        status = (_PROC / str(process) / "status").read_text()
    except OSError:
        return 0
    lines = [line.split() for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0][1]) * 1024 if lines else 0
