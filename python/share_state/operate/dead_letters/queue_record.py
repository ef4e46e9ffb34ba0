"""A record of a dead-letter queue as brokers write it (KIP-1191): what is in its headers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from share_state.operate.dead_letters.dead_letter import Cause, DeadLetter, QueuePlace

__all__ = ["BadQueueRecordError", "QueueRecord", "group_of", "letter_of"]

_PREFIX = "__dlq.errors."
_GROUP, _MESSAGE = "group", "message"
_NUMBERS = (("partition", 2**31 - 1), ("offset", 2**63 - 1), ("delivery.count", 2**15 - 1))
#: The broker's words (``ShareGroupDLQ…`` of Kafka 4.4.0).
_CAUSES = {
    "Offset rejected by client.": Cause.REJECTED,
    "Offset delivery count exceeded the threshold.": Cause.DELIVERY_LIMIT,
}


class BadQueueRecordError(ValueError):
    """A record of the queue does not tell of a dead letter; the text names the header."""


class QueueRecord(NamedTuple):
    """A record of the queue, as far as it matters."""

    topic: str
    partition: int
    offset: int
    #: Ms since the epoch.
    timestamp: int
    headers: Sequence[tuple[str, bytes | None]]
    #: True if it has a value.
    copied: bool


def group_of(record: QueueRecord) -> str:
    """Return the group that a record is of.

    Raises:
        BadQueueRecordError: it does not say.
    """
    return _text(record, _GROUP)


def letter_of(record: QueueRecord) -> DeadLetter:
    """Return what a record tells.

    Raises:
        BadQueueRecordError: a header is missing, or has no such value.
    """
    partition, offset, delivery_count = (_number(record, name, most) for name, most in _NUMBERS)
    message = _text(record, _MESSAGE)
    return DeadLetter(
        group=group_of(record),
        topic=_text(record, "topic"),
        topic_id=None,
        partition=partition,
        first_offset=offset,
        last_offset=offset,
        delivery_count=delivery_count,
        cause=_CAUSES.get(message, Cause.OTHER),
        message=message,
        timestamp=record.timestamp,
        queue=QueuePlace(record.topic, record.partition, record.offset, record.copied),
    )


def _text(record: QueueRecord, name: str) -> str:
    for header, value in record.headers:
        if header == _PREFIX + name:
            try:
                return (value or b"").decode("utf-8")
            except UnicodeDecodeError:
                raise BadQueueRecordError(f"its header {header} is {value!r}; expected UTF-8") from None
    raise BadQueueRecordError(f"it has no header {_PREFIX}{name}")


def _number(record: QueueRecord, name: str, most: int) -> int:
    text = _text(record, name)
    # A number of more digits is none of Kafka's, and Python takes its time over a long one.
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)) and int(text) <= most:
        return int(text)
    shown = text if len(text) <= 40 else f"{text[:40]}…"  # noqa: PLR2004  as much as a message needs
    raise BadQueueRecordError(f"its header {_PREFIX}{name} is {shown!r}; expected 0 to {most}")
