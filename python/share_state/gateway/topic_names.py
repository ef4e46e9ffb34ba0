"""Names of topics, and the topics that clients name."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Final, TypeAlias

from share_state.gateway.access import Operation, Resource
from share_state.gateway.requests import Client
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.gateway.upstream.topics import Topic
from share_state.kafka import codes

__all__ = ["Names", "is_topic_name", "partition_code", "topics_named"]

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
