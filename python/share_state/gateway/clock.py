"""The two clocks of the gateway, as plain numbers: locks live on one, records of the log on the other."""

from __future__ import annotations

import time

__all__ = ["lock_ms", "wall_ms"]


def lock_ms() -> int:
    """Read the monotonic clock, ms."""
    return time.monotonic_ns() // 1_000_000


def wall_ms() -> int:
    """Read the wall clock, ms since the epoch."""
    return time.time_ns() // 1_000_000
