"""Topic ids as people write them: Kafka's tools show base64, rows have hyphenated UUIDs."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from contextlib import suppress
from uuid import UUID

from share_state import _core

__all__ = ["base64_id", "hyphenated"]


def hyphenated(topic_id: str) -> str:
    """Return a topic id, UUID or base64, as it stands in a row; what is none stays as it is."""
    with suppress(ValueError):
        return str(UUID(topic_id))
    with suppress(ValueError):
        return _core.parse_coordinator_key(f"group:{topic_id}:0")[1]
    return topic_id


def base64_id(topic_id: str) -> str:
    """Return a hyphenated UUID as messages and Kafka's tools have it."""
    return urlsafe_b64encode(UUID(topic_id).bytes).decode().rstrip("=")
