"""What becomes of a share partition whose log was cut upstream: an unclean election, a cluster restored from a backup.

The offsets from the cut on are given to other records. Kafka keeps the old state: what was settled stays settled, and a
new record at such an offset is never delivered. Here it is forgotten (``on.truncation=rewind``), so every record is delivered
at least once; ``keep`` is Kafka's way.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from share_state._core import StateStore
from share_state.errors import ShareStateError
from share_state.gateway.data_plane import DataPlane
from share_state.gateway.upstream.reader import PartitionReader
from share_state.logs import named

__all__ = ["Truncation"]

_LOG: Final = logging.getLogger("share_state.gateway")


class Truncation:
    """Forgets what is known of offsets that are no longer those of the same records.

    Args:
        store: the states.
        executor: where calls of the store run.
        plane: the share partitions in memory.
        rewinds: whether anything is forgotten.
    """

    def __init__(self, store: StateStore, executor: ThreadPoolExecutor, plane: DataPlane, *, rewinds: bool) -> None:
        self._store = store
        self._executor = executor
        self._plane = plane
        self._rewinds = rewinds
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, readers: list[PartitionReader], offset: int) -> None:
        """Forget the offsets of a partition from ``offset`` on, in every group, in memory or not."""
        if not self._rewinds:
            return
        # No request may see an old state from now on; the next one loads the new one, once it is there.
        reader = readers[0]
        self._plane.tell(self._plane.node.truncated, reader.topic_id, reader.partition, offset)
        task = asyncio.get_running_loop().create_task(self._rewind(reader, offset))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _rewind(self, reader: PartitionReader, offset: int) -> None:
        place = named(topic=reader.topic, topic_id=reader.topic_id, partition=reader.partition)
        truncate = functools.partial(self._store.log_truncated, reader.topic_id, reader.partition, offset)
        try:
            count = await asyncio.get_running_loop().run_in_executor(self._executor, truncate)
        except ShareStateError as failed:
            _LOG.error("states were not truncated at offset %d: %s: %s", offset, failed, place)
        else:
            _LOG.warning("the states of %d groups were truncated at offset %d: %s", count, offset, place)
        finally:
            self._plane.tell(self._plane.node.let_go, reader.topic_id, reader.partition)
