"""The embedded store for programs with an event loop: calls are coroutines, and concurrent calls share a sync."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, Protocol, Self, cast

from share_state._core import GroupConfig, ReadStateResult, SharePartition, StateSummary, WriteState, coordinator_key
from share_state.errors import ShareStateError, StoreError
from share_state.persister import ManyAtOnce, Persister
from share_state.persister.leading import begin
from share_state.types import SharePartitionKey
from share_state.util.home_loop import HomeLoop
from share_state.util.rounds import Rounds

__all__ = ["AsyncStateStore", "BlockingStore"]

#: Kafka's code of a store that is closed (``NOT_COORDINATOR``).
_CLOSED_CODE: Final = 16
#: The verb of a read by the leader after the last one.
_LEAD: Final = "read_states_as_next_leader"


class BlockingStore(Persister, ManyAtOnce, Protocol):
    """The store below an :class:`AsyncStateStore`: :class:`share_state.StateStore`."""

    def close(self) -> None:
        """Release the directory."""

    def read_states_as_next_leader(
        self, keys: Iterable[SharePartitionKey]
    ) -> list[tuple[int, ReadStateResult] | ShareStateError]:
        """Read states as the leader after the last one."""


class _Call(NamedTuple):
    """A call that waits for its round.

    Attributes:
        verb: the method of the store.
        key: the share partition, in one spelling.
        request: the arguments of the method.
        answer: the future that the caller awaits.
    """

    verb: str
    key: str
    request: tuple[Any, ...]
    answer: asyncio.Future[Any]


class AsyncStateStore:
    """An :class:`share_state.async_persister.AsyncPersister` that keeps states in a :class:`share_state.StateStore`.

    Its own thread makes the calls, so the event loop never waits for the disk, and no thread pool can be exhausted. Calls that
    arrive while the disk is busy go to the store together and share one sync. Calls for one share partition are carried out in
    the order in which they were made.

    A call that returns is as durable as the store's ``sync`` promises. A call that is cancelled before its round starts has no
    effect; a call that is cancelled later is carried out anyway. The object belongs to the event loop on which it is first used:
    on another loop every coroutine raises ``RuntimeError``.

    Args:
        store: an open store; it is closed with this object. Its other calls may be made at the same time. Run those that wait
            for the disk in a thread: ``await asyncio.to_thread(store.prune)``.

    Raises:
        TypeError: ``store`` is not such a store.
    """

    def __init__(self, store: BlockingStore) -> None:
        given: object = store
        if not (isinstance(given, Persister) and isinstance(given, ManyAtOnce)):
            raise TypeError(f"store is {store!r}; expected a share_state.StateStore")
        self._store = store
        self._home = HomeLoop(type(self).__name__)
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="share-state-store")
        self._waiting: list[_Call] = []
        self._rounds = Rounds(self._executor, self._take, self._carry_out, _settle)
        self._closing: asyncio.Task[None] | None = None
        self._many: dict[str, Callable[[list[Any]], list[Any]]] = {
            "reset_state": store.reset_states,
            "read_state": store.read_states,
            "write_state": store.write_states,
            _LEAD: lambda requests: store.read_states_as_next_leader([key for (key,) in requests]),
            "delete_state": lambda requests: store.delete_states([key for (key,) in requests]),
        }

    def __repr__(self) -> str:
        return f"AsyncStateStore({self._store!r})"

    async def reset_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """See :meth:`share_state.persister.Persister.reset_state`."""
        await self._call("reset_state", key, state_epoch, start_offset)

    async def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult:
        """See :meth:`share_state.persister.Persister.read_state`."""
        return cast("ReadStateResult", await self._call("read_state", key, leader_epoch))

    async def write_state(self, key: SharePartitionKey, state: WriteState) -> None:
        """See :meth:`share_state.persister.Persister.write_state`."""
        await self._call("write_state", key, state)

    async def delete_state(self, key: SharePartitionKey) -> None:
        """See :meth:`share_state.persister.Persister.delete_state`."""
        await self._call("delete_state", key)

    async def read_summary(self, key: SharePartitionKey) -> StateSummary:
        """See :meth:`share_state.persister.Persister.read_summary`."""
        return cast("StateSummary", await self._call("read_summary", key))

    async def lead(
        self, key: SharePartitionKey, *, config: GroupConfig | None = None, latest: int | None = None, earliest: int = 0
    ) -> SharePartition:
        """Lead a share partition in the leader epoch after the last one, as :meth:`share_state.StateStore.lead` does.

        Raises:
            ShareStateError: there is no state, it is corrupt, or the store cannot be used.
            ArgumentValueError: the state has no start offset, and ``latest`` is required and missing.
        """
        # Nobody is fenced where an argument is wrong.
        SharePartition(*key, config=config)
        leader_epoch, read = cast("tuple[int, ReadStateResult]", await self._call(_LEAD, key))
        share_partition = SharePartition(*key, leader_epoch=leader_epoch, config=config)
        begin(share_partition, read, latest=latest, earliest=earliest)
        return share_partition

    async def close(self) -> None:
        """Carry out what was asked, refuse what is asked from now on, and close the store. Closing again does no more.

        A ``close`` that is cancelled continues by itself.

        Raises:
            StoreError: the store has failed, now or earlier.
        """
        loop = self._home.enter()
        if self._closing is None:
            self._closing = loop.create_task(self._shut_down())
        await asyncio.shield(self._closing)

    async def __aenter__(self) -> Self:
        self._home.enter()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def _call(self, verb: str, key: SharePartitionKey, *arguments: object) -> object:
        loop = self._home.enter()
        if self._closing is not None:
            raise StoreError("the store is closed", kafka_code=_CLOSED_CODE)
        call = _Call(verb, coordinator_key(*key), (key, *arguments), loop.create_future())
        self._waiting.append(call)
        self._rounds.ask()
        return await call.answer

    def _take(self) -> list[_Call] | None:
        """Return the calls of a round. It has one verb per share partition, as the store takes many of one verb only."""
        verbs: dict[str, str] = {}
        taken, left = [], []
        for call in self._waiting:
            if call.answer.done():
                # Cancelled: nobody asks for it any more.
                continue
            if verbs.setdefault(call.key, call.verb) == call.verb:
                taken.append(call)
            else:
                # Nor may a later one of the first verb overtake this one.
                verbs[call.key] = ""
                left.append(call)
        self._waiting = left
        return taken or None

    def _carry_out(self, calls: list[_Call]) -> list[object]:
        """Return what became of each: what the store returned, or the error that it raised."""
        of_verb: dict[str, list[int]] = {}
        for position, call in enumerate(calls):
            of_verb.setdefault(call.verb, []).append(position)
        outcomes: list[object] = [None] * len(calls)
        for verb, positions in of_verb.items():
            given = self._ask(verb, [calls[position].request for position in positions])
            for position, outcome in zip(positions, given, strict=True):
                outcomes[position] = outcome
        return outcomes

    def _ask(self, verb: str, requests: list[tuple[Any, ...]]) -> list[object]:
        many = self._many.get(verb)
        if many is not None:
            try:
                return many(requests)
            except (TypeError, ValueError, OverflowError):
                # One of them is no request, and nothing was done: the others shall not suffer for it.
                pass
            except ShareStateError as unusable:
                return [unusable] * len(requests)
        return [_outcome(getattr(self._store, verb), request) for request in requests]

    async def _shut_down(self) -> None:
        try:
            await self._rounds.idle()
        finally:
            # The thread does so after what it is at, even where the loop ends before that.
            closing = self._executor.submit(self._store.close)
            self._executor.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(closing))


def _outcome(call: Callable[..., object], request: tuple[Any, ...]) -> object:
    try:
        return call(*request)
    except (ShareStateError, TypeError, ValueError, OverflowError) as refused:
        return refused


def _settle(calls: list[_Call], outcomes: list[object] | BaseException) -> None:
    if isinstance(outcomes, BaseException):
        outcomes = [outcomes] * len(calls)
    for call, outcome in zip(calls, outcomes, strict=True):
        if call.answer.done():
            # Cancelled while it was on its way.
            continue
        if isinstance(outcome, BaseException):
            call.answer.set_exception(outcome)
        else:
            call.answer.set_result(outcome)
