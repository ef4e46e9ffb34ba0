"""Brokers by address, and the loss of a request on its way to one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from share_state.errors import ConfigError

__all__ = ["Address", "LostError", "Node", "parse_bootstrap"]

_MAX_PORT: Final = 65_535


class Address(NamedTuple):
    """Address at which a broker listens."""

    host: str
    port: int


class Node(NamedTuple):
    """A broker; id -1 is one of the bootstrap servers, whose id nobody has told yet."""

    id: int
    address: Address

    def __str__(self) -> str:
        place = f"{self.address.host}:{self.address.port}"
        return place if self.id < 0 else f"broker {self.id} ({place})"


class LostError(Exception):
    """A request will not be answered.

    Attributes:
        node: the broker, or the brokers, as text.
        code: 13 when the connection was lost, 7 when the time was over, -1 when the peer does not speak Kafka, 58 when
            it does not take our certificate.
        sent: whether the request may have reached the broker.
        retriable: whether another attempt can go better.
    """

    def __init__(self, node: str, reason: str, *, code: int, sent: bool, retriable: bool = True) -> None:
        super().__init__(f"{node}: {reason}")
        self.node = node
        self.reason = reason
        self.code = code
        self.sent = sent
        self.retriable = retriable

    def again(self) -> LostError:
        """Make the same for another request."""
        return LostError(self.node, self.reason, code=self.code, sent=self.sent, retriable=self.retriable)

    def unsent(self) -> LostError:
        """Make the same for a request that was not sent."""
        return LostError(self.node, self.reason, code=self.code, sent=False, retriable=self.retriable)


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
