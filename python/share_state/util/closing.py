"""End of the servers and tasks that run on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final, TypeVar

__all__ = ["cancel_all", "stop_accepting"]

T = TypeVar("T")

#: Turns of the event loop from an accepted connection to its first step: its transport, its protocol, the protocol's task.
_TURNS: Final = 3


async def stop_accepting(server: asyncio.Server) -> None:
    """Stop listening.

    asyncio loses a connection that it has accepted and not begun when its server closes: the socket stays open until it is
    collected, with a warning, and its client waits. So nothing is accepted any more first, what was accepted begins, and then
    the server closes.
    """
    loop = server.get_loop()
    for listening in server.sockets:
        loop.remove_reader(listening.fileno())
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    server.close()


async def cancel_all(tasks: Collection[asyncio.Task[T]]) -> list[T | BaseException]:
    """Cancel tasks, wait for their ends, and return what each gave or raised."""
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)
