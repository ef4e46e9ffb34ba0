"""The scalar calls: one call a request, in which its write is made and confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benches.faces.kept import GATHERED
from benches.faces.program import Rows
from benches.oplog import Kind, OpLog

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benches.faces.kept import Kept
    from benches.faces.program import Piece
    from benches.faces.replay import Replay


@dataclass(frozen=True)
class Acknowledgements:
    """Acknowledgements of one range with one type."""

    partition: list[int]
    member: list[str]
    first: list[int]
    last: list[int]
    arg: list[int]

    @property
    def operations(self) -> int:
        return len(self.first)

    def run(self, replay: Replay) -> None:
        if replay.recording is not None:
            self._checked(replay)
            return
        if replay.kept is not None and replay.polls:
            self._gathered(replay, replay.kept)
            return
        now = replay.now
        if len(set(self.partition)) == 1:
            acknowledge = replay.partitions[self.partition[0]].acknowledge
            for member, first, last, arg in zip(self.member, self.first, self.last, self.arg, strict=True):
                acknowledge(member, first, last, arg, now_ms=now)
            return
        partitions = replay.partitions
        for partition, member, first, last, arg in zip(self.partition, self.member, self.first, self.last, self.arg, strict=True):
            partitions[partition].acknowledge(member, first, last, arg, now_ms=now)

    def _gathered(self, replay: Replay, kept: Kept) -> None:
        """Requests of many members, whose writes are then made durable together."""
        now, partitions = replay.now, replay.partitions
        requests = list(zip(self.partition, self.member, self.first, self.last, self.arg, strict=True))
        for at in range(0, len(requests), GATHERED):
            some = requests[at : at + GATHERED]
            for partition, member, first, last, arg in some:
                partitions[partition].acknowledge(member, first, last, arg, now_ms=now)
            kept.commit([partitions[partition] for partition in dict.fromkeys(request[0] for request in some)], now)

    def _checked(self, replay: Replay) -> None:
        for partition, member, first, last, arg in zip(self.partition, self.member, self.first, self.last, self.arg, strict=True):
            replay.partitions[partition].acknowledge(member, first, last, arg, now_ms=replay.now)
            replay.settle(partition)
            if replay.digest is not None:
                replay.digest.end(0)


@dataclass(frozen=True)
class Acquisitions:
    """Acquisitions of one log batch, with the same limits."""

    partition: list[int]
    member: list[str]
    fetched: list[list[tuple[int, int]]]
    max_records: int
    batch_size: int

    @property
    def operations(self) -> int:
        return len(self.fetched)

    def run(self, replay: Replay) -> None:
        now, limit, size = replay.now, self.max_records, self.batch_size
        rows = zip(self.partition, self.member, self.fetched, strict=True)
        partitions, digest = replay.partitions, replay.digest
        if digest is None:
            for partition, member, fetched in rows:
                partitions[partition].acquire(member, fetched, now_ms=now, max_records=limit, batch_size=size)
            return
        for partition, member, fetched in rows:
            for given in partitions[partition].acquire(member, fetched, now_ms=now, max_records=limit, batch_size=size):
                digest.grant(*given)
            digest.end(0)


def stretch(log: OpLog, ops: NDArray[np.void]) -> Piece:
    members = [log.members[i] for i in ops["member"].tolist()]
    partition, first, last = ops["partition"].tolist(), ops["first"].tolist(), ops["last"].tolist()
    if ops["kind"][0] == Kind.ACKNOWLEDGE:
        return Acknowledgements(partition, members, first, last, ops["arg"].tolist())
    value = int(ops["value"][0])
    if (ops["value"] != value).any():
        return Rows(ops.tolist())
    fetched = [[batch] for batch in zip(first, last, strict=True)]
    return Acquisitions(partition, members, fetched, value & 0x7FFF_FFFF, value >> 32)
