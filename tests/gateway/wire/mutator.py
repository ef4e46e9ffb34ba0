"""A proxy that changes answers: what a comparison has to find, and what a client has to survive."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable

from tests.gateway.wire.codec import Message, decode, encode, flexible
from tests.kafka.frame_proxy import FrameProxy, read_frame

#: Gives the changed answer, or None to pass it on as it is.
Change = Callable[[int, int, Message], Message | None]


class Mutator(FrameProxy):
    """Changes answers of one API."""

    def __init__(self, server: str, key: int, change: Change) -> None:
        host, _, port = server.rpartition(":")
        self.changed = 0
        self._key = key
        self._change = change
        super().__init__((host, int(port)))

    def exchange(self, request: bytes, client: socket.socket, server: socket.socket) -> bool:
        """See :class:`FrameProxy`."""
        server.sendall(request)
        client.sendall(self._changed(request, read_frame(server)))
        return True

    def _changed(self, request: bytes, answer: bytes) -> bytes:
        key, version = struct.unpack_from(">hh", request, 4)
        if key != self._key:
            return answer
        head = 4 + 4 + flexible(key, version)
        message = self._change(key, version, decode(key, version, answer[head:], response=True))
        if message is None:
            return answer
        self.changed += 1
        body = answer[4:head] + encode(key, version, message, response=True)
        return struct.pack(">i", len(body)) + body
