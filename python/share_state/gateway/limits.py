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
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from share_state.gateway.requests import Client

__all__ = ["AnswerBytes", "Limits", "Room", "WorkBytes", "size_of"]

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
        other_frame: bytes of other requests; small elements become 150 times their size in memory.
        elements: elements of all arrays of a request altogether; each becomes an object, all of them before any is looked at,
            and nobody else is served meanwhile: 20 ms for so many.
            A share session has as many partitions at most.
        relayed_frame: bytes of a request that is forwarded upstream (``socket.request.max.bytes``).
        queued: bytes of all queued requests (``queued.max.request.bytes``). With the relay it must exceed ``relayed_frame``.
        work: bytes of all larger requests that are being answered.
        answers: bytes of all answers that clients have not read.
        rings: bytes of upstream's answers that are kept for groups and members; those that were used longest ago go first.
        subscription: characters in the names of the topics that a member subscribes to: the gateway asks upstream for those that
            it does not know, again and again.
        answer: bytes of one answer whose rows a client has asked for; further rows are refused, so that it asks for them again.
        slice: seconds after which a long request gives way to others; few enough for a member that polls all the time.
        connections: the number of connections; a further one is closed at once (``max.connections``). The limit of open files
            may leave room for fewer.
        address_connections: the number of connections of one client address (``max.connections.per.ip``).
        principal_connections: the number of connections of one principal that has logged in or has a certificate.
        idle: seconds without a request after which a connection is closed (``connections.max.idle.ms``).
        frame_time: seconds that a request may take from its first byte to its last.
        answer_time: seconds that a client may take to read an answer; clients do not wait longer for one themselves.
        login_time: seconds for the TLS handshake, and for the login.
    """

    frame: int = 8 << 20
    other_frame: int = 1 << 20
    elements: int = 25_000
    relayed_frame: int = 100 << 20
    queued: int = 64 << 20
    work: int = 8 << 20
    answers: int = 256 << 20
    rings: int = 256 << 20
    answer: int = 16 << 20
    subscription: int = 64 << 10
    slice: float = 0.005
    connections: int = 4000
    address_connections: int = 2000
    principal_connections: int = 2000
    idle: float = 600.0
    frame_time: float = 30.0
    answer_time: float = 60.0
    login_time: float = 20.0


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
    """Bytes of answers that clients have not taken yet. A large answer waits in line while there are too many.

    Args:
        limit: so many bytes altogether. Answers to share fetches are bounded by the node as well.
    """

    def __init__(self, limit: int) -> None:
        self.free = limit
        self._limit = limit
        self._held: dict[Client, int] = {}
        self._line: dict[Callable[[], object], None] = {}

    @property
    def waiting(self) -> int:
        """Number of answers that wait."""
        return len(self._line)

    def allowed(self) -> int:
        """Return the bytes that one more answer may have; 0 for none now."""
        part = self.free // _PART
        if part >= _LEAST:
            return part
        # While nobody holds any, one answer goes out however small the limit is.
        return 0 if self._held else _LEAST

    def hold(self, client: Client, count: int) -> None:
        """Count the answer that a client is to get as so many bytes."""
        self.free += self._held.pop(client, 0) - count
        self._held[client] = count

    def room(self, client: Client, most: int) -> Room:
        """Return room for an answer of at most so many bytes, which is taken row by row."""
        return Room(self, client, most)

    async def reserve(self, client: Client, count: int) -> None:
        """Count an answer that is about to be made, once there is room for it."""
        if count < _LEAST:
            return
        loop = asyncio.get_running_loop()
        while min(count, self._limit // _PART) > self.allowed():
            turn: asyncio.Future[None] = loop.create_future()

            def again(turn: asyncio.Future[None] = turn) -> None:
                if not turn.done():
                    turn.set_result(None)

            self.wait(again)
            try:
                await turn
            finally:
                self.leave(again)
        self.hold(client, count)

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


class Room:
    """Bytes of an answer that is being made.

    Args:
        answers: counts them for the client.
        client: who gets it.
        most: so many bytes at most.
    """

    def __init__(self, answers: AnswerBytes, client: Client, most: int) -> None:
        self._answers = answers
        self._client = client
        self._most = most
        self._taken = 0

    @property
    def is_full(self) -> bool:
        """Tell if the answer, or all answers together, have no room for another row."""
        return self._taken >= self._most or self._answers.free <= 0

    def take(self, count: int) -> None:
        """Count bytes of a row."""
        self._taken += count
        if self._taken >= _LEAST:
            self._answers.hold(self._client, self._taken)


def size_of(value: object) -> int:
    """Return about as many bytes as a value of a message takes."""
    if isinstance(value, str):
        return 3 + len(value)
    if isinstance(value, dict):
        return 1 + sum(map(size_of, value.values()))
    if isinstance(value, list):
        # Partitions of a topic, by number: the one list that may be long.
        return 3 + (4 * len(value) if value and isinstance(value[0], int) else sum(map(size_of, value)))
    return 8
