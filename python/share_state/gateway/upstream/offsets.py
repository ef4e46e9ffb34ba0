"""Offsets of upstream partitions by time: the start, the end, the first record from a moment on (ListOffsets)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.gateway.upstream.apis import LIST_OFFSETS
from share_state.gateway.upstream.topics import Topic
from share_state.kafka import codes
from share_state.kafka.peers import LostError, Node

if TYPE_CHECKING:
    from share_state.gateway.upstream.cluster import Upstream

__all__ = ["EARLIEST", "LATEST", "Found", "list_offsets"]

LATEST: Final = -1
EARLIEST: Final = -2


class Found(NamedTuple):
    """An offset, or why there is none. ``offset`` is -1 where no record is as young as was asked."""

    error_code: int
    offset: int
    timestamp: int = -1
    leader_epoch: int = -1


async def list_offsets(
    upstream: Upstream, asked: Iterable[tuple[Topic, int, int]], *, isolation: int = 0, in_epoch: bool = False
) -> dict[tuple[str, int], Found]:
    """Ask the leader of each partition.

    Args:
        upstream: the cluster.
        asked: topic, partition, and a timestamp in ms or one of the special ones.
        isolation: 0 for the high watermark as the latest offset, 1 for the last stable offset.
        in_epoch: whether leaders are to answer only in the epoch that the topic tells of them.

    Returns:
        What was found by topic id and partition. A partition that could not be asked has a code.
    """
    found: dict[tuple[str, int], Found] = {}
    by_node: dict[Node, list[tuple[Topic, int, int]]] = {}
    for topic, partition, timestamp in asked:
        if not 0 <= partition < len(topic.partitions):
            found[topic.topic_id, partition] = Found(codes.UNKNOWN_TOPIC_OR_PARTITION, -1)
            continue
        node = upstream.node(topic.partitions[partition].leader)
        if node is None:
            found[topic.topic_id, partition] = Found(codes.LEADER_NOT_AVAILABLE, -1)
        else:
            by_node.setdefault(node, []).append((topic, partition, timestamp))
    for answered in await asyncio.gather(*(_ask(upstream, node, rows, isolation, in_epoch) for node, rows in by_node.items())):
        found |= answered
    return found


async def _ask(
    upstream: Upstream, node: Node, rows: list[tuple[Topic, int, int]], isolation: int, in_epoch: bool
) -> dict[tuple[str, int], Found]:
    topics: dict[str, list[dict[str, int]]] = {}
    ids = {}
    for topic, partition, timestamp in rows:
        ids[topic.name] = topic.topic_id
        epoch = topic.partitions[partition].leader_epoch if in_epoch else -1
        row = {"partitionIndex": partition, "currentLeaderEpoch": epoch, "timestamp": timestamp}
        topics.setdefault(topic.name, []).append(row)
    message = {
        "replicaId": -1,
        "isolationLevel": isolation,
        "topics": [{"name": name, "partitions": partitions} for name, partitions in topics.items()],
        "timeoutMs": 30_000,
    }
    try:
        connection = await upstream.control.connection(node)
        answer = await connection.request(LIST_OFFSETS, message)
    except LostError as lost:
        return {(topic.topic_id, partition): Found(lost.code, -1) for topic, partition, _ in rows}
    return {
        (ids[topic["name"]], row["partitionIndex"]): Found(
            row["errorCode"], row["offset"], row["timestamp"], row.get("leaderEpoch", -1)
        )
        for topic in answer["topics"]
        if topic["name"] in ids
        for row in topic["partitions"]
    }
