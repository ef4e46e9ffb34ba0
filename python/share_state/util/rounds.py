"""Group commit on an event loop: one blocking call at a time in a thread; work that arrives meanwhile goes with the next.

The gateway and :class:`share_state.async_store.AsyncStateStore` use it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Generic, TypeVar

__all__ = ["Rounds"]

Work = TypeVar("Work")
Result = TypeVar("Result")


class Rounds(Generic[Work, Result]):
    """Runs rounds while there is work. At most one is in progress, so work keeps its order.

    Except for the constructor, use it on one event loop only.

    Args:
        executor: runs the rounds.
        take: called on the loop at the start of a round; returns the collected work, or None if there is none.
        carry_out: called in a thread with the work.
        settle: called on the loop at the end of a round, with the work and its result or exception. It may add work.
    """

    def __init__(
        self,
        executor: Executor,
        take: Callable[[], Work | None],
        carry_out: Callable[[Work], Result],
        settle: Callable[[Work, Result | BaseException], None],
    ) -> None:
        self._executor = executor
        self._take = take
        self._carry_out = carry_out
        self._settle = settle
        #: True while a round is in progress, or is to begin in the next turn of the loop.
        self._is_busy = False
        self._idle = asyncio.Event()
        self._idle.set()

    def ask(self) -> None:
        """Schedule a round for the collected work."""
        if not self._is_busy:
            self._is_busy = True
            self._idle.clear()
            # Not at once: what comes in this turn of the loop goes along.
            asyncio.get_running_loop().call_soon(self._begin)

    async def idle(self) -> None:
        """Wait until no round is in progress and no work is left."""
        await self._idle.wait()

    def _begin(self) -> None:
        work = None
        try:
            work = self._take()
        finally:
            if work is None:
                self._is_busy = False
                self._idle.set()
        if work is None:
            return
        loop = asyncio.get_running_loop()
        try:
            done = loop.run_in_executor(self._executor, self._carry_out, work)
        except RuntimeError as refused:
            # The executor was shut down. Without an answer its callers would wait for ever.
            done = loop.create_future()
            done.set_exception(refused)
        done.add_done_callback(lambda done: self._end(work, done))

    def _end(self, work: Work, done: asyncio.Future[Result]) -> None:
        result: Result | BaseException
        if done.cancelled():
            # Nobody knows whether it was carried out.
            result = asyncio.CancelledError()
        else:
            error = done.exception()
            result = done.result() if error is None else error
        try:
            self._settle(work, result)
        finally:
            self._begin()
