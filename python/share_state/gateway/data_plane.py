"""The data plane on the event loop: clients' share requests in, answers out, and what the node needs carried to and fro.

The rules of ShareFetch (RPC 78) and ShareAcknowledge (RPC 79) are in the node (``rust/gateway/src/node``), which has no clock and
no I/O. While one round of its writes is on the way to the disk, the next one collects (:mod:`share_state.util.rounds`).
"""

from __future__ import annotations

import asyncio
import logging
import struct
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, ParamSpec, TypeVar

from share_state._core import GroupConfig, Node, StateStore, WriteRound, WriteState
from share_state.errors import EnginePoisonedError, ShareStateError, StoreError
from share_state.gateway.access import Operation, Resource
from share_state.gateway.clock import lock_ms
from share_state.gateway.counts import Counts
from share_state.gateway.requests import Client
from share_state.gateway.upstream.reader import Read, Ring, Source
from share_state.kafka import codes
from share_state.types import SharePartitionKey
from share_state.util.rounds import Rounds

__all__ = ["DataPlane", "Needs"]

_LOG: Final = logging.getLogger("share_state.gateway")
_LENGTH: Final = struct.Struct(">i")
_About = ParamSpec("_About")
_Told = TypeVar("_Told")

#: Begins to meet a need of the node, by its kind. It may tell the node of something, and does not have it run.
Needs = Mapping[str, Callable[..., None]]


