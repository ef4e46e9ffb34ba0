"""Frame of a message on a connection: its length and the headers (Kafka: ``RequestHeader``)."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from share_state._core import api_table, header_end
from share_state.errors import ShareStateError, WireDecodeError

__all__ = [
    "MAX_FRAME",
    "Frames",
    "Request",
    "compact_length",
    "frame",
    "is_flexible",
    "read_frame",
    "request_bytes",
    "request_of",
    "response_bytes",
    "response_start",
]

#: The longest frame that a broker takes by default, bytes (``socket.request.max.bytes``).
MAX_FRAME: Final = 100 << 20

_LENGTH: Final = struct.Struct(">i")
_KEY: Final = struct.Struct(">h")
_REQUEST: Final = struct.Struct(">hhih")
_NULL: Final = -1
#: The version from which a request and its answer are flexible: their headers have tagged fields too.
_FLEXIBLE_FROM: Final = {api_key: flexible_from for api_key, (_, _, _, flexible_from) in api_table().items()}
#: Its answer comes before a version is agreed on, so the header of the answer never has tagged fields.
_API_VERSIONS: Final = 18


class Request(NamedTuple):
    """A request as it came."""

    api_key: int
    version: int
    correlation_id: int
    client_id: str
    body: bytes


def compact_length(length: int) -> bytes:
    """Return the bytes of the length of a compact string or array, -1 for null (``ByteUtils.writeUnsignedVarint``)."""
    rest, written = length + 1, bytearray()
    while rest > 0x7F:  # noqa: PLR2004  seven bits a byte
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*written, rest])


def frame(payload: bytes) -> bytes:
    """Put the payload after its length."""
    return _LENGTH.pack(len(payload)) + payload


async def read_frame(
    reader: asyncio.StreamReader, max_frame: int, longest: Callable[[int | None], int] | None = None
) -> bytes | None:
    """Read the next frame; ``None`` if the other side has closed the connection between two frames.

    Memory follows what has arrived, not what the length announces.

    Args:
        reader: the connection.
        max_frame: bytes that a frame may have.
        longest: gives the bytes that a frame may have that begins with this API key, where that is less.

    Raises:
        WireDecodeError: the length cannot be that of a message, so this is no peer of ours.
        asyncio.IncompleteReadError: the connection was closed half-way.
    """
    try:
        head = await reader.readexactly(_LENGTH.size)
    except asyncio.IncompleteReadError as short:
        if not short.partial:
            return None
        raise
    length = _length(head, max_frame if longest is None else min(max_frame, longest(None)))
    if longest is None:
        return await reader.readexactly(length)
    key = await reader.readexactly(_KEY.size)
    _length(head, longest(*_KEY.unpack(key)))
    return key + await reader.readexactly(length - _KEY.size)


class Frames(asyncio.Protocol):
    """Takes frames from a connection as they arrive, without a task that waits for them.

    Memory follows what has arrived, not what a length announces.

    Args:
        max_frame: bytes that a frame may have.
        take: called with each frame.
        ended: called once when no more will come, with why if it was not the other side's wish, and whether that was within
            a frame. What ``take`` raises as :class:`share_state.ShareStateError` ends the connection.
    """

    def __init__(
        self,
        max_frame: int,
        take: Callable[[bytes], None],
        ended: Callable[[Exception | None, bool], None],
    ) -> None:
        self._max_frame = max_frame
        self._take = take
        self._ended = ended
        self._arrived = bytearray()
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`."""
        self._arrived += data
        self.cut()

    @property
    def arrived(self) -> int:
        """Bytes that have arrived of a frame that is not whole."""
        return len(self._arrived)

    def may_take(self) -> bool:
        """Say whether another frame is welcome; who says no calls :meth:`cut` when it is."""
        return True

    def longest(self, api_key: int | None) -> int:  # noqa: ARG002  for those who tell requests apart
        """Return the bytes that a frame may have that begins with this API key; ``None`` while so much has not arrived."""
        return self._max_frame

    def cut(self) -> None:
        """Take the frames out of what has arrived."""
        arrived = self._arrived
        at = 0
        try:
            while len(arrived) - at >= _LENGTH.size and self.may_take():
                start = at + _LENGTH.size
                key = _KEY.unpack_from(arrived, start)[0] if len(arrived) >= start + _KEY.size else None
                end = start + _length(arrived[at:start], self.longest(key))
                if len(arrived) < end:
                    break
                at = end
                with memoryview(arrived) as view:
                    payload = bytes(view[start:end])
                self._take(payload)
        except ShareStateError as wrong:
            self._end(wrong, within=False)
        del arrived[:at]

    def connection_lost(self, exc: Exception | None) -> None:
        """See :class:`asyncio.Protocol`."""
        self._end(exc, within=bool(self._arrived))

    def _end(self, why: Exception | None, *, within: bool) -> None:
        if self._transport is not None:
            self._transport.close()
            self._transport = None
            self._ended(why, within)


def _length(head: bytes | bytearray, max_frame: int) -> int:
    (length,) = _LENGTH.unpack(head)
    if not _LENGTH.size <= length <= max_frame:
        hint = "; it begins like TLS" if head[0] in (0x15, 0x16) and head[1] == 3 else ""  # noqa: PLR2004  a record of TLS
        message = f"a frame announces {length} bytes, not {_LENGTH.size} to {max_frame}{hint}"
        raise WireDecodeError(message, position=0, kind="length")
    return int(length)


def is_flexible(api_key: int, version: int) -> bool:
    """Say whether a version of a request has tagged fields; one that nobody knows is taken to."""
    return version >= _FLEXIBLE_FROM.get(api_key, 0)


def request_bytes(request: Request) -> bytes:
    """Frame a request."""
    client_id = request.client_id.encode()
    head = _REQUEST.pack(request.api_key, request.version, request.correlation_id, len(client_id))
    tags = b"\0" if is_flexible(request.api_key, request.version) else b""
    return frame(head + client_id + tags + request.body)


def request_of(payload: bytes) -> Request:
    """Read the request in a frame, without its length.

    Raises:
        WireDecodeError: it ends too early, or the client id does.
    """
    if len(payload) < _REQUEST.size:
        raise WireDecodeError("a request ends within its header", position=len(payload), kind="truncated")
    api_key, version, correlation_id, length = _REQUEST.unpack_from(payload)
    end = _REQUEST.size + max(length, 0)
    if length < _NULL or end > len(payload):
        raise WireDecodeError(f"a client id announces {length} bytes", position=8, kind="length")
    # As Java reads it.
    client_id = payload[_REQUEST.size : end].decode(errors="replace")
    start = header_end(payload, end) if is_flexible(api_key, version) else end
    return Request(api_key, version, correlation_id, client_id, payload[start:])


def response_bytes(api_key: int, version: int, correlation_id: int, body: bytes) -> bytes:
    """Frame an answer."""
    tags = b"\0" if api_key != _API_VERSIONS and is_flexible(api_key, version) else b""
    return frame(_LENGTH.pack(correlation_id) + tags + body)


def response_start(api_key: int, version: int, payload: bytes) -> int:
    """Say where the message starts in the answer to a request of ``api_key``.

    Raises:
        WireDecodeError: the header is damaged.
    """
    tagged = api_key != _API_VERSIONS and is_flexible(api_key, version)
    return header_end(payload, _LENGTH.size) if tagged else _LENGTH.size
