"""Connection of a browser, which is to ask for something in time."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

__all__ = ["HEAD_SECONDS", "MAX_CONNECTIONS", "PageConnection"]

#: Connections at once, if the limit of open files leaves room for them. One more ends the one that has been silent for longest,
#: so nobody is shut out by those who ask nothing.
MAX_CONNECTIONS: Final = 128
#: Seconds until the head of a request has arrived, from the start of the connection or the answer before it; and for the TLS
#: handshake.
HEAD_SECONDS = 10.0


class PageConnection(H11Protocol):
    """A connection of uvicorn that ends where the head of a request does not come."""

    #: Since when it has been silent (``time.monotonic()``); ``None`` while it is answered.
    silent_since: float | None = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """See :class:`asyncio.Protocol`."""
        super().connection_made(transport)
        self._look()
        # The limit of uvicorn is one more, beyond which it refuses requests.
        if len(self.connections) >= (self.limit_concurrency or MAX_CONNECTIONS + 1):
            # At least this one is silent.
            silent = (one for one in self.connections if isinstance(one, PageConnection) and one.silent_since is not None)
            min(silent, key=lambda one: one.silent_since or 0.0).give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """See :class:`asyncio.Protocol`."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._look()

    def _look(self) -> None:
        """Begin or end to count the time without a request."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._stop()
        elif self._timer is None and not self.transport.is_closing():
            self.silent_since = time.monotonic()
            self._timer = self.loop.call_later(HEAD_SECONDS, self.give_up)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = self.silent_since = None

    def give_up(self) -> None:
        """Close the connection."""
        self._stop()
        self.connections.discard(self)
        self.transport.abort()
