"""The columnar calls: what is gathered of many requests goes out in one call, on many share partitions where there are many,
in which their writes are made and confirmed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benches.faces.program import Rows
from benches.oplog import Digest, Kind, OpLog

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benches.faces.program import Piece
    from benches.faces.replay import Replay

#: Operations that a caller gathers before it calls.
_GATHERED = 1_000


@dataclass(frozen=True)
class Call:
    """Requests of one member in one share partition each, with ascending ranges."""

    #: The share partition and the member, if it is one request.
    alone: tuple[int, str] | None

    partition: NDArray[np.int64]
    member: NDArray[np.int64]
    request_starts: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    arg: NDArray[np.int8]
    #: The share partitions, each once.
    touched: NDArray[np.int64]

    def make(self, replay: Replay, now: int) -> None:
        """Acknowledge; by the share partition itself, if it is one request."""
        if self.alone is not None:
            partition, member = self.alone
            replay.partitions[partition].acknowledge_columns(member, self.first, self.last, self.arg, now_ms=now)
            return
        replay.together.acknowledge(
            replay.place[self.partition],
            replay.member[self.member],
            self.first,
            self.last,
            self.arg,
            now_ms=now,
            request_starts=self.request_starts,
        )


@dataclass(frozen=True)
class Acknowledgements:
    """Acknowledgements of one range with one type, by what was gathered before a call."""

    operations: int
    calls: list[Call]

    def run(self, replay: Replay) -> None:
        now = replay.now
        if replay.is_settled:
            for call in self.calls:
                call.make(replay, now)
            return
        for call in self.calls:
            call.make(replay, now)
            replay.settle_together(call.touched)
        if replay.digest is not None:
            for _ in range(self.operations):
                replay.digest.end(0)


@dataclass(frozen=True)
class Spread:
    """Acquisitions of one log batch each, of many share partitions, with the same limits."""

    partition: NDArray[np.int64]
    member: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    max_records: int
    batch_size: int

    @property
    def operations(self) -> int:
        return len(self.first)

    def run(self, replay: Replay) -> None:
        place, member = replay.place[self.partition], replay.member[self.member]
        for at in range(0, len(place), _GATHERED):
            rows = slice(at, at + _GATHERED)
            given = replay.together.acquire(
                place[rows],
                member[rows],
                self.first[rows],
                self.last[rows],
                now_ms=replay.now,
                max_records=self.max_records,
                batch_size=self.batch_size,
            )
            if replay.digest is not None:
                grants = list(
                    zip(given.first_offset.tolist(), given.last_offset.tolist(), given.delivery_count.tolist(), strict=True)
                )
                ends = np.searchsorted(given.request, np.arange(len(given.error_code)), "right").tolist()
                for begin, end in zip([0, *ends], ends, strict=False):
                    for grant in grants[begin:end]:
                        replay.digest.grant(*grant)
                    replay.digest.end(0)


@dataclass(frozen=True)
class Acquisition:
    """Log batches for one member in one share partition, ascending."""

    partition: int
    member: str
    fetched: NDArray[np.int64]


@dataclass(frozen=True)
class Acquisitions:
    """Acquisitions of one log batch each, with the same limits; each log batch stays an in-flight batch."""

    operations: int
    calls: list[Acquisition]
    max_records: int

    def run(self, replay: Replay) -> None:
        for call in self.calls:
            given = replay.partitions[call.partition].acquire_columns(
                call.member, call.fetched, now_ms=replay.now, max_records=self.max_records, batch_size=1
            )
            if replay.digest is not None:
                _tell(replay.digest, call.fetched, given)


def _tell(
    digest: Digest,
    fetched: NDArray[np.int64],
    given: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int16]],
) -> None:
    """As if each log batch had been acquired by itself."""
    firsts, lasts, counts = given
    for first, last in fetched.tolist():
        begin, end = np.searchsorted(lasts, first), np.searchsorted(firsts, last, "right")
        for at in range(int(begin), int(end)):
            digest.grant(max(first, int(firsts[at])), min(last, int(lasts[at])), int(counts[at]))
        digest.end(0)


def stretch(log: OpLog, ops: NDArray[np.void]) -> Piece:
    if ops["kind"][0] == Kind.ACKNOWLEDGE:
        return Acknowledgements(len(ops), [_call(log, ops[at:end]) for at, end in _gather(ops)])
    value = int(ops["value"][0])
    if (ops["value"] != value).any():
        return Rows(ops.tolist())
    # Only neighbours: what comes first is acquired first.
    cut = (np.diff(ops["member"]) != 0) | (np.diff(ops["partition"]) != 0) | (ops["first"][1:] <= ops["last"][:-1])
    cuts = [0, *(np.flatnonzero(cut) + 1).tolist(), len(ops)]
    if len(cuts) > len(ops) // 2:
        place, member = ops["partition"].astype(np.int64), ops["member"].astype(np.int64)
        first, last = (np.ascontiguousarray(ops[name]) for name in ("first", "last"))
        return Spread(place, member, first, last, value & 0x7FFF_FFFF, value >> 32)
    fetched = np.stack([ops["first"], ops["last"]], axis=1)
    calls = [
        Acquisition(int(ops["partition"][begin]), log.members[ops["member"][begin]], fetched[at : min(at + _GATHERED, end)])
        for begin, end in zip(cuts, cuts[1:], strict=False)
        for at in range(begin, end, _GATHERED)
    ]
    return Acquisitions(len(ops), calls, value & 0x7FFF_FFFF)


def _gather(ops: NDArray[np.void]) -> list[tuple[int, int]]:
    """Bounds of the stretches to gather. A stretch has no record twice: its second acknowledgement needs the first."""
    parts = []
    for at in range(0, len(ops), _GATHERED):
        end = min(at + _GATHERED, len(ops))
        begin = at
        seen = np.stack([ops["partition"][at:end], ops["first"][at:end]])
        if np.unique(seen, axis=1).shape[1] < end - at:
            met: set[tuple[int, int]] = set()
            for i, record in enumerate(zip(*seen.tolist(), strict=True)):
                if record in met:
                    parts.append((begin, at + i))
                    begin = at + i
                    met = set()
                met.add(record)
        parts.append((begin, end))
    return parts


def _call(log: OpLog, ops: NDArray[np.void]) -> Call:
    ops = ops[np.lexsort((ops["first"], ops["member"], ops["partition"]))]
    cut = (np.diff(ops["member"]) != 0) | (np.diff(ops["partition"]) != 0)
    begins = np.concatenate([[0], np.flatnonzero(cut) + 1])
    partition = ops["partition"][begins].astype(np.int64)
    return Call(
        alone=(int(partition[0]), log.members[ops["member"][0]]) if len(begins) == 1 else None,
        partition=partition,
        member=ops["member"][begins].astype(np.int64),
        request_starts=np.append(begins, len(ops)).astype(np.int64),
        first=np.ascontiguousarray(ops["first"]),
        last=np.ascontiguousarray(ops["last"]),
        arg=ops["arg"].astype(np.int8),
        touched=np.unique(partition),
    )
