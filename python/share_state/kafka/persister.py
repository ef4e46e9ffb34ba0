"""A persister that keeps the state in a real cluster's share coordinator, for programs with an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Self

from share_state._core import ReadStateResult, StateSummary, WriteState
from share_state.kafka import operations
from share_state.kafka.call import Call
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.clock import Clock, RetryPolicy
from share_state.kafka.operations import Operation
from share_state.kafka.persister_client import PersisterClient
from share_state.types import SharePartitionKey
from share_state.util.home_loop import HomeLoop

__all__ = ["AsyncKafkaPersister"]


class AsyncKafkaPersister:
    """Keeps the state of share partitions in the share coordinator of a Kafka cluster (4.2 and later).

    Its methods are coroutines. It belongs to the event loop on which it is first used: on another loop every method raises
    ``RuntimeError``. Calls for one share partition are carried out one at a time, in the order in which they were made. Calls
    for other share partitions do not wait for them, and are combined into common requests.

    A call that returns was confirmed by the coordinator. A call that is cancelled before its request is sent has no effect.
    A call that is cancelled later is not retried, but later calls for the share partition wait for its answer.

    Args:
        bootstrap: ``host:port,...``, or an iterable of them: the brokers to start from.
        security: TLS and SASL.
        client_id: name of this client, for the broker's logs and quotas.
        connect_timeout: seconds for connecting, TLS and SASL together.
        request_timeout: seconds to wait for an answer; after them the connection is closed.
        retry: the number of attempts and their intervals.
        clock: the clock, for tests.
        max_message_bytes: ``max.message.bytes`` of ``__share_group_state``. By default the brokers are asked (DescribeConfigs).
            Where the principal may not ask, it is taken for Kafka's default, 1,048,588.

    Raises:
        ConfigError: an argument cannot be used.
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
        self._home = HomeLoop(type(self).__name__)
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

    def __repr__(self) -> str:
        return f"AsyncKafkaPersister({self._client!r})"

    @property
    def requests_sent(self) -> int:
        """Number of requests sent so far, of every kind. Calls that wait together share a request."""
        return self._client.requests

    async def reset_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """Initialise a state, which replaces an existing one (InitializeShareGroupState, RPC 83).

        A ``start_offset`` of -1 leaves the choice to the leader.
        """
        await self._call(operations.initialize(operations.normal(key), state_epoch, start_offset))

    async def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult:
        """Read a state as the leader of this epoch, and fence older ones (ReadShareGroupState, RPC 84)."""
        return operations.read_result(await self._call(operations.read(operations.normal(key), leader_epoch)))

    async def write_state(self, key: SharePartitionKey, state: WriteState) -> None:
        """Write a change (WriteShareGroupState, RPC 85).

        The coordinator could write no snapshot of a state that is larger than a record may be, and no write after it. A write
        that would make one is refused here. Before the first write to a state that this persister has not read, and where a
        state may be full, it reads the state with the leader epoch of the write.

        Raises:
            LimitExceededError: the state with the write is too large for a record of the state topic. Nothing was written.
        """
        await self._call(operations.write(operations.normal(key), state))

    async def delete_state(self, key: SharePartitionKey) -> None:
        """Delete a state; deleting what is not there succeeds (DeleteShareGroupState, RPC 86)."""
        await self._call(operations.delete(operations.normal(key)))

    async def read_summary(self, key: SharePartitionKey) -> StateSummary:
        """Read epochs, start offset and delivery complete count (ReadShareGroupStateSummary, RPC 87)."""
        return operations.summary_result(await self._call(operations.summary(operations.normal(key))))

    async def topic_ids(self, names: Sequence[str]) -> dict[str, str]:
        """Ask the cluster for the ids of topics (Metadata, RPC 3), once.

        Returns:
            The ids, hyphenated UUIDs, by name; topics that do not exist are not among them.

        Raises:
            KafkaPersisterError: no broker answered, or it refused.
            RuntimeError: as for every call, this is not the event loop of the persister.
        """
        self._home.enter()
        return await self._client.topic_ids(names)

    async def close(self) -> None:
        """Wait for the answers to what was sent, fail what was not, and close the connections."""
        self._home.enter()
        await self._client.close()

    async def __aenter__(self) -> Self:
        self._home.enter()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def _call(self, operation: Operation) -> dict[str, Any]:
        result: asyncio.Future[dict[str, Any]] = self._home.enter().create_future()
        call = Call(operation, result)
        self._client.calls.start(call)
        try:
            return await result
        except asyncio.CancelledError:
            self._client.calls.abandon(call)
            raise
