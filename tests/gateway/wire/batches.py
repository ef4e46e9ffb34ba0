"""Record batches of format 2, with any header, and their headers read again."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crc32c import crc32c

from share_state._core import encode_batch

#: Base offset, length | leader epoch, magic, CRC | attributes, last offset delta, times, producer, base sequence, count.
_OFFSET_AND_LENGTH = struct.Struct(">qi")
_BEFORE_CHECKED = struct.Struct(">ibI")
_CHECKED = struct.Struct(">hiqqqhii")
HEADER_BYTES = _OFFSET_AND_LENGTH.size + _BEFORE_CHECKED.size + _CHECKED.size
#: Bytes that the length does not count.
LENGTH_FROM = _OFFSET_AND_LENGTH.size

TRANSACTIONAL, CONTROL = 0x10, 0x20
_ABORT, _COMMIT = 0, 1


class Header(NamedTuple):
    """Header of a batch."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int

    @property
    def last_offset(self) -> int:
        """Inclusive."""
        return self.base_offset + self.last_offset_delta


def batch(
    values: Sequence[bytes | None],
    *,
    base_offset: int = 0,
    leader_epoch: int = 0,
    timestamp: int = 1_700_000_000_000,
    attributes: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    last_offset_delta: int | None = None,
    keys: Sequence[bytes | None] | None = None,
) -> bytes:
    """A batch of these values, uncompressed; ``last_offset_delta`` beyond them is a hole at its end, as compaction leaves it."""
    named = keys or [None] * len(values)
    rows = [(timestamp, key, value, ()) for key, value in zip(named, values, strict=True)]
    # A cleaner leaves empty ones too.
    section = encode_batch(rows)[HEADER_BYTES:] if rows else b""
    last = len(values) - 1 if last_offset_delta is None else last_offset_delta
    times = (timestamp, timestamp)
    checked = _CHECKED.pack(attributes, last, *times, producer_id, producer_epoch, base_sequence, len(values)) + section
    length = _BEFORE_CHECKED.size + len(checked)
    return _OFFSET_AND_LENGTH.pack(base_offset, length) + _BEFORE_CHECKED.pack(leader_epoch, 2, crc32c(checked)) + checked


def record_batch(
    base: int, records: int, *, size: int = 10, producer_id: int = -1, leader_epoch: int = 3, ms: int = 1000
) -> bytes:
    """A batch of records with `size` zeros each, of a transaction if there is a producer."""
    values = [bytes(size)] * records
    attributes = TRANSACTIONAL if producer_id >= 0 else 0
    return rebased(batch(values, timestamp=ms, attributes=attributes, producer_id=producer_id), base, leader_epoch)


def marker(base_offset: int, producer_id: int, *, producer_epoch: int = 0, commit: bool, leader_epoch: int = 0) -> bytes:
    """The control batch that ends a transaction."""
    return batch(
        [struct.pack(">hi", 0, 0)],
        keys=[struct.pack(">hh", 0, _COMMIT if commit else _ABORT)],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        attributes=TRANSACTIONAL | CONTROL,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )


def headers(data: bytes) -> Iterator[Header]:
    """The headers of the batches that are whole; one that is cut off at the end is not among them."""
    at = 0
    while at + HEADER_BYTES <= len(data):
        base, length = _OFFSET_AND_LENGTH.unpack_from(data, at)
        if length < HEADER_BYTES - LENGTH_FROM or at + LENGTH_FROM + length > len(data):
            return
        before = _BEFORE_CHECKED.unpack_from(data, at + LENGTH_FROM)
        checked = _CHECKED.unpack_from(data, at + LENGTH_FROM + _BEFORE_CHECKED.size)
        yield Header(base, length, *before, *checked)
        at += LENGTH_FROM + length


def records(data: bytes) -> Iterator[tuple[int, bytes | None]]:
    """Offsets and values of the records in whole batches that are not compressed; markers are none."""
    at = 0
    for header in headers(data):
        place, end = at + HEADER_BYTES, at + LENGTH_FROM + header.length
        at = end
        if header.attributes & CONTROL:
            continue
        while place < end:
            length, place = _read_varint(data, place)
            after = place + length
            _, delta_at = _read_varint(data, place + 1)
            delta, key_at = _read_varint(data, delta_at)
            key_bytes, value_at = _read_varint(data, key_at)
            size, value_at = _read_varint(data, value_at + max(key_bytes, 0))
            yield header.base_offset + delta, None if size < 0 else data[value_at : value_at + size]
            place = after


def whole_bytes(data: bytes) -> int:
    """Number of bytes that the whole batches take."""
    return sum(LENGTH_FROM + header.length for header in headers(data))


def rebased(data: bytes, base_offset: int, leader_epoch: int) -> bytes:
    """Moves a batch to another place of a log: neither field is under its checksum."""
    rest = data[LENGTH_FROM + 4 :]
    (length,) = struct.unpack_from(">i", data, 8)
    return _OFFSET_AND_LENGTH.pack(base_offset, length) + struct.pack(">i", leader_epoch) + rest


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and the place after it."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number >> 1 ^ -(number & 1), at
