"""A proxy of bytes: connections that end between any two of them, and bytes that are late."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

_CHUNK: Final = 65536

#: Towards the client, and towards the server.
Pair = tuple[socket.socket, socket.socket]


class TcpProxy:
    """Passes bytes on, both ways; a context manager.

    Args:
        server: whom it stands before; may be set later, before the first client comes.
    """

    def __init__(self, server: tuple[str, int] | None = None) -> None:
        self.server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        #: The two ends of each connection, by the thread that closes them.
        self._pairs: dict[threading.Thread, Pair] = {}
        #: Answers still pass so many bytes before their connections end; None while nothing is to end.
        self._left: int | None = None
        self._flows = threading.Event()
        self._flows.set()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def bootstrap(self) -> str:
        """Address to which clients connect."""
        return f"127.0.0.1:{self._listening.getsockname()[1]}"

    def cut(self) -> None:
        """End every connection now."""
        with self._lock:
            pairs = list(self._pairs.values())
        for pair in pairs:
            _end(pair)

    def cut_after(self, count: int) -> None:
        """End the connection of the next answers after so many bytes of them: a client is left with half of one."""
        with self._lock:
            self._left = count

    def hold(self) -> None:
        """Let no byte pass until :meth:`release`."""
        self._flows.clear()

    def release(self) -> None:
        """Let what waits pass."""
        self._flows.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        # Not only close: the port stays open while a thread waits in accept.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listening.close()
        self.release()
        self.cut()
        with self._lock:
            threads = list(self._pairs)
        for thread in threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                assert self.server is not None
                server = socket.create_connection(self.server)
            except OSError:
                # The server is away.
                client.close()
                continue
            pair = (client, server)
            serving = threading.Thread(target=self._serve, args=(pair,), daemon=True)
            with self._lock:
                self._pairs[serving] = pair
            serving.start()

    def _serve(self, pair: Pair) -> None:
        client, server = pair
        answers = threading.Thread(target=self._pass, args=(pair, server, client), kwargs={"answers": True}, daemon=True)
        # Closed by one thread, and when no other has them in its hands: their numbers are given to other files at once.
        with client, server:
            with suppress(OSError):
                for held in pair:
                    held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            answers.start()
            self._pass(pair, client, server, answers=False)
            answers.join()
        with self._lock:
            del self._pairs[threading.current_thread()]

    def _pass(self, pair: Pair, source: socket.socket, sink: socket.socket, *, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                self._flows.wait()
                most = self._take(len(data)) if answers else len(data)
                sink.sendall(data[:most])
                if most < len(data):
                    break
        _end(pair)

    def _take(self, wanted: int) -> int:
        """Number of bytes of an answer that pass."""
        with self._lock:
            if self._left is None or wanted <= self._left:
                if self._left is not None:
                    self._left -= wanted
                return wanted
            passed, self._left = self._left, None
            return passed


def _end(pair: Pair) -> None:
    """Both ways; whoever reads or writes is told."""
    for held in pair:
        with suppress(OSError):
            held.shutdown(socket.SHUT_RDWR)
