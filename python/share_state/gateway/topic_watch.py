"""Looks for topics that members wait for, and for partitions that are added to those in use.

Nobody tells of a topic that is made: a member that has subscribed to it says nothing more, and is assigned nothing until it is
seen. A topic is only looked for, and never created.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from typing import Final

from share_state._core import ShareGroupStore
from share_state.errors import ShareStateError
from share_state.gateway.upstream.cluster import Upstream, UpstreamError

__all__ = ["TopicWatch"]

_LOG: Final = logging.getLogger("share_state.gateway")
#: Seconds between two looks: for topics that members wait for, and at those that are read.
_WAITED_FOR: Final = 1.0
_IN_USE: Final = 3.0
#: Seconds for which is looked often after topics were changed here, and between the first two of those looks: a broker hears
#: of a change after it was answered.
_NEWS: Final = 5.0
_FIRST: Final = 0.05
#: A look takes no more than this part of the time.
_SHARE: Final = 20
#: Names in one request, and characters of the longest name of a topic.
_NAMES: Final = 1000
_LONGEST: Final = 249


class TopicWatch:
    """Asks upstream for topics by their names, as long as it runs.

    Args:
        upstream: the cluster.
        groups: what members subscribe to.
        in_use: gives the names of topics that are read.
    """

    def __init__(self, upstream: Upstream, groups: ShareGroupStore, in_use: Callable[[], Iterable[str]]) -> None:
        self._upstream = upstream
        self._groups = groups
        self._in_use = in_use
        self._news = asyncio.Event()
        self._news_at = -_NEWS
        #: The last name that was asked for of those that are waited for: there may be more than one request takes.
        self._last = ""
        self._used_at = time.monotonic()

    def look(self) -> None:
        """Look now, and often for a while: topics were changed."""
        self._news_at = time.monotonic()
        self._news.set()

    async def run(self) -> None:
        """Look until cancelled."""
        pause = _WAITED_FOR
        while True:
            try:
                async with asyncio.timeout(pause):
                    await self._news.wait()
                pause = _FIRST
            except TimeoutError:
                pause *= 2
            self._news.clear()
            began = time.monotonic()
            is_news = began - self._news_at < _NEWS
            try:
                await self._ask(is_news=is_news)
            except UpstreamError as lost:
                _LOG.info("topics cannot be looked for: %s", lost)
            except ShareStateError as failed:
                _LOG.error("topics are not looked for: %s", failed)
            pause = max(min(pause, _WAITED_FOR) if is_news else _WAITED_FOR, _SHARE * (time.monotonic() - began))

    async def _ask(self, *, is_news: bool) -> None:
        names = set(self._waited_for())
        if is_news:
            names.update(self._upstream.names())
        elif time.monotonic() - self._used_at >= _IN_USE:
            self._used_at = time.monotonic()
            names.update(self._in_use())
        if names:
            await self._upstream.topics(names)

    def _waited_for(self) -> list[str]:
        unknown = [
            name
            for name in self._groups.unknown_topics()
            if 0 < len(name) <= _LONGEST and self._upstream.known_by_name(name) is None
        ]
        following = [name for name in unknown if name > self._last]
        found = (following or unknown)[:_NAMES]
        self._last = found[-1] if len(unknown) > len(found) else ""
        return found
