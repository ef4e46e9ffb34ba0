"""One client: requests come in, answers go out in their order.

The next request of a connection is begun when the one before it is answered, as Kafka does by muting the channel (R7): a
ShareAcknowledge that followed a waiting ShareFetch at once would move the epoch of the session on under it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from share_state.errors import ShareStateError
from share_state.gateway.requests import Client
from share_state.kafka.framing import Frames

__all__ = ["ClientConnection"]

_LOG: Final = logging.getLogger("share_state.gateway")
#: Requests of one connection that may wait; no more is read then.
_MAX_WAITING: Final = 16

#: Answers a request, given as a frame without its length; ``None`` closes the connection once what came before is sent.
Respond = Callable[[Client, bytes], Awaitable[bytes | None]]


class ClientConnection(Frames):
    """The protocol of one connection.

    Args:
        client: who is at the other side.
        respond: answers a request.
        closed: called once when the connection has ended.
        max_frame: bytes that a request may have.
    """

    def __init__(self, client: Client, respond: Respond, closed: Callable[[ClientConnection], None], max_frame: int) -> None:
        super().__init__(max_frame, self._arrived_frame, self._over)
        self.client = client
        self.is_open = True
        #: When the last request came (``time.monotonic()``).
        self.active_at = time.monotonic()
        self._respond = respond
        self._closed = closed
        self._requests: deque[bytes] = deque()
        self._task: asyncio.Task[None] | None = None
        self._out: asyncio.Transport | None = None
        self._is_paused = False
        self._may_write = asyncio.Event()
        self._may_write.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        super().connection_made(transport)
        if isinstance(transport, asyncio.Transport):
            self._out = transport

    def pause_writing(self) -> None:
        """See :class:`asyncio.BaseProtocol`: the client reads more slowly than it asks."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """See :class:`asyncio.BaseProtocol`."""
        self._may_write.set()

    def close(self) -> None:
        """Close the connection."""
        if self._out is not None:
            self._out.abort()

    async def finish(self) -> None:
        """Send the answer that is being worked out, then close."""
        self._requests.clear()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=5.0)
        if self._out is not None and not self._out.is_closing():
            self._out.close()

    def _arrived_frame(self, payload: bytes) -> None:
        self.active_at = time.monotonic()
        self._requests.append(payload)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._serve())
        elif len(self._requests) >= _MAX_WAITING and not self._is_paused and self._out is not None:
            self._is_paused = True
            self._out.pause_reading()

    async def _serve(self) -> None:
        try:
            while self._requests and self._out is not None:
                payload = self._requests.popleft()
                if self._is_paused and not self._requests:
                    self._is_paused = False
                    self._out.resume_reading()
                answer = await self._respond(self.client, payload)
                if self._out.is_closing():
                    return
                if answer is None:
                    self._out.close()
                    return
                if answer:
                    self._out.write(answer)
                    if not self._may_write.is_set():
                        await self._may_write.wait()
        except ShareStateError as wrong:
            _LOG.warning(
                "closed the connection of %r at %s (%r): %s", self.client.client_id, self.client.host, self.client.software, wrong
            )
            self.close()
        except Exception:  # noqa: BLE001
            # A bug of ours: this client loses its connection and comes back, the others see nothing.
            _LOG.exception("the connection of %r at %s ends", self.client.client_id, self.client.host)
            self.close()
        finally:
            self._task = None

    def _over(self, why: Exception | None, within: bool) -> None:
        if not self.is_open:
            return
        self.is_open = False
        if isinstance(why, ShareStateError):
            _LOG.warning("closed the connection of %s: %s", self.client.host, why)
        else:
            _LOG.debug("%s went away%s: %s", self.client.host, " within a request" if within else "", why)
        self._may_write.set()
        if self._task is not None:
            self._task.cancel()
        self._closed(self)
