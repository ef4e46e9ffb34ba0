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
from share_state.gateway.certificate_names import subject_of
from share_state.gateway.connection import ClientConnection, Serving
from share_state.gateway.requests import Client
from share_state.kafka.client.peers import Address
from share_state.util.admission import ACCEPTED_AT_ONCE, Admission, listen_longer
from share_state.util.closing import stop_accepting

__all__ = ["Server"]

_LOG: Final = logging.getLogger("share_state.gateway.clients")
#: Seconds between two looks for connections that take too long; shorter where they may not take that long.
_SWEEP: Final = 10.0


class Server:
    """Takes connections.

    Args:
        serving: what connections have in common.
        met: called with the client of a connection that has begun.
        gone: called with the client of a connection that has ended.
        access: what principals may do.
        admission: counts the connections.
        ssl_context: for TLS.
    """

    def __init__(
        self,
        serving: Serving,
        met: Callable[[Client], None],
        gone: Callable[[Client], None],
        access: Access,
        admission: Admission,
        *,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        self._serving = serving
        self._met = met
        self._gone = gone
        self._access = access
        self._admission = admission
        self._ssl_context = ssl_context
        #: Those that are not over TLS yet count too.
        self._arrivals: set[_Arrival] = set()
        self._connections: set[ClientConnection] = set()
        self._numbers = itertools.count(1)
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        limits = serving.limits
        self._interval = min(_SWEEP, limits.frame_time / 4, limits.answer_time / 4, limits.login_time / 4, limits.idle / 4)
        self.accepted = 0
        self.refused = 0
        self.tls_failed = 0

    @property
    def connections(self) -> int:
        """How many connections there are."""
        return self._admission.total

    async def start(self, host: str, port: int) -> Address:
        """Listen, and give the address.

        Raises:
            OSError: the address cannot be listened on.
        """
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accept, host, port, backlog=ACCEPTED_AT_ONCE)
        listen_longer(self._server)
        name = self._server.sockets[0].getsockname()
        self._sweep()
        return Address(name[0], name[1])

    async def close(self) -> None:
        """Take no more connections, and close each when its answer is sent."""
        if self._server is not None:
            await stop_accepting(self._server)
        if self._sweeper is not None:
            self._sweeper.cancel()
        for arrival in list(self._arrivals):
            arrival.abort()
        await asyncio.gather(*(connection.finish() for connection in list(self._connections)))
        for connection in list(self._connections):
            connection.close()

    def _accept(self) -> asyncio.Protocol:
        return _Arrival(self)

    def arrived(self, arrival: _Arrival, transport: asyncio.Transport) -> None:
        """Take a connection of TCP, or close it where there are too many."""
        host = _host(transport)
        refusal = self._admission.enter(host)
        if refusal is not None:
            self.refused += 1
            _LOG.warning("%s: closed a new one: host=%s", refusal, host)
            transport.abort()
            return
        self.accepted += 1
        if self._ssl_context is None:
            self._connect(transport)
            return
        self._arrivals.add(arrival)
        transport.pause_reading()
        arrival.task = asyncio.get_running_loop().create_task(self._agree(arrival, transport, self._ssl_context))

    async def _agree(self, arrival: _Arrival, transport: asyncio.Transport, context: ssl.SSLContext) -> None:
        """Agree on TLS with a client."""
        host, begun = _host(transport), False
        connection = self._made(transport)
        try:
            secured = await asyncio.get_running_loop().start_tls(
                transport, connection, context, server_side=True, ssl_handshake_timeout=self._serving.limits.login_time
            )
            if secured is None or secured.is_closing():
                # It went away meanwhile.
                return
            shown = secured.get_extra_info("ssl_object").getpeercert(binary_form=True)
            if shown is not None:
                principal = f"User:{subject_of(shown)}"
                if (refusal := self._admission.know(principal)) is not None:
                    self.refused += 1
                    _LOG.warning("%s: closed a new one: principal=%r host=%s", refusal, principal, host)
                    secured.abort()
                    return
                connection.client.principal = principal
            begun = True
            self._begin(connection, secured)
        except (OSError, ssl.SSLError) as wrong:
            self.tls_failed += 1
            _LOG.warning("TLS handshake failed: %s: host=%s", wrong, host)
            transport.abort()
        except Exception:  # noqa: BLE001
            _LOG.exception("TLS handshake failed: host=%s", host)
            transport.abort()
        finally:
            self._arrivals.discard(arrival)
            if not begun:
                self._admission.leave(host)

    def _connect(self, transport: asyncio.Transport) -> None:
        connection = self._made(transport)
        transport.set_protocol(connection)
        self._begin(connection, transport)

    def _made(self, transport: asyncio.Transport) -> ClientConnection:
        here = transport.get_extra_info("sockname")
        address = Address(here[0], here[1]) if here else Address("", 0)
        client = Client(next(self._numbers), _host(transport), address, self._access)
        return ClientConnection(client, self._serving, self._closed)

    def _begin(self, connection: ClientConnection, transport: asyncio.Transport) -> None:
        self._met(connection.client)
        self._connections.add(connection)
        connection.connection_made(transport)

    def _closed(self, connection: ClientConnection) -> None:
        self._connections.discard(connection)
        self._admission.leave(connection.client.host, connection.client.principal)
        self._gone(connection.client)

    def _sweep(self) -> None:
        now = time.monotonic()
        for connection in list(self._connections):
            connection.check(now)
        self._sweeper = asyncio.get_running_loop().call_later(self._interval, self._sweep)


def _host(transport: asyncio.Transport) -> str:
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


class _Arrival(asyncio.Protocol):
    """A connection of TCP, before anything is known of it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
            self._server.arrived(self, transport)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
