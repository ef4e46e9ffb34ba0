"""A clock that steps, and the time of a history by it.

The engine is given the clock as it is, and lets time stand still where the clock goes back. So a history has the latest time that
the clock has shown; each look at it is later than the one before, so that the order of events is told even then.
"""

from __future__ import annotations

import threading
import time


class Clock:
    """Begins no earlier than ``floor``, nanoseconds."""

    def __init__(self, floor: int) -> None:
        self._offset = max(floor - time.monotonic_ns(), 0)
        self._latest = floor
        self._lock = threading.Lock()

    def raw_ms(self) -> int:
        """The clock itself, ms."""
        return (time.monotonic_ns() + self._offset) // 1_000_000

    def tick(self) -> int:
        """The time of an event, nanoseconds: later than of every event before."""
        with self._lock:
            self._latest = max(self._latest + 1, time.monotonic_ns() + self._offset)
            return self._latest

    def step(self, milliseconds: int) -> None:
        """Put the clock forward, or back."""
        with self._lock:
            self._offset += milliseconds * 1_000_000
