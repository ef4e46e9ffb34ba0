"""A record of a data topic as it was produced, or why there is none at an offset: plain data."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

__all__ = ["UNREADABLE_HEADERS", "Missing", "Payload", "Reason"]

#: The headers of a record with a name that is not UTF-8: the client can then read none of them.
UNREADABLE_HEADERS: Final = (("(headers with a name that is not UTF-8)", None),)


class Reason(StrEnum):
    """Reason for which there is no record to show at an offset."""

    #: The log begins later: the record was deleted by retention or by an administrator.
    BELOW_LOG_START = "below_log_start"
    #: The log ends before: nothing was produced there yet, or the end of it may not be read yet (read committed).
    AT_OR_AFTER_LOG_END = "at_or_after_log_end"
    #: The log goes past the offset and has no record there: compacted, a control record, or (read committed) aborted.
    NOT_THERE = "not_there"


class Payload(NamedTuple):
    """A record of a data topic.

    Attributes:
        topic, partition, offset: its place.
        timestamp_ms: when it was produced or appended, as the topic is set, in ms since the epoch; None if it has no time.
        key, value: as bytes; None where there is none, which as a value is a tombstone.
        headers: names and values, in their order; a name may come again. ``UNREADABLE_HEADERS`` where they cannot be read.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class Missing(NamedTuple):
    """An offset without a record to show, and why."""

    topic: str
    partition: int
    offset: int
    reason: Reason
