"""TLS handshakes of a server: connections that are not connections yet, so that they have bounds of their own."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from functools import partial
from typing import Final

from share_state.util.closing import cancel_all

__all__ = ["Handshakes"]

_LOG: Final = logging.getLogger("share_state.handshakes")


class Handshakes:
    """Agrees on TLS with clients. One handshake too many ends the one that began first, so nobody is shut out by silent ones.

    Args:
        tls: for TLS; None for connections without.
        seconds: the time of a handshake.
        most: the number of handshakes at once.
    """

    def __init__(self, tls: ssl.SSLContext | None, *, seconds: float, most: int) -> None:
        self._tls = tls
        self._seconds = seconds
        self._most = most
        #: Handshakes that are going on, in the order in which they began.
        self._open: dict[asyncio.Task[None], None] = {}

    def before(self, make: Callable[[], asyncio.Protocol]) -> Callable[[], asyncio.Protocol]:
        """Return what makes the protocols of a server: those that ``make`` gives, once there is TLS."""
        return make if self._tls is None else lambda: _Arrival(self, make)

    def begin(self, transport: asyncio.Transport, make: Callable[[], asyncio.Protocol]) -> None:
        """Agree on TLS with the client that is at the other side of a connection."""
        if self._tls is None:
            return
        transport.pause_reading()
        task = asyncio.get_running_loop().create_task(self._agree(transport, make, self._tls))
        self._open[task] = None
        task.add_done_callback(partial(self._ended, transport))
        if len(self._open) > self._most:
            # Each of many that come at once ends another one.
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.cancel()

    async def _agree(self, transport: asyncio.Transport, make: Callable[[], asyncio.Protocol], tls: ssl.SSLContext) -> None:
        early = _Early()
        try:
            secured = await asyncio.get_running_loop().start_tls(
                transport, early, tls, server_side=True, ssl_handshake_timeout=self._seconds
            )
        except (OSError, ssl.SSLError) as wrong:
            _LOG.debug("no TLS: %s", wrong)
            transport.abort()
        else:
            if secured is not None:
                early.hand_over(secured, make())

    def _ended(self, transport: asyncio.Transport, task: asyncio.Task[None]) -> None:
        self._open.pop(task, None)
        # One too many of those that come at once ends another before that has begun.
        if task.cancelled():
            transport.abort()

    async def close(self) -> None:
        """End those that are going on."""
        await cancel_all(list(self._open))


class _Arrival(asyncio.Protocol):
    """A connection of TCP, before anything is known of it."""

    def __init__(self, handshakes: Handshakes, make: Callable[[], asyncio.Protocol]) -> None:
        self._handshakes = handshakes
        self._make = make

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._handshakes.begin(transport, self._make)


class _Early(asyncio.Protocol):
    """Keeps what comes together with the end of a handshake: the first request may."""

    def __init__(self) -> None:
        self._data = b""
        self._is_over = False
        self._lost: list[Exception | None] = []

    def data_received(self, data: bytes) -> None:
        self._data += data

    def eof_received(self) -> None:
        self._is_over = True

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.append(exc)

    def hand_over(self, transport: asyncio.Transport, protocol: asyncio.Protocol) -> None:
        """Have a protocol go on."""
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if self._data:
            protocol.data_received(self._data)
        if self._is_over:
            protocol.eof_received()
        for why in self._lost:
            protocol.connection_lost(why)
