"""What becomes of a share partition whose log was cut upstream: an unclean election, a cluster restored from a backup.

The offsets from the cut on are given to other records. Kafka keeps the old state: what was settled stays settled, and a
new record at such an offset is never delivered. Here it is forgotten (``on.truncation=rewind``), so every record is delivered
at least once; ``keep`` is Kafka's way.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from share_state._core import StateStore, WriteState
from share_state.errors import ShareStateError
from share_state.types import StateBatch

if TYPE_CHECKING:
    from share_state.gateway.share_partitions import ServedPartition, SharePartitionManager

__all__ = ["Truncation"]

_LOG: Final = logging.getLogger("share_state.gateway")
_UNKNOWN: Final = -1


class Truncation:
    """Forgets what is known of offsets that are no longer those of the same records.

    Args:
        store: the states.
        executor: where calls of the store run.
        manager: the share partitions in memory.
        generation: leader epoch of every share partition.
        rewinds: whether anything is forgotten.
    """

    def __init__(
        self,
        store: StateStore,
        executor: ThreadPoolExecutor,
        manager: SharePartitionManager,
        generation: int,
        *,
        rewinds: bool,
    ) -> None:
        self.count = 0
        self._store = store
        self._executor = executor
        self._manager = manager
        self._generation = generation
        self._rewinds = rewinds
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, served: list[ServedPartition], offset: int) -> None:
        """Forget the offsets from ``offset`` on, for share partitions whose window reaches beyond it."""
        for one in served:
            if not one.is_ready or max(one.engine.start_offset, one.engine.end_offset + 1) <= offset:
                continue
            self.count += 1
            _LOG.warning(
                "%r: the log was cut at offset %d; its state is %s", one.key, offset, "cut too" if self._rewinds else "kept"
            )
            if self._rewinds:
                # No request may see the old state from now on; the next one loads the new one, once it is there.
                self._manager.hold(one)
                task = asyncio.get_running_loop().create_task(self._rewind(one, offset))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _rewind(self, served: ServedPartition, offset: int) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._executor, self._cut, served, offset)
        except ShareStateError as failed:
            _LOG.error("the state of %r was not cut at offset %d: %s", served.key, offset, failed)
        finally:
            self._manager.let_go(served)

    def _cut(self, served: ServedPartition, offset: int) -> None:
        found = self._store.read_state(served.key, self._generation)
        state_epoch = found.state_epoch + 1
        start_offset = min(found.start_offset, offset)
        batches = [
            StateBatch(first, min(last, offset - 1), state, count)
            for first, last, state, count in found.state_batches
            if first < offset
        ]
        self._store.initialize_state(served.key, state_epoch, start_offset)
        if batches:
            self._store.write_state(served.key, WriteState(state_epoch, self._generation, start_offset, _UNKNOWN, batches))
