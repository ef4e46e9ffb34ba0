"""A dead-lettered record: which one, why, and when. Plain data."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

__all__ = ["Cause", "DeadLetter", "Place", "QueuePlace"]


class Cause(StrEnum):
    """Cause that ended the deliveries of records."""

    #: A member rejected them.
    REJECTED = "rejected"
    #: Their deliveries were used up.
    DELIVERY_LIMIT = "delivery_limit"
    #: Another cause, or one that cannot be told.
    OTHER = "other"


class Place(NamedTuple):
    """Place of a record in a topic."""

    topic: str
    partition: int
    offset: int


class QueuePlace(NamedTuple):
    """The record of a dead-letter queue that tells of a dead letter."""

    topic: str
    partition: int
    offset: int
    #: True if the queue's record holds a value: a copy of the source's (``errors.deadletterqueue.copy.record.enable``).
    copied: bool


class DeadLetter(NamedTuple):
    """Records that a share group does not get again: one, as a queue tells of it, or an interval, as a history does."""

    group: str
    #: The source topic; of one that is gone its id, if nothing tells its name.
    topic: str
    #: Hyphenated UUID; None where a queue tells of the record, which names topics only.
    topic_id: str | None
    partition: int
    #: The offsets in the source, inclusive.
    first_offset: int
    last_offset: int
    delivery_count: int
    cause: Cause
    #: The cause in the broker's words; None where a history tells of the records.
    message: str | None
    #: Time at which they were dead-lettered: that of the queue's record, or of the state topic's, in ms since the epoch.
    timestamp: int
    #: None where a history tells of the records.
    queue: QueuePlace | None
