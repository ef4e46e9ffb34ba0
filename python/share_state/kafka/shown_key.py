"""Keys and topic ids as every API gives them out: hyphenated UUIDs, where messages have base64."""

from __future__ import annotations

from share_state._core import coordinator_key, parse_coordinator_key
from share_state.types import SharePartitionKey

__all__ = ["shown_key", "shown_topic_id"]


def shown_key(key: SharePartitionKey) -> SharePartitionKey:
    """Return the key with its topic id as a hyphenated UUID; what is none stays as it is."""
    return key._replace(topic_id=shown_topic_id(key.topic_id))


def shown_topic_id(topic_id: str) -> str:
    """Return a topic id as a hyphenated UUID; what is none stays as it is."""
    try:
        return parse_coordinator_key(coordinator_key("group", topic_id, 0)).topic_id
    except ValueError:
        return topic_id
