"""Record batches of format 2, made by hand: plain, of a transaction, or its marker."""

from __future__ import annotations

import struct

_TRANSACTIONAL, _CONTROL = 0x10, 0x20


def record_batch(
    base: int, records: int, *, size: int = 10, producer_id: int = -1, leader_epoch: int = 3, ms: int = 1000
) -> bytes:
    """A batch of records with `size` bytes each, of a transaction if there is a producer."""
    section = b"".join(_record(delta, None, bytes(size)) for delta in range(records))
    attributes = _TRANSACTIONAL if producer_id >= 0 else 0
    return _framed(base, leader_epoch, struct.pack(">hiqqqhii", attributes, *_middle(records, producer_id, ms)) + section)


def marker(base: int, producer_id: int, *, commit: bool) -> bytes:
    """The end of a transaction."""
    section = _record(0, struct.pack(">hh", 0, commit), bytes(6))
    attributes = _TRANSACTIONAL | _CONTROL
    return _framed(base, 3, struct.pack(">hiqqqhii", attributes, *_middle(1, producer_id)) + section)


def _middle(records: int, producer_id: int, ms: int = 1000) -> tuple[int, ...]:
    """Last offset delta, timestamps, producer, its epoch, sequence, number of records."""
    return records - 1, ms, ms, producer_id, 0, 0, records


def _framed(base: int, leader_epoch: int, covered: bytes) -> bytes:
    """The checksum is left out: only consumers look at it."""
    return struct.pack(">qiibI", base, len(covered) + 9, leader_epoch, 2, 0) + covered


def _record(delta: int, key: bytes | None, value: bytes) -> bytes:
    body = b"\0" + _zigzag(0) + _zigzag(delta)
    body += _zigzag(-1) if key is None else _zigzag(len(key)) + key
    body += _zigzag(len(value)) + value + _zigzag(0)
    return _zigzag(len(body)) + body


def _zigzag(number: int) -> bytes:
    bits, out = (number << 1) ^ (number >> 63), bytearray()
    while bits > 0x7F:
        out.append(bits & 0x7F | 0x80)
        bits >>= 7
    return bytes([*out, bits])
