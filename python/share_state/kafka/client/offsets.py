"""ListOffsets (2): where partitions begin and end, and the first record from a time on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from share_state.kafka.client.apis import LIST_OFFSETS
from share_state.kafka.client.connection import Connection

__all__ = ["EARLIEST", "LATEST", "Found", "OffsetQuestion", "list_offsets"]

LATEST: Final = -1
EARLIEST: Final = -2
#: Milliseconds that a broker may take where it asks remote storage.
_TIMEOUT_MS: Final = 30_000


class OffsetQuestion(NamedTuple):
    """Question about a partition.

    Attributes:
        topic: by its name.
        partition: its index.
        timestamp: ms since the epoch, or one of the special ones.
        leader_epoch: the leader answers in this epoch only; -1 for any.
    """

    topic: str
    partition: int
    timestamp: int = LATEST
    leader_epoch: int = -1


class Found(NamedTuple):
    """An offset, or why there is none. ``offset`` is -1 where no record is as young as was asked."""

    error_code: int
    offset: int
    timestamp: int = -1
    leader_epoch: int = -1


async def list_offsets(
    connection: Connection, asked: Iterable[OffsetQuestion], *, isolation: int = 0
) -> dict[tuple[str, int], Found]:
    """Ask a broker about partitions that it leads.

    Args:
        connection: to the broker.
        asked: the questions, one a partition.
        isolation: 0 for the high watermark as the latest offset, 1 for the last stable offset.

    Returns:
        Answers by name and partition.

    Raises:
        LostError: the broker does not answer.
    """
    topics: dict[str, list[dict[str, Any]]] = {}
    for one in asked:
        row = {"partitionIndex": one.partition, "currentLeaderEpoch": one.leader_epoch, "timestamp": one.timestamp}
        topics.setdefault(one.topic, []).append(row)
    message = {
        "replicaId": -1,
        "isolationLevel": isolation,
        "topics": [{"name": name, "partitions": rows} for name, rows in topics.items()],
        "timeoutMs": _TIMEOUT_MS,
    }
    answer = await connection.request(LIST_OFFSETS, message)
    return {
        (topic["name"], row["partitionIndex"]): Found(
            row["errorCode"], row["offset"], row["timestamp"], row.get("leaderEpoch", -1)
        )
        for topic in answer["topics"]
        if topic["name"] in topics
        for row in topic["partitions"]
    }
