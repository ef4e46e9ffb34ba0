"""FindCoordinator (10): the brokers that coordinate groups, or keep the state of share partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from share_state.kafka.client.apis import FIND_COORDINATOR
from share_state.kafka.client.connection import Connection
from share_state.kafka.client.peers import Address, Node

__all__ = ["KEYS_AT_ONCE", "OF_GROUPS", "OF_SHARE_PARTITIONS", "Coordinator", "find_coordinators"]

#: Types of keys; the second came with KIP-932.
OF_GROUPS: Final = 0
OF_SHARE_PARTITIONS: Final = 2
#: The first version that asks for many keys.
_MANY: Final = 4
#: Keys of one request.
KEYS_AT_ONCE: Final = 500


class Coordinator(NamedTuple):
    """A coordinator, or why there is none at the moment."""

    error_code: int
    node: Node
    #: The broker's words for the error, where it has some.
    said: str | None = None


async def find_coordinators(connection: Connection, kind: int, keys: Sequence[str]) -> dict[str, Coordinator]:
    """Ask a broker for the coordinators of keys; one that the answer lacks is left out.

    Raises:
        LostError: the broker does not answer.
        BrokerTooOldError: it does not have the request.
    """
    at_once = KEYS_AT_ONCE if connection.version_of(FIND_COORDINATOR) >= _MANY else 1
    found: dict[str, Coordinator] = {}
    for start in range(0, len(keys), at_once):
        some = keys[start : start + at_once]
        answer = await connection.request(FIND_COORDINATOR, {"key": some[0], "keyType": kind, "coordinatorKeys": some})
        rows: list[dict[str, Any]] = answer["coordinators"] if at_once > 1 else [{"key": some[0], **answer}]
        for row in rows:
            node = Node(row["nodeId"], Address(row["host"], row["port"]))
            found.setdefault(row["key"], Coordinator(row["errorCode"], node, row.get("errorMessage")))
    return {key: found[key] for key in keys if key in found}
