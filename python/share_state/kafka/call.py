"""Call of a persister: what is asked, how far it is, and where its answer is put. Plain data; :mod:`calls` moves it on."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Protocol

from share_state.kafka.client.peers import Node
from share_state.kafka.clock import Timer
from share_state.kafka.operations import Operation

__all__ = ["Call", "Result"]


class Result(Protocol):
    """Place for an answer, which is put there once: a future of asyncio, or what a thread waits for."""

    def done(self) -> bool:
        """Return true if nobody waits for an answer any more."""

    def set_result(self, result: dict[str, Any], /) -> None:
        """Return the answer."""

    def set_exception(self, exception: BaseException, /) -> None:
        """Return the failure."""


class Call:
    """Call to a coordinator.

    Attributes:
        operation: what is asked.
        result: the element of the answer; nothing for a write.
        sent: whether it is on the wire: an answer may come.
        admitted: whether it may be sent; of a write, whether there is room for it, or its state is read to find out.
        turn: whether those before it for the same share partition are over.
        over: whether it needs nothing any more.
        abandoned: whether nobody waits for it, or the persister is being closed: it is not tried again.
        held: the write that waits while ``operation`` reads the state, to see whether there is room for it.
    """

    __slots__ = (
        "abandoned",
        "admitted",
        "after",
        "attempt",
        "finding",
        "held",
        "node",
        "operation",
        "over",
        "result",
        "sent",
        "turn",
        "unanswered",
        "wait",
    )

    def __init__(self, operation: Operation, result: Result) -> None:
        self.operation = operation
        self.result = result
        self.admitted = False
        self.held: Operation | None = None
        self.sent = False
        self.turn = False
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
