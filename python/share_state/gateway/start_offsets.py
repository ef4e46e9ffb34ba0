"""Where a share partition begins that has no start offset yet (``share.auto.offset.reset``)."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from share_state._core import offset_reset_duration_ms
from share_state.gateway.clock import wall_ms
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.gateway.upstream.offsets import list_offsets
from share_state.gateway.upstream.topics import Topic
from share_state.kafka import codes
from share_state.kafka.client.offsets import EARLIEST, LATEST, Found

__all__ = ["StartOffsets"]

_WAIT: Final = 0.1
_PATIENCE: Final = 10.0


class StartOffsets:
    """Asks upstream.

    Args:
        upstream: the cluster with the records.
    """

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def find(self, topic: Topic, partition: int, strategy: str, isolation: int) -> int | None:
        """Find the offset; ``None`` if upstream has not told it for ten seconds.

        Args:
            topic: the topic.
            partition: its index.
            strategy: ``latest``, ``earliest`` or ``by_duration:…``.
            isolation: 0 for read_uncommitted, 1 for read_committed.
        """
        duration = offset_reset_duration_ms(strategy)
        special = LATEST if strategy == "latest" else EARLIEST
        timestamp = special if duration is None else max(0, wall_ms() - duration)
        end = time.monotonic() + _PATIENCE
        while True:
            found = await self._ask(topic, partition, timestamp, isolation)
            if found.error_code == codes.NONE and found.offset < 0:
                # No record is as young as that: begin with those to come. Kafka leaves the state open and fails each fetch.
                found = await self._ask(topic, partition, LATEST, isolation)
            if found.error_code == codes.NONE:
                return found.offset
            if time.monotonic() > end:
                return None
            await asyncio.sleep(_WAIT)
            try:
                topic = (await self._upstream.topics([topic.name])).get(topic.name, topic)
            except UpstreamError:
                continue

    async def _ask(self, topic: Topic, partition: int, timestamp: int, isolation: int) -> Found:
        found = await list_offsets(self._upstream, [(topic, partition, timestamp)], isolation=isolation)
        return found[topic.topic_id, partition]
