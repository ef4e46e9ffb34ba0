"""Reads what a page asks for and the view does not hold: one thing at a time, in the background, and kept for a while."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from share_state.errors import ShareStateError
from share_state.util.closing import cancel_all

__all__ = ["Background", "Progress", "StoppedError", "Told"]

_LOG: Final = logging.getLogger("share_state.operate.web")
_Found = TypeVar("_Found")
#: Takes how much was read, and of how much.
Progress = Callable[[int, int], object]

#: Seconds that a page waits; after that it says how far the reading is.
_PATIENCE_S: Final = 1.5
#: It is read again after so many seconds, and after so many times what its reading took.
_KEPT_S: Final = 10.0
_KEPT_TIMES: Final = 10
#: Number of readings that are kept.
_MOST: Final = 16


class StoppedError(Exception):
    """Nobody waits for the reading any more."""


@dataclass(frozen=True, slots=True)
class Told(Generic[_Found]):
    """State of a reading, for a page.

    Attributes:
        found: what was read; while it is read again, what was read before.
        failure: why it could not be read.
        progress: while it is read, how much was and of how much: bytes, or records of a cluster.
        read_ms: when it was read, in ms since the epoch.
    """

    found: _Found | None = None
    failure: str | None = None
    progress: tuple[int, int] | None = None
    read_ms: int | None = None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Outcome of a reading. The thread hands it over whole, and the event loop puts it in place: no page sees half of it."""

    found: Any = None
    failure: str | None = None
    seconds: float = 0.0
    read_ms: int | None = None


@dataclass(slots=True)
class _Reading:
    """Reading and its outcome. The thread writes nothing of it but the progress."""

    #: Outcome shown meanwhile: of the reading before, if there was one.
    outcome: _Outcome = _Outcome()
    progress: tuple[int, int] = (0, 0)
    stopped: bool = False
    ended_at: float = 0.0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, done: int, total: int) -> None:
        if self.stopped:
            raise StoppedError
        self.progress = done, total

    def is_fresh(self, now: float) -> bool:
        return not self.ended.is_set() or now - self.ended_at < max(_KEPT_S, _KEPT_TIMES * self.outcome.seconds)

    def run(self, read: Callable[[Progress], object]) -> _Outcome:
        """Read, in a thread."""
        began = time.monotonic()
        found, failure, read_ms = self.outcome.found, None, self.outcome.read_ms
        try:
            self.note(0, 0)
            found = read(self.note)
            read_ms = time.time_ns() // 1_000_000
        except (ShareStateError, OSError) as error:
            failure = str(error)
        except StoppedError:
            failure = "it was given up"
        except Exception as error:  # noqa: BLE001  the page has to say something
            _LOG.exception("a page could not be read")
            failure = repr(error)
        return _Outcome(found, failure, time.monotonic() - began, read_ms)

    def end(self, outcome: _Outcome) -> None:
        self.outcome = outcome
        self.ended_at = time.monotonic()
        self.ended.set()

    def told(self) -> Told[Any]:
        return Told(
            self.outcome.found,
            self.outcome.failure if self.ended.is_set() else None,
            None if self.ended.is_set() else self.progress,
            self.outcome.read_ms,
        )


class Background:
    """Readings by a key. All of it lives on one event loop.

    Args:
        patience: seconds that a page waits.
    """

    def __init__(self, *, patience: float = _PATIENCE_S) -> None:
        self.patience = patience
        self._readings: OrderedDict[tuple[object, ...], _Reading] = OrderedDict()
        self._one = asyncio.Semaphore(1)
        self._tasks: set[asyncio.Task[None]] = set()

    async def tell(self, key: tuple[object, ...], read: Callable[[Progress], _Found]) -> Told[_Found]:
        """Say what is known of something, and read it where that is too old.

        Args:
            key: what is read.
            read: reads it, in a thread; what the progress raises ends it.
        """
        before = self._readings.get(key)
        reading = before
        if reading is None or not reading.is_fresh(time.monotonic()):
            reading = self._readings[key] = _Reading()
            if before is not None:
                reading.outcome = before.outcome
            task = asyncio.get_running_loop().create_task(self._read(reading, read))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._readings.move_to_end(key)
        while len(self._readings) > _MOST:
            self._readings.popitem(last=False)[1].stopped = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.patience):
                await reading.ended.wait()
        return reading.told()

    async def close(self) -> None:
        """Read no more."""
        for reading in self._readings.values():
            reading.stopped = True
        await cancel_all(self._tasks)

    async def _read(self, reading: _Reading, read: Callable[[Progress], object]) -> None:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[_Outcome] = loop.create_future()

        def put(outcome: _Outcome) -> None:
            if not done.done():
                done.set_result(outcome)

        def run() -> None:
            outcome = reading.run(read)
            if not loop.is_closed():
                loop.call_soon_threadsafe(put, outcome)

        async with self._one:
            # The end of the process does not wait for it.
            threading.Thread(target=run, name="share-state-ask", daemon=True).start()
            reading.end(await done)
