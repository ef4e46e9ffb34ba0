"""The requests that the gateway sends upstream, and in which versions."""

from __future__ import annotations

from typing import Final

__all__ = [
    "API_VERSIONS",
    "FETCH",
    "FETCH_BY_NAME",
    "FIND_COORDINATOR",
    "LIST_OFFSETS",
    "METADATA",
    "NEEDS",
    "OFFSET_FOR_LEADER_EPOCH",
]

FETCH: Final = 1
LIST_OFFSETS: Final = 2
METADATA: Final = 3
FIND_COORDINATOR: Final = 10
OFFSET_FOR_LEADER_EPOCH: Final = 23

#: The newest Fetch that names topics. The next one has their ids, which some clusters do not know.
FETCH_BY_NAME: Final = 12

#: Kafka 2.8 to 4.4, and what speaks the same protocol.
API_VERSIONS: Final = {
    FETCH: (4, 17),
    LIST_OFFSETS: (1, 9),
    METADATA: (1, 13),
    FIND_COORDINATOR: (1, 4),
    17: (1, 1),
    18: (0, 3),
    OFFSET_FOR_LEADER_EPOCH: (2, 4),
    36: (2, 2),
}
NEEDS: Final = "the upstream of a gateway is Kafka 2.8 or newer, or speaks its protocol"
