"""Bytes of requests that a server has in memory, of all connections together."""

from __future__ import annotations

from typing import Protocol

__all__ = ["QueuedBytes"]


class _Holder(Protocol):
    """A connection, as far as its bytes matter."""

    def cut_off(self, why: str) -> None:
        """End it, and say why in the log."""


class QueuedBytes:
    """Bytes of requests that have arrived and are not begun. When they are too many, who has sent most loses its connection.

    Args:
        limit: so many bytes altogether.
    """

    def __init__(self, limit: int) -> None:
        self.total = 0
        self._limit = limit
        self._held: dict[_Holder, int] = {}

    def add(self, holder: _Holder, count: int) -> None:
        """Count bytes that have arrived."""
        self.total += count
        self._held[holder] = self._held.get(holder, 0) + count
        while self.total > self._limit:
            largest = max(self._held, key=self._held.__getitem__)
            held = self._held[largest]
            self.forget(largest)
            largest.cut_off(f"{held} bytes of its requests wait, and those of all clients are more than {self._limit}")

    def remove(self, holder: _Holder, count: int) -> None:
        """Count bytes whose request is begun."""
        held = self._held.get(holder)
        if held is not None:
            self.total -= count
            if held > count:
                self._held[holder] = held - count
            else:
                del self._held[holder]

    def forget(self, holder: _Holder) -> None:
        """Count no bytes of a connection that has ended."""
        self.total -= self._held.pop(holder, 0)
