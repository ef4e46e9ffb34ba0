"""Calls in progress: in order for each share partition, tried again where that may help, each answered once.

No task runs for a call. It is moved on by what happens to it: the coordinator is found, an answer comes or will not come, a
wait is over, its caller gives up.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine
from typing import Any

from share_state._core import StateRoom
from share_state.errors import LimitExceededError, ShareStateError
from share_state.kafka import codes, operations
from share_state.kafka.call import Call
from share_state.kafka.client.peers import LostError
from share_state.kafka.clock import Clock, RetryPolicy
from share_state.kafka.cluster import Cluster, UnavailableError
from share_state.kafka.errors import (
    BadAnswerError,
    BrokerUnreachableError,
    CoordinatorUnavailableError,
    KafkaPersisterError,
    OutcomeUnknownError,
    PersisterClosedError,
    class_of,
)
from share_state.kafka.folding import Folding
from share_state.kafka.message_bytes import MessageBytes
from share_state.kafka.operations import Operation
from share_state.types import SharePartitionKey

__all__ = ["Calls", "closed"]

_LOG = logging.getLogger("share_state.kafka")


class Calls:
    """The calls of one persister. All of it lives on one event loop."""

    def __init__(self, cluster: Cluster, retry: RetryPolicy, clock: Clock, message_bytes: MessageBytes) -> None:
        self._cluster = cluster
        self._retry = retry
        self._clock = clock
        self._message_bytes = message_bytes
        self._room = StateRoom()
        self._folding = Folding(cluster, self._answered, self._failed)
        #: The call whose turn it is, for each share partition that has one.
        self._turns: dict[SharePartitionKey, Call] = {}
        self._closed = False
        self._idle: asyncio.Future[None] | None = None

    def start(self, call: Call) -> None:
        """Carry a call out, once those before it for the same share partition are over.

        Raises:
            PersisterClosedError: the persister is closed.
        """
        if self._closed:
            raise closed()
        if call.abandoned:
            return
        key = call.operation.key
        before = self._turns.get(key)
        if before is None:
            self._begin(call)
        elif before.after is None:
            before.after = deque([call])
        else:
            before.after.append(call)

    def abandon(self, call: Call) -> None:
        """Take back what nobody waits for; what is on the wire stays in progress until it is answered."""
        call.abandoned = True
        if not call.sent and not call.over:
            self._end(call)

    async def close(self) -> None:
        """Fail what is not sent, and wait for the answers to what is."""
        self._closed = True
        waiting = [call for turn in self._turns.values() for call in (*(turn.after or ()), turn)]
        for call in waiting:
            call.abandoned = True
            if not call.sent and not call.over:
                error = self._error(PersisterClosedError, call, "closed before it was sent", attempts=0)
                self._end(call)
                _fail(call, error)
        if self._turns:
            if self._idle is None:
                self._idle = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._idle)
        await self._folding.close()

    def _begin(self, call: Call) -> None:
        call.turn = True
        self._turns[call.operation.key] = call
        call.admitted = call.operation.api_key != operations.WRITE
        self._go(call)

    def _go(self, call: Call) -> None:
        if call.admitted:
            self._try(call)
        else:
            self._admit(call)

    def _admit(self, call: Call) -> None:
        """Send a write if there is room for it, after what has to be known for that."""
        if self._message_bytes.due:
            self._look(call, self._ask_limit(call))
            return
        limit = self._message_bytes.limit
        try:
            fits = limit is None or self._room.admit(call.operation.key, call.operation.asked[2], limit)
        except LimitExceededError as full:
            full.add_note(f"max.message.bytes of __share_group_state is taken for {limit}")
            self._end(call)
            _fail(call, full)
            return
        call.admitted = True
        if not fits:
            call.held, call.operation = call.operation, operations.read_for(call.operation)
        self._try(call)

    def _look(self, call: Call, work: Coroutine[Any, Any, None]) -> None:
        """Ask for what a call needs before it can be sent."""
        call.finding = task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda _: self._looked(call, task))

    def _looked(self, call: Call, task: asyncio.Task[None]) -> None:
        bug = None if task.cancelled() else task.exception()
        if bug is not None and not call.over:
            # Nobody is left waiting, even by a bug.
            self._end(call)
            _fail(call, bug)

    async def _ask_limit(self, call: Call) -> None:
        try:
            # First, because a broker makes the state topic when it is asked for a coordinator.
            await self._cluster.coordinator(call.operation.key)
        except (LostError, UnavailableError, ShareStateError) as error:
            call.finding = None
            call.attempt += 1
            self._failed(call, error)
            return
        await self._message_bytes.ask()
        call.finding = None
        self._admit(call)

    def _try(self, call: Call) -> None:
        call.attempt += 1
        node = self._cluster.known(call.operation.key)
        if node is None:
            self._look(call, self._find(call))
        else:
            call.node = node
            self._folding.submit(node, call)

    async def _find(self, call: Call) -> None:
        try:
            node = await self._cluster.coordinator(call.operation.key)
        except (LostError, UnavailableError, ShareStateError) as error:
            call.finding = None
            self._failed(call, error)
        else:
            call.finding = None
            call.node = node
            self._folding.submit(node, call)

    def _again(self, call: Call) -> None:
        call.wait = None
        if not call.over:
            self._go(call)

    def _end(self, call: Call) -> None:
        """Leave it behind and let the next for its share partition begin."""
        call.over = True
        call.sent = False
        if call.finding is not None:
            call.finding.cancel()
        if call.wait is not None:
            call.wait.cancel()
        if call.admitted and call.operation.api_key == operations.WRITE:
            self._room.unconfirmed(call.operation.key)
        # One whose turn has not come is skipped when it does.
        if call.turn:
            self._go_on(call)

    def _go_on(self, call: Call) -> None:
        key, after = call.operation.key, call.after
        while after:
            following = after.popleft()
            if not following.over:
                following.after = after
                self._begin(following)
                return
        del self._turns[key]
        if self._idle is not None and not self._turns and not self._idle.done():
            self._idle.set_result(None)

    def _answered(self, call: Call, code: int, said: str | None, answer: dict[str, Any]) -> None:
        call.sent = False
        if code == codes.NONE and call.held is not None:
            self._room.read_again(call.operation.key, operations.read_result(answer))
            self._go_back(call, call.held)
            return
        if code == codes.NONE:
            self._learn(call.operation, answer)
            call.over = True
            self._go_on(call)
            if not call.result.done():
                call.result.set_result(answer)
            return
        text = f"{call.node} answers {code} ({codes.name_of(code)}): {said or 'no reason given'}"
        error = self._error(class_of(code), call, text, code=code, node=str(call.node))
        self._end_or_retry(call, error, retriable=code in codes.RETRIABLE)

    def _go_back(self, call: Call, write: Operation) -> None:
        """Go on with the write that waited for its state to be read."""
        call.operation, call.held, call.admitted, call.attempt = write, None, False, 0
        if not call.abandoned:
            self._admit(call)
            return
        self._end(call)
        if self._closed and not call.result.done():
            _fail(call, self._error(PersisterClosedError, call, "closed before it was sent"))

    def _learn(self, operation: Operation, answer: dict[str, Any]) -> None:
        """Keep what an answer tells of the size of a state. One that is initialised again gets no larger."""
        key, limit = operation.key, self._message_bytes.limit
        if limit is None:
            return
        if operation.api_key == operations.WRITE:
            self._room.confirmed(key, operation.asked[2], limit)
        elif operation.api_key == operations.READ:
            self._room.read(key, operations.read_result(answer))
        elif operation.api_key == operations.DELETE:
            self._room.forget(key)

    def _failed(self, call: Call, failure: LostError | UnavailableError | ShareStateError) -> None:
        call.sent = False
        if call.held is not None and isinstance(failure, LostError):
            # The write was not: only its state was read.
            failure = failure.unsent()
        error: ShareStateError = failure if isinstance(failure, ShareStateError) else self._lost(call, failure)
        if isinstance(failure, KafkaPersisterError):
            code = codes.UNKNOWN_SERVER_ERROR if failure.kafka_code is None else failure.kafka_code
            error = self._error(type(failure), call, str(failure), code=code, node=failure.node)
        retriable = isinstance(failure, UnavailableError) or (isinstance(failure, LostError) and failure.retriable)
        self._end_or_retry(call, error, retriable=retriable)

    def _lost(self, call: Call, failure: LostError | UnavailableError) -> KafkaPersisterError:
        if isinstance(failure, UnavailableError):
            return self._error(class_of(failure.code), call, str(failure), code=failure.code, node=str(failure.node))
        call.unanswered = call.unanswered or failure.sent
        if not failure.sent and failure.retriable:
            # In time or too late: it was not reached.
            return self._error(BrokerUnreachableError, call, str(failure), node=failure.node)
        kind = OutcomeUnknownError if failure.sent else BadAnswerError
        return self._error(kind, call, str(failure), code=failure.code, node=failure.node)

    def _end_or_retry(self, call: Call, error: ShareStateError, *, retriable: bool) -> None:
        if not retriable or call.attempt >= self._retry.attempts or call.abandoned:
            self._end(call)
            _fail(call, error)
            return
        self._cluster.forget(call.operation.key)
        seconds = self._retry.wait_after(call.attempt, self._clock.random())
        _LOG.warning("%r: attempt %d of %d, next in %.1f s", str(error), call.attempt, self._retry.attempts, seconds)
        call.wait = self._clock.call_later(seconds, lambda: self._again(call))

    def _error(
        self,
        kind: type[KafkaPersisterError],
        call: Call,
        reason: str,
        *,
        code: int = codes.NETWORK_EXCEPTION,
        node: str = "",
        attempts: int | None = None,
    ) -> KafkaPersisterError:
        operation = call.operation
        if call.unanswered and kind in (BrokerUnreachableError, CoordinatorUnavailableError, PersisterClosedError):
            # The last attempt changed nothing, but one before it may have.
            kind, reason = OutcomeUnknownError, f"{reason}; an earlier attempt was sent and never answered"
        return kind(
            f"cannot {operation.name} {operation.key!r}: {reason}",
            kafka_code=code,
            node=node,
            key=operation.key,
            attempts=call.attempt if attempts is None else attempts,
            outcome_unknown=call.unanswered,
        )


def closed() -> PersisterClosedError:
    """Make the error of a call that comes too late."""
    return PersisterClosedError("the persister is closed", kafka_code=codes.NETWORK_EXCEPTION, attempts=0)


def _fail(call: Call, error: BaseException) -> None:
    if call.result.done():
        _LOG.warning("a cancelled call failed: %r", str(error))
        return
    call.result.set_exception(error)
