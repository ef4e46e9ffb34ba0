"""Work of a server with a store every five minutes: it writes snapshots of idle share partitions, and prunes the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from share_state.errors import LimitExceededError

__all__ = ["ROUND_SECONDS", "Tidied", "tidy"]

#: Seconds between two rounds, Kafka's `share.coordinator.state.topic.prune.interval.ms`.
ROUND_SECONDS: Final = 300.0


class Tidied(Protocol):
    """The part of :class:`share_state.StateStore` that a round needs."""

    def cold_snapshots(self) -> int:
        """Write snapshots."""

    def prune(self) -> int:
        """Delete segments."""


def tidy(store: Tidied, warn: Callable[[str], None]) -> None:
    """Carry out a round.

    A state that is too large for a snapshot keeps its part of the log. It ends neither the round nor the server: only a log that
    another program wrote holds one.

    Args:
        store: the store of the server.
        warn: is told of such a state.

    Raises:
        StoreError: the store cannot be used any more.
    """
    try:
        store.cold_snapshots()
    except LimitExceededError as error:
        warn(f"a snapshot was not written: {error}")
    store.prune()
