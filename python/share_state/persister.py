"""The persisters that keep share-partition state, and the functions that use them (Kafka: ``Persister``).

* :class:`share_state.StateStore`, or ``share_state.open(path)``: a durable log in a directory.
* :class:`MemoryPersister`: the same rules without a disk, for tests and simulators.
* :class:`NoOpStatePersister`: keeps nothing, like Kafka's class of this name.
* :class:`RecordingPersister`: keeps the writes of share partitions, and answers as a test tells it.

:func:`lead` loads a share partition from a persister. Its writes reach the persister in one of two ways. :func:`drain_writes`
carries them there and the answers back, for any persister. Or the share partition makes them itself, within each call
(``inline``), with a :class:`~share_state.StateStore`, a :class:`NoOpStatePersister` or a :class:`RecordingPersister`.

:mod:`share_state.async_persister` has the same for event loops.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol, Self, cast, runtime_checkable

from share_state._core import (
    GroupConfig,
    NoOpStatePersister,
    ReadStateResult,
    RecordingPersister,
    ShareCoordinator,
    SharePartition,
    StateStore,
    StateSummary,
    WriteState,
)
from share_state.errors import ArgumentValueError, ShareStateError
from share_state.logs import PERSISTER
from share_state.types import LockTime, Record, SharePartitionKey, WallTime

__all__ = [
    "ManyAtOnce",
    "MemoryPersister",
    "NoOpStatePersister",
    "Persister",
    "RecordingPersister",
    "drain_writes",
    "initialize_if_absent",
    "lead",
]

UNKNOWN_SERVER_ERROR = -1

#: The summary of a state that was never initialised.
_NOT_BEGUN = StateSummary(0, 0, -1, -1)


@runtime_checkable
class Persister(Protocol):
    """Keeps the state of share partitions.

    A method returns when its answer is as durable as the persister promises. If the share coordinator refuses, it raises a
    :class:`share_state.ShareStateError` with ``kafka_code``, and nothing has changed.
    """

    def initialize_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """Initialise a state, which replaces an existing one (InitializeShareGroupState, RPC 83).

        A ``start_offset`` of -1 leaves the choice to the leader.
        """

    def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult:
        """Read a state as the leader of this epoch, and fence older ones (ReadShareGroupState, RPC 84)."""

    def write_state(self, key: SharePartitionKey, state: WriteState) -> None:
        """Write a change (WriteShareGroupState, RPC 85)."""

    def delete_state(self, key: SharePartitionKey) -> None:
        """Delete a state, if there is one (DeleteShareGroupState, RPC 86)."""

    def read_summary(self, key: SharePartitionKey) -> StateSummary:
        """Read epochs, start offset and delivery complete count (ReadShareGroupStateSummary, RPC 87)."""


@runtime_checkable
class ManyAtOnce(Protocol):
    """A persister that takes many requests in one call: :class:`share_state.StateStore`, which then waits for its disk once.

    A request is a tuple of the arguments of the single call. Requests are handled in order. A method returns an answer for each:
    the result of the single call, or the :class:`share_state.ShareStateError` that it would raise. The method itself raises
    only if it has no answers at all.
    """

    def initialize_states(self, requests: Iterable[tuple[SharePartitionKey, int, int]]) -> list[ShareStateError | None]:
        """Do :meth:`Persister.initialize_state` for each."""

    def read_states(self, requests: Iterable[tuple[SharePartitionKey, int]]) -> list[ReadStateResult | ShareStateError]:
        """Do :meth:`Persister.read_state` for each."""

    def write_states(self, requests: Iterable[tuple[SharePartitionKey, WriteState]]) -> list[ShareStateError | None]:
        """Do :meth:`Persister.write_state` for each."""

    def delete_states(self, keys: Iterable[SharePartitionKey]) -> list[ShareStateError | None]:
        """Do :meth:`Persister.delete_state` for each."""


class MemoryPersister:
    """A persister that keeps the records of its share coordinator in memory. Safe to share between threads."""

    def __init__(self, *, snapshot_update_records_per_snapshot: int = 500) -> None:
        self._lock = threading.Lock()
        self._offset = 0
        self._coordinator = ShareCoordinator(snapshot_update_records_per_snapshot=snapshot_update_records_per_snapshot)

    def __repr__(self) -> str:
        return f"MemoryPersister(states={len(self._coordinator.states())})"

    def initialize_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """See :meth:`Persister.initialize_state`."""
        with self._lock:
            decision = self._coordinator.initialize(*key, state_epoch, start_offset, wall_ms=WallTime.now())
            self._replay(decision.records)

    def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult:
        """See :meth:`Persister.read_state`."""
        with self._lock:
            decision = self._coordinator.read(*key, leader_epoch, wall_ms=WallTime.now())
            self._replay(decision.records)
            return cast("ReadStateResult", decision.answer)

    def write_state(self, key: SharePartitionKey, state: WriteState) -> None:
        """See :meth:`Persister.write_state`."""
        with self._lock:
            decision = self._coordinator.write(*key, state, wall_ms=WallTime.now())
            self._replay(decision.records)

    def delete_state(self, key: SharePartitionKey) -> None:
        """See :meth:`Persister.delete_state`."""
        with self._lock:
            self._replay(self._coordinator.delete(*key).records)

    def read_summary(self, key: SharePartitionKey) -> StateSummary:
        """See :meth:`Persister.read_summary`."""
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


def initialize_if_absent(persister: Persister, key: SharePartitionKey, state_epoch: int, start_offset: int) -> bool:
    """Initialise a state unless it exists, for example at the start of a program.

    ``Persister.initialize_state`` *replaces* a state, unless it is called with the start offset that the state has now:
    once the start offset has moved, it forgets what was acknowledged. Reading and initialising are two requests, so call
    this in one place only.

    Args:
        persister: where the state is kept.
        key: the share partition.
        state_epoch: epoch of the new state, at least 0.
        start_offset: where it starts; -1 leaves it to the leader.

    Returns:
        Whether the state was initialised.

    Raises:
        ShareStateError: the persister refuses.
        TypeError: the persister is asynchronous; nothing was asked.
    """
    _refuse_async(persister)
    if has_begun(persister.read_summary(key)):
        return False
    persister.initialize_state(key, state_epoch, start_offset)
    return True


def has_begun(summary: StateSummary) -> bool:
    """Tell from its summary whether a state exists. A state of epoch 0 that nobody has read looks like none."""
    return summary != _NOT_BEGUN


def lead(
    persister: Persister,
    key: SharePartitionKey,
    *,
    leader_epoch: int,
    config: GroupConfig | None = None,
    latest: int | None = None,
    earliest: int = 0,
    inline: bool = False,
) -> SharePartition:
    """Create the share partition of ``key`` and load its state from ``persister``.

    Args:
        persister: where the state is kept. The state must have been initialised.
        key: the share partition.
        leader_epoch: epoch of this leader; older leaders are fenced by the read.
        config: configuration of the group.
        latest: the high watermark of the partition. A state without start offset starts there if ``share.auto.offset.reset``
            is ``latest``, the default.
        earliest: the log start offset, for ``earliest``; or the offset that the caller has looked up, for ``by_duration``.
        inline: whether the share partition makes its writes itself, within the calls that lead to them, like Kafka's. The
            persister must then be a :class:`~share_state.StateStore`, a :class:`NoOpStatePersister` or a
            :class:`RecordingPersister`.

    Raises:
        ShareStateError: the persister refuses, or the state is corrupt.
        ArgumentValueError: the state has no start offset, and ``latest`` is required and missing.
        TypeError: ``inline`` with another persister, or an asynchronous persister; no state was read.
    """
    _refuse_async(persister)
    asked = cast("StateStore | NoOpStatePersister", persister) if inline else None
    share_partition = SharePartition(*key, leader_epoch=leader_epoch, config=config, persister=asked)
    begin(share_partition, persister.read_state(key, leader_epoch), latest=latest, earliest=earliest)
    return share_partition


def drain_writes(share_partition: SharePartition, persister: Persister, *, now_ms: int | LockTime) -> dict[int, int]:
    """Carry every write of the share partition to the persister and every answer back.

    Returns Kafka's code for the waiting member, by write token; 0 if the write was confirmed. A refusal is an answer and not
    an exception: the share partition has rolled the change back. A share partition with an inline persister has no writes to
    carry.

    Raises:
        TypeError: the persister is asynchronous; nothing was written.
        Exception: any other exception of the persister. The share partition has rolled that change back too.
    """
    _refuse_async(persister)
    answers: dict[int, int] = {}
    while (write := share_partition.poll_write()) is not None:
        try:
            persister.write_state(share_partition.key, write.state)
        except ShareStateError as refused:
            answers[write.token] = settle_write(share_partition, write.token, refused, now_ms=now_ms)
        except BaseException as failed:
            settle_write(share_partition, write.token, failed, now_ms=now_ms)
            raise
        else:
            answers[write.token] = settle_write(share_partition, write.token, None, now_ms=now_ms)
    return answers


def begin(share_partition: SharePartition, read: ReadStateResult, *, latest: int | None, earliest: int) -> None:
    """Return a share partition the state that was read for it. The arguments are those of :func:`lead`."""
    strategy = share_partition.initialize(read)
    if strategy is not None:
        offset = latest if strategy == "latest" else earliest
        if offset is None:
            text = (
                "latest is None; expected the high watermark, as the state has no start offset and the group begins at the latest"
            )
            raise ArgumentValueError(text, field="latest")
        share_partition.resolve_start_offset(offset)
    key, leader_epoch, start_offset = share_partition.key, share_partition.leader_epoch, share_partition.start_offset
    PERSISTER.info("leading %r in leader epoch %d from offset %d", key, leader_epoch, start_offset)


def settle_write(share_partition: SharePartition, token: int, error: BaseException | None, *, now_ms: int | LockTime) -> int:
    """Report the outcome of a write to its share partition: ``error``, or confirmed. Returns the code for the member."""
    code = 0
    if error is not None:
        asked = error.kafka_code if isinstance(error, ShareStateError) else None
        code = UNKNOWN_SERVER_ERROR if asked is None else asked
        PERSISTER.warning("a write of %r was refused with code %d: %r", share_partition.key, code, str(error))
    return share_partition.handle_write_result(token, code, now_ms=now_ms)


def _refuse_async(persister: Persister) -> None:
    """Refuse an asynchronous persister: a write that nobody awaits is never made, and would count as confirmed."""
    if not isinstance(persister, Persister):
        raise TypeError(f"persister is {persister!r}, which does not have the methods of a share_state.persister.Persister")
    if _answers_later(type(persister)):
        raise TypeError(f"persister is {persister!r}, which is asynchronous: use share_state.async_persister")


@lru_cache(64)
def _answers_later(kind: type) -> bool:
    return inspect.iscoroutinefunction(getattr(kind, "write_state", None))
