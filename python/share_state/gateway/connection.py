"""One client: requests come in, answers go out in their order.

The next request of a connection is begun when the one before it is answered, as Kafka does by muting the channel (R7): a
ShareAcknowledge that followed a waiting ShareFetch at once would move the epoch of the session on under it. An answer counts
as given when the operating system has taken all of it, so no more than one is in memory for a client that reads slowly.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from share_state.errors import ShareStateError
from share_state.gateway.limits import AnswerBytes, Limits
from share_state.gateway.requests import Client
from share_state.kafka.framing import Frames
from share_state.kafka.queued_bytes import QueuedBytes

__all__ = ["ClientConnection", "Respond", "Serving"]

_LOG: Final = logging.getLogger("share_state.gateway.clients")
#: Requests of one connection that may wait; no more is read then.
_MAX_WAITING: Final = 16
#: Bytes that a transport is given at once, and one over TLS.
_PIECE: Final = 256 << 10
_PIECE_OF_TLS: Final = 64 << 10

#: Answers a request, given as a frame without its length; ``None`` closes the connection once what came before is sent.
Respond = Callable[[Client, bytes], Awaitable[bytes | None]]


class Serving(NamedTuple):
    """What all connections have in common.

    Attributes:
        respond: answers a request.
        longest: gives the bytes that a request of a client may have, by its API key.
        limits: what a client may take up.
        queued: counts bytes of requests.
        answers: counts bytes of answers.
        taken: called with a client and the bytes of an answer, once the operating system has taken all of it.
    """

    respond: Respond
    longest: Callable[[Client, int | None], int]
    limits: Limits
    queued: QueuedBytes
    answers: AnswerBytes
    taken: Callable[[Client, int], None]


class ClientConnection(Frames):
    """The protocol of one connection.

    Args:
        client: who is at the other side.
        serving: what it has in common with others.
        closed: called once when the connection has ended.
    """

    def __init__(self, client: Client, serving: Serving, closed: Callable[[ClientConnection], None]) -> None:
        super().__init__(serving.limits.frame, self._arrived_frame, self._over)
        self.client = client
        self.is_open = True
        #: When the last request came (``time.monotonic()``); then, since when one has been coming, and one answer going.
        self.active_at = self.opened_at = time.monotonic()
        self._frame_since: float | None = None
        self._answer_since: float | None = None
        self._serving = serving
        self._closed = closed
        self._requests: deque[bytes] = deque()
        self._task: asyncio.Task[None] | None = None
        self._out: asyncio.Transport | None = None
        self._is_paused = False
        self._is_secured = False
        self._may_write = asyncio.Event()
        self._may_write.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        super().connection_made(transport)
        if isinstance(transport, asyncio.Transport):
            self._out = transport
            # Writing is paused as long as anything is unsent, so that it can be counted. Not 0: a transport over TLS compares
            # by "at least", and would be paused forever.
            transport.set_write_buffer_limits(high=1, low=0)
            self._is_secured = transport.get_extra_info("sslcontext") is not None
            # Over TLS the first request may have come together with the end of the handshake.
            self.cut()
            self._look_at_rest()

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`."""
        self._serving.queued.add(self, len(data))
        super().data_received(data)
        self._look_at_rest()

    def may_take(self) -> bool:
        """See :class:`Frames`."""
        return self._out is not None and len(self._requests) < _MAX_WAITING

    def longest(self, api_key: int | None) -> int:
        """See :class:`Frames`."""
        return self._serving.longest(self.client, api_key)

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

    def cut_off(self, why: str) -> None:
        """Close the connection because of something that the client does, and say what."""
        if self.is_open:
            _LOG.warning("closed a connection: %s: %s", why, self.client)
            self.close()

    def check(self, now: float) -> None:
        """Close the connection if something takes the client too long."""
        limits = self._serving.limits
        if self._frame_since is not None and self._frame_since < now - limits.frame_time:
            self.cut_off(f"a request has not arrived within {limits.frame_time:g} s")
        elif self._answer_since is not None and self._answer_since < now - limits.answer_time:
            self.cut_off(f"an answer was not taken within {limits.answer_time:g} s")
        elif self.client.login is not None and self.opened_at < now - limits.login_time:
            self.cut_off(f"it has not logged in within {limits.login_time:g} s")
        elif self._task is None and self.active_at < now - limits.idle:
            _LOG.debug("closed a silent connection: %s", self.client)
            self.close()

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
        elif not self._is_paused and self._out is not None and not self.may_take():
            self._is_paused = True
            self._out.pause_reading()

    def _look_at_rest(self) -> None:
        """Begin or end to count the time of a request that is coming."""
        if not self._arrived or self._is_paused:
            self._frame_since = None
        elif self._frame_since is None or self._frame_since < self.active_at:
            self._frame_since = time.monotonic()

    async def _serve(self) -> None:
        serving = self._serving
        try:
            while self._requests and self._out is not None:
                payload = self._requests.popleft()
                # Its length stood before it.
                serving.queued.remove(self, len(payload) + 4)
                if self._is_paused and not self._requests:
                    self._is_paused = False
                    self._out.resume_reading()
                    self.cut()
                    self._look_at_rest()
                answer = await serving.respond(self.client, payload)
                if self._out.is_closing():
                    return
                if answer is None:
                    self._out.close()
                    return
                if answer:
                    await self._send(answer)
                    serving.taken(self.client, len(answer))
                if self.client.is_refused:
                    self._out.close()
                    return
        except ShareStateError as wrong:
            _LOG.warning("closed a connection: %s: %s", wrong, self.client)
            self.close()
        except Exception:  # noqa: BLE001
            # A bug of ours: this client loses its connection and comes back, the others see nothing.
            _LOG.exception("a connection ends: %s", self.client)
            self.close()
        finally:
            self._task = None

    async def _send(self, answer: bytes) -> None:
        # In pieces: a transport copies what it cannot send at once, and one over TLS takes all that it is given.
        piece = _PIECE_OF_TLS if self._is_secured else _PIECE
        for start in range(0, len(answer), piece):
            if self._out is None:
                return
            self._out.write(answer if piece >= len(answer) else memoryview(answer)[start : start + piece])
            if not self._may_write.is_set():
                self._serving.answers.hold(self.client, len(answer))
                self._answer_since = self._answer_since or time.monotonic()
                await self._may_write.wait()
        self._answer_since = None
        self._serving.answers.give_back(self.client)

    def _over(self, why: Exception | None, within: bool) -> None:
        if not self.is_open:
            return
        self.is_open = False
        if isinstance(why, ShareStateError):
            _LOG.warning("closed a connection: %s: %s", why, self.client)
        else:
            _LOG.debug("a client went away%s: %s: %s", " within a request" if within else "", why, self.client)
        # Whoever still refers to the connection does not keep its bytes.
        self._arrived.clear()
        self._requests.clear()
        self._serving.queued.forget(self)
        self._serving.answers.give_back(self.client)
        if self._out is not None and not self._may_write.is_set():
            # It would stay open until the client has read everything, which may be never.
            self._out.abort()
        self._may_write.set()
        if self._task is not None:
            self._task.cancel()
        self._closed(self)
