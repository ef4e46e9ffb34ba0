"""The life of a record for machines: what `share_state/schemas/trace-1.json` describes.

A new field keeps the version; one that goes, or changes its meaning, raises it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from share_state.operate.analysis.names import iso_8601, state_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from share_state.operate.analysis.trace import RecordTrace, TraceEvent
    from share_state.operate.analysis.trace_facts import RecordFacts

__all__ = ["TRACE_VERSION", "event_json", "trace_json"]

#: Version of the schema, which is in the object and in the name of the schema's file.
TRACE_VERSION = 1


class Member(Protocol):
    """Member that may hold the record; a live view has them."""

    @property
    def member_id(self) -> str:
        """Return its id."""

    @property
    def client_id(self) -> str:
        """Return the id of its client."""

    @property
    def client_host(self) -> str:
        """Return the address that it comes from."""


def trace_json(trace: RecordTrace, facts: RecordFacts, topic: str | None, members: Sequence[Member] | None) -> dict[str, object]:
    """Return the life of a record; null where something is not known."""
    return {
        "schema_version": TRACE_VERSION,
        "group": trace.group,
        "topic": topic,
        "topic_id": trace.topic_id,
        "partition": trace.partition,
        "offset": trace.offset,
        "state_partition": trace.state_partition,
        "start_offset": trace.start_offset,
        "log_end_offset": facts.log_end_offset,
        "state": trace.state,
        "state_name": None if trace.state is None else state_name(trace.state),
        "delivery_count": trace.delivery_count,
        "delivery_limit": facts.delivery_limit,
        "lock_duration_ms": facts.lock_duration_ms,
        "produced_timestamp": facts.produced_ms,
        "produced_time": None if facts.produced_ms is None else iso_8601(facts.produced_ms),
        "outcome": trace.outcome.value,
        "summary": trace.summary,
        "events": [event_json(event) for event in trace.events],
        "members": None if members is None else [_member(member) for member in members],
        "untold": list(trace.untold),
    }


def event_json(event: TraceEvent) -> dict[str, object]:
    """Return one event of a life."""
    return {
        "kind": str(event.kind),
        "at_timestamp": event.at_ms,
        "at_time": iso_8601(event.at_ms),
        "at_offset": event.at_offset,
        "state": event.state,
        "state_name": None if event.state is None else state_name(event.state),
        "delivery_count": event.delivery_count,
        "text": event.text,
    }


def _member(member: Member) -> dict[str, object]:
    return {"member_id": member.member_id, "client_id": member.client_id, "client_host": member.client_host}
