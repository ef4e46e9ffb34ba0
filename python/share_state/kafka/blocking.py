"""The same persister for programs without an event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, Self, TypeVar

from share_state._core import ReadStateResult, StateSummary, WriteState
from share_state.kafka import codes
from share_state.kafka.clock import Clock, RetryPolicy
from share_state.kafka.errors import PersisterClosedError
from share_state.kafka.persister import AsyncKafkaPersister
from share_state.kafka.security import SecurityOptions
from share_state.types import SharePartitionKey

__all__ = ["KafkaPersister"]

T = TypeVar("T")


class KafkaPersister:
    """Keeps the state of share partitions in the share coordinator of a Kafka cluster; a ``Persister``.

    An event loop in a thread of its own does the work; any number of threads may call, and what they ask at the same time
    goes out together. See :class:`AsyncKafkaPersister` for the arguments and the guarantees. Close it, or use it in a
    ``with`` statement.
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
    ) -> None:
        self._persister = AsyncKafkaPersister(
            bootstrap,
            security=security,
            client_id=client_id,
            connect_timeout=connect_timeout,
            request_timeout=request_timeout,
            retry=retry,
            clock=clock,
        )
        self._loop = asyncio.new_event_loop()
        # A daemon, so that a persister that nobody closed does not keep the process alive.
        self._thread = threading.Thread(target=self._loop.run_forever, name="share-state-kafka", daemon=True)
        #: Held while work is handed to the loop, and while that is forbidden.
        self._starting = threading.Lock()
        self._closed = False
        self._thread.start()

    @property
    def requests_sent(self) -> int:
        """Requests sent so far, of every kind: calls that wait together go out as one."""
        return self._run(self._requests_sent())

    def initialize_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """Begin a state anew (InitializeShareGroupState, RPC 83); ``start_offset`` -1 leaves it to the leader."""
        self._run(self._persister.initialize_state(key, state_epoch, start_offset))

    def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult:
        """Read a state as the leader of this epoch, and fence older ones (ReadShareGroupState, RPC 84)."""
        return self._run(self._persister.read_state(key, leader_epoch))

    def write_state(self, key: SharePartitionKey, state: WriteState) -> None:
        """Write a change (WriteShareGroupState, RPC 85)."""
        self._run(self._persister.write_state(key, state))

    def delete_state(self, key: SharePartitionKey) -> None:
        """Delete a state; deleting what is not there succeeds (DeleteShareGroupState, RPC 86)."""
        self._run(self._persister.delete_state(key))

    def read_summary(self, key: SharePartitionKey) -> StateSummary:
        """Read epochs, start offset and delivery complete count (ReadShareGroupStateSummary, RPC 87)."""
        return self._run(self._persister.read_summary(key))

    def topic_ids(self, names: Sequence[str]) -> dict[str, str]:
        """Ask the cluster for the ids of topics; see :meth:`AsyncKafkaPersister.topic_ids`."""
        return self._run(self._persister.topic_ids(names))

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
        return self._persister.requests_sent

    async def _shut_down(self) -> None:
        await self._persister.close()
        # The callers' own coroutines have still to hand over what they got.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)
        await self._loop.shutdown_default_executor()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        # Under the lock, so that nothing is handed to a loop that has been stopped.
        with self._starting:
            if self._closed:
                work.close()
                raise PersisterClosedError("the persister is closed", kafka_code=codes.NETWORK_EXCEPTION)
            answer = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return answer.result()
        except concurrent.futures.CancelledError:
            raise PersisterClosedError("the persister was closed", kafka_code=codes.NETWORK_EXCEPTION) from None
        except BaseException:
            # Ctrl-C while it waits: the call is given up as if it had been cancelled.
            answer.cancel()
            raise
