"""States and start offsets of share partitions that the node loads (Kafka: ``SharePartition.maybeInitialize``).

A state is read in the leader epoch of this generation of the gateway, which fences every earlier one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from share_state._core import ReadStateResult, StateStore
from share_state.errors import CorruptStateError, PersisterError, ShareStateError
from share_state.gateway.counts import Counts
from share_state.gateway.data_plane import DataPlane
from share_state.gateway.start_offsets import StartOffsets
from share_state.gateway.upstream.cluster import Upstream
from share_state.kafka import codes
from share_state.logs import named
from share_state.types import SharePartitionKey
from share_state.util.closing import cancel_all

__all__ = ["Loading"]

_LOG: Final = logging.getLogger("share_state.gateway")


class Loading:
    """Reads states, and finds start offsets.

    Args:
        plane: whose node loads.
        store: the states.
        executor: runs the calls that wait for a disk.
        upstream: the cluster with the topics.
        counts: collects the times.
    """

    def __init__(
        self, plane: DataPlane, store: StateStore, executor: ThreadPoolExecutor, upstream: Upstream, counts: Counts
    ) -> None:
        self._plane = plane
        self._store = store
        self._executor = executor
        self._upstream = upstream
        self._start_offsets = StartOffsets(upstream)
        self._counts = counts
        self._tasks: set[asyncio.Task[None]] = set()
        #: When loads began that are in progress (``time.monotonic()``).
        self._begun: dict[int, float] = {}

    async def close(self) -> None:
        """End what is in progress."""
        await cancel_all(self._tasks)

    def state(self, served: int, key: SharePartitionKey, leader_epoch: int) -> None:
        """Begin to read a state."""
        # Now: it may be dropped before its task begins.
        self._begun[served] = time.monotonic()
        self._begin(self._read(served, key, leader_epoch))

    def start(self, served: int, topic_id: str, partition: int, isolation: int, strategy: str) -> None:
        """Begin to look for a start offset."""
        self._begin(self._find(served, topic_id, partition, isolation, strategy))

    def loaded(self, served: int, key: SharePartitionKey, code: int, cause: ShareStateError | None) -> None:
        """Take the end of a load."""
        began = self._begun.pop(served, None)
        if began is not None:
            self._counts.load_times.observe(time.monotonic() - began)
        # A refusal to read it was told when it came.
        if cause is not None and not isinstance(cause, PersisterError):
            why = "the state is corrupt" if isinstance(cause, CorruptStateError) else "not loaded"
            _LOG.error("%s: %s: %s", why, cause, self._named(key))
        if code != codes.NONE:
            _LOG.warning("not loaded: code=%d (%s) %s", code, codes.name_of(code), self._named(key))

    async def _read(self, served: int, key: SharePartitionKey, leader_epoch: int) -> None:
        read: ReadStateResult | int = codes.UNKNOWN_SERVER_ERROR
        try:
            read = await self._state(key, leader_epoch)
        finally:
            # In any case: requests wait for it.
            self._plane.tell(self._plane.node.state_read, served, read)

    async def _state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult | int:
        """Read a state; returns Kafka's code where it cannot be read."""
        call = asyncio.get_running_loop().run_in_executor
        try:
            (read,) = await call(self._executor, self._store.read_states, [(key, leader_epoch)])
            if not isinstance(read, ShareStateError):
                return read
            wrong = read
        except ShareStateError as failed:
            wrong = failed
        _LOG.error("the state cannot be read: %s: %s", wrong, self._named(key))
        return wrong.kafka_code or codes.UNKNOWN_SERVER_ERROR

    async def _find(self, served: int, topic_id: str, partition: int, isolation: int, strategy: str) -> None:
        topic, offset = self._upstream.known(topic_id), None
        try:
            if topic is not None:
                offset = await self._start_offsets.find(topic, partition, strategy, isolation)
        except ShareStateError as failed:
            _LOG.error("not loaded: %s: %s", failed, named(topic_id=topic_id, partition=partition))
        finally:
            # In any case: requests wait for it.
            self._plane.tell(self._plane.node.start_found, served, offset)

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _named(self, key: SharePartitionKey) -> str:
        topic = self._upstream.known(key.topic_id)
        name = None if topic is None else topic.name
        return named(group=key.group, topic=name, topic_id=key.topic_id, partition=key.partition)
