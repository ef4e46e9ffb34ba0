"""Which topics clients may name by id in ShareFetch and ShareAcknowledge."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from share_state.gateway.access import Operation, Resource
from share_state.gateway.requests import Client
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.gateway.upstream.topics import Topic
from share_state.kafka import codes

__all__ = ["Names", "TopicNames"]

#: Topics by id, those that exist.
Names: TypeAlias = dict[str, Topic]


class TopicNames:
    """Finds topics by id: in memory, or upstream.

    Args:
        upstream: the cluster with the topics.
    """

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def of(self, topic_ids: Collection[str]) -> Names:
        """Return the topics of these ids, as far as they exist."""
        names: Names = {}
        missing = []
        for topic_id in topic_ids:
            topic = self._upstream.known(topic_id)
            if topic is None:
                missing.append(topic_id)
            else:
                names[topic_id] = topic
        if missing:
            try:
                names |= await self._upstream.topics_by_id(missing)
            except UpstreamError:
                # Cannot be told apart from a topic that does not exist; the client asks for metadata and comes back.
                return names
        return names

    @staticmethod
    def error(client: Client, names: Names, topic_id: str, partition: int) -> int:
        """Return Kafka's code for a client that names a partition."""
        topic = names.get(topic_id)
        if topic is None:
            return codes.UNKNOWN_TOPIC_ID
        if not client.may(Operation.READ, Resource.TOPIC, topic.name):
            return codes.TOPIC_AUTHORIZATION_FAILED
        if topic.is_internal or not 0 <= partition < len(topic.partitions):
            return codes.UNKNOWN_TOPIC_OR_PARTITION
        return codes.NONE
