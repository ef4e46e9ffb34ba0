"""The columnar calls: many requests of a stretch in one call, their writes taken and confirmed behind it.

`_acknowledge` and `_acquire` are the only places that know how far a call reaches: today over the ranges of one member in one
share partition.
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
    """Ranges of one member in one share partition, ascending."""

    partition: int
    member: str
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    arg: NDArray[np.int8]


@dataclass(frozen=True)
class Acknowledgements:
    """Acknowledgements of one range with one type. Each inner list is what was gathered before a call."""

    operations: int
    gathered: list[list[Call]]

    def run(self, replay: Replay) -> None:
        now = replay.now
        for calls in self.gathered:
            for call in calls:
                at = replay.partitions[call.partition]
                at.acknowledge_columns(call.member, call.first, call.last, call.arg, now_ms=now)
            for partition in dict.fromkeys(call.partition for call in calls):
                replay.settle(partition)
        if replay.digest is not None:
            for _ in range(self.operations):
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
        gathered = [_calls(log, ops[at:end]) for at, end in _gather(ops)]
        return Acknowledgements(len(ops), gathered)
    value = int(ops["value"][0])
    if (ops["value"] != value).any():
        return Rows(ops.tolist())
    # Only neighbours: what comes first is acquired first.
    cut = (np.diff(ops["member"]) != 0) | (np.diff(ops["partition"]) != 0) | (ops["first"][1:] <= ops["last"][:-1])
    cuts = [0, *(np.flatnonzero(cut) + 1).tolist(), len(ops)]
    fetched = np.stack([ops["first"], ops["last"]], axis=1)
    calls = [
        Acquisition(int(ops["partition"][begin]), log.members[ops["member"][begin]], fetched[at : min(at + _GATHERED, end)])
        for begin, end in zip(cuts, cuts[1:], strict=False)
        for at in range(begin, end, _GATHERED)
    ]
    return Acquisitions(len(ops), calls, value & 0x7FFF_FFFF)


def _gather(ops: NDArray[np.void]) -> list[tuple[int, int]]:
    """Where what is gathered begins and ends. No record stands in it twice: its second acknowledgement needs the first."""
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


def _calls(log: OpLog, ops: NDArray[np.void]) -> list[Call]:
    order = np.lexsort((ops["first"], ops["member"], ops["partition"]))
    ops = ops[order]
    cut = (np.diff(ops["member"]) != 0) | (np.diff(ops["partition"]) != 0)
    cuts = [0, *(np.flatnonzero(cut) + 1).tolist(), len(ops)]
    return [
        Call(
            partition=int(ops["partition"][begin]),
            member=log.members[ops["member"][begin]],
            first=np.ascontiguousarray(ops["first"][begin:end]),
            last=np.ascontiguousarray(ops["last"][begin:end]),
            arg=np.ascontiguousarray(ops["arg"][begin:end]),
        )
        for begin, end in zip(cuts, cuts[1:], strict=False)
    ]
