"""A planned row, made ready for tools that bring their own rounds: pytest-benchmark and asv.

They time whole calls, and a replay also sets up what it times. So they get a clock that stands still outside the timed sections.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benches import programs
from benches.faces import folds
from benches.faces.__main__ import STRETCH, keeping, play
from benches.faces.program import Program, program
from benches.faces.replay import Replay
from benches.oplog import Digest, OpLog

if TYPE_CHECKING:
    from benches.plan import Row

_NO_LIMIT = float("inf")


class Clock:
    """Seconds in the timed sections of every replay so far."""

    def __init__(self) -> None:
        self.spent_ns = 0

    def seconds(self) -> float:
        return self.spent_ns / 1e9


CLOCK = Clock()


@dataclass
class Ready:
    """A row that a face replays, always from the beginning."""

    log: OpLog
    #: `scalar` or `columnar`.
    face: str
    durability: str
    _pieces: Program = field(init=False, repr=False)
    #: Content that a store must hold in the end.
    _expected: Replay = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._pieces = [] if self.log.is_fold() else program(self.log, STRETCH[self.face])
        self._expected = Replay(self.log, Digest())
        if self.durability:
            play(self._pieces, self._expected, _NO_LIMIT)

    def replay(self) -> None:
        CLOCK.spent_ns += self._once()

    def _once(self) -> int:
        if self.log.is_fold():
            return folds.replay(self.log, None, self.face, _NO_LIMIT)[0]
        if self.durability:
            # The disk of the checkout is measured, as in a published run.
            programs.LOGS.mkdir(parents=True, exist_ok=True)
            return keeping(self.log, self._pieces, self._expected, self.durability, programs.LOGS)
        return play(self._pieces, Replay(self.log, None), _NO_LIMIT)[0]


@cache
def ready(row: Row, engine: str) -> Ready:
    """The row, for one of the two engines in Python."""
    with TemporaryDirectory() as directory:
        log = OpLog.read(programs.generate(row.workload, row.size, seed=1, into=directory))
    return Ready(log, engine.removeprefix("python_"), row.durability)
