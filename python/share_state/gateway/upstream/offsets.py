"""Offsets of upstream partitions by time: the start, the end, the first record from a moment on (ListOffsets)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from share_state.gateway.upstream.topics import Topic
from share_state.kafka import codes
from share_state.kafka.client.offsets import Found, OffsetQuestion
from share_state.kafka.client.offsets import list_offsets as ask_offsets
from share_state.kafka.client.peers import LostError, Node

if TYPE_CHECKING:
    from share_state.gateway.upstream.cluster import Upstream

__all__ = ["list_offsets"]


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
    ids = {topic.name: topic.topic_id for topic, _, _ in rows}
    asked = [
        OffsetQuestion(topic.name, partition, timestamp, topic.partitions[partition].leader_epoch if in_epoch else -1)
        for topic, partition, timestamp in rows
    ]
    try:
        told = await ask_offsets(await upstream.control.connection(node), asked, isolation=isolation)
    except LostError as lost:
        return {(topic.topic_id, partition): Found(lost.code, -1) for topic, partition, _ in rows}
    return {(ids[name], partition): found for (name, partition), found in told.items()}
