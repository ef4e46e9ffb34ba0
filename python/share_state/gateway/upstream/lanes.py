"""Connections to one upstream broker by which batches are read, at one isolation level.

A broker answers the requests of a connection one after the other, so a long poll holds up what follows it. Hence *tail
lanes*, which wait at the ends of rings, and a *back lane*, which never waits. A partition that joins while one tail lane
waits goes to another one; only when all wait does it have to make do with the back lane until one is free.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Final

from share_state.errors import ShareStateError
from share_state.gateway.upstream import fetch
from share_state.kafka import codes
from share_state.kafka.client.apis import FETCH
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.connections import Connections
from share_state.kafka.client.fetch import FETCH_BY_NAME, Answer
from share_state.kafka.client.fetch import fetch as ask
from share_state.kafka.client.peers import LostError, Node
from share_state.util.closing import cancel_all

if TYPE_CHECKING:
    from share_state.gateway.upstream.reader import PartitionReader
    from share_state.gateway.upstream.readers import Readers

__all__ = ["BrokerLanes"]

_LOG: Final = logging.getLogger("share_state.gateway.upstream")
_TAIL_LANES: Final = 4
_MAX_WAIT_MS: Final = 500
#: The session of the connection is gone: begin another one.
_SESSION_LOST: Final = frozenset(
    {codes.FETCH_SESSION_ID_NOT_FOUND, codes.INVALID_FETCH_SESSION_EPOCH, codes.FETCH_SESSION_TOPIC_ID_ERROR}
)


class _Lane:
    """One connection, one Fetch at a time."""

    def __init__(self, readers: Readers, connections: Connections, node: Node, isolation: int, max_wait_ms: int) -> None:
        self.is_busy = False
        self._readers = readers
        self._connections = connections
        self._node = node
        self._isolation = isolation
        self._max_wait_ms = max_wait_ms
        self._session = fetch.FetchSession() if max_wait_ms else None
        self._connection: Connection | None = None

    async def read(self, wanted: dict[PartitionReader, int]) -> Answer:
        """Send a Fetch and wait for its answer.

        Raises:
            LostError, ShareStateError: there is none.
        """
        connection = await self._connections.connection(self._node)
        if connection is not self._connection and self._session is not None:
            self._session.reset()
        self._connection = connection
        had_session = self._session is not None and self._session.is_open
        answer = await self._ask(connection, wanted)
        # Brokers forget sessions: that alone is no reason to wait.
        return await self._ask(connection, wanted) if had_session and answer.error_code in _SESSION_LOST else answer

    async def _ask(self, connection: Connection, wanted: dict[PartitionReader, int]) -> Answer:
        version = connection.version_of(FETCH)
        if self._readers.has_made_up_ids:
            version = min(version, FETCH_BY_NAME)
        body = fetch.encode(version, wanted, isolation=self._isolation, max_wait_ms=self._max_wait_ms, session=self._session)
        answer = await ask(connection, version, body)
        if self._session is not None:
            if answer.error_code in _SESSION_LOST:
                self._session.reset()
            else:
                self._session.answered(answer.session_id)
        return answer


class BrokerLanes:
    """The lanes of one broker and isolation level."""

    def __init__(self, readers: Readers, node: Node, isolation: int) -> None:
        self._readers = readers
        self.node = node
        name = f"{node.id}/{isolation}"
        upstream = readers.upstream
        self._tails = [
            _Lane(readers, upstream.lane(f"tail {name}/{number}"), node, isolation, _MAX_WAIT_MS) for number in range(_TAIL_LANES)
        ]
        self._back = _Lane(readers, upstream.lane(f"back {name}"), node, isolation, 0)
        self._tail_wanted: set[PartitionReader] = set()
        self._back_wanted: set[PartitionReader] = set()
        self._is_due = False
        self._is_closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    def read_tail(self, reader: PartitionReader) -> None:
        """Read on at the end of a ring."""
        self._tail_wanted.add(reader)
        self._soon()

    def read_back(self, reader: PartitionReader) -> None:
        """Read what a ring does not hold, without waiting."""
        self._back_wanted.add(reader)
        self._soon()

    def discard(self, reader: PartitionReader) -> None:
        """Read no more of a partition."""
        self._tail_wanted.discard(reader)
        self._back_wanted.discard(reader)

    async def close(self) -> None:
        """End what is in progress."""
        self._is_closed = True
        await cancel_all(self._tasks)

    def _soon(self) -> None:
        # What is wanted within one turn of the loop goes out together.
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._start)

    def _start(self) -> None:
        self._is_due = False
        if self._is_closed:
            return
        lane = next((lane for lane in (*self._tails, self._back) if not lane.is_busy), None)
        if lane is not None:
            self._tail_wanted = {reader for reader in self._tail_wanted if reader.wants_tail}
            self._begin(lane, {reader: reader.tail for reader in _next(self._tail_wanted)})
        if not self._back.is_busy:
            self._back_wanted = {reader for reader in self._back_wanted if reader.back_reads}
            self._begin(self._back, {reader: min(reader.back_reads) for reader in _next(self._back_wanted)})
        if self._tail_wanted and lane is not None:
            # Some have to be read by themselves.
            self._soon()

    def _begin(self, lane: _Lane, wanted: dict[PartitionReader, int]) -> None:
        if not wanted:
            return
        lane.is_busy = True
        tails = {reader for reader, offset in wanted.items() if offset == reader.tail}
        for reader in tails:
            reader.is_reading_tail = True
        task = asyncio.get_running_loop().create_task(self._read(lane, wanted, tails))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read(self, lane: _Lane, wanted: dict[PartitionReader, int], tails: set[PartitionReader]) -> None:
        counts, began = self._readers.counts, time.monotonic()
        lives = {reader: reader.life for reader in wanted}
        try:
            answer = await lane.read(wanted)
            counts.upstream_times.observe(time.monotonic() - began)
            if answer.throttle_ms > 0:
                await asyncio.sleep(answer.throttle_ms / 1000)
        except (LostError, ShareStateError) as error:
            self._end(lane, tails)
            self._readers.lost(self.node, list(wanted), error)
        except BaseException:
            self._end(lane, tails)
            raise
        else:
            self._end(lane, tails)
            # Not for one that has begun again meanwhile: the log may be another one.
            self._readers.take({reader: offset for reader, offset in wanted.items() if reader.life == lives[reader]}, answer)
        finally:
            for reader in wanted:
                # Where it lives now, unless it has lost its home by the answer.
                if reader.lanes is not None:
                    reader.lanes.want(reader)
            self._go_on()

    def want(self, reader: PartitionReader) -> None:
        """Read what a reader still wants."""
        if reader.wants_tail:
            self._tail_wanted.add(reader)
        if reader.back_reads:
            self._back_wanted.add(reader)
        self._go_on()

    def _go_on(self) -> None:
        """Go on with what is wanted, now that a lane is free."""
        if self._tail_wanted or self._back_wanted:
            self._soon()

    @staticmethod
    def _end(lane: _Lane, tails: set[PartitionReader]) -> None:
        lane.is_busy = False
        # By name and not by offset: the tail of one that has begun again is elsewhere.
        for reader in tails:
            reader.is_reading_tail = False


def _next(wanted: set[PartitionReader]) -> list[PartitionReader]:
    """Take out of a set who is read together: all, in the order in which they were fed, or one that is suspect by itself."""
    suspect = next((reader for reader in wanted if reader.is_suspect), None)
    together = [suspect] if suspect is not None else sorted(wanted, key=lambda reader: reader.fed_at)
    wanted.difference_update(together)
    return together
