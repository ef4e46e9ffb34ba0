"""Carriers of the writes of a share partition to its persister, and answers for all callers that wait.

Many drains of one share partition may run at once, on threads or on an event loop. Each takes the oldest write that waits, so a
drain often carries the write of another caller. The share partition keeps the answers, and each drain waits for all the writes
that were there when it began.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import NamedTuple, TypeVar, overload
from weakref import WeakKeyDictionary

from share_state._core import SharePartition
from share_state.errors import InvalidRequestError

__all__ = ["Carried", "Carrying", "WriteAnswers"]

T = TypeVar("T")


class WriteAnswers(dict[int, int]):
    """Kafka's code for the waiting member, by write token; 0 if the write was confirmed.

    Its items are the writes that the drain carried, and those that waited when it began. ``[]``, ``get`` and ``in`` also know
    every other write of the share partition that has been answered, whoever carried it.
    """

    def __init__(self, share_partition: SharePartition) -> None:
        super().__init__()
        self._share_partition = share_partition

    def __missing__(self, token: int) -> int:
        try:
            code = self._share_partition.write_answer(token)
        except (InvalidRequestError, TypeError, OverflowError):
            code = None
        if code is None:
            raise KeyError(token)
        return code

    def __contains__(self, token: object) -> bool:
        return isinstance(token, int) and self.get(token) is not None

    @overload
    def get(self, token: int, default: None = None, /) -> int | None: ...
    @overload
    def get(self, token: int, default: int, /) -> int: ...
    @overload
    def get(self, token: int, default: T, /) -> int | T: ...
    def get(self, token: int, default: object = None, /) -> object:
        """Return the code of a write, or ``default`` if it is not answered."""
        try:
            return self[token]
        except KeyError:
            return default

    def take_in(self, tokens: range) -> None:
        """Add the answers that other drains have carried to these writes."""
        for token in tokens:
            if (code := self.get(token)) is not None:
                self[token] = code


class Carried(NamedTuple):
    """A write on its way to an asynchronous persister.

    Attributes:
        loop: the event loop that makes it.
        answer: the code for the member, once the share partition knows it.
    """

    loop: asyncio.AbstractEventLoop
    answer: Future[int]


class Carrying:
    """The drains of one share partition.

    Attributes:
        order: held from the poll of a write until it is on its way, so that writes reach the persister in their order.
        carried: by token, the writes that tasks of an event loop carry.
    """

    def __init__(self) -> None:
        # Reentrant: a signal handler may drain too.
        self.order = threading.RLock()
        self.carried: dict[int, Carried] = {}

    @classmethod
    def of(cls, share_partition: SharePartition) -> Carrying:
        """Return the one of a share partition."""
        with _LOCK:
            found = _ALL.get(share_partition)
            if found is None:
                found = _ALL[share_partition] = cls()
            return found

    async def answered(self, end: int) -> None:
        """Wait for the writes with tokens before ``end`` that others carry."""
        for token, carried in list(self.carried.items()):
            if token >= end or carried.loop.is_closed():
                continue
            answer = asyncio.wrap_future(carried.answer)
            # Who stops waiting does not cancel it.
            await asyncio.wait([answer])
            answer.result()


_LOCK = threading.Lock()
_ALL: WeakKeyDictionary[SharePartition, Carrying] = WeakKeyDictionary()
