"""A proxy before a real broker that cuts connections at a place of the test's choice."""

from __future__ import annotations

import socket
import struct
from collections import deque
from enum import Enum

from tests.kafka.frame_proxy import FrameProxy, read_frame


class Cut(Enum):
    """Place in an exchange where a connection ends."""

    #: The broker gets half of the request.
    IN_THE_REQUEST = "in the request"
    #: The broker has answered, and the answer is lost.
    BEFORE_THE_ANSWER = "before the answer"
    #: The client gets half of the answer.
    IN_THE_ANSWER = "in the answer"


class Proxy(FrameProxy):
    """Makes ``cuts`` at the next requests of the kind ``at``."""

    def __init__(self, port: int, broker_port: int, at: int) -> None:
        self.cuts: deque[Cut] = deque()
        self.passed = 0
        self._at = at
        super().__init__(("127.0.0.1", broker_port), port)

    def exchange(self, request: bytes, client: socket.socket, server: socket.socket) -> bool:
        """See :class:`FrameProxy`."""
        (api_key,) = struct.unpack_from(">h", request, 4)
        cut = self.cuts.popleft() if api_key == self._at and self.cuts else None
        if cut is Cut.IN_THE_REQUEST:
            server.sendall(request[: len(request) // 2])
            return False
        server.sendall(request)
        answer = read_frame(server)
        if cut is Cut.IN_THE_ANSWER:
            client.sendall(answer[: len(answer) // 2])
        if cut is not None:
            return False
        client.sendall(answer)
        self.passed += 1
        return True
