"""Brokers by address, the requests we have for them, and the loss of one on the way."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["API_NAMES", "API_VERSIONS", "Address", "LostError", "Node"]

#: The versions of each request that we speak.
API_VERSIONS: Final = {
    3: (12, 13),
    10: (6, 6),
    17: (1, 1),
    18: (3, 3),
    36: (2, 2),
    83: (0, 0),
    84: (0, 0),
    85: (0, 1),
    86: (0, 0),
    87: (0, 1),
}
API_NAMES: Final = {
    3: "Metadata",
    10: "FindCoordinator",
    17: "SaslHandshake",
    18: "ApiVersions",
    36: "SaslAuthenticate",
    83: "InitializeShareGroupState",
    84: "ReadShareGroupState",
    85: "WriteShareGroupState",
    86: "DeleteShareGroupState",
    87: "ReadShareGroupStateSummary",
}


class Address(NamedTuple):
    """Where a broker listens."""

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
