"""A persister that keeps the state in a real cluster's share coordinator, for programs with an event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Any, Self

from share_state._core import ReadStateResult, StateSummary, WriteState
from share_state.errors import ConfigError
from share_state.kafka import codes, operations
from share_state.kafka.clock import Clock, LoopClock, RetryPolicy, sleep
from share_state.kafka.cluster import Cluster, UnavailableError
from share_state.kafka.connection import ConnectionOptions
from share_state.kafka.errors import (
    BadAnswerError,
    BrokerUnreachableError,
    CoordinatorUnavailableError,
    KafkaPersisterError,
    OutcomeUnknownError,
    PersisterClosedError,
    class_of,
)
from share_state.kafka.folding import Asked, Folding
from share_state.kafka.operations import Operation
from share_state.kafka.peers import Address, LostError
from share_state.kafka.security import SecurityOptions
from share_state.types import SharePartitionKey

__all__ = ["AsyncKafkaPersister", "parse_bootstrap"]

_LOG = logging.getLogger("share_state.kafka")
_MAX_PORT = 65_535
#: Of the protocol, bytes.
_MAX_STRING = 32_767


def parse_bootstrap(bootstrap: str | Iterable[str]) -> list[Address]:
    """Take the addresses in ``host:port[,host:port...]``, or in an iterable of ``host:port``; IPv6 hosts in brackets.

    Raises:
        ConfigError: there is none, or one is not an address.
    """
    given = bootstrap.split(",") if isinstance(bootstrap, str) else bootstrap
    addresses = []
    for text in given:
        host, colon, port = text.strip().rpartition(":")
        host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) <= _MAX_PORT):
            raise ConfigError(f"{text!r} is not host:port", field="bootstrap", value=text)
        addresses.append(Address(host, int(port)))
    if not addresses:
        raise ConfigError("no bootstrap server is given", field="bootstrap", value=bootstrap)
    return addresses


class _Call:
    """One call: its task, and what its caller may not know when it stops waiting."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.asked: Asked | None = None
        self.abandoned = False
        #: An attempt was sent and never answered.
        self.unanswered = False

    @property
    def on_the_wire(self) -> bool:
        """Whether an answer may come, or has come and is not yet looked at."""
        return self.asked is not None and self.asked.sent


