"""A request that is passed on as it is: only as much of it is read as its refusal needs, and the refusal is written beside it."""

from __future__ import annotations

import struct
from typing import Final

from share_state._core import header_end
from share_state.errors import WireDecodeError
from share_state.kafka.framing import compact_length

__all__ = ["MAX_ELEMENTS", "OpaqueRequest"]

_HEAD: Final = struct.Struct(">hhih")
#: Elements of a request that are refused one by one, without a turn for others.
MAX_ELEMENTS: Final = 10_000
_INT16, _INT32 = struct.Struct(">h"), struct.Struct(">i")


class OpaqueRequest:
    """A request, read from its start, and the answer to it as far as it is written.

    Args:
        payload: the request with its header.
        flexible_since: the first flexible version of its API.

    Raises:
        WireDecodeError: it ends too early, as every method that reads says too.
    """

    def __init__(self, payload: bytes, flexible_since: int) -> None:
        self.version, correlation_id, length = self._head(payload)
        self._payload = payload
        self._flexible = self.version >= flexible_since
        self._at = _HEAD.size + max(length, 0)
        self._elements = 0
        self.answer = bytearray(_INT32.pack(correlation_id))
        self.end()

    @staticmethod
    def _head(payload: bytes) -> tuple[int, int, int]:
        if len(payload) < _HEAD.size:
            raise WireDecodeError("a request ends within its header", position=len(payload), kind="truncated")
        _, version, correlation_id, length = _HEAD.unpack_from(payload)
        return version, correlation_id, length

    def take(self, count: int) -> bytes:
        """Read bytes."""
        if not 0 <= count <= len(self._payload) - self._at:
            raise WireDecodeError("a request ends too early", position=len(self._payload), kind="truncated")
        self._at += count
        return self._payload[self._at - count : self._at]

    def _length(self, form: struct.Struct) -> int:
        """Read a length, -1 for null."""
        if not self._flexible:
            return int(form.unpack(self.take(form.size))[0])
        value = shift = 0
        while shift < 35:  # noqa: PLR2004  five bytes of a varint
            (byte,) = self.take(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004  its last byte
                return value - 1
            shift += 7
        raise WireDecodeError("a varint does not end", position=self._at, kind="varint")

    def text(self) -> str | None:
        """Read a string that may be null."""
        length = self._length(_INT16)
        return None if length < 0 else self.take(length).decode(errors="replace")

    def count(self) -> int:
        """Read how many elements an array has, 0 for none; all arrays together have a bound."""
        count = max(self._length(_INT32), 0)
        self._elements += count
        if self._elements > MAX_ELEMENTS:
            message = f"more than {MAX_ELEMENTS} elements in a request that is refused"
            raise WireDecodeError(message, position=self._at, kind="count")
        return count

    def put(self, form: str, *values: object) -> None:
        """Write numbers: ``i``, ``h``, ``q``, ``b``; ``c`` for the length of an array; ``s`` for a string that may be null."""
        for one, value in zip(form, values, strict=True):
            if one in "cs":
                self._put_sized(one, value)
            else:
                self.answer += struct.pack(f">{one}", value)

    def _put_sized(self, form: str, value: object) -> None:
        data = value.encode() if isinstance(value, str) else b""
        length = -1 if value is None else value if isinstance(value, int) else len(data)
        if not self._flexible:
            self.answer += (_INT32 if form == "c" else _INT16).pack(length) + data
            return
        self.answer += compact_length(length) + data

    def end(self, *, reads: bool = True, writes: bool = True) -> None:
        """Pass the end of a header or of a struct, with its tagged fields, in the request and in the answer."""
        if self._flexible:
            if reads:
                self._at = header_end(self._payload, self._at)
            if writes:
                self.answer += b"\0"
