"""Follows the cluster in a thread of its own, so that neither its answers nor large views hold up the screen."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, Self

from share_state.operate.live import View
from share_state.operate.top.lines import Key, key_of
from share_state.types import StateBatch

__all__ = ["Feed", "Live"]

#: Number of the latest looks whose lag is kept.
_LOOKS: Final = 16


class Live(Protocol):
    """View that is followed; :class:`share_state.operate.live.LiveView` is one."""

    async def __aenter__(self) -> Self:
        """Begin."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Stop."""

    async def refresh(self) -> View:
        """Look again."""

    def state_batches(self, group: str, topic_id: str, partition: int) -> list[StateBatch] | None:
        """Return what is known of the records of a share partition; any thread may ask."""


class Feed:
    """Looks at the cluster in turns, from an event loop in a thread.

    Args:
        live: what is followed, not open yet.
        refresh_seconds: time between two looks.
        on_view: is given each view, in the thread.
        on_end: is given what ended the following, in the thread; nobody calls it after :meth:`stop`.
    """

    def __init__(
        self, live: Live, refresh_seconds: float, on_view: Callable[[View], object], on_end: Callable[[BaseException], object]
    ) -> None:
        self._live = live
        self._refresh_seconds = refresh_seconds
        self._on_view = on_view
        self._on_end = on_end
        #: Replaced as a whole with each look, so another thread may read it.
        self._lags: dict[Key, tuple[int, ...]] = {}
        self._loop = asyncio.new_event_loop()
        self._following: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="share-state-top", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._following = self._loop.create_task(self._follow())
        self._thread.start()

    def stop(self) -> None:
        """Stop following, and wait until every connection is closed."""
        if self._following is not None:
            # The loop is closed where following has ended by itself.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._following.cancel)
            self._thread.join()

    def lags(self, key: Key) -> tuple[int, ...]:
        """Return the lag of a share partition at the latest looks, the newest last."""
        return self._lags.get(key, ())

    def _run(self) -> None:
        loop, following = self._loop, self._following
        if following is None:
            return
        try:
            loop.run_until_complete(following)
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001  the screen ends with it, and the command reports it
            self._on_end(error)
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    async def _follow(self) -> None:
        async with self._live as live:
            while True:
                view = await live.refresh()
                before = self._lags
                self._lags = {
                    key: (*before.get(key, ())[1 - _LOOKS :], one.lag)
                    for group in view.groups
                    for one in group.share_partitions
                    if one.lag is not None
                    for key in (key_of(one),)
                }
                self._on_view(view)
                await asyncio.sleep(self._refresh_seconds)
