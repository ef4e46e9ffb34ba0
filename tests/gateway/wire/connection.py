"""A blocking connection that asks any request of any version, or sends bytes that are none."""

from __future__ import annotations

import socket
import struct
from types import TracebackType
from typing import Self

from tests.gateway.wire.codec import Message, api_key, decode, encode, flexible, versions

_API_VERSIONS = 18
#: Longer than any MaxWaitMs that is asked for here.
_PATIENCE_S = 60.0


class Disconnected(Exception):
    """The server has closed the connection instead of answering."""


class Connection:
    """Connection to a server; a context manager."""

    def __init__(self, address: str, client_id: str | None = "lab") -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=_PATIENCE_S)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            self._socket.close()
            raise
        self._client_id = client_id
        self._correlation = 0

    def ask(self, name: str, version: int, message: Message | None = None, *, complete: bool = True) -> Message:
        """Send a request of the API with this name and wait for the answer; ``complete`` as for :func:`decode`."""
        key = api_key(name)
        body = encode(key, version, message or {})
        return decode(key, version, self.exchange(key, version, body), response=True, complete=complete)

    def offered(self) -> dict[int, range]:
        """The versions that the server offers, by API key."""
        answer = self.ask("ApiVersions", 0)
        return {one["apiKey"]: range(one["minVersion"], one["maxVersion"] + 1) for one in answer["apiKeys"]}

    def exchange(self, key: int, version: int, body: bytes, *, header_tags: bool | None = None) -> bytes:
        """Send the bytes of a request, well formed or not; the bytes of the answer without their header."""
        self.send(key, version, body, header_tags=header_tags)
        return self.receive(key, version)

    def send(self, key: int, version: int, body: bytes, *, header_tags: bool | None = None) -> None:
        """Send a request and do not wait."""
        self._correlation += 1
        self.send_frame(request_header(key, version, self._correlation, self._client_id, header_tags=header_tags) + body)

    def send_frame(self, data: bytes) -> None:
        """Send a frame, whatever is in it."""
        try:
            self._socket.sendall(struct.pack(">i", len(data)) + data)
        except OSError as error:
            raise Disconnected(str(error)) from error

    def receive(self, key: int, version: int) -> bytes:
        """The answer to the last request."""
        (length,) = struct.unpack(">i", self._exactly(4))
        answer = self._exactly(length)
        (correlation,) = struct.unpack_from(">i", answer)
        if correlation != self._correlation:
            raise Disconnected(f"an answer to request {correlation} instead of {self._correlation}")
        # The header of ApiVersions has no tagged fields in any version: a client reads it before it knows the version.
        tagged = key != _API_VERSIONS and version in versions(key) and flexible(key, version)
        return answer[5:] if tagged else answer[4:]

    def patience(self, seconds: float) -> None:
        """Wait for answers no longer than this."""
        self._socket.settimeout(seconds)

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _exactly(self, count: int) -> bytes:
        # Not MSG_WAITALL: with a timeout it gives what is there.
        parts = bytearray()
        while len(parts) < count:
            try:
                part = self._socket.recv(count - len(parts))
            except OSError as error:
                raise Disconnected(str(error)) from error
            if not part:
                raise Disconnected(f"closed after {len(parts)} of {count} bytes")
            parts += part
        return bytes(parts)


def request_header(key: int, version: int, correlation: int, client_id: str | None, *, header_tags: bool | None = None) -> bytes:
    """A request's header: version 2 with its empty tags where the request is flexible, else 1."""
    name = None if client_id is None else client_id.encode()
    head = struct.pack(">hhih", key, version, correlation, -1 if name is None else len(name)) + (name or b"")
    if header_tags is None:
        header_tags = version not in versions(key) or flexible(key, version)
    return head + b"\0" if header_tags else head
