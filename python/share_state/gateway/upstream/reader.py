"""What is read of one upstream partition at one isolation level: a ring of batches that all groups and members share.

The *tail* is where the ring grows: the offset of the next read at its end. Offsets before it that the ring does not hold
any more, or never held, are *back reads*. Who reads when is decided here; how, in :mod:`lanes`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from share_state._core import BatchRing, Delivery, SharePartition
from share_state.errors import WireDecodeError
from share_state.gateway.upstream.append_times import AppendTimes

if TYPE_CHECKING:
    from share_state.gateway.share_partitions import ServedPartition
    from share_state.gateway.upstream.lanes import BrokerLanes
    from share_state.gateway.upstream.readers import Readers

__all__ = ["READ_AHEAD", "PartitionReader"]

#: Bytes that are read ahead of the fastest group. A fetch that waits for more is not worth it.
READ_AHEAD: Final = 2 << 20
#: Bytes that a ring keeps for groups that are behind the fastest one. One read that is larger is kept too.
_KEEP: Final = 8 << 20
#: Seconds for which what upstream said of the start of the log is good enough.
_FRESH: Final = 0.2
#: Seconds for which the tail is still followed after somebody asked for it.
_INTEREST: Final = 5.0


class PartitionReader:
    """Reads one partition for every share partition on it.

    Attributes:
        topic_id: the topic, in base64.
        topic: its name.
        partition: its index.
        isolation: 0 for read_uncommitted, 1 for read_committed.
        ring: the batches.
        high_watermark: where the log ends, -1 while nobody has said.
        log_start_offset: where the log starts, -1 while nobody has said.
        served: the share partitions that read here.
        failing_since: since when upstream has given no batches (``time.monotonic()``), or ``None``.
        fed_at: when it last got batches (``time.monotonic()``). An answer has room for few: who has waited longest comes first.
        is_suspect: whether its batches may be what made an answer unreadable. It is read by itself until one could be read.
        life: how often it has begun again. What was asked for in an earlier life is no longer wanted.
    """

    __slots__ = (
        "_readers",
        "appended",
        "back_reads",
        "failing_since",
        "fed_at",
        "front",
        "heard_at",
        "high_watermark",
        "interest",
        "is_reading_tail",
        "is_suspect",
        "isolation",
        "lanes",
        "leader_epoch",
        "life",
        "log_start_offset",
        "partition",
        "preferred",
        "ring",
        "seen_at",
        "served",
        "tail",
        "topic",
        "topic_id",
    )

    def __init__(self, readers: Readers, topic: str, topic_id: str, partition: int, isolation: int) -> None:
        self._readers = readers
        self.topic = topic
        self.topic_id = topic_id
        self.partition = partition
        self.isolation = isolation
        self.ring = BatchRing()
        #: When its records were appended.
        self.appended = AppendTimes()
        self.high_watermark = -1
        #: When upstream last said where the log ends (``time.monotonic()``), or ``None``.
        self.heard_at: float | None = None
        self.log_start_offset = -1
        #: When upstream last told where the log starts (``time.monotonic()``).
        self.seen_at = 0.0
        #: Where it is read; ``None`` while its leader is looked for.
        self.lanes: BrokerLanes | None = None
        #: Epoch of the leader upstream, -1 when unknown. Clients never see it.
        self.leader_epoch = -1
        self.served: set[ServedPartition] = set()
        #: Offset of the next read at the end of the ring; -1 until somebody has asked.
        self.tail = -1
        #: The offset that the fastest share partition reads next.
        self.front = -1
        self.is_reading_tail = False
        #: Offsets before the tail that are to be read, or are being read.
        self.back_reads: set[int] = set()
        self.interest = 0.0
        self.failing_since: float | None = None
        self.fed_at = 0.0
        self.is_suspect = False
        self.life = 0
        #: The follower that the leader wants to be read, and until when (``time.monotonic()``); KIP-392.
        self.preferred: tuple[int, float] | None = None

    def deliver(
        self,
        engine: SharePartition,
        member: str,
        *,
        now_ms: int,
        max_records: int,
        batch_size: int,
        mode: int,
        max_bytes: int,
    ) -> Delivery | None:
        """Acquire records that the ring holds for a member; ``None`` where they have to be read first, which begins now."""
        self.interest = time.monotonic()
        while True:
            delivery = self.ring.deliver(
                engine,
                member,
                now_ms=now_ms,
                max_records=max_records,
                batch_size=batch_size,
                mode=mode,
                max_bytes=max_bytes,
            )
            if delivery is None:
                self._miss(engine.next_fetch_offset())
                return None
            if delivery.ranges:
                self._delivered(delivery)
                return delivery
            # All that was there is of no use to members: holes, markers, aborted transactions.
            if not engine.can_acquire() or engine.next_fetch_offset() <= delivery.fetch_offset:
                return None

    def is_stale(self, offset: int) -> bool:
        """Say whether the ring may give out records from ``offset`` on that were deleted since upstream was last heard."""
        return time.monotonic() - self.seen_at > _FRESH and self.ring.holds(offset)

    def expect(self, offset: int) -> None:
        """Read what the ring does not hold from an offset on."""
        self.interest = time.monotonic()
        self._miss(offset)

    def has_from(self, offset: int, limit: int) -> int:
        """Return the bytes that can be delivered at once from an offset on, counted up to a limit."""
        return self.ring.bytes_from(offset, limit) if self.ring.holds(offset) else 0

    def first_bytes(self, offset: int) -> int:
        """Return the bytes of the first batch that can be delivered from an offset on: a batch is not split."""
        return self.ring.first_batch_bytes(offset)

    @property
    def last_fetched_epoch(self) -> int:
        """The leader epoch of the batch before the tail, by which upstream tells that its log has diverged; -1 for none."""
        return self.ring.leader_epoch if self.ring.end_offset == self.tail else -1

    @property
    def seen_end(self) -> int:
        """The greatest end of the log that upstream has shown, -1 for none. A wanted offset is no sign of one."""
        return max(self.high_watermark, self.ring.end_offset or -1)

    @property
    def wants_tail(self) -> bool:
        """Whether the end of the ring is to be read now: somebody cares, and what is there does not last long."""
        if self.tail < 0 or self.lanes is None or self.is_reading_tail or time.monotonic() - self.interest > _INTEREST:
            return False
        if not 0 <= self.front < self.tail:
            return True
        # What the fastest group wants and the ring does not hold is read further back. Whatever came at the tail meanwhile would
        # take the room of that.
        return 0 < self.ring.bytes_from(self.front, READ_AHEAD) < READ_AHEAD

    def take(self, asked: int, data: bytes, start: int, end: int, aborted: list[tuple[int, int]] | None) -> bool:
        """Keep the batches of an answer.

        Returns:
            Whether there were any that are new.

        Raises:
            WireDecodeError: they are no batches, or none is whole.
        """
        if self.isolation == 0:
            aborted = None
        elif aborted is None:
            aborted = []
        self.appended.see(data, start, end)
        after, kept = self.ring.append(asked, data, start, end, aborted=aborted)
        if start < end and after == asked and not kept:
            raise WireDecodeError(f"no whole batch from offset {asked} on", position=start, kind="batches")
        if asked == self.tail:
            self.tail = after
        # What has just come is kept whatever its size: somebody wants it, and would have it read again.
        self.ring.evict(max(_KEEP, kept))
        if kept:
            self.fed_at = time.monotonic()
        return bool(kept)

    def restart(self) -> None:
        """Forget every batch: what is upstream is not what it was."""
        self.life += 1
        self.ring.clear()
        self.appended.clear()
        self.tail = self.front = -1
        self.back_reads.clear()

    def _delivered(self, delivery: Delivery) -> None:
        self.front = max(self.front, delivery.ranges[-1][1] + 1)
        if self.wants_tail:
            self._readers.read_tail(self)

    def _miss(self, offset: int) -> None:
        self.front = max(self.front, offset)
        if offset >= self.tail:
            # Also where a group is ahead of all others: the ring continues from there, and those behind it read back.
            if offset > self.tail and not self.is_reading_tail:
                # A start offset may lie beyond the end (AlterShareGroupOffsets). There is nothing to wait for but the end.
                self.tail = offset if self.high_watermark < 0 else max(self.tail, min(offset, self.high_watermark))
            if not self.is_reading_tail:
                self._readers.read_tail(self)
        elif offset not in self.back_reads:
            self._readers.counts.back_reads += 1
            self.back_reads.add(offset)
            self._readers.read_back(self)
