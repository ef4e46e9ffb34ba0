"""The persisters of :mod:`share_state.persister` for programs with an event loop.

* :class:`AsyncStateStore`: the embedded store, ``AsyncStateStore(share_state.open(path))``.
* :class:`share_state.kafka.AsyncKafkaPersister`: the share coordinator of a Kafka cluster.

:func:`lead_async` loads a share partition from one, and :func:`drain_writes_async` carries its writes there and the answers back.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar, runtime_checkable

from share_state._core import GroupConfig, ReadStateResult, SharePartition, StateSummary, WriteState
from share_state.async_store import AsyncStateStore
from share_state.errors import ShareStateError
from share_state.persister.carrying import Carried, Carrying, WriteAnswers
from share_state.persister.draining import settle_write
from share_state.persister.leading import begin, has_begun
from share_state.types import LockTime, PendingWrite, SharePartitionKey

__all__ = ["AsyncPersister", "AsyncStateStore", "drain_writes_async", "initialize_if_absent_async", "lead_async"]

T = TypeVar("T")


@runtime_checkable
class AsyncPersister(Protocol):
    """Keeps the state of share partitions; its methods are those of :class:`share_state.persister.Persister`, as coroutines.

    Calls for one share partition are carried out in the order in which they are made. Calls for others do not wait for them.
    ``isinstance`` checks only the names of methods, so a ``Persister`` passes too. Using one raises ``TypeError``.
    """

    async def reset_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """Initialise a state, which replaces an existing one (InitializeShareGroupState, RPC 83).

        A ``start_offset`` of -1 leaves the choice to the leader.
        """

    async def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult:
        """Read a state as the leader of this epoch, and fence older ones (ReadShareGroupState, RPC 84)."""

    async def write_state(self, key: SharePartitionKey, state: WriteState) -> None:
        """Write a change (WriteShareGroupState, RPC 85)."""

    async def delete_state(self, key: SharePartitionKey) -> None:
        """Delete a state, if there is one (DeleteShareGroupState, RPC 86)."""

    async def read_summary(self, key: SharePartitionKey) -> StateSummary:
        """Read epochs, start offset and delivery complete count (ReadShareGroupStateSummary, RPC 87)."""


async def initialize_if_absent_async(
    persister: AsyncPersister, key: SharePartitionKey, state_epoch: int, start_offset: int
) -> bool:
    """Initialise a state unless it exists; see :func:`share_state.persister.initialize_if_absent`.

    Raises:
        ShareStateError: the persister refuses.
        TypeError: the persister is not asynchronous.
    """
    _refuse_blocking(persister)
    if has_begun(await _to_be_awaited(persister, persister.read_summary(key))):
        return False
    await _to_be_awaited(persister, persister.reset_state(key, state_epoch, start_offset))
    return True


async def lead_async(
    persister: AsyncPersister,
    key: SharePartitionKey,
    *,
    leader_epoch: int,
    config: GroupConfig | None = None,
    latest: int | None = None,
    earliest: int = 0,
) -> SharePartition:
    """Create the share partition of ``key`` and load its state from ``persister``.

    See :func:`share_state.persister.lead` for the arguments. There is no ``inline``: a share partition that makes its own
    writes waits for the disk, and blocks the event loop.

    Raises:
        ShareStateError: the persister refuses, or the state is corrupt.
        TypeError: the persister is not asynchronous.
    """
    _refuse_blocking(persister)
    share_partition = SharePartition(*key, leader_epoch=leader_epoch, config=config)
    read = await _to_be_awaited(persister, persister.read_state(key, leader_epoch))
    begin(share_partition, read, latest=latest, earliest=earliest)
    return share_partition


async def drain_writes_async(
    share_partition: SharePartition, persister: AsyncPersister, *, now_ms: int | LockTime
) -> WriteAnswers:
    """Carry every write of the share partition to the persister and every answer back, one write at a time.

    Returns the same as :func:`share_state.persister.drain_writes`: Kafka's code for the waiting member, by write token. Many
    drains of one share partition may be in progress. Each takes the writes that wait, and answers for every write that was made
    before it began, whichever drain carries it.

    A cancelled drain starts no further write. The write in progress continues, and its answer reaches the share partition, so
    no record stays pending. A later drain may start before that: the persister keeps the order.

    Args:
        share_partition: the share partition; it must not have an inline persister.
        persister: takes the writes.
        now_ms: the time of this call. Answers come later; a share partition uses the latest time that it has seen.

    Raises:
        TypeError: the persister is not asynchronous.
        Exception: an exception of the persister other than a ``ShareStateError``. The share partition has rolled that change
            back too. ``SharePartition.write_answer`` has the answers to the other writes.
    """
    _refuse_blocking(persister)
    answers = WriteAnswers(share_partition)
    carrying = Carrying.of(share_partition)
    waiting = share_partition.tokens_to_poll
    while True:
        with carrying.order:
            write = share_partition.poll_write()
            if write is None:
                break
            writing, answer = _begin(share_partition, persister, write, carrying, now_ms)
        # The write is not cancelled with the drain.
        await asyncio.wait([writing])
        answers[write.token] = answer.result()
        error = _error_of(writing)
        if error is not None and not isinstance(error, ShareStateError):
            raise error
    await carrying.answered(waiting.stop)
    answers.take_in(waiting)
    return answers


#: The loop holds its tasks only weakly, and a cancelled drain no longer holds them.
_WRITING: set[asyncio.Task[None]] = set()


def _begin(
    share_partition: SharePartition, persister: AsyncPersister, write: PendingWrite, carrying: Carrying, now_ms: int | LockTime
) -> tuple[asyncio.Task[None], Future[int]]:
    """Start a write. Its answer reaches the share partition before anybody who waits for it goes on."""
    loop = asyncio.get_running_loop()
    writing = loop.create_task(_write(persister, share_partition.key, write.state))
    answer: Future[int] = Future()
    carrying.carried[write.token] = Carried(loop, answer)
    _WRITING.add(writing)

    def settle(writing: asyncio.Task[None]) -> None:
        _WRITING.discard(writing)
        try:
            answer.set_result(settle_write(share_partition, write.token, _error_of(writing), now_ms=now_ms))
        except BaseException as failed:  # noqa: BLE001  it is told to those who wait
            answer.set_exception(failed)
        finally:
            del carrying.carried[write.token]

    writing.add_done_callback(settle)
    return writing, answer


async def _write(persister: AsyncPersister, key: SharePartitionKey, state: WriteState) -> None:
    await _to_be_awaited(persister, persister.write_state(key, state))


def _refuse_blocking(persister: AsyncPersister) -> None:
    """Refuse the blocking persisters of this package at once. Another one is recognised only by its answer."""
    kind = type(persister)
    if kind.__module__.partition(".")[0] == "share_state" and not inspect.iscoroutinefunction(getattr(kind, "write_state", None)):
        raise _not_to_be_awaited(persister)


def _not_to_be_awaited(persister: object) -> TypeError:
    return TypeError(f"persister is {persister!r}, which is not asynchronous: use share_state.persister, or AsyncStateStore")


def _to_be_awaited(persister: AsyncPersister, answer: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
    if not inspect.isawaitable(answer):
        raise _not_to_be_awaited(persister)
    return answer


def _error_of(writing: asyncio.Task[None]) -> BaseException | None:
    # A write that was cancelled, for example with the whole loop, may have been made.
    return asyncio.CancelledError("the write was cancelled") if writing.cancelled() else writing.exception()
