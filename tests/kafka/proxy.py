"""A proxy before a real broker that cuts connections at a place of the test's choice."""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import Self


class Cut(Enum):
    """Where a connection ends."""

    #: The broker gets half of the request.
    IN_THE_REQUEST = "in the request"
    #: The broker has answered, and the answer is lost.
    BEFORE_THE_ANSWER = "before the answer"
    #: The client gets half of the answer.
    IN_THE_ANSWER = "in the answer"


class Proxy:
    """Passes requests and answers on, one at a time; ``cuts`` are made at the next requests of the kind ``at``."""

    def __init__(self, port: int, broker_port: int, at: int) -> None:
        self.cuts: deque[Cut] = deque()
        self.passed = 0
        self._at = at
        self._broker = ("127.0.0.1", broker_port)
        self._listening = socket.create_server(("127.0.0.1", port))
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        for held in (self._listening, *self._open):
            _end(held)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                broker = socket.create_connection(self._broker)
                self._open += [client, broker]
                thread = threading.Thread(target=self._serve, args=(client, broker), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket, broker: socket.socket) -> None:
        with suppress(OSError, EOFError):
            while True:
                request = _frame(client)
                (api_key,) = struct.unpack_from(">h", request, 4)
                cut = self.cuts.popleft() if api_key == self._at and self.cuts else None
                if cut is Cut.IN_THE_REQUEST:
                    broker.sendall(request[: len(request) // 2])
                    break
                broker.sendall(request)
                answer = _frame(broker)
                if cut is Cut.IN_THE_ANSWER:
                    client.sendall(answer[: len(answer) // 2])
                if cut is not None:
                    break
                client.sendall(answer)
                self.passed += 1
        _end(client)
        _end(broker)


def _frame(held: socket.socket) -> bytes:
    head = _exactly(held, 4)
    return head + _exactly(held, struct.unpack(">i", head)[0])


def _exactly(held: socket.socket, count: int) -> bytes:
    data = held.recv(count, socket.MSG_WAITALL)
    if len(data) < count:
        raise EOFError
    return data


def _end(held: socket.socket) -> None:
    with suppress(OSError):
        held.shutdown(socket.SHUT_RDWR)
    held.close()
