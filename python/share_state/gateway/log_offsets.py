"""Offsets of the logs upstream (RPC 2)."""

from __future__ import annotations

from typing import Any

from share_state.gateway.access import Operation
from share_state.gateway.net import Net
from share_state.gateway.requests import Client
from share_state.gateway.topic_names import partition_code, topics_named
from share_state.gateway.upstream.cluster import Upstream
from share_state.gateway.upstream.offsets import list_offsets
from share_state.kafka import codes

__all__ = ["LogOffsets"]


class LogOffsets:
    """Answers what is asked about logs.

    Args:
        upstream: the cluster with the logs.
        net: has the turns of long requests.
    """

    def __init__(self, upstream: Upstream, net: Net) -> None:
        self._upstream = upstream
        self._net = net

    async def list_offsets(self, client: Client, _version: int, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer ListOffsets (RPC 2) with what upstream says."""
        # As Kafka: a partition is answered once, and one that is named twice is refused.
        times: dict[str, dict[int, list[int]]] = {}
        async for row in self._net.slices.of(asked["topics"]):
            for partition in row["partitions"]:
                times.setdefault(row["name"], {}).setdefault(partition["partitionIndex"], []).append(partition["timestamp"])
        topics = await topics_named(self._upstream, (name for name in times if client.sees(name)))
        wanted = [
            (topics[name], index, at[0])
            for name, partitions in times.items()
            if name in topics
            for index, at in partitions.items()
            if len(at) == 1
        ]
        found = await list_offsets(self._upstream, wanted, isolation=asked.get("isolationLevel", 0))
        answered = []
        async for name, partitions in self._net.slices.of(times.items()):
            topic, rows = topics.get(name), []
            for index, at in partitions.items():
                code = partition_code(client, name, topic, index, Operation.DESCRIBE)
                offset = timestamp = -1
                if len(at) > 1 and code != codes.TOPIC_AUTHORIZATION_FAILED:
                    code = codes.INVALID_REQUEST
                elif code == codes.NONE and topic is not None:
                    code, offset, timestamp, _ = found[topic.topic_id, index]
                rows.append(
                    {"partitionIndex": index, "errorCode": code, "timestamp": timestamp, "offset": offset, "leaderEpoch": -1}
                )
            answered.append({"name": name, "partitions": rows})
        return {"topics": answered}
