"""A log cut into pieces: stretches of one kind of operation, which a face plays in a tight loop, and everything else.

What belongs to a request is made here, before anything is timed: a caller has it from the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from benches.oplog import Kind, OpLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benches.faces.replay import Replay, Row

#: A stretch that is shorter is played row by row.
_SHORTEST = 4
#: The most operations of one piece: between two pieces the time limit is looked at.
LONGEST = 1 << 16


class Piece(Protocol):
    """Some operations in a row."""

    @property
    def operations(self) -> int: ...

    def run(self, replay: Replay) -> None: ...


@dataclass(frozen=True)
class Rows:
    """Operations that are played one by one."""

    rows: list[Row]

    @property
    def operations(self) -> int:
        return len(self.rows)

    def run(self, replay: Replay) -> None:
        for row in self.rows:
            replay.step(row)


@dataclass(frozen=True)
class Section:
    """Where what is timed begins or ends."""

    begins: bool
    operations: int = 1

    def run(self, replay: Replay) -> None:
        """Nothing happens here; who keeps the time looks for it."""


def program(log: OpLog, stretch: Callable[[OpLog, NDArray[np.void]], Piece], ops: NDArray[np.void] | None = None) -> list[Piece]:
    """The pieces of a log; `stretch` makes one of acknowledgements with one type each, or of acquisitions of one log batch.

    `ops` are the operations if not all of them count.
    """
    ops = log.ops if ops is None else ops
    kind = ops["kind"]
    pieces: list[Piece] = []
    plain: list[Row] = []

    def flush() -> None:
        if plain:
            pieces.append(Rows(plain.copy()))
            plain.clear()

    cuts = np.flatnonzero(np.diff(kind)) + 1
    for begin, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(kind)], strict=True):
        of = int(kind[begin])
        follows_part = begin > 0 and kind[begin - 1] in (Kind.FETCHED, Kind.RANGE)
        if of in (Kind.BEGIN, Kind.END):
            flush()
            pieces.append(Section(of == Kind.BEGIN))
        elif of in (Kind.ACKNOWLEDGE, Kind.ACQUIRE) and end - begin >= _SHORTEST and not follows_part:
            flush()
            pieces.extend(stretch(log, ops[at : min(at + LONGEST, end)]) for at in range(begin, end, LONGEST))
        else:
            for at in range(begin, end, LONGEST):
                plain += ops[at : min(at + LONGEST, end)].tolist()
                if len(plain) >= LONGEST:
                    flush()
    flush()
    return pieces
