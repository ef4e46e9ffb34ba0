"""What both faces of the persister stand on: a cluster, the calls to it, and their end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from share_state.errors import ConfigError
from share_state.kafka import codes
from share_state.kafka.calls import Call, Calls
from share_state.kafka.clock import Clock, LoopClock, RetryPolicy
from share_state.kafka.cluster import Cluster
from share_state.kafka.connection import ConnectionOptions
from share_state.kafka.errors import BadAnswerError, BrokerUnreachableError, PersisterClosedError
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
        if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) <= _MAX_PORT):
            raise ConfigError(f"{text!r} is not host:port", field="bootstrap", value=text)
        addresses.append(Address(host, int(port)))
    if not addresses:
        raise ConfigError("no bootstrap server is given", field="bootstrap", value=bootstrap)
    return addresses


class Client:
    """Lives on one event loop, but for its making. The arguments are those of ``AsyncKafkaPersister``."""

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
    ) -> None:
        addresses = parse_bootstrap(bootstrap)
        for name, seconds in (("connect_timeout", connect_timeout), ("request_timeout", request_timeout)):
            if not seconds > 0:
                raise ConfigError(f"{name} is {seconds}, not above 0", field=name, value=seconds)
        if len(client_id.encode()) > _MAX_STRING:
            raise ConfigError("client_id is too long to be sent", field="client_id", value=client_id)
        clock = clock or LoopClock()
        options = ConnectionOptions(security or SecurityOptions(), clock, client_id, connect_timeout, request_timeout)
        self._cluster = Cluster(addresses, options)
        self._calls = Calls(self._cluster, retry or RetryPolicy(), clock)
        self._closed = False

    @property
    def requests(self) -> int:
        """Requests sent so far, of every kind."""
        return self._cluster.requests

    def start(self, call: Call) -> None:
        """See :meth:`Calls.start`.

        Raises:
            PersisterClosedError: it is closed.
        """
        self._check_open()
        self._calls.start(call)

    def abandon(self, call: Call) -> None:
        """See :meth:`Calls.abandon`."""
        self._calls.abandon(call)

    async def topic_ids(self, names: Sequence[str]) -> dict[str, str]:
        """See :meth:`AsyncKafkaPersister.topic_ids`."""
        self._check_open()
        try:
            return await self._cluster.topic_ids(names)
        except LostError as lost:
            kind = BrokerUnreachableError if lost.retriable else BadAnswerError
            raise kind(str(lost), kafka_code=lost.code, node=lost.node) from lost

    async def close(self) -> None:
        """Wait for the answers to what was sent, fail what was not, and close the connections."""
        self._closed = True
        await self._calls.close()
        await self._cluster.close()

    def _check_open(self) -> None:
        if self._closed:
            raise PersisterClosedError("the persister is closed", kafka_code=codes.NETWORK_EXCEPTION)
