"""Plain data of the package: named tuples, frozen data classes and enums.

Two clocks must not be mixed: locks live on the caller's monotonic clock, record timestamps on the wall clock. A parameter
``now_ms`` takes a :class:`LockTime`, ``wall_ms`` a :class:`WallTime`; one for the other is a type error for a checker and a
``TypeError`` at run time. Either also takes a plain number of ms, for callers who keep their clocks apart themselves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Self

__all__ = [
    "AcknowledgeType",
    "AcquireMode",
    "AcquiredRange",
    "ControlType",
    "FetchedBatch",
    "LockTime",
    "RecordState",
    "SharePartitionKey",
    "StateBatch",
    "WallTime",
]


@dataclass(frozen=True, slots=True, order=True)
class LockTime:
    """A moment on the caller's monotonic clock, on which locks live. It means nothing to another process.

    Attributes:
        ms: milliseconds since a moment of the clock's own.
    """

    ms: int

    @classmethod
    def now(cls) -> Self:
        """Read the system's monotonic clock."""
        return cls(time.monotonic_ns() // 1_000_000)


@dataclass(frozen=True, slots=True, order=True)
class WallTime:
    """A moment on the wall clock, on which the timestamps of records live.

    Attributes:
        ms: milliseconds since the epoch.
    """

    ms: int

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
    """What a member says about a record; the ids are Kafka's (``AcknowledgeType``, KIP-932, KIP-1222)."""

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
    """A persisted stretch of records in one state, offsets inclusive (``PersisterStateBatch``)."""

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


class FetchedBatch(NamedTuple):
    """A log batch that was read for a share partition, offsets inclusive."""

    base_offset: int
    last_offset: int
    producer_id: int = -1
    is_transactional: bool = False
    control: ControlType | None = None


class AcquiredRange(NamedTuple):
    """Records that a member now holds, offsets inclusive; ``delivery_count`` counts this delivery."""

    first_offset: int
    last_offset: int
    delivery_count: int
