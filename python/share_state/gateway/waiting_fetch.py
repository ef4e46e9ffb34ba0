"""A fetch that waits for records, and who wakes it (``DelayedShareFetch`` and its purgatory).

A record is acquired only when its bytes are at hand, so no lock runs for a record that cannot be sent.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Final

from share_state._core import Delivery
from share_state.gateway.clock import lock_ms
from share_state.gateway.limits import AnswerBytes
from share_state.gateway.requests import Client
from share_state.gateway.share_partitions import ServedPartition, SharePartitionManager
from share_state.gateway.upstream.reader import READ_AHEAD
from share_state.kafka import codes

__all__ = ["WaitingFetch", "wake"]

#: Bytes that an answer may have beyond its limit, for small batches that are not worth another one.
_MORE: Final = 64 << 10


class WaitingFetch:
    """A fetch that acquires what it can and otherwise waits."""

    __slots__ = (
        "_again",
        "_answers",
        "_batch_size",
        "_client",
        "_deliveries",
        "_future",
        "_is_over",
        "_max_bytes",
        "_max_records",
        "_member",
        "_min_bytes",
        "_mode",
        "_partitions",
        "acquirable",
        "failed",
    )

    def __init__(
        self,
        partitions: list[ServedPartition],
        member: str,
        *,
        max_records: int,
        batch_size: int,
        mode: int,
        max_bytes: int,
        min_bytes: int,
        client: Client,
        answers: AnswerBytes,
    ) -> None:
        self._partitions = partitions
        self._member = member
        self._max_records = max_records
        self._batch_size = batch_size
        self._mode = mode
        self._max_bytes = max_bytes
        self._min_bytes = min_bytes
        self._deliveries: dict[ServedPartition, Delivery] = {}
        self._future: asyncio.Future[None] | None = None
        self._client = client
        self._answers = answers
        self._again: Callable[[], object] | None = None
        self._is_over = False
        #: Errors that kept share partitions from giving records.
        self.failed: dict[ServedPartition, Exception] = {}
        #: The share partitions that could give records when the fetch was last tried: Kafka lists no others.
        self.acquirable: list[ServedPartition] = []

    async def wait(self, manager: SharePartitionManager, max_wait_ms: int) -> dict[ServedPartition, Delivery]:
        """Acquire records, for so long until there are some or the time is over."""
        if self.attempt(manager) or max_wait_ms <= 0:
            return self._deliveries
        loop = asyncio.get_running_loop()
        self._future = loop.create_future()
        self._again = functools.partial(self.attempt, manager)
        if not self._answers.allowed():
            self._answers.wait(self._again)
        for served in self._partitions:
            served.waiting[self] = None
        timer = loop.call_later(max_wait_ms / 1000, self._complete)
        try:
            await self._future
        finally:
            timer.cancel()
            self._answers.leave(self._again)
            self._again = None
            for served in self._partitions:
                del served.waiting[self]
        if not self._deliveries:
            self._min_bytes = 0
            self.attempt(manager)
        return self._deliveries

    def give_up(self) -> None:
        """Wait no more, and acquire nothing: the member has asked again."""
        self._is_over = True
        self._complete()

    def attempt(self, manager: SharePartitionManager) -> bool:
        """Acquire what is there.

        Returns:
            Whether the fetch is complete: it has records, or every partition has failed.
        """
        try:
            return self._attempt(manager)
        except Exception as wrong:
            if self._future is None or self._future.done():
                raise
            # Others have woken the fetch, whose fault it is not.
            self._future.set_exception(wrong)
            return True

    def _attempt(self, manager: SharePartitionManager) -> bool:
        if self._is_over or self._deliveries or self.failed:
            # Two of its share partitions may wake it before it has left: what it acquired now would take the place of what it
            # has, and reach nobody.
            return True
        if manager.writes.is_closed:
            # What was given out now could never be settled.
            return False
        self.acquirable = [served for served in self._partitions if served.is_ready and served.engine.can_acquire()]
        if not self.acquirable:
            done = all(served.error_code != codes.NONE for served in self._partitions)
        else:
            done = self._acquire(manager, self.acquirable)
        if done:
            self._complete()
        return done

    def _acquire(self, manager: SharePartitionManager, acquirable: list[ServedPartition]) -> bool:
        allowed = self._answers.allowed()
        if not allowed:
            # Clients have to take what they were given first.
            if self._again is not None:
                self._answers.wait(self._again)
            return False
        left = min(self._max_bytes, allowed)
        share = max(left // len(acquirable), 1)
        if self._min_bytes > 1 and not self._has_enough(acquirable, share):
            return False
        now_ms = lock_ms()
        wanted = self._max_records
        for served in acquirable:
            # One batch is delivered whatever its size (KIP-74). Clients could not take an answer with several of them.
            if self._deliveries and served.reader.first_bytes(served.engine.next_fetch_offset()) > left + _MORE:
                continue
            delivery = self._take(manager, served, now_ms, wanted, min(share, max(left, 1)))
            if delivery is None:
                continue
            wanted -= delivery.record_count
            left -= delivery.nbytes
            if wanted <= 0:
                break
        if self._deliveries:
            self._answers.hold(self._client, sum(delivery.nbytes for delivery in self._deliveries.values()))
        return bool(self._deliveries or self.failed)

    def _take(
        self, manager: SharePartitionManager, served: ServedPartition, now_ms: int, max_records: int, max_bytes: int
    ) -> Delivery | None:
        """Acquire records of one share partition."""
        try:
            delivery = served.reader.deliver(
                served.engine,
                self._member,
                now_ms=now_ms,
                max_records=max_records,
                batch_size=self._batch_size,
                mode=self._mode,
                max_bytes=max_bytes,
            )
        except Exception as wrong:  # noqa: BLE001  others may have woken the fetch, whose fault it is not
            self.failed[served] = wrong
            return None
        if served.reader.isolation:
            # Records of aborted transactions were archived on the way.
            manager.writes.add(served)
        if delivery is not None:
            self._deliveries[served] = delivery
            manager.holds(served, self._member)
        return delivery

    def _has_enough(self, acquirable: list[ServedPartition], share: int) -> bool:
        """Say whether there are as many bytes as the client wants at least, or as are read ahead."""
        there, least = 0, min(self._min_bytes, READ_AHEAD)
        for served in acquirable:
            reader, offset = served.reader, served.engine.next_fetch_offset()
            if not reader.ring.holds(offset):
                # Asked for; what is not at the end of the log is worth an answer whatever its size.
                reader.expect(offset)
                continue
            there += reader.has_from(offset, share)
            if there >= least:
                return True
        return False

    @property
    def partitions(self) -> int:
        """How many share partitions it is for."""
        return len(self._partitions)

    def _complete(self) -> None:
        if self._future is not None and not self._future.done():
            self._future.set_result(None)


def wake(manager: SharePartitionManager, served: ServedPartition) -> None:
    """Let the fetches that wait at a share partition try again, the oldest first, as long as there is something for them."""
    for waiting in list(served.waiting):
        if waiting not in served.waiting:
            continue
        if not waiting.attempt(manager) and served.is_ready and not _has_more(served):
            return


def _has_more(served: ServedPartition) -> bool:
    return served.engine.can_acquire() and served.reader.ring.holds(served.engine.next_fetch_offset())
