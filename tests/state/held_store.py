"""A store whose rounds wait until a test lets them go, so that a test can say what happens meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from typing import Any

import share_state as ss
from share_state.errors import ShareStateError

__all__ = ["HeldStore"]


class HeldStore:
    """A ``StateStore`` that holds each call of many writes back. To be made on an event loop.

    Attributes:
        rounds: how many writes each call brought.
        fault: raised instead of writing, where it is set.
    """

    def __init__(self, store: ss.StateStore) -> None:
        self.rounds: list[int] = []
        self.fault: BaseException | None = None
        self._store = store
        self._loop = asyncio.get_running_loop()
        self._entered: asyncio.Queue[int] = asyncio.Queue()
        self._let_go = threading.Semaphore(0)
        self.reset_state, self.reset_states = store.reset_state, store.reset_states
        self.read_state, self.read_states, self.read_summary = store.read_state, store.read_states, store.read_summary
        self.delete_state, self.delete_states = store.delete_state, store.delete_states
        self.write_state, self.close = store.write_state, store.close
        self.read_states_as_next_leader = store.read_states_as_next_leader

    def write_states(self, requests: Iterable[tuple[Any, ...]]) -> list[ShareStateError | None]:
        taken = list(requests)
        self.rounds.append(len(taken))
        self._loop.call_soon_threadsafe(self._entered.put_nowait, len(taken))
        assert self._let_go.acquire(timeout=60)
        if self.fault is not None:
            raise self.fault
        return self._store.write_states(taken)

    async def entered(self) -> int:
        """Wait until the next round has begun; gives how many writes it has."""
        return await self._entered.get()

    def let_go(self, rounds: int = 1) -> None:
        """Let rounds go on."""
        self._let_go.release(rounds)
