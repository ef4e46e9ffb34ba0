"""Names of topics, and the topics that clients may name by id in ShareFetch and ShareAcknowledge."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable
from typing import Final, TypeAlias

from share_state.gateway.access import Operation, Resource
from share_state.gateway.requests import Client
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.gateway.upstream.topics import Topic
from share_state.kafka import codes

__all__ = ["Names", "TopicNames", "is_topic_name", "partition_code", "topics_named"]

_LOG: Final = logging.getLogger("share_state.gateway")

#: ``Topic.validate``.
_NAME: Final = re.compile(r"(?!\.{1,2}\Z)[a-zA-Z0-9._-]{1,249}\Z")

#: Topics that exist, by id or by name.
Names: TypeAlias = dict[str, Topic]


def is_topic_name(name: str) -> bool:
    """Say whether a topic can have a name."""
    return _NAME.match(name) is not None


async def topics_named(upstream: Upstream, names: Iterable[str]) -> Names:
    """Return topics by their names: as upstream knows them, or as last known while it cannot be reached."""
    wanted = set(names)
    try:
        return await upstream.topics(wanted)
    except UpstreamError as lost:
        _LOG.warning("upstream cannot be reached for its topics: %s", lost)
        return {name: topic for name in wanted if (topic := upstream.known_by_name(name)) is not None}


def partition_code(client: Client, name: str, topic: Topic | None, partition: int, operation: Operation) -> int:
    """Return Kafka's code for a client that names a partition by the name of its topic."""
    if not client.may(operation, Resource.TOPIC, name):
        return codes.TOPIC_AUTHORIZATION_FAILED
    if topic is None or not 0 <= partition < len(topic.partitions):
        return codes.UNKNOWN_TOPIC_OR_PARTITION
    return codes.NONE


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
