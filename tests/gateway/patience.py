"""Waiting for what comes by itself: until a condition holds, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 60.0
_LOOK_AGAIN_S = 0.02


def wait_until(holds: Callable[[], bool], what: str, *, seconds: float = PATIENCE_S) -> None:
    """Look again and again until it holds; an error that says what was waited for when it does not come."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s in vain: {what}")
        time.sleep(_LOOK_AGAIN_S)
