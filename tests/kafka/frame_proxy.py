"""Base of every proxy before a real broker: it passes frames on, one request at a time for each connection."""

from __future__ import annotations

import socket
import struct
import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from types import TracebackType
from typing import Self


class FrameProxy(ABC):
    """Passes requests and answers on, one at a time for each connection; a context manager.

    Args:
        server: whom it stands before.
        port: where it listens; 0 takes any that is free.
    """

    def __init__(self, server: tuple[str, int], port: int = 0) -> None:
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", port))
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def bootstrap(self) -> str:
        """Address to which clients connect."""
        return f"127.0.0.1:{self._listening.getsockname()[1]}"

    @abstractmethod
    def exchange(self, request: bytes, client: socket.socket, server: socket.socket) -> bool:
        """Pass a request on, a frame with its length, and its answer back; whether the connection goes on."""

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
            while self.exchange(read_frame(client), client, server):
                pass
        _end(client)
        _end(server)


def read_frame(held: socket.socket) -> bytes:
    """The next frame, with its length.

    Raises:
        EOFError: the other side has ended.
    """
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
