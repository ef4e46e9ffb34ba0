"""A planned row, made ready for tools that bring their own rounds: pytest-benchmark and asv.

They time whole calls, and a replay also sets up what it times. So they get a clock that stands still outside the timed sections.
"""

from __future__ import annotations

from functools import cache
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benches import programs
from benches.faces.__main__ import Face
from benches.oplog import OpLog

if TYPE_CHECKING:
    from benches.plan import Row


class Clock:
    """Seconds in the timed sections of every replay so far."""

    def __init__(self) -> None:
        self.spent_ns = 0

    def seconds(self) -> float:
        return self.spent_ns / 1e9


CLOCK = Clock()


class Ready(Face):
    """A row that a face has replayed once, and replays from the beginning as often as a tool likes."""

    def replay(self) -> None:
        CLOCK.spent_ns += self.once()


@cache
def ready(row: Row, engine: str) -> Ready:
    """The row, for one of the two engines in Python."""
    with TemporaryDirectory() as directory:
        log = OpLog.read(programs.generate(row.workload, row.size, seed=1, into=directory))
    # The disk of the checkout is measured, as in a published run.
    programs.LOGS.mkdir(parents=True, exist_ok=True)
    return Ready(log, engine.removeprefix("python_"), float("inf"), durable=row.durability, directory=programs.LOGS)
