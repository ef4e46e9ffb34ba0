"""The persister that keeps states in memory: for tests, simulators and examples."""

from __future__ import annotations

import threading
from typing import Self, cast

from share_state._core import ReadStateResult, ShareCoordinator, StateSummary, WriteState
from share_state.types import Record, SharePartitionKey, WallTime

__all__ = ["MemoryPersister"]


class MemoryPersister:
    """A persister that keeps the records of its share coordinator in memory. Safe to share between threads."""

    def __init__(self, *, snapshot_update_records_per_snapshot: int = 500) -> None:
        self._lock = threading.Lock()
        self._offset = 0
        self._coordinator = ShareCoordinator(snapshot_update_records_per_snapshot=snapshot_update_records_per_snapshot)

    def __repr__(self) -> str:
        return f"MemoryPersister(states={len(self._coordinator.states())})"

    def reset_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """See :meth:`share_state.persister.Persister.reset_state`."""
        with self._lock:
            decision = self._coordinator.initialize(*key, state_epoch, start_offset, wall_ms=WallTime.now())
            self._replay(decision.records)

    def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult:
        """See :meth:`share_state.persister.Persister.read_state`."""
        with self._lock:
            decision = self._coordinator.read(*key, leader_epoch, wall_ms=WallTime.now())
            self._replay(decision.records)
            return cast("ReadStateResult", decision.answer)

    def write_state(self, key: SharePartitionKey, state: WriteState) -> None:
        """See :meth:`share_state.persister.Persister.write_state`."""
        with self._lock:
            decision = self._coordinator.write(*key, state, wall_ms=WallTime.now())
            self._replay(decision.records)

    def delete_state(self, key: SharePartitionKey) -> None:
        """See :meth:`share_state.persister.Persister.delete_state`."""
        with self._lock:
            self._replay(self._coordinator.delete(*key).records)

    def read_summary(self, key: SharePartitionKey) -> StateSummary:
        """See :meth:`share_state.persister.Persister.read_summary`."""
        with self._lock:
            return self._coordinator.summary(*key)

    def states(self) -> list[dict[str, object]]:
        """Return every share partition with its state, ordered by group, topic id and partition."""
        return self._coordinator.states()

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _replay(self, records: list[Record]) -> None:
        for record in records:
            self._coordinator.replay(self._offset, record.key, record.value)
            self._offset += 1
