"""A partition in the process: its log in memory, its share partition on the store, and the events of both."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from share_state import AcquiredRange, FetchedBatch, GroupConfig, SharePartition, SharePartitionKey, StateStore
from share_state.types import ControlType
from tests.proof.histories.engine.clock import Clock
from tests.proof.histories.engine.spec import GROUP, TOPIC, TOPIC_ID, LogBatch, Spec

Tell = Callable[[dict[str, Any]], None]

#: Number of batches of the log that one fetch brings.
_AT_ONCE: Final = 4


class Partition:
    """Share partition that members fetch from and acknowledge to."""

    def __init__(self, spec: Spec, number: int, store: StateStore, clock: Clock, tell: Tell) -> None:
        self.number = number
        self.at = {"topic": TOPIC, "partition": number}
        self.here = {"group": GROUP, **self.at}
        self._spec, self._store, self._clock, self._tell = spec, store, clock, tell
        self._key = SharePartitionKey(GROUP, TOPIC_ID, number)
        self._log = list(spec.logs[number])
        self._start = spec.log_starts[number]
        self._lock = threading.Lock()
        if (offset := spec.resets.get(number)) is not None:
            self._reset(offset)
        config = GroupConfig(
            partition_max_record_locks=spec.window,
            delivery_count_limit=spec.delivery_limit,
            record_lock_duration_ms=spec.lock_ms,
            isolation_level="read_committed" if spec.read_committed else "read_uncommitted",
            auto_offset_reset="earliest",
        )
        self.state = SharePartition(GROUP, TOPIC_ID, number, leader_epoch=spec.leader_epoch, config=config, persister=store)
        if self.state.initialize(store.read_state(self._key, spec.leader_epoch)) is not None:
            self.state.resolve_start_offset(0)
        self.state.move_log_start_offset(self._start)
        self.look()

    def _reset(self, offset: int) -> None:
        state_epoch = self._store.read_summary(self._key).state_epoch + 1
        self._store.reset_state(self._key, state_epoch, offset)
        self._tell({"type": "reset", "t": self._clock.tick(), **self.here, "start_offset": offset, "state_epoch": state_epoch})

    def look(self) -> None:
        """Tell what the store shows."""
        sent = self._clock.tick()
        shown = self._store.read_summary(self._key)
        if shown.start_offset >= 0:
            self._tell({
                "type": "view", "t": self._clock.tick(), "sent": sent, **self.here, "start_offset": shown.start_offset,
                "leader_epoch": shown.leader_epoch, "state_epoch": shown.state_epoch,
            })  # fmt: skip

    def append(self, batches: list[LogBatch]) -> None:
        """Have more records, which are told first."""
        for batch in batches:
            if batch.control is None and not (batch.aborted and self._spec.read_committed):
                self._tell({"type": "produce", "t": self._clock.tick(), **self.at, "first": batch.first, "last": batch.last})
        with self._lock:
            self._log += batches

    def retain(self, offset: int) -> None:
        """Move the log start."""
        with self._lock:
            self._start = max(self._start, offset)
        self.state.move_log_start_offset(offset)
        self._tell({"type": "retained", "t": self._clock.tick(), **self.at, "from": offset})

    def acquire(self, member: str, most: int, mode: int) -> list[AcquiredRange]:
        """Fetch for a member."""
        offset = self.state.next_fetch_offset()
        with self._lock:
            offset = max(offset, self._start)
            log = [batch for batch in self._log if batch.last >= offset][:_AT_ONCE]
            # A marker comes with what it ends.
            aborted = [(one.producer_id, one.first) for one in self._log if one.aborted and one.control is None]
        if not log or not self.state.can_acquire():
            return []
        return self.state.acquire(
            member, [_fetched(batch) for batch in log], now_ms=self._clock.raw_ms(), max_records=most, mode=mode,
            fetch_offset=offset, aborted=aborted if self._spec.read_committed else None,
        )  # fmt: skip

    def markers(self) -> set[int]:
        """Offsets that hold no record."""
        with self._lock:
            return {batch.first for batch in self._log if batch.control is not None}

    def is_settled(self) -> bool:
        """Returns true if nothing is left to deliver, and nothing is in anybody's hands."""
        with self._lock:
            end = self._log[-1].last if self._log else -1
        counts = self.state.state_counts()
        waiting = sum(count for name, count in counts.items() if name in {"AVAILABLE", "ACQUIRED"})
        return self.state.next_fetch_offset() > end and waiting == 0


def _fetched(batch: LogBatch) -> FetchedBatch:
    control = None if batch.control is None else ControlType[batch.control]
    return FetchedBatch(batch.first, batch.last, batch.producer_id, batch.producer_id >= 0, control)
