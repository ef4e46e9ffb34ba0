"""Plain data of the package: named tuples, frozen data classes and enums, no behaviour."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, NewType

__all__ = [
    "AcknowledgeType",
    "AcquireMode",
    "AcquiredRange",
    "ControlType",
    "FetchedBatch",
    "LockTimeMs",
    "RecordState",
    "SharePartitionKey",
    "StateBatch",
    "WallTimeMs",
]

LockTimeMs = NewType("LockTimeMs", int)
"""Milliseconds on the caller's monotonic clock, such as ``time.monotonic_ns() // 1_000_000``. Locks live on it."""

WallTimeMs = NewType("WallTimeMs", int)
"""Milliseconds since the epoch, such as ``time.time_ns() // 1_000_000``. Record timestamps live on it."""


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
