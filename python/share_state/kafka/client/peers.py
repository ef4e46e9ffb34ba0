"""Brokers by address, the requests we have for them, and the loss of one on the way."""

from __future__ import annotations

from typing import Final, NamedTuple

from share_state._core import api_table

__all__ = ["API_NAMES", "API_VERSIONS", "PERSISTER_APIS", "Address", "LostError", "Node", "spoken"]

_TABLE: Final = api_table()
API_NAMES: Final = {api_key: name for api_key, (name, _, _, _) in _TABLE.items()}


def spoken(api_key: int, since: int | None = None) -> tuple[int, int]:
    """Give the versions of a request that the codec has, from ``since`` on where an older one will not do."""
    _, oldest, newest, _ = _TABLE[api_key]
    return (oldest if since is None else since, newest)


#: RPC 83 to 87, between a share-partition leader and its share coordinator, each in every version that there is.
PERSISTER_APIS: Final = {api_key: spoken(api_key) for api_key in range(83, 88)}
#: The versions of each request that we send: topics by their ids, coordinators by many keys, and a login with an answer.
API_VERSIONS: Final = {
    3: spoken(3, since=12),
    10: spoken(10, since=6),
    17: spoken(17, since=1),
    18: (3, 3),
    32: spoken(32),
    36: spoken(36, since=2),
    **PERSISTER_APIS,
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
