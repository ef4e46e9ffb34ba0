"""One call of a persister: what is asked, how far it is, and where its answer is put. Plain data; :mod:`calls` moves it on."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Protocol

from share_state.kafka.clock import Timer
from share_state.kafka.operations import Operation
from share_state.kafka.peers import Node

__all__ = ["Call", "Result"]


class Result(Protocol):
    """Where an answer is put, once: a future of asyncio, or what a thread waits for."""

    def done(self) -> bool:
        """Whether nobody waits for one any more."""

    def set_result(self, result: dict[str, Any], /) -> None:
        """Return the answer."""

    def set_exception(self, exception: BaseException, /) -> None:
        """Return the failure."""


class Call:
    """One call.

    Attributes:
        operation: what is asked.
        result: the element of the answer; nothing for a write.
        sent: whether it is on the wire: an answer may come.
        over: whether it needs nothing any more.
        abandoned: whether nobody waits for it, or the persister is being closed: it is not tried again.
    """

    __slots__ = ("abandoned", "after", "attempt", "finding", "node", "operation", "over", "result", "sent", "unanswered", "wait")

    def __init__(self, operation: Operation, result: Result) -> None:
        self.operation = operation
        self.result = result
        self.sent = False
        self.over = False
        self.abandoned = False
        #: An attempt was sent and never answered.
        self.unanswered = False
        self.attempt = 0
        self.node: Node | None = None
        self.finding: asyncio.Task[None] | None = None
        self.wait: Timer | None = None
        #: Younger calls for the same share partition, while it is the turn of this one.
        self.after: deque[Call] | None = None
