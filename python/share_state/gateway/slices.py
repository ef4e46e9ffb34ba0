"""Long requests give way: while one is answered, others are served, and the members of groups are heard.

A long request works for a slice of time. Then it stands in line until every connection has had its turn, and so have the other
long requests, of which one works at a time.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

__all__ = ["Slices"]

_Item = TypeVar("_Item")


class Slices:
    """Turns of long requests, one in each turn of the event loop.

    Args:
        seconds: the time of a slice.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._line: deque[asyncio.Future[None]] = deque()

    async def of(self, items: Iterable[_Item]) -> AsyncIterator[_Item]:
        """Give items one after the other, and the turn to others after each slice."""
        end = time.monotonic() + self._seconds
        for item in items:
            yield item
            if time.monotonic() > end:
                await self._give_way()
                end = time.monotonic() + self._seconds

    async def _give_way(self) -> None:
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._line.append(turn)
        if len(self._line) == 1:
            loop.call_soon(self._next)
        await turn

    def _next(self) -> None:
        """Let the one that has waited longest go on; the next one after what became ready meanwhile."""
        turn = self._line.popleft()
        if not turn.done():
            turn.set_result(None)
        if self._line:
            asyncio.get_running_loop().call_soon(self._next)
