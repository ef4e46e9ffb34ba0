"""The persister for a Kafka cluster, for programs without an event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, Self, TypeVar

from share_state._core import ReadStateResult, StateSummary, WriteState
from share_state.kafka import codes, operations
from share_state.kafka.call import Call
from share_state.kafka.calls import closed
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.clock import Clock, RetryPolicy
from share_state.kafka.errors import PersisterClosedError
from share_state.kafka.operations import Operation
from share_state.kafka.persister_client import PersisterClient
from share_state.types import SharePartitionKey

__all__ = ["KafkaPersister"]

T = TypeVar("T")


class _Answer:
    """The answer that a thread waits for: like ``concurrent.futures.Future``, without its expensive condition variable.

    Attributes:
        given_up: whether the thread no longer waits, because it was interrupted, for example by Ctrl-C.
    """

    __slots__ = ("_answer", "_error", "_ready", "given_up")

    def __init__(self) -> None:
        self.given_up = False
        self._answer: dict[str, Any] | None = None
        self._error: BaseException | None = None
        #: Held until the answer is there.
        self._ready = threading.Lock()
        self._ready.acquire()

    def done(self) -> bool:
        """See :class:`share_state.kafka.calls.Result`."""
        return self.given_up

    def set_result(self, result: dict[str, Any], /) -> None:
        """See :class:`share_state.kafka.calls.Result`."""
        self._answer = result
        self._ready.release()

    def set_exception(self, exception: BaseException, /) -> None:
        """See :class:`share_state.kafka.calls.Result`."""
        self._error = exception
        self._ready.release()

    def wait(self) -> dict[str, Any]:
        """Wait for the answer, or raise the failure."""
        try:
            self._ready.acquire()
        except BaseException:
            self.given_up = True
            raise
        if self._error is not None:
            raise self._error
        return self._answer or {}


class KafkaPersister:
    """Keeps the state of share partitions in the share coordinator of a Kafka cluster; a ``Persister``.

    An event loop in its own thread does the work. Any number of threads may call it, and concurrent calls share requests. See
    :class:`share_state.kafka.AsyncKafkaPersister` for the arguments and the guarantees. Close it, or use it in a ``with``
    statement.
    """

    def __init__(
        self,
        bootstrap: str | Iterable[str],
        *,
        security: SecurityOptions | None = None,
        client_id: str = "share-state",
        connect_timeout: float = 10.0,
        request_timeout: float = 30.0,
        retry: RetryPolicy | None = None,
        clock: Clock | None = None,
        max_message_bytes: int | None = None,
    ) -> None:
        self._client = PersisterClient(
            bootstrap,
            security=security,
            client_id=client_id,
            connect_timeout=connect_timeout,
            request_timeout=request_timeout,
            retry=retry,
            clock=clock,
            max_message_bytes=max_message_bytes,
        )
        self._loop = asyncio.new_event_loop()
        # A daemon, so that an unclosed persister does not keep the process alive.
        self._thread = threading.Thread(target=self._loop.run_forever, name="share-state-kafka", daemon=True)
        #: Held while work is handed to the loop, and while that is forbidden.
        self._starting = threading.Lock()
        self._closed = False
        #: Calls that the loop has not yet taken. It is woken for the first of them.
        self._inbox: list[Call] = []
        self._thread.start()

    def __repr__(self) -> str:
        return f"KafkaPersister({self._client!r})"

    @property
    def requests_sent(self) -> int:
        """Requests sent so far, of every kind: calls that wait together go out as one."""
        return self._run(self._requests_sent())

    def reset_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """Initialise a state, which replaces an existing one (InitializeShareGroupState, RPC 83).

        A ``start_offset`` of -1 leaves the choice to the leader.
        """
        self._call(operations.initialize(operations.normal(key), state_epoch, start_offset))

    def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult:
        """Read a state as the leader of this epoch, and fence older ones (ReadShareGroupState, RPC 84)."""
        return operations.read_result(self._call(operations.read(operations.normal(key), leader_epoch)))

    def write_state(self, key: SharePartitionKey, state: WriteState) -> None:
        """Write a change (WriteShareGroupState, RPC 85)."""
        self._call(operations.write(operations.normal(key), state))

    def delete_state(self, key: SharePartitionKey) -> None:
        """Delete a state; deleting what is not there succeeds (DeleteShareGroupState, RPC 86)."""
        self._call(operations.delete(operations.normal(key)))

    def read_summary(self, key: SharePartitionKey) -> StateSummary:
        """Read epochs, start offset and delivery complete count (ReadShareGroupStateSummary, RPC 87)."""
        return operations.summary_result(self._call(operations.summary(operations.normal(key))))

    def topic_ids(self, names: Sequence[str]) -> dict[str, str]:
        """Ask the cluster for the ids of topics; see :meth:`AsyncKafkaPersister.topic_ids`."""
        return self._run(self._client.topic_ids(names))

    def close(self) -> None:
        """Wait for the answers to what was sent, fail what was not, and end the thread. Closing again does nothing."""
        with self._starting:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def _requests_sent(self) -> int:
        return self._client.requests

    async def _shut_down(self) -> None:
        await self._client.close()
        # The callers' own coroutines have still to hand over what they got.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)
        await self._loop.shutdown_default_executor()

    def _call(self, operation: Operation) -> dict[str, Any]:
        answer = _Answer()
        call = Call(operation, answer)
        with self._starting:
            self._check_open()
            self._inbox.append(call)
            if len(self._inbox) == 1:
                self._loop.call_soon_threadsafe(self._take_in)
        try:
            return answer.wait()
        except BaseException:
            if answer.given_up:
                with self._starting:
                    if not self._closed:
                        self._loop.call_soon_threadsafe(self._client.calls.abandon, call)
            raise

    def _take_in(self) -> None:
        with self._starting:
            calls, self._inbox = self._inbox, []
        for call in calls:
            self._client.calls.start(call)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        # Under the lock, so that nothing is handed to a loop that has been stopped.
        with self._starting:
            try:
                self._check_open()
            except PersisterClosedError:
                work.close()
                raise
            answer = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return answer.result()
        except concurrent.futures.CancelledError:
            raise PersisterClosedError("the persister was closed", kafka_code=codes.NETWORK_EXCEPTION) from None
        except BaseException:
            # Ctrl-C while it waits: the call is given up as if it had been cancelled.
            answer.cancel()
            raise

    def _check_open(self) -> None:
        if self._closed:
            raise closed()
