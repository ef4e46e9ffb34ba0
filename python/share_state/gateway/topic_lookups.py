"""Topics that members name by ids which are not in memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from share_state.gateway.data_plane import DataPlane
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.util.closing import cancel_all

__all__ = ["TopicLookups"]


class TopicLookups:
    """Looks for topics upstream, before requests of members go on that name them.

    Args:
        plane: whose node has the requests.
        upstream: the cluster with the topics.
    """

    def __init__(self, plane: DataPlane, upstream: Upstream) -> None:
        self._plane = plane
        self._upstream = upstream
        self._tasks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """End what is in progress."""
        await cancel_all(self._tasks)

    def begin(self, connection: int, topic_ids: Sequence[str]) -> None:
        """Begin to look for topics, for the request of a connection."""
        task = asyncio.get_running_loop().create_task(self._look(connection, topic_ids))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look(self, connection: int, topic_ids: Sequence[str]) -> None:
        try:
            # Where upstream cannot be asked, a topic is as good as unknown; the client asks for metadata and comes back.
            with contextlib.suppress(*UpstreamError):
                await self._upstream.topics_by_id(topic_ids)
        finally:
            # In any case: the request waits for it.
            self._plane.tell(self._plane.node.looked_up, connection)
