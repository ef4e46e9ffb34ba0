"""Plain data of the package: named tuples, frozen data classes and enums.

Two clocks must not be mixed: locks use the caller's monotonic clock, record timestamps the wall clock. A parameter
``now_ms`` takes a :class:`LockTime`, ``wall_ms`` a :class:`WallTime`. Passing one for the other is an error for a type checker
and a ``TypeError`` at run time. Both also take a plain number of ms, for callers who keep their clocks apart themselves.
``LockTime.now() + 500`` is a moment, and the difference of two moments is a number of ms.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from operator import index
from typing import TYPE_CHECKING, NamedTuple, Self, SupportsIndex, overload

from share_state._core import AcquiredRange

if TYPE_CHECKING:
    from share_state._core import ReadStateResult, WriteState

__all__ = [
    "AcknowledgeType",
    "AcquireMode",
    "AcquiredRange",
    "ControlType",
    "DeadLetter",
    "Decision",
    "FetchedBatch",
    "HeartbeatAnswer",
    "InFlight",
    "LockTime",
    "PendingWrite",
    "Record",
    "RecordState",
    "SharePartitionKey",
    "StateBatch",
    "WallTime",
]

#: It is one in all but its base class.
Sequence.register(AcquiredRange)


@dataclass(frozen=True, slots=True, order=True)
class _Time:
    """A moment on one of the two clocks. Moments of the same clock can be subtracted; those of different clocks cannot."""

    ms: int

    def __add__(self, ms: SupportsIndex) -> Self:
        """Return the moment ``ms`` milliseconds later."""
        return type(self)(self.ms + index(ms))

    __radd__ = __add__

    @overload
    def __sub__(self, other: Self) -> int: ...
    @overload
    def __sub__(self, other: SupportsIndex) -> Self: ...
    def __sub__(self, other: SupportsIndex | Self) -> int | Self:
        """Return the moment so many milliseconds earlier, or the milliseconds since another moment."""
        if isinstance(other, _Time):
            return self.ms - other.ms if type(other) is type(self) else NotImplemented
        return type(self)(self.ms - index(other))

    def __int__(self) -> int:
        return self.ms


@dataclass(frozen=True, slots=True, order=True)
class LockTime(_Time):
    """A moment on the caller's monotonic clock, which locks use. It means nothing to another process.

    Attributes:
        ms: milliseconds since an arbitrary moment of the clock.
    """

    @classmethod
    def now(cls) -> Self:
        """Read the system's monotonic clock."""
        return cls(time.monotonic_ns() // 1_000_000)


@dataclass(frozen=True, slots=True, order=True)
class WallTime(_Time):
    """A moment on the wall clock, which record timestamps use.

    Attributes:
        ms: milliseconds since the epoch.
    """

    @classmethod
    def now(cls) -> Self:
        """Read the system's wall clock."""
        return cls(time.time_ns() // 1_000_000)


class RecordState(IntEnum):
    """State of a record; the ids are Kafka's (``RecordState``)."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVING = 3
    ARCHIVED = 4


class AcknowledgeType(IntEnum):
    """A member's verdict on a record; the ids are Kafka's (``AcknowledgeType``, KIP-932, KIP-1222)."""

    GAP = 0
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


class AcquireMode(IntEnum):
    """``share.acquire.mode`` (KIP-1206)."""

    BATCH_OPTIMIZED = 0
    RECORD_LIMIT = 1


class ControlType(IntEnum):
    """Marker of a control batch."""

    ABORT = 0
    COMMIT = 1


class SharePartitionKey(NamedTuple):
    """Names a share partition. ``topic_id`` is a hyphenated UUID."""

    group: str
    topic_id: str
    partition: int


class StateBatch(NamedTuple):
    """A persisted range of records in one state, offsets inclusive (``PersisterStateBatch``)."""

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


class FetchedBatch(NamedTuple):
    """A log batch that was fetched for a share partition, offsets inclusive."""

    base_offset: int
    last_offset: int
    producer_id: int = -1
    is_transactional: bool = False
    control: ControlType | None = None


class InFlight(NamedTuple):
    """A run of equal in-flight records, offsets inclusive, from ``SharePartition.in_flight``.

    Attributes:
        state: a :class:`RecordState`; while ``pending``, the state that is being written.
        delivery_count: how often the records were delivered.
        pending: whether their write is not answered yet.
        member: id of the member that holds them, or ``None``.
        acquired_at_ms: when it acquired them, in ms on the caller's monotonic clock, or ``None``.
        deadline_ms: when the lock expires, in ms on the caller's monotonic clock, or ``None``.
        below_start_offset: whether the start offset has passed them, because the log start moved while a member held them.
    """

    first_offset: int
    last_offset: int
    state: int
    delivery_count: int
    pending: bool
    member: str | None
    acquired_at_ms: int | None
    deadline_ms: int | None
    below_start_offset: bool


class PendingWrite(NamedTuple):
    """A write for the persister, from ``SharePartition.poll_write``.

    Attributes:
        token: identifies the write in ``SharePartition.handle_write_result``.
        state: the content of the write.
    """

    token: int
    state: WriteState


class DeadLetter(NamedTuple):
    """Records for the dead-letter queue (KIP-1191), offsets inclusive, from ``SharePartition.poll_dead_letter``.

    Attributes:
        token: identifies them in ``SharePartition.handle_dead_letter_done``.
        delivery_count: how often they were delivered.
        cause: ``"client_reject"`` or ``"delivery_count_exceeded"``.
    """

    token: int
    first_offset: int
    last_offset: int
    delivery_count: int
    cause: str


class Record(NamedTuple):
    """A record of ``__share_group_state``, as bytes (Kafka: ``CoordinatorRecord``); ``decode_record`` reads it.

    Attributes:
        key: record type, group, topic id and partition.
        value: ``None`` for a tombstone.
    """

    key: bytes
    value: bytes | None


class Decision(NamedTuple):
    """The decision of a share coordinator (Kafka: ``CoordinatorResult``).

    Attributes:
        records: the records to append together; may be empty.
        answer: the answer once the records are durable and replayed: a ``ReadStateResult`` for a read, else ``None``.
    """

    records: list[Record]
    answer: ReadStateResult | None


class HeartbeatAnswer(NamedTuple):
    """The answer to a heartbeat of a share group's member. Send it only once ``ticket`` is durable.

    Attributes:
        error_code: Kafka's error code; 0 for success.
        error_message: Kafka's text for the error.
        member_epoch: the member's epoch from now on.
        heartbeat_interval_ms: the time until the next heartbeat, ms.
        assignment: the partitions for the member, as (topic id, partitions); ``None`` if they have not changed.
        ticket: the position to wait for before the answer is sent.
    """

    error_code: int
    error_message: str | None
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: list[tuple[str, list[int]]] | None
    ticket: int
