"""A log cut into pieces: stretches of one kind of operation, which a face plays in a tight loop, and everything else.

What belongs to a request is made here, before anything is timed: a caller has it from the network.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from benches.oplog import Kind, OpLog
from share_state import ShareStateError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benches.faces.replay import Replay, Row

#: A stretch that is shorter is played row by row.
_SHORTEST = 4
#: Operations that belong to the operation after them.
_PARTS = (Kind.FETCHED, Kind.RANGE)
#: The most operations of one piece: between two pieces the time limit is looked at.
LONGEST = 1 << 16
#: Kinds of requests as the numbers that a row has: to ask the enum costs as much as the shortest calls take.
_ACQUIRE, _ACKNOWLEDGE, _NEXT_FETCH_OFFSET = int(Kind.ACQUIRE), int(Kind.ACKNOWLEDGE), int(Kind.NEXT_FETCH_OFFSET)


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
class Requests:
    """Acquisitions of one log batch, acknowledgements of one range and questions in turn, made before the clock runs."""

    #: Kind, share partition, member, and what the call takes.
    requests: list[tuple[int, int, str, tuple[Any, ...]]]

    @property
    def operations(self) -> int:
        return len(self.requests)

    def run(self, replay: Replay) -> None:
        if replay.digest is not None or not replay.is_settled:
            self._checked(replay)
            return
        now, partitions = replay.now, replay.partitions
        for kind, partition, member, asked in self.requests:
            if kind == _ACQUIRE:
                fetched, limit, size = asked
                partitions[partition].acquire(member, fetched, now_ms=now, max_records=limit, batch_size=size)
            elif kind == _ACKNOWLEDGE:
                first, last, arg = asked
                partitions[partition].acknowledge(member, first, last, arg, now_ms=now)
            elif kind == _NEXT_FETCH_OFFSET:
                partitions[partition].next_fetch_offset()
            else:
                partitions[partition].acknowledge_batches(member, asked[0], now_ms=now)

    def _checked(self, replay: Replay) -> None:
        for kind, partition, member, asked in self.requests:
            at, given, code = replay.partitions[partition], [], 0
            if kind == Kind.NEXT_FETCH_OFFSET:
                offset = at.next_fetch_offset()
                if replay.digest is not None:
                    replay.digest.offset(offset)
                continue
            try:
                if kind == Kind.ACQUIRE:
                    fetched, limit, size = asked
                    given = at.acquire(member, fetched, now_ms=replay.now, max_records=limit, batch_size=size)
                elif kind == Kind.ACKNOWLEDGE:
                    first, last, arg = asked
                    at.acknowledge(member, first, last, arg, now_ms=replay.now)
                else:
                    at.acknowledge_batches(member, asked[0], now_ms=replay.now)
            except ShareStateError as error:
                code = error.kafka_code or 0
            replay.settle(partition)
            if replay.digest is not None:
                for range_ in given:
                    replay.digest.grant(*range_)
                replay.digest.end(code)


@dataclass(frozen=True)
class Section:
    """Beginning or end of a timed section."""

    begins: bool
    operations: int = 1


@dataclass(frozen=True)
class Timed:
    """Part of a timed section, in which nothing but its pieces comes between the readings of the clock."""

    pieces: list[Piece]
    operations: int

    def took_ns(self, replay: Replay) -> int:
        pieces, clock = self.pieces, time.perf_counter_ns
        begun = clock()
        for piece in pieces:
            piece.run(replay)
        return clock() - begun


#: Pieces by which a log is played.
Program = list[Piece | Timed]


def _timed(pieces: list[Piece | Section]) -> Program:
    """Timed program: the inside of a section in parts of about `LONGEST` operations, and the rest as it is."""
    found: Program = []
    inside: list[Piece] | None = None
    operations = 0
    for piece in pieces:
        operations += piece.operations
        if not isinstance(piece, Section):
            if inside is None:
                found.append(piece)
            else:
                inside.append(piece)
        if inside is not None and (operations >= LONGEST or isinstance(piece, Section)):
            found.append(Timed(inside, operations))
            inside, operations = [], 0
        if isinstance(piece, Section):
            inside = [] if piece.begins else None
        if inside is None:
            operations = 0
    return found


def _pieces(log: OpLog, rows: list[Row]) -> list[Piece]:
    """Pieces outside the stretches: requests that come in turn, and the others row by row."""
    pieces: list[Piece] = []
    begin = 0
    requests = (Kind.ACQUIRE, Kind.ACKNOWLEDGE, Kind.ACKNOWLEDGE_EACH, Kind.NEXT_FETCH_OFFSET)
    alone = [row[0] in requests and (at == 0 or rows[at - 1][0] not in _PARTS) for at, row in enumerate(rows)]
    for at in range(1, len(rows) + 1):
        if at == len(rows) or alone[at] != alone[begin]:
            some = rows[begin:at]
            pieces.append(Requests([_request(log, row) for row in some]) if alone[begin] else Rows(some))
            begin = at
    return pieces


def _request(log: OpLog, row: Row) -> tuple[int, int, str, tuple[Any, ...]]:
    kind, arg, member, partition, first, last, value = row
    asked: tuple[Any, ...]
    if kind == Kind.ACQUIRE:
        asked = ([(first, last)], value & 0x7FFF_FFFF, value >> 32)
    elif kind == Kind.ACKNOWLEDGE:
        asked = (first, last, arg)
    elif kind == Kind.NEXT_FETCH_OFFSET:
        asked = ()
    else:
        asked = ([(first, last, log.blob[value : value + last - first + 1])],)
    return kind, partition, log.members[member], asked


def program(log: OpLog, stretch: Callable[[OpLog, NDArray[np.void]], Piece], ops: NDArray[np.void] | None = None) -> Program:
    """The pieces of a log; `stretch` makes one of acknowledgements with one type each, or of acquisitions of one log batch.

    `ops` are the operations if not all of them count.
    """
    ops = log.ops if ops is None else ops
    kind = ops["kind"]
    pieces: list[Piece | Section] = []
    plain: list[Row] = []

    def flush() -> None:
        if plain:
            pieces.extend(_pieces(log, plain))
            plain.clear()

    cuts = np.flatnonzero(np.diff(kind)) + 1
    for begin, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(kind)], strict=True):
        of = int(kind[begin])
        follows_part = begin > 0 and kind[begin - 1] in _PARTS
        if of in (Kind.BEGIN, Kind.END):
            flush()
            pieces.append(Section(of == Kind.BEGIN))
        elif of in (Kind.ACKNOWLEDGE, Kind.ACQUIRE) and end - begin >= _SHORTEST and not follows_part:
            flush()
            pieces.extend(stretch(log, ops[at : min(at + LONGEST, end)]) for at in range(begin, end, LONGEST))
        else:
            for at in range(begin, end, LONGEST):
                plain += ops[at : min(at + LONGEST, end)].tolist()
                if len(plain) >= LONGEST and plain[-1][0] not in _PARTS:
                    flush()
    flush()
    return _timed(pieces)
