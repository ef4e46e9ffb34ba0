"""What a share partition shows of its state. Whatever was shown, a crash does not take back.

The start offset of a share partition in memory is newer than the one that was written. It may have moved without a write: with
the log start, or over records that are never delivered. Such a move is kept before it is shown.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, NamedTuple

from share_state._core import SharePartition, StateStore
from share_state.errors import ShareStateError, StoreError
from share_state.gateway.data_plane import DataPlane
from share_state.types import SharePartitionKey

__all__ = ["Shown", "ShownStates"]


class Shown(NamedTuple):
    """What is shown of a share partition.

    Attributes:
        start_offset: -1 where there is no state.
        delivery_complete_count: records that are settled at or after it.
        leader_epoch: of the leader that it has, or had.
    """

    start_offset: int
    delivery_complete_count: int
    leader_epoch: int


_NO_STATE: Final = Shown(-1, -1, 0)


class ShownStates:
    """Tells what share partitions show.

    Args:
        store: their states.
        executor: where calls run that wait for a disk.
        plane: those in memory.
        generation: the leader epoch of those that are loaded.
    """

    def __init__(self, store: StateStore, executor: ThreadPoolExecutor, plane: DataPlane, generation: int) -> None:
        self._store = store
        self._executor = executor
        self._plane = plane
        self._generation = generation

    async def of(self, key: SharePartitionKey) -> Shown:
        """Give what a share partition shows.

        Raises:
            StoreError: the store cannot be used, so nobody knows what it keeps.
        """
        call = asyncio.get_running_loop().run_in_executor
        stored = await call(self._executor, _stored, self._store, key, self._generation)
        shown = self._plane.node.shown(key)
        if shown is None:
            return stored
        start_offset, delivery_complete_count, leader_epoch, _, has_writes = shown
        if has_writes:
            return stored
        if start_offset == stored.start_offset:
            # Records that are never delivered are settled in memory, and in the state with the next write only.
            return Shown(start_offset, delivery_complete_count, leader_epoch)
        if start_offset < stored.start_offset:
            return stored
        kept = await self._plane.keep_start(key)
        return stored if kept is None else Shown(kept.start_offset, kept.delivery_complete_count, kept.leader_epoch)


def _stored(store: StateStore, key: SharePartitionKey, generation: int) -> Shown:
    """Give what a share partition would show, were it loaded.

    The start offset that was written with the last acknowledgement is the one before it.

    Args:
        store: the states of share partitions.
        key: whose state.
        generation: the leader epoch that it would be loaded with.

    Raises:
        StoreError: the store cannot be used, so nobody knows what it keeps.
    """
    try:
        summary = store.read_summary(key)
    except StoreError:
        raise
    except ShareStateError:
        return _NO_STATE
    if summary.start_offset >= 0:
        # Read by the leader that there is, nothing is written. A state that began again shows none, though one is known: then
        # this gateway is the next.
        for leader_epoch in (summary.leader_epoch, generation):
            with suppress(ShareStateError):
                engine = SharePartition(*key, leader_epoch=leader_epoch)
                engine.initialize(store.read_state(key, leader_epoch))
                return Shown(engine.start_offset, engine.delivery_complete_count, engine.leader_epoch)
    return Shown(summary.start_offset, summary.delivery_complete_count, summary.leader_epoch)
