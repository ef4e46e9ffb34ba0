"""The log of one partition: batches with the epochs of the leaders that wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.gateway.wire.batches import CONTROL, LENGTH_FROM, TRANSACTIONAL, Header, batch, headers, marker, rebased


class Aborted(NamedTuple):
    """An aborted transaction: its producer, its first offset, and that of its marker."""

    producer_id: int
    first_offset: int
    marker: int


class PartitionLog:
    """Batches in order of offset. Offsets are inclusive; ends are the offset that the next record gets."""

    def __init__(self) -> None:
        self.start = 0
        self.batches: list[tuple[Header, bytes]] = []
        #: Below the end, records are not yet replicated: nobody is shown them.
        self.held_back = 0
        self.aborted: list[Aborted] = []
        self._open: dict[int, int] = {}
        self._end = 0

    @property
    def end(self) -> int:
        """The offset of the next record."""
        return self._end

    @property
    def high_watermark(self) -> int:
        """Up to where consumers may read."""
        return max(self.start, self._end - self.held_back)

    @property
    def last_stable_offset(self) -> int:
        """Up to where no transaction is open."""
        return min([self.high_watermark, *self._open.values()])

    def append(
        self,
        values: Sequence[bytes | None],
        *,
        leader_epoch: int,
        timestamp: int = 1_700_000_000_000,
        producer_id: int = -1,
        last_offset_delta: int | None = None,
    ) -> int:
        """Append one batch, of a transaction if a producer is named; its base offset."""
        attributes = TRANSACTIONAL if producer_id >= 0 else 0
        if producer_id >= 0:
            self._open.setdefault(producer_id, self._end)
        data = batch(
            values,
            timestamp=timestamp,
            attributes=attributes,
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            last_offset_delta=last_offset_delta,
        )
        return self.append_batch(data, leader_epoch)

    def append_batch(self, data: bytes, leader_epoch: int) -> int:
        """Append one batch as a producer has made it, or a test has spoilt it; its base offset."""
        base = self._end
        placed = rebased(data, base, leader_epoch)
        (header,) = headers(placed)
        self.batches.append((header, placed))
        self._end = header.last_offset + 1
        return base

    def append_all(self, data: bytes, leader_epoch: int) -> int:
        """Append the batches of a producer; the base offset of the first."""
        first = self._end
        at = 0
        for header in headers(data):
            size = LENGTH_FROM + header.length
            self.append_batch(data[at : at + size], leader_epoch)
            at += size
        return first

    def end_transaction(self, producer_id: int, *, commit: bool, leader_epoch: int) -> int:
        """Append the marker; its offset."""
        first = self._open.pop(producer_id)
        at = self.append_batch(marker(base_offset=0, producer_id=producer_id, commit=commit), leader_epoch)
        if not commit:
            self.aborted.append(Aborted(producer_id, first, at))
        return at

    def truncate(self, end: int) -> None:
        """Lose the end, as after an unclean election: whole batches from the one that holds ``end``."""
        self.batches = [(header, data) for header, data in self.batches if header.last_offset < end]
        self._end = self.batches[-1][0].last_offset + 1 if self.batches else self.start
        self.aborted = [one for one in self.aborted if one.marker < self._end]

    def delete_below(self, offset: int) -> None:
        """Move the log start, as retention does."""
        self.start = max(self.start, min(offset, self._end))
        self.batches = [(header, data) for header, data in self.batches if header.last_offset >= self.start]

    def remove(self, base_offset: int) -> None:
        """Take one batch out, as compaction does; its offsets become a hole."""
        self.batches = [(header, data) for header, data in self.batches if header.base_offset != base_offset]

    def read(self, offset: int, *, committed: bool, most: int) -> bytes:
        """Whole batches from the one that holds ``offset`` or comes next; the first whatever its size."""
        end = self.last_stable_offset if committed else self.high_watermark
        out = bytearray()
        for header, data in self.batches:
            if header.last_offset < offset:
                continue
            if header.base_offset >= end or (out and len(out) + len(data) > most):
                break
            out += data
        return bytes(out)

    def aborted_in(self, offset: int, data: bytes) -> list[Aborted]:
        """The aborted transactions that batches which were read from ``offset`` on may belong to."""
        last = max((header.last_offset for header in headers(data)), default=offset - 1)
        return [one for one in self.aborted if one.marker >= offset and one.first_offset <= last]

    def offset_at(self, timestamp: int) -> tuple[int, int]:
        """Timestamp and base offset of the first batch that is not older, (-1, -1) if there is none."""
        for header, _ in self.batches:
            if header.max_timestamp >= timestamp and not header.attributes & CONTROL:
                return header.max_timestamp, header.base_offset
        return -1, -1

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """The largest epoch that is not above ``epoch``, and where it ends; (-1, -1) if there is none."""
        found = -1
        for header, _ in self.batches:
            if header.leader_epoch > epoch:
                return (found, header.base_offset) if found >= 0 else (-1, -1)
            found = header.leader_epoch
        return (found, self._end) if found >= 0 else (-1, -1)
