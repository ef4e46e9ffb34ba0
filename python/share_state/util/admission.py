"""Connections that a server admits: no more than the process can hold open, nor too many of one address or principal."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import Final

__all__ = ["ACCEPTED_AT_ONCE", "Admission", "connections_allowed", "listen_longer"]

#: Descriptors that connections leave to the rest of the process: logs, threads, and the other side of what it asks.
_RESERVE: Final = 256
#: Connections that the event loop accepts before it looks at anything else. Each has a descriptor, if only for a moment.
ACCEPTED_AT_ONCE: Final = 16
#: Connections that may wait until they are accepted.
_BACKLOG: Final = 1024


def connections_allowed(wanted: int, log: logging.Logger, *, descriptors: int = 1) -> int:
    """Return how many connections the limit of open files leaves room for, after raising it as far as they need.

    Args:
        wanted: so many at most.
        log: told what is raised, and what is not enough.
        descriptors: how many descriptors a connection takes.
    """
    try:
        import resource  # noqa: PLC0415  not on every system
    except ImportError:
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted * descriptors + _RESERVE
    if soft != resource.RLIM_INFINITY and soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        if raised > soft:
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            log.info("raised the limit of open files from %d to %d", soft, raised)
            soft = raised
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    allowed = max(1, (soft - min(_RESERVE, soft // 2)) // descriptors)
    if allowed >= wanted:
        return wanted
    log.warning("the limit of open files is %d: admits %d connections, not %d", soft, allowed, wanted)
    return allowed


def listen_longer(server: asyncio.Server) -> None:
    """Let more connections wait than are accepted at once: asyncio has one number for both."""
    for listening in server.sockets:
        with listening.dup() as same:
            same.listen(_BACKLOG)


class Admission:
    """Counts connections.

    Args:
        most: so many altogether.
        of_address: so many from one address, and no more than three quarters of all.
        of_principal: so many of one principal, and no more than three quarters of all.
    """

    def __init__(self, most: int, of_address: int, of_principal: int) -> None:
        self.most = most
        share = most - most // 4
        self._of_address = min(of_address, share)
        self._of_principal = min(of_principal, share)
        self.total = 0
        self._addresses: Counter[str] = Counter()
        self._principals: Counter[str] = Counter()

    def enter(self, host: str) -> str | None:
        """Admit a connection from an address; returns why not, else None."""
        if self.total >= self.most:
            return f"the limit of {self.most} connections is reached"
        if self._addresses[host] >= self._of_address:
            return f"the limit of {self._of_address} connections of one address is reached"
        self.total += 1
        self._addresses[host] += 1
        return None

    def leave(self, host: str, principal: str | None = None) -> None:
        """Count a connection no more that was admitted, and that was of a principal if one is given."""
        self.total -= 1
        _take(self._addresses, host)
        if principal is not None:
            _take(self._principals, principal)

    def know(self, principal: str, before: str | None = None) -> str | None:
        """Count a connection as one of a principal, and no more of the one before; returns why not, else None."""
        if self._principals[principal] >= self._of_principal:
            return f"the limit of {self._of_principal} connections of one principal is reached"
        self._principals[principal] += 1
        if before is not None:
            _take(self._principals, before)
        return None


def _take(counts: Counter[str], name: str) -> None:
    counts[name] -= 1
    if counts[name] <= 0:
        del counts[name]
