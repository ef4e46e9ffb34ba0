"""When the next lock of each share partition runs out: one timer of the event loop for all of them."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

from share_state.gateway.clock import lock_ms

if TYPE_CHECKING:
    from share_state.gateway.share_partitions import ServedPartition

__all__ = ["LockTimers"]


class LockTimers:
    """Calls back when locks of a share partition are due.

    A share partition stands in the heap at most once. Its locks mostly have one duration, so the one it stands for is the
    earliest; where a later lock is shorter, it is put in again at its earlier place, and what the old place finds is nothing.

    Args:
        due: called with a share partition of which locks have expired.
    """

    def __init__(self, due: Callable[[ServedPartition], None]) -> None:
        self._due = due
        self._heap: list[tuple[int, int, ServedPartition]] = []
        self._armed: dict[ServedPartition, int] = {}
        #: Of two that are due at once, the one that came first.
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0

    def arm(self, served: ServedPartition) -> None:
        """See to it that the earliest lock of a share partition is not missed."""
        deadline = served.engine.poll_timeout()
        if deadline is None:
            return
        armed = self._armed.get(served)
        if armed is not None and armed <= deadline:
            return
        self._armed[served] = deadline
        heapq.heappush(self._heap, (deadline, next(self._order), served))
        if self._timer is None or deadline < self._timer_ms:
            self._set()

    def close(self) -> None:
        """Call back no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._heap.clear()
        self._armed.clear()

    def _set(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            self._timer_ms = self._heap[0][0]
            delay = max(0, self._timer_ms - lock_ms()) / 1000
            self._timer = asyncio.get_running_loop().call_later(delay, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = lock_ms()
        while self._heap and self._heap[0][0] <= now:
            deadline, _, served = heapq.heappop(self._heap)
            if self._armed.get(served) != deadline:
                continue
            del self._armed[served]
            self._due(served)
            self.arm(served)
        self._set()
