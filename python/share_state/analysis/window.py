"""What is known of the records of one share partition, run by run, while its history is read."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from share_state.types import RecordState

__all__ = ["TERMINAL", "Run", "Window"]

#: States from which no record comes back: acknowledged, archived.
TERMINAL = frozenset({RecordState.ACKNOWLEDGED, RecordState.ARCHIVED})


class Run(NamedTuple):
    """Offsets of which the same is known."""

    first: int
    last: int
    state: int
    deliveries: int
    #: The record of the state topic that told of them first, and its time.
    known_offset: int
    known_ms: int
    #: When something was written of them last.
    changed_ms: int
    #: Releases in a row, each about a lock duration after the change before; where and when the first of them was.
    loops: int = 0
    loop_offset: int = 0
    loop_ms: int = 0


class Window:
    """The runs in order of their offsets, and how many offsets of them are settled."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._runs: list[Run] = []
        self.terminal = 0

    @property
    def runs(self) -> list[Run]:
        """The runs; not to be changed."""
        return self._runs

    def take(self, first: int, last: int) -> list[Run]:
        """Remove and return what is known of an interval."""
        begin = bisect_right(self._firsts, first) - 1
        if begin < 0 or self._runs[begin].last < first:
            begin += 1
        end = begin
        taken: list[Run] = []
        kept: list[Run] = []
        while end < len(self._runs) and self._runs[end].first <= last:
            run = self._runs[end]
            if run.first < first:
                kept.append(run._replace(last=first - 1))
            if run.last > last:
                kept.append(run._replace(first=last + 1))
            taken.append(run._replace(first=max(run.first, first), last=min(run.last, last)))
            end += 1
        self._runs[begin:end] = kept
        self._firsts[begin:end] = [run.first for run in kept]
        for run in taken:
            self._count(run, -1)
        return taken

    def put(self, run: Run) -> None:
        """Add a run where nothing is known."""
        at = bisect_right(self._firsts, run.first)
        self._firsts.insert(at, run.first)
        self._runs.insert(at, run)
        self._count(run, 1)

    def _count(self, run: Run, sign: int) -> None:
        if run.state in TERMINAL:
            self.terminal += sign * (run.last - run.first + 1)

    def holder(self, start: int) -> tuple[int, Run | None]:
        """Return the first offset from `start` on that is not settled, and what is known of it."""
        position = start
        for run in self._runs:
            if run.last < position:
                continue
            if run.first > position:
                return position, None
            if run.state not in TERMINAL:
                return position, run
            position = run.last + 1
        return position, None

    def holes(self, start: int) -> list[tuple[int, int, Run]]:
        """Return the intervals from `start` on that are not known, each with the run behind it."""
        found: list[tuple[int, int, Run]] = []
        position = start
        for run in self._runs:
            if run.first > position:
                found.append((position, run.first - 1, run))
            position = max(position, run.last + 1)
        return found
