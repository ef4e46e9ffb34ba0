"""When the records of a partition were appended: a mark for each answer that was read, thinned out when they are many."""

from __future__ import annotations

import struct
from bisect import bisect_right
from typing import Final

__all__ = ["AppendTimes"]

_MAX_MARKS: Final = 512
#: Of a batch of format 2: base offset; attributes; base and greatest timestamp, ms.
_BASE_OFFSET: Final = struct.Struct(">q")
_ATTRIBUTES: Final = struct.Struct(">h")
_TIMESTAMPS: Final = struct.Struct(">qq")
_ATTRIBUTES_AT: Final = 21
_TIMESTAMPS_AT: Final = 27
_HEADER: Final = 61
_LOG_APPEND_TIME: Final = 8


class AppendTimes:
    """Offsets with the times at which they were appended."""

    __slots__ = ("_offsets", "_times_ms")

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._times_ms: list[int] = []

    def see(self, data: bytes, start: int, end: int) -> None:
        """Take note of the first batch of an answer."""
        if end - start < _HEADER:
            return
        (offset,) = _BASE_OFFSET.unpack_from(data, start)
        (attributes,) = _ATTRIBUTES.unpack_from(data, start + _ATTRIBUTES_AT)
        base_ms, greatest_ms = _TIMESTAMPS.unpack_from(data, start + _TIMESTAMPS_AT)
        at = bisect_right(self._offsets, offset)
        if at and self._offsets[at - 1] == offset:
            return
        self._offsets.insert(at, offset)
        self._times_ms.insert(at, greatest_ms if attributes & _LOG_APPEND_TIME else base_ms)
        if len(self._offsets) > _MAX_MARKS:
            # The first stays: it is the oldest that anybody may ask for.
            del self._offsets[1::2], self._times_ms[1::2]

    def of(self, offset: int) -> int | None:
        """Return the time of the last mark up to an offset, ms since the epoch; ``None`` where nothing so early was read.

        The record is younger than that, by what one answer spans.
        """
        at = bisect_right(self._offsets, offset)
        return self._times_ms[at - 1] if at else None

    def forget_before(self, offset: int) -> None:
        """Drop marks that nobody will ask for: there is a later one up to this offset."""
        at = bisect_right(self._offsets, offset) - 1
        if at > 0:
            del self._offsets[:at], self._times_ms[:at]

    def clear(self) -> None:
        """Forget everything: the log is another one."""
        self._offsets.clear()
        self._times_ms.clear()
