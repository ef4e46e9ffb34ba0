"""Reads of one upstream partition at one isolation level, for a ring of the node that all groups and members share.

The *tail* is where the ring grows: the offset of the next read at its end. Offsets before it that the ring does not hold
any more, or never held, are *back reads*. What is to be read is the node's affair; where and how, that of :mod:`lanes`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from share_state.gateway.upstream.append_times import AppendTimes

if TYPE_CHECKING:
    from share_state.gateway.upstream.lanes import BrokerLanes
    from share_state.gateway.upstream.readers import Readers

__all__ = ["PartitionReader", "Read", "Ring", "Rings", "Source"]

#: Life of a ring that no read is for.
_NO_LIFE = -1


class Source(NamedTuple):
    """Names a ring: a partition at an isolation level, 0 for read_uncommitted, 1 for read_committed."""

    topic_id: str
    partition: int
    isolation: int


class Ring(NamedTuple):
    """The end of a ring.

    Attributes:
        end_offset: the offset after its last batch.
        leader_epoch: epoch of the leader that appended that.
    """

    end_offset: int
    leader_epoch: int


class Read(NamedTuple):
    """Batches of an answer.

    Attributes:
        asked: the offset that was asked for.
        data: the frame of the answer.
        start, end: the part of it that has the batches.
        aborted: with read_committed, ``(producer_id, first_offset)`` of the aborted transactions that the answer names.
    """

    asked: int
    data: bytes
    start: int
    end: int
    aborted: list[tuple[int, int]] | None


class Rings(Protocol):
    """The rings, as those see them who read upstream. What they are told has no consequences before :meth:`run`."""

    def run(self) -> None:
        """Have records given out, and ask for others."""

    def ring(self, source: Source) -> Ring | None:
        """Return the end of a ring; ``None`` where it is empty, or nobody reads from it."""

    def records_read(self, source: Source, life: int, read: Read) -> tuple[int, int] | None:
        """Take batches; returns the offset after them and the bytes that are new, ``None`` for a ring that has begun again.

        Raises:
            WireDecodeError: they are no batches, or none is whole.
        """

    def log_start_moved(self, source: Source, offset: int) -> None:
        """Take the start of a log."""

    def log_starts_told(self, told: Sequence[tuple[Source, int | None]]) -> None:
        """Take the starts of logs that were asked for; ``None`` where upstream has not told it."""

    def history_changed(self, source: Source) -> None:
        """Forget the batches of a ring: what is upstream is not what it was."""


class PartitionReader:
    """Reads one partition for every share partition on it.

    Attributes:
        topic_id: the topic, in base64.
        topic: its name.
        partition: its index.
        isolation: 0 for read_uncommitted, 1 for read_committed.
        high_watermark: where the log ends, -1 while nobody has said.
        log_start_offset: where the log starts, -1 while nobody has said.
        failing_since: since when upstream has given no batches (``time.monotonic()``), or ``None``.
        fed_at: when it last got batches (``time.monotonic()``). An answer has room for few: who has waited longest comes first.
        is_suspect: whether its batches may be what made an answer unreadable. It is read by itself until one could be read.
        life: life of the ring that it reads for. What was asked for in an earlier one is no longer wanted.
    """

    __slots__ = (
        "_readers",
        "_rings",
        "appended",
        "failing_since",
        "fed_at",
        "heard_at",
        "high_watermark",
        "is_reading_tail",
        "is_suspect",
        "isolation",
        "lanes",
        "leader_epoch",
        "life",
        "log_start_offset",
        "partition",
        "preferred",
        "tail",
        "topic",
        "topic_id",
        "wanted",
    )

    def __init__(self, readers: Readers, rings: Rings, topic: str, source: Source) -> None:
        self._readers = readers
        self._rings = rings
        self.topic = topic
        self.topic_id, self.partition, self.isolation = source
        #: When its records were appended.
        self.appended = AppendTimes()
        self.high_watermark = -1
        #: When upstream last said where the log ends (``time.monotonic()``), or ``None``.
        self.heard_at: float | None = None
        self.log_start_offset = -1
        #: Where it is read; ``None`` while its leader is looked for.
        self.lanes: BrokerLanes | None = None
        #: Epoch of the leader upstream, -1 when unknown. Clients never see it.
        self.leader_epoch = -1
        #: Offset of the next read at the end of the ring; -1 until somebody has asked.
        self.tail = -1
        #: Offsets that the ring waits for. It asks for each once: one leaves by a read that has come, or by another life.
        self.wanted: set[int] = set()
        self.is_reading_tail = False
        self.failing_since: float | None = None
        self.fed_at = 0.0
        self.is_suspect = False
        self.life = _NO_LIFE
        #: The follower that the leader wants to be read, and until when (``time.monotonic()``); KIP-392.
        self.preferred: tuple[int, float] | None = None

    @property
    def source(self) -> Source:
        """The ring that it reads for."""
        return Source(self.topic_id, self.partition, self.isolation)

    @property
    def last_fetched_epoch(self) -> int:
        """The leader epoch of the batch before the tail, by which upstream tells that its log has diverged; -1 for none."""
        ring = self._rings.ring(self.source)
        return ring.leader_epoch if ring is not None and ring.end_offset == self.tail else -1

    @property
    def seen_end(self) -> int:
        """The greatest end of the log that upstream has shown, -1 for none. A wanted offset is no sign of one."""
        ring = self._rings.ring(self.source)
        return max(self.high_watermark, -1 if ring is None else ring.end_offset)

    @property
    def wants_tail(self) -> bool:
        """True if the end of the ring is to be read now."""
        is_wanted = 0 <= self.tail <= max(self.wanted, default=-1)
        return is_wanted and self.lanes is not None and not self.is_reading_tail

    @property
    def back_reads(self) -> set[int]:
        """Offsets before the tail that are to be read, or are being read."""
        return {offset for offset in self.wanted if offset < self.tail}

    def want(self, life: int, offset: int) -> None:
        """Read from an offset on."""
        if life != self.life:
            self.forget()
            self.life = life
            if self.log_start_offset > 0:
                # The ring is new, and has not heard.
                self._rings.log_start_moved(self.source, self.log_start_offset)
        self.wanted.add(offset)
        if offset < self.tail:
            self._read_back(1)
            return
        if self.tail < 0 or not (self.is_reading_tail or self.tail in self.wanted):
            self._jump()
        if not self.is_reading_tail:
            self._readers.read_tail(self)

    def take(self, read: Read) -> None:
        """Keep the batches of an answer.

        Raises:
            WireDecodeError: they are no batches, or none is whole.
        """
        asked = read.asked
        self.appended.see(read.data, read.start, read.end)
        taken = self._rings.records_read(self.source, self.life, read)
        if taken is None:
            self.forget()
            return
        after, kept = taken
        self.wanted = {offset for offset in self.wanted if offset != asked and not asked <= offset < after}
        if asked == self.tail:
            self.tail = after
            self._jump()
        if kept:
            self.fed_at = time.monotonic()

    def restart(self) -> None:
        """Forget every batch: what is upstream is not what it was."""
        self.forget()
        self._rings.history_changed(self.source)

    def forget(self) -> None:
        """Forget what was read for the ring, which has begun again."""
        self.life = _NO_LIFE
        self.appended.clear()
        self.tail = -1
        self.wanted.clear()

    def _jump(self) -> None:
        """Go on at the farthest offset that is wanted: a group may be ahead of all others, and those behind it read back."""
        before, farthest = self.tail, max(self.wanted, default=-1)
        if farthest > before:
            # A start offset may lie beyond the end (AlterShareGroupOffsets). There is nothing to wait for but the end.
            self.tail = farthest if self.high_watermark < 0 else max(before, min(farthest, self.high_watermark))
            self._read_back(sum(before <= offset < self.tail for offset in self.wanted))

    def _read_back(self, count: int) -> None:
        """Read from offsets that have come to lie before the tail."""
        if count:
            self._readers.counts.back_reads += count
            self._readers.read_back(self)
