"""Base of both faces of the persister: a cluster, the calls to it, and their end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from share_state.errors import ConfigError
from share_state.kafka import codes
from share_state.kafka.calls import Calls, closed
from share_state.kafka.client.connection import ConnectionOptions
from share_state.kafka.client.peers import LostError, parse_bootstrap
from share_state.kafka.client.security import SecurityOptions
from share_state.kafka.clock import Clock, LoopClock, RetryPolicy
from share_state.kafka.cluster import NEEDED, Cluster
from share_state.kafka.errors import BadAnswerError, BrokerUnreachableError
from share_state.kafka.message_bytes import MessageBytes
from share_state.kafka.shown_key import shown_topic_id

__all__ = ["PersisterClient"]

#: Longest string of the protocol, bytes.
_MAX_STRING = 32_767


class PersisterClient:
    """Lives on one event loop, but for its making. The arguments are those of ``AsyncKafkaPersister``.

    Attributes:
        calls: the calls in progress.
    """

    def __init__(
        self,
        bootstrap: str | Iterable[str],
        *,
        security: SecurityOptions | None,
        client_id: str,
        connect_timeout: float,
        request_timeout: float,
        retry: RetryPolicy | None,
        clock: Clock | None,
        max_message_bytes: int | None,
    ) -> None:
        addresses = parse_bootstrap(bootstrap)
        self._bootstrap = [f"{host}:{port}" for host, port in addresses]
        for name, seconds in (("connect_timeout", connect_timeout), ("request_timeout", request_timeout)):
            if not seconds > 0:
                raise ConfigError(f"{name} is {seconds}; expected more than 0", field=name, value=seconds)
        if len(client_id.encode()) > _MAX_STRING:
            raise ConfigError("client_id is too long for a request", field="client_id", value=client_id)
        clock = clock or LoopClock()
        options = ConnectionOptions(
            security or SecurityOptions(), clock, client_id, connect_timeout, request_timeout, apis=NEEDED
        )
        self._cluster = Cluster(addresses, options)
        self._message_bytes = MessageBytes(self._cluster, clock, max_message_bytes)
        self.calls = Calls(self._cluster, retry or RetryPolicy(), clock, self._message_bytes)
        self._closed = False

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"{', '.join(self._bootstrap)!r}, {state}, requests={self.requests}"

    @property
    def requests(self) -> int:
        """Requests sent so far, of every kind."""
        return self._cluster.requests

    async def topic_ids(self, names: Sequence[str]) -> dict[str, str]:
        """See :meth:`AsyncKafkaPersister.topic_ids`."""
        if self._closed:
            raise closed()
        try:
            found = await self._cluster.topic_ids(names)
        except LostError as lost:
            kind = BrokerUnreachableError if lost.retriable else BadAnswerError
            code = lost.code if lost.sent or not lost.retriable else codes.NETWORK_EXCEPTION
            raise kind(str(lost), kafka_code=code, node=lost.node) from lost
        return {name: shown_topic_id(topic_id) for name, topic_id in found.items()}

    async def close(self) -> None:
        """Wait for the answers to what was sent, fail what was not, and close the connections."""
        self._closed = True
        await self.calls.close()
        await self._message_bytes.close()
        await self._cluster.close()
