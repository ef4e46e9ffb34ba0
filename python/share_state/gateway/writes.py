"""Writes of share partitions on their way to the disk and back.

While one round is on the disk, the next one gathers: what many members acknowledge meanwhile shares one sync. The calls
of the store run in a thread of their own, so the event loop never waits for a disk.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from share_state._core import StateStore
from share_state.errors import PersisterError, ShareStateError, StoreError
from share_state.gateway.counts import Counts
from share_state.kafka import codes

if TYPE_CHECKING:
    from share_state.gateway.share_partitions import ServedPartition

__all__ = ["WritePump"]

_LOG: Final = logging.getLogger("share_state.gateway")


class WritePump:
    """Carries writes to the store, a round at a time.

    Args:
        store: where they go.
        executor: where the calls run.
        settled: called for each write with its share partition, its token and Kafka's code.
        counts: where times are counted.
    """

    def __init__(
        self,
        store: StateStore,
        executor: ThreadPoolExecutor,
        settled: Callable[[ServedPartition, int, int], None],
        counts: Counts,
    ) -> None:
        self.rounds = 0
        self.written = 0
        #: Whether the last round was not kept: the disk is full, or the store is closed.
        self.is_failing = False
        #: Whether the store takes nothing until it is opened again: after a write that failed nobody knows what the disk holds.
        self.is_closed = False
        self._store = store
        self._executor = executor
        self._settled = settled
        self._counts = counts
        #: When the first of those that gather was added.
        self._gathering_since = 0.0
        self._changed: dict[ServedPartition, None] = {}
        self._is_due = False
        self._round: asyncio.Future[Any] | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    def add(self, served: ServedPartition) -> None:
        """Write what a share partition has to write, if anything."""
        if not self._changed:
            self._gathering_since = time.monotonic()
        self._changed[served] = None
        if self._round is None and not self._is_due:
            self._is_due = True
            self._idle.clear()
            # Not at once: other requests of this turn of the loop go along.
            asyncio.get_running_loop().call_soon(self._start)

    async def close(self) -> None:
        """Wait until everything is written."""
        await self._idle.wait()

    def _start(self) -> None:
        self._is_due = False
        changed, self._changed = self._changed, {}
        tokens, requests = [], []
        for served in changed:
            while (write := served.engine.poll_write()) is not None:
                tokens.append((served, write.token))
                requests.append((served.key, write.state))
        if not requests:
            self._idle.set()
            return
        began = time.monotonic()
        self._counts.queue_times.observe(began - self._gathering_since)
        self.rounds += 1
        self.written += len(requests)
        self._round = asyncio.get_running_loop().run_in_executor(self._executor, self._store.write_states, requests)
        self._round.add_done_callback(lambda done: self._end(tokens, done, began))

    def _end(self, tokens: list[tuple[ServedPartition, int]], done: asyncio.Future[Any], began: float) -> None:
        self._round = None
        ended = time.monotonic()
        self._counts.write_times.observe(ended - began)
        error = None if done.cancelled() else done.exception()
        if done.cancelled() or error is not None:
            _LOG.error("the store takes no writes: %s", error)
            outcomes: list[Any] = [error] * len(tokens)
        else:
            outcomes = done.result()
        self.is_failing = any(isinstance(outcome, Exception) and not isinstance(outcome, PersisterError) for outcome in outcomes)
        self.is_closed = self.is_closed or any(isinstance(outcome, StoreError) for outcome in outcomes)
        for (served, token), outcome in zip(tokens, outcomes, strict=True):
            self._settled(served, token, _code_of(outcome))
        self._counts.settle_times.observe(time.monotonic() - ended)
        if self._changed:
            self._start()
        else:
            self._idle.set()


def _code_of(outcome: object) -> int:
    if outcome is None:
        return codes.NONE
    if isinstance(outcome, ShareStateError) and outcome.kafka_code is not None:
        return outcome.kafka_code
    return codes.UNKNOWN_SERVER_ERROR