class DataPlane:
    """Drives the node.

    Args:
        node: the machine.
        store: takes its writes.
        executor: runs the calls that wait for a disk.
        counts: collects the times of writes.

    Attributes:
        is_failing: the last round failed: the disk is full, or the store is closed.
        wrong: the fault of ours after which nothing is served any more, if there was one.
    """

    def __init__(self, node: Node, store: StateStore, executor: ThreadPoolExecutor, counts: Counts) -> None:
        self.node = node
        self.is_failing = False
        self.wrong: Exception | None = None
        self._failed = asyncio.Event()
        self._counts = counts
        self._needs: Needs = {}
        self._answers: dict[int, bytes | Exception] = {}
        #: Requests that wait for their answer, by connection.
        self._asked: dict[int, asyncio.Future[bytes]] = {}
        self._clients: dict[int, Client] = {}
        self._kept: dict[int, asyncio.Future[WriteState | None]] = {}
        self._rounds = Rounds(executor, self._take, lambda taken: write(taken, store), self._settle)
        #: When the first of the writes that gather was made.
        self._gathering_since = 0.0
        #: When the round that is under way was taken.
        self._taken_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0

    def begin(self, needs: Needs) -> None:
        """Meet what the node needs from now on."""
        self._needs = needs

    async def close(self) -> None:
        """Wait until every write is answered; then nothing is due any more."""
        await self._rounds.idle()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def failed(self) -> None:
        """Wait for a fault of ours."""
        await self._failed.wait()

    async def respond(self, client: Client, payload: bytes) -> bytes:
        """Answer a ShareFetch or ShareAcknowledge request.

        Raises:
            WireDecodeError: the request is malformed: the connection has to be closed.
            EnginePoisonedError: a fault of ours has ended the data plane.
        """
        connection = client.connection_id
        if connection not in self._clients:
            self._clients[connection] = client
            self.call(self.node.opened, connection, client.principal)
        self.tell(self.node.feed, connection, _LENGTH.pack(len(payload)) + payload)
        if self.wrong is not None:
            raise self.wrong
        answer = self._answers.pop(connection, None)
        if answer is None:
            future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            self._asked[connection] = future
            try:
                return await future
            finally:
                self._asked.pop(connection, None)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def taken(self, client: Client, count: int) -> None:
        """Take note that a client was sent so many bytes of an answer, if that was the node's."""
        if client.connection_id in self._clients:
            self.tell(self.node.sent, client.connection_id, count)

    def gone(self, client: Client) -> None:
        """Take the end of a connection."""
        if client.connection_id in self._clients:
            del self._clients[client.connection_id]
            self._answers.pop(client.connection_id, None)
            self.tell(self.node.closed, client.connection_id)

    def tell(self, method: Callable[..., object], *about: object) -> None:
        """Tell the node of something that has happened, by one of its methods, and carry out what it asks for then."""
        self.call(method, *about, now_ms=lock_ms())
        self.run()

    def call(self, method: Callable[_About, _Told], *about: _About.args, **named: _About.kwargs) -> _Told | None:
        """Call a method of the node. A fault of ours there ends the data plane, and gives ``None``."""
        try:
            return method(*about, **named)
        except EnginePoisonedError as wrong:
            self._fail(wrong)
            return None

    def run(self) -> None:
        """Carry out what the node asks for."""
        while True:
            asked = self.call(self.node.poll)
            if asked is None:
                return
            events, needs, timeout_ms = asked
            try:
                for event in events:
                    self._happen(*event)
                for kind, *need in needs:
                    self._needs[kind](*need)
            except Exception as wrong:  # noqa: BLE001
                # What comes after it is lost, and somebody waits for that.
                _LOG.exception("the data plane cannot go on")
                self._fail(wrong)
                return
            if not needs:
                break
        if self.node.has_writes:
            self._gather()
        if timeout_ms is not None and (self._timer is None or timeout_ms < self._timer_ms):
            self._arm(timeout_ms)

    def ring(self, source: Source) -> Ring | None:
        """See :class:`share_state.gateway.upstream.reader.Rings`."""
        found = self.call(self.node.ring, *source)
        if found is None:
            return None
        end_offset, leader_epoch, *_ = found
        return None if end_offset is None else Ring(end_offset, leader_epoch)

    def records_read(self, source: Source, life: int, read: Read) -> tuple[int, int] | None:
        """See :class:`share_state.gateway.upstream.reader.Rings`."""
        asked, data, start, end, aborted = read
        return self.call(self.node.records_read, *source, life, asked, data, start, end, aborted, now_ms=lock_ms())

    def log_start_moved(self, source: Source, offset: int) -> None:
        """See :class:`share_state.gateway.upstream.reader.Rings`."""
        self.call(self.node.log_start_moved, *source, offset, now_ms=lock_ms())

    def log_starts_told(self, told: Sequence[tuple[Source, int | None]]) -> None:
        """See :class:`share_state.gateway.upstream.reader.Rings`."""
        self.call(self.node.log_starts_told, [(*source, offset) for source, offset in told], now_ms=lock_ms())

    def history_changed(self, source: Source) -> None:
        """See :class:`share_state.gateway.upstream.reader.Rings`."""
        self.call(self.node.history_changed, *source, now_ms=lock_ms())

    def states_changed(self, topics: Collection[tuple[str, str]]) -> None:
        """Drop the share partitions of groups and topics, (group, topic id): their states have been changed elsewhere."""
        for group, topic_id in topics:
            self.tell(self.node.state_changed, group, topic_id)

    def topic_deleted(self, topic_id: str) -> None:
        """Drop the share partitions of a topic that is gone."""
        self.tell(self.node.topic_deleted, topic_id)

    def configure(self, group: str, config: GroupConfig | None) -> None:
        """Change the configuration of a group; ``None`` for that of groups that have none."""
        if config is None:
            self.tell(self.node.forget_config, group)
        else:
            self.tell(self.node.configure, group, config)

    async def keep_start(self, key: SharePartitionKey) -> WriteState | None:
        """Write the start offset of a share partition, which may have moved without a write.

        Returns:
            The state that is kept; None if it was not, or a change is being written, which has a start offset of its own.
        """
        ticket = self.call(self.node.keep_start, key)
        if ticket is None:
            return None
        future: asyncio.Future[WriteState | None] = asyncio.get_running_loop().create_future()
        self._kept[ticket] = future
        self.run()
        return await future

    def _happen(self, kind: str, *about: Any) -> None:  # noqa: ANN401  an event of the node
        if kind in {"send", "close"}:
            self._answer(*about)
        elif kind == "denied":
            connection, resource, name = about
            if connection in self._clients:
                # The table logs it, as it does whatever is denied.
                self._clients[connection].may(Operation.READ, Resource(resource), name)
        elif kind == "start_kept":
            ticket, state = about
            future = self._kept.pop(ticket)
            if not future.done():
                future.set_result(state)
        else:
            self._needs[kind](*about)

    def _answer(self, connection: int, answer: bytes | Exception | None) -> None:
        if answer is None:
            answer = RuntimeError("an answer cannot be written")
        asked = self._asked.get(connection)
        if asked is None:
            if connection in self._clients:
                self._answers[connection] = answer
        elif asked.done():
            return
        elif isinstance(answer, Exception):
            asked.set_exception(answer)
        else:
            asked.set_result(answer)

    def _fail(self, wrong: Exception) -> None:
        """End everything that waits: after a fault of ours nobody knows what the node would say."""
        if self.wrong is None:
            _LOG.critical("the data plane has failed, and nothing is served any more: %s", wrong)
        self.wrong = wrong
        self._failed.set()
        for asked in self._asked.values():
            if not asked.done():
                asked.set_exception(wrong)
        for kept in self._kept.values():
            if not kept.done():
                kept.set_result(None)

    def _arm(self, at_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = at_ms
        self._timer = asyncio.get_running_loop().call_later(max(0, at_ms - lock_ms()) / 1000, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self.tell(self.node.tick)

    def _gather(self) -> None:
        if not self._gathering_since:
            self._gathering_since = time.monotonic()
        self._rounds.ask()

    def _take(self) -> WriteRound | None:
        taken = self.call(self.node.poll_round)
        since, self._gathering_since = self._gathering_since, 0.0
        if taken is not None:
            self._taken_at = time.monotonic()
            self._counts.queue_times.observe(self._taken_at - since)
        return taken

    def _settle(self, written: WriteRound, answers: tuple[list[int], list[ShareStateError]] | BaseException) -> None:
        ended = time.monotonic()
        self._counts.write_times.observe(ended - self._taken_at)
        if isinstance(answers, BaseException):
            told = [codes.UNKNOWN_SERVER_ERROR] * len(written)
            wrong: Sequence[BaseException] = [answers]
        else:
            told, wrong = answers
        lost = [one for one in wrong if _is_of_the_log(one)]
        self.is_failing = bool(lost)
        if lost:
            _LOG.error("the store refuses writes: %r", lost[0])
        if any(isinstance(one, StoreError) for one in wrong):
            # After a write that failed nobody knows what the disk holds: the store takes nothing until it is opened again.
            self.call(self.node.store_closed)
        self.tell(self.node.settle, written.number, told)
        self._counts.settle_times.observe(time.monotonic() - ended)


def write(taken: WriteRound, store: StateStore) -> tuple[list[int], list[ShareStateError]]:
    """Write a round. Called in a thread, since it waits for the disk."""
    return taken.write(store)


def _is_of_the_log(wrong: BaseException) -> bool:
    """Return whether it is the log that failed, and not the request, whose epoch may be out of date."""
    return isinstance(wrong, StoreError | EnginePoisonedError) or not isinstance(wrong, ShareStateError)
