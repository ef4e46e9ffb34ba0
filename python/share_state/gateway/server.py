"""The listener: who may connect, and how many."""

from __future__ import annotations

import asyncio
import itertools
import logging
import ssl
import time
from collections.abc import Callable
from typing import Final

from share_state.gateway.access import Access
from share_state.gateway.connection import ClientConnection, Respond
from share_state.gateway.requests import Client
from share_state.kafka.peers import Address

__all__ = ["Server"]

_LOG: Final = logging.getLogger("share_state.gateway")
#: Seconds between two looks for connections that have been silent for too long.
_SWEEP: Final = 30.0


class Server:
    """Takes connections.

    Args:
        respond: answers a request.
        gone: called with the client of a connection that has ended.
        access: what principals may do.
        ssl_context: for TLS.
        max_frame: bytes of a request.
        max_connections: so many clients at once; one more is closed at once.
        max_idle: seconds without a request after which a connection is closed (``connections.max.idle.ms``).
    """

    def __init__(
        self,
        respond: Respond,
        gone: Callable[[Client], None],
        access: Access,
        *,
        ssl_context: ssl.SSLContext | None,
        max_frame: int,
        max_connections: int,
        max_idle: float,
    ) -> None:
        self._respond = respond
        self._gone = gone
        self._access = access
        self._ssl_context = ssl_context
        self._max_frame = max_frame
        self._max_connections = max_connections
        self._max_idle = max_idle
        self._connections: set[ClientConnection] = set()
        self._numbers = itertools.count(1)
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        self.refused = 0

    @property
    def connections(self) -> int:
        """How many connections there are."""
        return len(self._connections)

    async def start(self, host: str, port: int) -> Address:
        """Listen, and give the address.

        Raises:
            OSError: the address cannot be listened on.
        """
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accept, host, port, ssl=self._ssl_context, backlog=1024)
        name = self._server.sockets[0].getsockname()
        self._sweep()
        return Address(name[0], name[1])

    async def close(self) -> None:
        """Take no more connections, and close each when its answer is sent."""
        if self._server is not None:
            self._server.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        await asyncio.gather(*(connection.finish() for connection in list(self._connections)))
        for connection in list(self._connections):
            connection.close()

    def _accept(self) -> asyncio.Protocol:
        client = Client(next(self._numbers), "", Address("", 0), self._access)
        connection = _Accepted(client, self._respond, self._closed, self._max_frame)
        if len(self._connections) >= self._max_connections:
            self.refused += 1
            _LOG.warning("there are %d connections already: one more is closed", len(self._connections))
            connection.is_welcome = False
        else:
            self._connections.add(connection)
        return connection

    def _closed(self, connection: ClientConnection) -> None:
        self._connections.discard(connection)
        self._gone(connection.client)

    def _sweep(self) -> None:
        silent_since = time.monotonic() - self._max_idle
        for connection in list(self._connections):
            if connection.active_at < silent_since:
                connection.close()
        self._sweeper = asyncio.get_running_loop().call_later(_SWEEP, self._sweep)


class _Accepted(ClientConnection):
    """A connection that learns who it is of when it is made."""

    is_welcome = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer, here = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        self.client.host = str(peer[0]) if peer else ""
        self.client.here = Address(here[0], here[1]) if here else Address("", 0)
        if not self.is_welcome:
            self.close()
