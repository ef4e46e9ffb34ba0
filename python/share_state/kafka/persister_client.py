"""What both faces of the persister stand on: a cluster, the calls to it, and their end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from share_state.errors import ConfigError
from share_state.kafka.calls import Calls, closed
from share_state.kafka.clock import Clock, LoopClock, RetryPolicy
from share_state.kafka.cluster import Cluster
from share_state.kafka.connection import ConnectionOptions
from share_state.kafka.errors import BadAnswerError, BrokerUnreachableError
from share_state.kafka.message_bytes import MessageBytes
from share_state.kafka.peers import Address, LostError
from share_state.kafka.security import SecurityOptions

__all__ = ["Client", "parse_bootstrap"]

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
        if "/" in text:
            raise ConfigError(f"{text!r} is not host:port; remove the parts before and after it", field="bootstrap", value=text)
        if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) <= _MAX_PORT):
            raise ConfigError(f"{text!r} is not host:port", field="bootstrap", value=text)
        addresses.append(Address(host, int(port)))
    if not addresses:
        raise ConfigError("expected at least 1 bootstrap server, got 0", field="bootstrap", value=bootstrap)
    return addresses


class Client:
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
        options = ConnectionOptions(security or SecurityOptions(), clock, client_id, connect_timeout, request_timeout)
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
            return await self._cluster.topic_ids(names)
        except LostError as lost:
            kind = BrokerUnreachableError if lost.retriable else BadAnswerError
            raise kind(str(lost), kafka_code=lost.code, node=lost.node) from lost

    async def close(self) -> None:
        """Wait for the answers to what was sent, fail what was not, and close the connections."""
        self._closed = True
        await self.calls.close()
        await self._message_bytes.close()
        await self._cluster.close()
