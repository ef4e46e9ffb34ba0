"""Serves the pages until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

import uvicorn

from share_state.kafka.client.peers import Address
from share_state.operate.web.connection import HEAD_SECONDS, MAX_CONNECTIONS, PageConnection
from share_state.util.admission import ACCEPTED_AT_ONCE, connections_allowed, listen_longer
from share_state.util.handshakes import Handshakes

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["PageServer"]

_LOG: Final = logging.getLogger("share_state.web")
#: Bytes of a request's head, and seconds for what is being answered when the server is told to stop.
_MAX_HEAD: Final = 16_384
_END_S: Final = 3


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, handshakes: Handshakes) -> None:
        super().__init__(config)
        self._handshakes = handshakes

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen: what uvicorn takes for a class of protocols makes one once there is TLS."""
        made = self.config.http_protocol_class
        self.config.http_protocol_class = lambda **of_uvicorn: self._handshakes.before(partial(made, **of_uvicorn))()  # type: ignore[assignment]
        await super().startup(sockets)
        for server in self.servers:
            listen_longer(server)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        await self._handshakes.close()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command: it ends with a status of its own."""
        yield


class PageServer:
    """A server of an application.

    Args:
        app: the application.
        tls: for HTTPS; None for HTTP.
    """

    def __init__(self, app: ASGIApp, tls: ssl.SSLContext | None) -> None:
        # A handshake is no connection yet, and has a descriptor too.
        allowed = connections_allowed(MAX_CONNECTIONS, _LOG, descriptors=1 if tls is None else 2)
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=PageConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            # The application believes only the proxies that it was told of.
            proxy_headers=False,
            server_header=False,
            limit_concurrency=allowed + 1,
            backlog=ACCEPTED_AT_ONCE,
            h11_max_incomplete_event_size=_MAX_HEAD,
            timeout_graceful_shutdown=_END_S,
        )
        config.load()
        self._server = _Server(config, Handshakes(tls, seconds=HEAD_SECONDS, most=allowed))
        self._sockets: list[socket.socket] = []

    def listen(self, host: str, port: int) -> Address:
        """Take the address, and give it with the port that it got.

        Raises:
            OSError: the address cannot be listened on.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in dict.fromkeys(found):
            # A name may have an address of each family: all get the same port.
            place = (address[0], self._sockets[0].getsockname()[1] if self._sockets else address[1], *address[2:])
            one = socket.socket(family, kind, protocol)
            self._sockets.append(one)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                one.bind(place)
                # Whoever comes before the first view waits.
                one.listen()
            except OSError:
                self.close()
                raise
        name = self._sockets[0].getsockname()
        return Address(name[0], name[1])

    def close(self) -> None:
        """Give the address back."""
        for one in self._sockets:
            one.close()
        self._sockets.clear()

    async def serve(self, stop: asyncio.Event) -> None:
        """Serve until an event is set."""
        loop = asyncio.get_running_loop()
        serving = loop.create_task(self._server.serve(self._sockets))
        stopping = loop.create_task(stop.wait())
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        self._server.should_exit = True
        stopping.cancel()
        await serving
