"""The record batches of a topic's log, by their headers: which offsets hold a record for a share group."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Batch", "batches", "for_groups"]

#: From the base offset to the number of records, by the format of version 2.
_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
#: Bytes before those that the batch length counts.
_BEFORE_LENGTH: Final = 12
_APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x08, 0x10, 0x20


class Batch(NamedTuple):
    """Facts from the header of a batch."""

    first: int
    last: int
    #: Timestamp of its first record, in ms since the epoch; negative where it has none.
    since_ms: int
    producer_id: int
    is_transactional: bool
    #: The marker of a transaction's end.
    is_control: bool
    records: int


def batches(frame: bytes, start: int, end: int) -> Iterator[Batch]:
    """Iterate over the headers of the whole batches in ``frame[start:end]``."""
    while start + _HEADER.size <= end:
        first, length, _, _, _, attributes, last_delta, oldest, newest, producer_id, _, _, records = _HEADER.unpack_from(
            frame, start
        )
        start += _BEFORE_LENGTH + length
        if start > end or length < _HEADER.size - _BEFORE_LENGTH:
            return
        # Of a batch with times of its appending, the broker sets the newest alone.
        since_ms = newest if attributes & _APPEND_TIME else oldest
        is_transactional, is_control = bool(attributes & _TRANSACTIONAL), bool(attributes & _CONTROL)
        yield Batch(first, first + last_delta, since_ms, producer_id, is_transactional, is_control, records)


def for_groups(found: Iterator[Batch], aborted: Sequence[tuple[int, int]]) -> Iterator[tuple[Batch, bool]]:
    """Tell of each batch whether it holds records for a group: no marker, and of no aborted transaction.

    Args:
        found: batches in the order of the log.
        aborted: producer id and first offset of each aborted transaction in them; empty for groups that read uncommitted records.
    """
    left = sorted(aborted, key=lambda one: one[1], reverse=True)
    aborting: set[int] = set()
    for batch in found:
        while left and left[-1][1] <= batch.last:
            aborting.add(left.pop()[0])
        if batch.is_control:
            # The transaction of this producer ends here.
            aborting.discard(batch.producer_id)
        yield batch, not batch.is_control and batch.records > 0 and not (batch.is_transactional and batch.producer_id in aborting)
