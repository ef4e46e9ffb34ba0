"""Facts beside the state topic, and the ends of a record: what the trace of a record and its sentences share."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

__all__ = ["Outcome", "RecordFacts"]


class Outcome(StrEnum):
    """State of the record at the end of the log."""

    #: It is available, or in a member's hands: nothing more is written about it.
    AVAILABLE = "available"
    ACCEPTED = "accepted"
    #: On its way to the dead-letter queue.
    ARCHIVING = "archiving"
    #: Not delivered again: rejected, at the delivery limit, or reported as a gap.
    ARCHIVED = "archived"
    #: The start offset moved past it, and the log does not say how it ended.
    PASSED = "passed"
    #: The start offset was after it from the beginning of the log, or of its state.
    BEFORE_THE_START = "before_the_start"
    #: Nothing was ever written about it: never delivered, or in a member's hands since its first delivery.
    NOTHING_WRITTEN = "nothing_written"
    #: The state of the share partition was deleted.
    DELETED = "deleted"
    #: It has a state that this release does not know, or a log that contradicts itself.
    UNKNOWN = "unknown"


class RecordFacts(NamedTuple):
    """Facts that the state topic does not hold; None where one is not known.

    Attributes:
        produced_ms: the time of the record in its topic, in ms since the epoch.
        log_end_offset: the offset after the last record of the topic's partition.
        delivery_limit: ``share.delivery.count.limit`` of the group.
        lock_duration_ms: ``share.record.lock.duration.ms`` of the group.
    """

    produced_ms: int | None = None
    log_end_offset: int | None = None
    delivery_limit: int | None = None
    lock_duration_ms: int | None = None
