"""The limits for clients: incoming bytes, outgoing bytes, connections and times.

The gateway's memory is bounded because each of these is: queued requests, requests that are being answered, unread answers,
and connections.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from share_state.gateway.requests import Client

__all__ = ["AnswerBytes", "Limits", "QueuedBytes", "WorkBytes"]

#: Requests of so many bytes do not count as work: there are as many of them as connections at most.
_SMALL: Final = 2048
#: An answer has no more than this part of what is left, so that a few clients that read slowly leave something to others.
_PART: Final = 4
#: It is not worth answering a fetch with less.
_LEAST: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a gateway for its clients.

    Attributes:
        frame: bytes of ShareFetch and ShareAcknowledge, whose lists of acknowledgements may be long.
        other_frame: bytes of other requests; many small elements become 150 times their size in memory.
        relayed_frame: bytes of a request that is forwarded upstream (``socket.request.max.bytes``).
        queued: bytes of all queued requests (``queued.max.request.bytes``). With the relay it must exceed ``relayed_frame``.
        work: bytes of all larger requests that are being answered.
        answers: bytes of all answers that clients have not read.
        connections: the number of connections; a further one is closed at once (``max.connections``).
        idle: seconds without a request after which a connection is closed (``connections.max.idle.ms``).
        frame_time: seconds that a request may take from its first byte to its last.
        answer_time: seconds that a client may take to read an answer; clients do not wait longer for one themselves.
        login_time: seconds for the TLS handshake, and for the login.
    """

    frame: int = 8 << 20
    other_frame: int = 1 << 20
    relayed_frame: int = 100 << 20
    queued: int = 64 << 20
    work: int = 8 << 20
    answers: int = 256 << 20
    connections: int = 4000
    idle: float = 600.0
    frame_time: float = 30.0
    answer_time: float = 60.0
    login_time: float = 20.0


class _Holder(Protocol):
    """A connection, as far as its bytes matter."""

    def cut_off(self, why: str) -> None:
        """End it, and say why in the log."""


class QueuedBytes:
    """Bytes of requests that have arrived and are not begun. When they are too many, who has sent most loses its connection.

    Args:
        limit: so many bytes altogether.
    """

    def __init__(self, limit: int) -> None:
        self.total = 0
        self._limit = limit
        self._held: dict[_Holder, int] = {}

    def add(self, holder: _Holder, count: int) -> None:
        """Count bytes that have arrived."""
        self.total += count
        self._held[holder] = self._held.get(holder, 0) + count
        while self.total > self._limit:
            largest = max(self._held, key=self._held.__getitem__)
            held = self._held[largest]
            self.forget(largest)
            largest.cut_off(f"{held} bytes of its requests wait, and those of all clients are more than {self._limit}")

    def remove(self, holder: _Holder, count: int) -> None:
        """Count bytes whose request is begun."""
        held = self._held.get(holder)
        if held is not None:
            self.total -= count
            if held > count:
                self._held[holder] = held - count
            else:
                del self._held[holder]

    def forget(self, holder: _Holder) -> None:
        """Count no bytes of a connection that has ended."""
        self.total -= self._held.pop(holder, 0)


class WorkBytes:
    """Bytes of the larger requests that are being answered; one that finds no room waits for its turn.

    Args:
        limit: so many bytes at once. A request that is larger is answered alone.
    """

    def __init__(self, limit: int) -> None:
        self.total = 0
        self._limit = limit
        self._line: deque[tuple[int, asyncio.Future[None]]] = deque()

    @contextlib.asynccontextmanager
    async def of(self, count: int) -> AsyncIterator[None]:
        """Work on a request of so many bytes."""
        if count <= _SMALL:
            yield
            return
        if self._line or not self._fits(count):
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._line.append((count, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._end(count)
                raise
        else:
            self.total += count
        try:
            yield
        finally:
            self._end(count)

    def _fits(self, count: int) -> bool:
        return self.total == 0 or self.total + count <= self._limit

    def _end(self, count: int) -> None:
        self.total -= count
        while self._line and (self._line[0][1].done() or self._fits(self._line[0][0])):
            following, turn = self._line.popleft()
            if not turn.done():
                self.total += following
                turn.set_result(None)


class AnswerBytes:
    """Bytes of answers that clients have not taken yet. A fetch waits in line while there are too many.

    Args:
        limit: so many bytes altogether. One batch more may go out, since a batch is not split.
    """

    def __init__(self, limit: int) -> None:
        self.free = limit
        self._held: dict[Client, int] = {}
        self._line: dict[Callable[[], object], None] = {}

    @property
    def waiting(self) -> int:
        """How many fetches wait."""
        return len(self._line)

    def allowed(self) -> int:
        """Return the bytes that one more answer may have; 0 for none now."""
        part = self.free // _PART
        return part if part >= _LEAST else 0

    def hold(self, client: Client, count: int) -> None:
        """Count the answer that a client is to get as so many bytes."""
        self.free += self._held.pop(client, 0) - count
        self._held[client] = count

    def give_back(self, client: Client) -> None:
        """Count nothing for a client any more: the answer is taken, or nobody waits for it."""
        held = self._held.pop(client, 0)
        if held:
            self.free += held
            for again in list(self._line):
                if not self.allowed():
                    return
                if again in self._line:
                    again()

    def wait(self, again: Callable[[], object]) -> None:
        """Stand in line: ``again`` is called when there may be room."""
        self._line[again] = None

    def leave(self, again: Callable[[], object]) -> None:
        """Stand in line no more."""
        self._line.pop(again, None)
