"""Protocol of a persister: the requests that it serves, one by one or many at once."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol, runtime_checkable

from share_state._core import ReadStateResult, StateSummary, WriteState
from share_state.errors import ShareStateError
from share_state.types import SharePartitionKey

__all__ = ["ManyAtOnce", "Persister", "refuse_async"]


@runtime_checkable
class Persister(Protocol):
    """Keeps the state of share partitions.

    A method returns when its answer is as durable as the persister promises. If the share coordinator refuses, it raises a
    :class:`share_state.ShareStateError` with ``kafka_code``, and nothing has changed.
    """

    def reset_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """Replace a state by a new one, or make the first (InitializeShareGroupState, RPC 83).

        A ``start_offset`` of -1 leaves the choice to the leader.
        """

    def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult:
        """Read a state as the leader of this epoch, and fence older ones (ReadShareGroupState, RPC 84)."""

    def write_state(self, key: SharePartitionKey, state: WriteState) -> None:
        """Write a change (WriteShareGroupState, RPC 85)."""

    def delete_state(self, key: SharePartitionKey) -> None:
        """Delete a state, if there is one (DeleteShareGroupState, RPC 86)."""

    def read_summary(self, key: SharePartitionKey) -> StateSummary:
        """Read epochs, start offset and delivery complete count (ReadShareGroupStateSummary, RPC 87)."""


@runtime_checkable
class ManyAtOnce(Protocol):
    """A persister that takes many requests in one call: :class:`share_state.StateStore`, which then waits for its disk once.

    A request is a tuple of the arguments of the single call. Requests are handled in order. A method returns an answer for each:
    the result of the single call, or the :class:`share_state.ShareStateError` that it would raise. The method itself raises
    only if it has no answers at all.
    """

    def reset_states(self, requests: Iterable[tuple[SharePartitionKey, int, int]]) -> list[ShareStateError | None]:
        """Do :meth:`Persister.reset_state` for each."""

    def read_states(self, requests: Iterable[tuple[SharePartitionKey, int]]) -> list[ReadStateResult | ShareStateError]:
        """Do :meth:`Persister.read_state` for each."""

    def write_states(self, requests: Iterable[tuple[SharePartitionKey, WriteState]]) -> list[ShareStateError | None]:
        """Do :meth:`Persister.write_state` for each."""

    def delete_states(self, keys: Iterable[SharePartitionKey]) -> list[ShareStateError | None]:
        """Do :meth:`Persister.delete_state` for each."""


def refuse_async(persister: Persister) -> None:
    """Refuse an asynchronous persister: a write that nobody awaits is never made, and would count as confirmed."""
    if not isinstance(persister, Persister):
        raise TypeError(f"persister is {persister!r}, which does not have the methods of a share_state.persister.Persister")
    if _answers_later(type(persister)):
        raise TypeError(f"persister is {persister!r}, which is asynchronous: use share_state.async_persister")


@lru_cache(64)
def _answers_later(kind: type) -> bool:
    return inspect.iscoroutinefunction(getattr(kind, "write_state", None))
