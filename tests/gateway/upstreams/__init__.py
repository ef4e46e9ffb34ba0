"""The clusters that a gateway reads from, and the broker with share groups that it is compared with.

``running(kind, directory)`` gives any of them: started, with ``bootstrap``, ``start``, ``stop``, ``kill`` and ``restart``, and
gone afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from tests.gateway.upstreams import kraft, mock, pair, zookeeper


class Upstream(Protocol):
    """Operations that every upstream has."""

    @property
    def bootstrap(self) -> str:
        """Hosts and ports for clients."""

    def start(self) -> None:
        """Start it and wait until it answers."""

    def stop(self) -> None:
        """Ask it to end, and end it when it does not."""

    def kill(self) -> None:
        """End it at once, as a crash would."""

    def restart(self, *, killed: bool = False) -> None:
        """End it, in order or by SIGKILL, and start it again: with its data, where it keeps any."""


KINDS: Mapping[str, Callable[[Path], AbstractContextManager[Upstream]]] = {
    "share groups": kraft.with_share_groups,
    "4.4": kraft.without_share_groups,
    "3.9": kraft.older,
    "2.8": zookeeper.running,
    "two brokers": pair.running,
    "mock": mock.running,
}


def running(kind: str, directory: Path) -> AbstractContextManager[Upstream]:
    """Upstream of a kind in :data:`KINDS`."""
    return KINDS[kind](directory)
