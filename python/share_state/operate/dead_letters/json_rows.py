"""The rows of `dlq` for machines: what `share_state/schemas/dlq-*-1.json` describe.

A new field keeps the version; one that goes, or changes its meaning, raises it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from share_state.operate.analysis.names import iso_8601

if TYPE_CHECKING:
    from share_state.operate.dead_letters import DeadLetter, RedriveRow

#: Versions of the schemas, which are in the rows and in the names of the schemas' files.
LIST_VERSION = 1
SHOW_VERSION = 1
REDRIVE_VERSION = 1


def letter_json(letter: DeadLetter) -> dict[str, object]:
    """Return a dead letter; null where something is not known."""
    queue = letter.queue
    return {
        "schema_version": LIST_VERSION,
        "group": letter.group,
        "topic": letter.topic,
        "topic_id": letter.topic_id,
        "partition": letter.partition,
        "first_offset": letter.first_offset,
        "last_offset": letter.last_offset,
        "delivery_count": letter.delivery_count,
        "cause": letter.cause.value,
        "message": letter.message,
        "timestamp": letter.timestamp,
        "time": iso_8601(letter.timestamp),
        "queue_topic": None if queue is None else queue.topic,
        "queue_partition": None if queue is None else queue.partition,
        "queue_offset": None if queue is None else queue.offset,
        "copied": queue is not None and queue.copied,
    }


def redrive_json(group: str, row: RedriveRow) -> dict[str, object]:
    """Return how it went with a record."""
    return {"schema_version": REDRIVE_VERSION, "group": group, **row._asdict(), "outcome": row.outcome.value}
