"""The one event loop of an object that must not be used on another.

A call that waits on one loop cannot be woken from another: without a check it would hang forever.
"""

from __future__ import annotations

import asyncio
import threading

__all__ = ["HomeLoop"]


class HomeLoop:
    """The event loop on which an object is first used. It must not be used on another.

    Args:
        name: the kind of the object, for the message.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        #: Two threads may use the object first at the same time, each with its own loop.
        self._choosing = threading.Lock()

    def enter(self) -> asyncio.AbstractEventLoop:
        """Return the running loop; the first call makes it the home.

        Raises:
            RuntimeError: another loop is the home, or none runs.
        """
        running = asyncio.get_running_loop()
        with self._choosing:
            if self._loop is None:
                self._loop = running
        if self._loop is not running:
            raise RuntimeError(
                f"{self._name} belongs to the event loop {self._loop!r}, where it was used first, not to {running!r}"
            )
        return running
