"""Parts that both Python faces share: the share partitions of a log, their persister, and the plain operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benches.faces.durable import Durable
from benches.oplog import Digest, Kind, OpLog
from share_state import GroupConfig, ReadStateResult, SharePartition, SharePartitions, ShareStateError
from share_state.persister import NoOpStatePersister, RecordingPersister

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benches.faces.kept import Kept
    from share_state import StateStore

TOPIC = "07070707-0707-0707-0707-070707070707"
#: Operation of a log, in Python's own types.
Row = tuple[int, int, int, int, int, int, int]


class Replay:
    """Replay of a log. With a digest results are compared and writes are kept; without, writes are only confirmed.

    Each share partition has its persister and makes its writes inside the calls, as Kafka's does. With a store that is polled,
    the writes are taken and answered by calls of their own.
    """

    def __init__(self, log: OpLog, digest: Digest | None, *, kept: Kept | None = None) -> None:
        self.log = log
        self.digest = digest
        self.kept = kept
        self.polls = kept is not None and kept.polled
        self.durable = Durable(log.partitions)
        keeps = digest is not None or bool((log.ops["kind"] == Kind.REOPEN).any())
        self.recording = RecordingPersister() if keeps else None
        self.config = GroupConfig(
            partition_max_record_locks=log.max_record_locks,
            delivery_count_limit=log.delivery_limit,
            record_lock_duration_ms=log.lock_ms,
        )
        #: For calls on many share partitions; `place` has the number there of each.
        self.together = SharePartitions()
        self.place = np.zeros(log.partitions, np.int32)
        #: True if nothing is left to do after a call: its write was confirmed inside it, and is not looked at.
        self.is_settled = self.recording is None and not self.polls
        self.member = np.array([self.together.member(name) for name in log.members], np.int32)
        self.partitions = [self._make(i, ReadStateResult(0, 0, [])) for i in range(log.partitions)]
        self.now = 0
        self.fetched: list[tuple[int, int]] = []
        self.ranges: list[tuple[int, int, bytes]] = []

    def _make(self, partition: int, read: ReadStateResult) -> SharePartition:
        made = SharePartition("group", TOPIC, partition, config=self.config, persister=self._persister())
        made.initialize(read)
        self.place[partition] = self.together.add(made)
        return made

    def _persister(self) -> StateStore | NoOpStatePersister | RecordingPersister | None:
        if self.polls:
            return None
        if self.kept is not None:
            return self.kept.store
        return NoOpStatePersister() if self.recording is None else self.recording

    def settle_together(self, partitions: NDArray[np.int64]) -> None:
        """See `settle`, of these share partitions."""
        if self.is_settled:
            return
        if self.kept is not None:
            self.kept.commit([self.partitions[partition] for partition in partitions.tolist()], self.now)
            return
        for partition in partitions.tolist():
            self.settle(partition)

    def settle(self, partition: int) -> None:
        """Keep what was written inside the call, or have what waits committed."""
        if self.is_settled:
            return
        if self.kept is not None:
            self.kept.commit([self.partitions[partition]], self.now)
        elif self.recording is not None:
            for key, state in self.recording.take():
                self.durable.keep(key.partition, state.start_offset, self.durable.count(state))

    def step(self, row: Row) -> None:
        """Any operation, the plain way."""
        kind, arg, member, partition, first, last, value = row
        at, digest = self.partitions[partition], self.digest
        if kind in (Kind.ACKNOWLEDGE, Kind.ACKNOWLEDGE_EACH):
            types = self.log.blob[value : value + last - first + 1] if kind == Kind.ACKNOWLEDGE_EACH else bytes([arg])
            self.ranges.append((first, last, types))
            code = 0
            try:
                at.acknowledge_batches(self.log.members[member], self.ranges, now_ms=self.now)
            except ShareStateError as error:
                code = error.kafka_code or 0
            self.ranges = []
            self.settle(partition)
            if digest is not None:
                digest.end(code)
        elif kind == Kind.ACQUIRE:
            self.fetched.append((first, last))
            acquired = at.acquire(
                self.log.members[member],
                self.fetched,
                now_ms=self.now,
                max_records=value & 0x7FFF_FFFF,
                batch_size=value >> 32,
            )
            self.fetched = []
            self.settle(partition)
            if digest is not None:
                for given in acquired:
                    digest.grant(*given)
                digest.end(0)
        elif kind == Kind.NEXT_FETCH_OFFSET:
            offset = at.next_fetch_offset()
            if digest is not None:
                digest.offset(offset)
        elif kind == Kind.RELEASE:
            at.release(self.log.members[member], now_ms=self.now)
            self.settle(partition)
            if digest is not None:
                digest.end(0)
        elif kind == Kind.TICK:
            self.now = value
            at.handle_timeout(now_ms=value)
            self.settle(partition)
        else:
            self._rare(row)

    def _rare(self, row: Row) -> None:
        kind, arg, _, partition, first, last, _ = row
        at = self.partitions[partition]
        if kind == Kind.FETCHED:
            self.fetched.append((first, last))
        elif kind == Kind.RANGE:
            self.ranges.append((first, last, bytes([arg])))
        elif kind == Kind.LOG_START:
            at.move_log_start_offset(first)
            self.settle(partition)
        elif kind == Kind.CHECK:
            if self.digest is not None:
                window = (at.start_offset, at.end_offset, at.delivery_complete_count)
                self.digest.state(window, self.durable.read(partition, at.start_offset))
        elif kind == Kind.REOPEN:
            start = at.start_offset
            read = ReadStateResult(0, start, self.durable.read(partition, start))
            self.partitions[partition] = self._make(partition, read)
        else:
            raise ValueError(row)
