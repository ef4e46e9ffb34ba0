"""A proxy that changes answers: what a comparison has to find, and what a client has to survive."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.gateway.wire.codec import Message, decode, encode, flexible

#: Gives the changed answer, or None to pass it on as it is.
Change = Callable[[int, int, Message], Message | None]


class Mutator:
    """Passes requests on one at a time for each connection, and changes answers of one API; a context manager."""

    def __init__(self, server: str, key: int, change: Change) -> None:
        host, _, port = server.rpartition(":")
        self.changed = 0
        self._server = (host, int(port))
        self._key = key
        self._change = change
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def bootstrap(self) -> str:
        """Where clients connect."""
        return f"127.0.0.1:{self._listening.getsockname()[1]}"

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
                server = socket.create_connection(self._server)
                self._open += [client, server]
                thread = threading.Thread(target=self._serve, args=(client, server), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError, EOFError):
            while True:
                request = _frame(client)
                server.sendall(request)
                client.sendall(self._changed(request, _frame(server)))
        _end(client)
        _end(server)

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
