"""A small HTTP server for pages that an operator's tools read: GET and HEAD, one request a connection."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from share_state.errors import ShareStateError
from share_state.kafka.client.peers import Address
from share_state.operate.monitoring.basic_login import CHALLENGE, may
from share_state.util.admission import ACCEPTED_AT_ONCE, connections_allowed, listen_longer
from share_state.util.closing import cancel_all, stop_accepting
from share_state.util.handshakes import Handshakes

__all__ = ["TEXT", "HttpServer", "Page", "Request"]

_LOG: Final = logging.getLogger("share_state.monitoring")
#: Bytes of a request's head, seconds that one may take, and connections at once, if the limit of open files leaves room for them.
#: One more ends the one that has been silent for longest, so nobody is shut out by connections that ask nothing.
_MAX_HEAD: Final = 8192
_TIME: Final = 5.0
_MAX_CONNECTIONS: Final = 32
TEXT: Final = "text/plain; charset=utf-8"


class Page(NamedTuple):
    """Page that answers a request."""

    body: bytes
    content_type: str = TEXT
    status: str = "200 OK"


class Request(NamedTuple):
    """Request for a page: the head without its first line, names in lower case."""

    headers: Mapping[str, str]


class HttpServer:
    """Serves pages.

    Args:
        pages: by path, what makes the answer.
        tls: for HTTPS; None for HTTP.
        users: passwords by name, where a login is asked for (basic authentication).
        open_pages: paths that need no login.
    """

    def __init__(
        self,
        pages: Mapping[str, Callable[[Request], Awaitable[Page]]],
        *,
        tls: ssl.SSLContext | None = None,
        users: Mapping[str, str] | None = None,
        open_pages: frozenset[str] = frozenset(),
    ) -> None:
        self._pages = pages
        self._tls = tls
        self._handshakes = Handshakes(tls, seconds=_TIME, most=_MAX_CONNECTIONS)
        self._users = users
        self._open_pages = open_pages
        self._server: asyncio.Server | None = None
        self._most = _MAX_CONNECTIONS
        self._clients: set[asyncio.Task[None]] = set()
        #: Connections whose request has not arrived, in the order in which they came.
        self._silent: dict[asyncio.Task[None], None] = {}

    async def start(self, host: str, port: int) -> Address:
        """Listen, and give the address.

        Raises:
            OSError: the address cannot be listened on.
        """
        # A handshake is no connection yet, and has a descriptor too.
        self._most = connections_allowed(_MAX_CONNECTIONS, _LOG, descriptors=1 if self._tls is None else 2)
        self._handshakes = Handshakes(self._tls, seconds=_TIME, most=self._most)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._handshakes.before(self._protocol), host, port, backlog=ACCEPTED_AT_ONCE)
        listen_longer(self._server)
        name = self._server.sockets[0].getsockname()
        return Address(name[0], name[1])

    async def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            await stop_accepting(self._server)
        await self._handshakes.close()
        await cancel_all(self._clients)

    def _protocol(self) -> asyncio.Protocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(_MAX_HEAD), self._client)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._clients.add(task)
            task.add_done_callback(self._ended)
            self._silent[task] = None
        if len(self._clients) > self._most:
            # Each of many that come at once ends another one.
            oldest = next(iter(self._silent))
            del self._silent[oldest]
            oldest.cancel()
        try:
            async with asyncio.timeout(_TIME):
                head = await reader.readuntil(b"\r\n\r\n")
            if task is not None:
                self._silent.pop(task, None)
            writer.write(await self._answer(head))
            async with asyncio.timeout(_TIME):
                await writer.drain()
            writer.close()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as wrong:
            _LOG.debug("not an HTTP request: %s", wrong)
        except asyncio.CancelledError:
            # By close(), or by one too many: the task ends here, and asyncio has nobody to tell.
            _LOG.debug("closed a connection")
        finally:
            if not writer.is_closing():
                writer.transport.abort()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._clients.discard(task)
        self._silent.pop(task, None)

    async def _answer(self, head: bytes) -> bytes:
        first, _, rest = head.partition(b"\r\n")
        method, _, target = first.partition(b" ")
        path = target.partition(b" ")[0].partition(b"?")[0].decode("ascii", "replace")
        if method not in {b"GET", b"HEAD"}:
            return _response(Page(b"only GET and HEAD\n", status="405 Method Not Allowed"))
        request = Request(_headers(rest))
        if path not in self._open_pages and not may(self._users, request.headers.get("authorization", "")):
            refused = Page(b"a login is needed\n", status="401 Unauthorized")
            return _response(refused, f"WWW-Authenticate: {CHALLENGE}\r\n")
        page = self._pages.get(path)
        try:
            if page is None:
                listed = ", ".join(self._pages) + "\n"
                found = Page(listed.encode(), status="404 Not Found")
            else:
                found = await page(request)
        except ShareStateError as wrong:
            _LOG.warning("%s was not answered: %s", path, wrong)
            found = Page(b"see the log\n", status="500 Internal Server Error")
        return _response(found, is_head=method == b"HEAD")


def _headers(lines: bytes) -> dict[str, str]:
    pairs = (line.partition(b":") for line in lines.split(b"\r\n") if line)
    return {name.decode("latin-1").strip().lower(): value.decode("latin-1").strip() for name, _, value in pairs}


def _response(page: Page, more: str = "", *, is_head: bool = False) -> bytes:
    head = (
        f"HTTP/1.1 {page.status}\r\nContent-Type: {page.content_type}\r\nContent-Length: {len(page.body)}\r\n"
        f"{more}Connection: close\r\n\r\n"
    )
    return head.encode("ascii") + (b"" if is_head else page.body)
