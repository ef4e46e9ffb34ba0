"""Keeps a view up to date, whoever looks at the pages."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Final

from share_state.operate.web.snapshot import Snapshot, snapshot_of

if TYPE_CHECKING:
    from share_state.operate.live.live_view import LiveView
    from share_state.types import StateBatch

__all__ = ["STALE_S", "Watch"]

#: Seconds without a new view after which it is said that the view is old.
STALE_S: Final = 60.0


class Watch:
    """Refreshes an open view in turns.

    Args:
        live: the view, open.
        refresh_seconds: time between two refreshes.
    """

    def __init__(self, live: LiveView, *, refresh_seconds: float = 2.0) -> None:
        self._live = live
        self.refresh_seconds = refresh_seconds
        self._snapshot: Snapshot | None = None
        self._taken = time.monotonic()
        self._refreshing: asyncio.Task[None] | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The last view."""
        if self._snapshot is None:
            raise RuntimeError("nothing was read yet: call start() first")
        return self._snapshot

    @property
    def age(self) -> float:
        """Seconds since the last view was taken."""
        return time.monotonic() - self._taken

    def state_batches(self, one: tuple[str, str, int]) -> list[StateBatch]:
        """Return what is known of the records of a share partition: group, topic id, partition."""
        return self._live.state_batches(*one) or []

    def state_partitions(self) -> list[int]:
        """Return the state partitions that are followed."""
        return sorted(self._live.places())

    async def start(self) -> None:
        """Take the first view, and go on."""
        await self._refresh()
        self._refreshing = asyncio.get_running_loop().create_task(self._run())

    async def ended(self) -> None:
        """Wait until refreshing ends, which only an error does; it is raised."""
        if self._refreshing is not None:
            await self._refreshing

    async def close(self) -> None:
        """Refresh no more."""
        if self._refreshing is not None:
            self._refreshing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._refreshing

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self.refresh_seconds)
            await self._refresh()

    async def _refresh(self) -> None:
        view = await self._live.refresh()
        self._snapshot = await asyncio.to_thread(snapshot_of, view)
        self._taken = time.monotonic()
