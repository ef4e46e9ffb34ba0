"""Writes of share partitions on their way to the disk and back.

While one round is being written, the next one collects (:mod:`share_state.util.rounds`): acknowledgements that arrive meanwhile
share one sync.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state._core import StateStore, WriteState
from share_state.errors import EnginePoisonedError, ShareStateError, StoreError
from share_state.gateway.counts import Counts
from share_state.kafka import codes
from share_state.types import SharePartitionKey
from share_state.util.rounds import Rounds

if TYPE_CHECKING:
    from share_state.gateway.share_partitions import ServedPartition

__all__ = ["WritePump"]

_LOG: Final = logging.getLogger("share_state.gateway")


class _Round(NamedTuple):
    """The writes of one round.

    Attributes:
        tokens: share partition and token of each write that a change asks for.
        kept: who waits for the writes after those, of what is to be shown.
        requests: the requests to the store: the ones, then the others.
        began: its start (``time.monotonic()``).
    """

    tokens: list[tuple[ServedPartition, int]]
    kept: list[asyncio.Future[WriteState | None]]
    requests: list[tuple[SharePartitionKey, WriteState]]
    began: float


class WritePump:
    """Carries writes to the store, a round at a time.

    Args:
        store: takes the writes.
        executor: runs the calls.
        settled: called for each write with its share partition, its token and Kafka's code.
        counts: collects the times.
    """

    def __init__(
        self,
        store: StateStore,
        executor: ThreadPoolExecutor,
        settled: Callable[[ServedPartition, int, int], None],
        counts: Counts,
    ) -> None:
        #: Whether the last round failed: the disk is full, or the store is closed.
        self.is_failing = False
        #: Whether the store takes nothing until it is opened again: after a write that failed nobody knows what the disk holds.
        self.is_closed = False
        self._settled = settled
        self._counts = counts
        #: When the first of those that gather was added.
        self._gathering_since = 0.0
        self._changed: dict[ServedPartition, None] = {}
        self._to_keep: list[tuple[ServedPartition, asyncio.Future[WriteState | None]]] = []
        self._rounds = Rounds(executor, self._take, lambda taken: store.write_states(taken.requests), self._settle)

    def add(self, served: ServedPartition) -> None:
        """Queue the writes of a share partition, if it has any."""
        self._gather()
        self._changed[served] = None

    async def keep_start(self, served: ServedPartition) -> WriteState | None:
        """Write the start offset of a share partition, which may have moved without a write.

        Returns:
            What is kept; None if it was not, or a change is being written, which has a start offset of its own.
        """
        future: asyncio.Future[WriteState | None] = asyncio.get_running_loop().create_future()
        self._gather()
        self._to_keep.append((served, future))
        return await future

    def _gather(self) -> None:
        if not self._changed and not self._to_keep:
            self._gathering_since = time.monotonic()
        self._rounds.ask()

    async def close(self) -> None:
        """Wait until everything is written."""
        await self._rounds.idle()

    def _take(self) -> _Round | None:
        changed, self._changed = self._changed, {}
        tokens: list[tuple[ServedPartition, int]] = []
        requests: list[tuple[SharePartitionKey, WriteState]] = []
        for served in changed:
            while (write := served.engine.poll_write()) is not None:
                tokens.append((served, write.token))
                requests.append((served.key, write.state))
        kept = self._starts(requests)
        if not requests:
            return None
        began = time.monotonic()
        self._counts.queue_times.observe(began - self._gathering_since)
        return _Round(tokens, kept, requests, began)

    def _starts(self, requests: list[tuple[SharePartitionKey, WriteState]]) -> list[asyncio.Future[WriteState | None]]:
        """Add the start offsets that are to be kept to the requests; who waits for them."""
        wanted, self._to_keep = self._to_keep, []
        futures = []
        for served, future in wanted:
            engine = served.engine
            # One round after the other, and no change beside it: so nothing older is written after it.
            if served.is_ready and engine.writes_under_way == 0:
                count = engine.delivery_complete_count
                state = WriteState(engine.state_epoch, engine.leader_epoch, engine.start_offset, count, [])
                requests.append((served.key, state))
                futures.append(future)
            elif not future.done():
                future.set_result(None)
        return futures

    def _settle(self, written: _Round, answers: list[ShareStateError | None] | BaseException) -> None:
        ended = time.monotonic()
        self._counts.write_times.observe(ended - written.began)
        outcomes: Sequence[BaseException | None]
        if isinstance(answers, BaseException):
            _LOG.error("the store refuses writes: %r", answers)
            outcomes = [answers] * len(written.requests)
        else:
            outcomes = answers
        self.is_failing = any(_was_not_kept(outcome) for outcome in outcomes)
        self.is_closed = self.is_closed or any(isinstance(outcome, StoreError) for outcome in outcomes)
        changes = len(written.tokens)
        for (served, token), outcome in zip(written.tokens, outcomes[:changes], strict=True):
            self._settled(served, token, _code_of(outcome))
        for future, (_, state), outcome in zip(written.kept, written.requests[changes:], outcomes[changes:], strict=True):
            if not future.done():
                future.set_result(state if outcome is None else None)
        self._counts.settle_times.observe(time.monotonic() - ended)


def _was_not_kept(outcome: BaseException | None) -> bool:
    """Return whether it is the log that failed, and not the request, whose epoch may be out of date."""
    if isinstance(outcome, ShareStateError):
        return isinstance(outcome, StoreError | EnginePoisonedError)
    return outcome is not None


def _code_of(outcome: BaseException | None) -> int:
    if outcome is None:
        return codes.NONE
    if isinstance(outcome, ShareStateError) and outcome.kafka_code is not None:
        return outcome.kafka_code
    return codes.UNKNOWN_SERVER_ERROR
