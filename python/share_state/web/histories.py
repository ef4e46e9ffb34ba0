"""Reads histories when a page asks for them: one at a time, in the background, and kept for a while."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from share_state.errors import ShareStateError
from share_state.reading.asking import in_background
from share_state.web.past import Key, Past, Source, StoppedError, read_past

__all__ = ["Histories", "Told"]

#: Seconds that a page waits for a history; after that it says how far the reading is.
_PATIENCE_S: Final = 1.5
#: A history is read again after so many seconds, and after so many times what its reading took.
_KEPT_S: Final = 10.0
_KEPT_TIMES: Final = 10
#: Share partitions whose histories are kept.
_MOST: Final = 16


@dataclass(frozen=True, slots=True)
class Told:
    """What can be said of a history.

    Attributes:
        past: what was read; while it is read again, what was read before.
        failure: why it could not be read.
        progress: while it is read, how much was and of how much: bytes, or records of a cluster.
    """

    past: Past | None
    failure: str | None = None
    progress: tuple[int, int] | None = None


@dataclass(slots=True)
class _Reading:
    """One reading, and what came of it."""

    progress: tuple[int, int] = (0, 0)
    stopped: bool = False
    past: Past | None = None
    failure: str | None = None
    ended_at: float = 0.0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, done: int, total: int) -> None:
        if self.stopped:
            raise StoppedError
        self.progress = done, total

    def is_fresh(self, now: float) -> bool:
        if not self.ended.is_set():
            return True
        kept = _KEPT_S if self.past is None else max(_KEPT_S, _KEPT_TIMES * self.past.seconds)
        return now - self.ended_at < kept


class Histories:
    """Histories of share partitions. All of it lives on one event loop.

    Args:
        source: where they are read.
    """

    def __init__(self, source: Source, *, patience: float = _PATIENCE_S) -> None:
        self._source = source
        self._patience = patience
        self._found: OrderedDict[Key, _Reading] = OrderedDict()
        self._one = asyncio.Semaphore(1)
        self._tasks: set[asyncio.Task[None]] = set()

    async def tell(self, key: Key, state_partitions: list[int], own: int) -> Told:
        """Say what is known of a history, and read it where that is too old; see :func:`read_past`."""
        before = self._found.get(key)
        reading = before
        if reading is None or not reading.is_fresh(time.monotonic()):
            reading = self._found[key] = _Reading()
            task = asyncio.get_running_loop().create_task(self._read(reading, key, state_partitions, own))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._found.move_to_end(key)
        while len(self._found) > _MOST:
            self._found.popitem(last=False)[1].stopped = True
        try:
            async with asyncio.timeout(self._patience):
                await reading.ended.wait()
        except TimeoutError:
            return Told(None if before is None else before.past, progress=reading.progress)
        return Told(reading.past, reading.failure)

    async def close(self) -> None:
        """Read no more."""
        for reading in self._found.values():
            reading.stopped = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self, reading: _Reading, key: Key, state_partitions: list[int], own: int) -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def run() -> None:
            try:
                reading.past = read_past(self._source, key, state_partitions, own, reading.note)
            except (ShareStateError, OSError, StoppedError) as error:
                reading.failure = str(error)
            finally:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(done.set)

        async with self._one:
            # The end of the process does not wait for it.
            in_background(run)
            await done.wait()
        reading.ended_at = time.monotonic()
        reading.ended.set()