class AsyncKafkaPersister:
    """Keeps the state of share partitions in the share coordinator of a Kafka cluster (4.2 and later).

    The methods are those of :class:`share_state.persister.Persister`, to be awaited, on the event loop on which the first
    of them was. Calls for one share partition are carried out one after the other, in the order in which they were made;
    calls for others do not wait for them and are folded into common requests.

    A call that returns has been confirmed by the coordinator. A call that is cancelled before its request is sent does
    nothing. One that is cancelled later is not tried again, but its answer is still taken, and later calls for the share
    partition wait for it.

    Args:
        bootstrap: ``host:port,...``, or an iterable of them: where to begin.
        security: TLS and SASL.
        client_id: name of this client, for the broker's logs and quotas.
        connect_timeout: seconds for connecting, TLS and SASL together.
        request_timeout: seconds that an answer may take; then the connection is given up.
        retry: how often and how far apart a call is tried.
        clock: time, for tests.

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
    ) -> None:
        addresses = parse_bootstrap(bootstrap)
        for name, seconds in (("connect_timeout", connect_timeout), ("request_timeout", request_timeout)):
            if not seconds > 0:
                raise ConfigError(f"{name} is {seconds}, not above 0", field=name, value=seconds)
        if len(client_id.encode()) > _MAX_STRING:
            raise ConfigError("client_id is too long to be sent", field="client_id", value=client_id)
        self._clock = clock or LoopClock()
        self._retry = retry or RetryPolicy()
        options = ConnectionOptions(security or SecurityOptions(), self._clock, client_id, connect_timeout, request_timeout)
        self._cluster = Cluster(addresses, options)
        self._folding = Folding(self._cluster)
        #: The order of the calls for each share partition, and how many of them there are.
        self._order: dict[SharePartitionKey, tuple[asyncio.Lock, int]] = {}
        self._calls: dict[asyncio.Task[dict[str, Any]], _Call] = {}
        self._closed = False

    @property
    def requests_sent(self) -> int:
        """Requests sent so far, of every kind: calls that wait together go out as one."""
        return self._cluster.requests

    async def initialize_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """Begin a state anew (InitializeShareGroupState, RPC 83); ``start_offset`` -1 leaves it to the leader."""
        await self._call(operations.initialize(operations.normal(key), state_epoch, start_offset))

    async def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ReadStateResult:
        """Read a state as the leader of this epoch, and fence older ones (ReadShareGroupState, RPC 84)."""
        return operations.read_result(await self._call(operations.read(operations.normal(key), leader_epoch)))

    async def write_state(self, key: SharePartitionKey, state: WriteState) -> None:
        """Write a change (WriteShareGroupState, RPC 85)."""
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
            The ids in base64, by name; topics that do not exist are not among them.

        Raises:
            KafkaPersisterError: no broker answered, or it refused.
        """
        self._check_open()
        try:
            return await self._cluster.topic_ids(names)
        except LostError as lost:
            kind = BrokerUnreachableError if lost.retriable else BadAnswerError
            raise kind(str(lost), kafka_code=lost.code, node=lost.node) from lost

    async def close(self) -> None:
        """Wait for the answers to what was sent, fail what was not, and close the connections."""
        self._closed = True
        for task, call in list(self._calls.items()):
            self._abandon(task, call)
        await asyncio.gather(*self._calls, return_exceptions=True)
        await self._folding.close()
        await self._cluster.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise PersisterClosedError("the persister is closed", kafka_code=codes.NETWORK_EXCEPTION)

    async def _call(self, operation: Operation) -> dict[str, Any]:
        self._check_open()
        call = _Call(operation)
        task = asyncio.get_running_loop().create_task(self._in_order(call))
        self._calls[task] = call
        task.add_done_callback(self._forget_call)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled() and self._closed:
                raise self._error(PersisterClosedError, call, 0, "closed before it was sent") from None
            self._abandon(task, call)
            raise

    def _forget_call(self, task: asyncio.Task[dict[str, Any]]) -> None:
        call = self._calls.pop(task)
        if not task.cancelled() and (error := task.exception()) is not None and call.abandoned:
            _LOG.warning("a cancelled call failed: %r", str(error))

    def _abandon(self, task: asyncio.Task[dict[str, Any]], call: _Call) -> None:
        call.abandoned = True
        if not call.on_the_wire:
            task.cancel()

    async def _in_order(self, call: _Call) -> dict[str, Any]:
        """Carry the call out once those before it for the same share partition are over."""
        key = call.operation.key
        lock, users = self._order.get(key) or (asyncio.Lock(), 0)
        self._order[key] = (lock, users + 1)
        try:
            async with lock:
                return await self._with_retries(call)
        finally:
            lock, users = self._order.pop(key)
            if users > 1:
                self._order[key] = (lock, users - 1)

    async def _with_retries(self, call: _Call) -> dict[str, Any]:
        attempt = 1
        while True:
            failure = await self._attempt(call, attempt)
            if isinstance(failure, dict):
                return failure
            error, retriable = failure
            if not retriable or attempt >= self._retry.attempts or call.abandoned:
                raise error
            self._cluster.forget(call.operation.key)
            wait = self._retry.wait_after(attempt, self._clock.random())
            _LOG.warning("%r: attempt %d of %d, again in %.1f s", str(error), attempt, self._retry.attempts, wait)
            await sleep(self._clock, wait)
            attempt += 1

    async def _attempt(self, call: _Call, attempt: int) -> dict[str, Any] | tuple[KafkaPersisterError, bool]:
        """Try once: the answer, or the error and whether to try again."""
        operation = call.operation
        node = ""
        try:
            coordinator = await self._cluster.coordinator(operation.key)
            node = str(coordinator)
            call.asked = Asked(operation.api_key, operation.key, operation.partition, operation.size)
            self._folding.submit(coordinator, call.asked)
            try:
                answer = await call.asked.result
            finally:
                call.asked = None
        except LostError as lost:
            call.unanswered = call.unanswered or lost.sent
            return self._lost(call, attempt, lost), lost.retriable
        except UnavailableError as unavailable:
            kind = class_of(unavailable.code)
            error = self._error(kind, call, attempt, str(unavailable), code=unavailable.code, node=str(unavailable.node))
            return error, True
        except KafkaPersisterError as error:
            code = codes.UNKNOWN_SERVER_ERROR if error.kafka_code is None else error.kafka_code
            return self._error(type(error), call, attempt, str(error), code=code, node=error.node), False
        code = answer["errorCode"]
        if code == codes.NONE:
            return answer
        said = answer["errorMessage"] or "no reason given"
        text = f"{node} answers {code} ({codes.name_of(code)}): {said}"
        return self._error(class_of(code), call, attempt, text, code=code, node=node), code in codes.RETRIABLE

    def _lost(self, call: _Call, attempt: int, lost: LostError) -> KafkaPersisterError:
        if lost.sent:
            return self._error(OutcomeUnknownError, call, attempt, str(lost), code=lost.code, node=lost.node)
        kind: type[KafkaPersisterError] = BrokerUnreachableError if lost.retriable else BadAnswerError
        return self._error(kind, call, attempt, str(lost), code=lost.code, node=lost.node)

    def _error(
        self,
        kind: type[KafkaPersisterError],
        call: _Call,
        attempt: int,
        reason: str,
        *,
        code: int = codes.NETWORK_EXCEPTION,
        node: str = "",
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
            attempts=attempt,
            outcome_unknown=call.unanswered,
        )
