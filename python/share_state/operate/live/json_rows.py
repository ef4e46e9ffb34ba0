"""The rows of `top` for machines: what `share_state/schemas/top-1.json` describes.

A new field keeps the version; one that goes, or changes its meaning, raises it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from share_state.operate.analysis.names import iso_8601, state_name

if TYPE_CHECKING:
    from share_state.operate.live.rates import Rates
    from share_state.operate.live.view import GroupView, SharePartitionView, View

#: Version of the schema, which is in the rows and in the name of the schema's file.
TOP_VERSION = 1


def top_json(view: View, group: GroupView, one: SharePartitionView) -> dict[str, object]:
    """Return one share partition, with what is known of its group; null where something is not known."""
    row = one.row
    return {
        "schema_version": TOP_VERSION,
        "at_timestamp": view.at_ms,
        "at_time": iso_8601(view.at_ms),
        "group": one.group,
        "group_state": group.state,
        "group_members": None if group.members is None else len(group.members),
        "topic": one.topic,
        "topic_id": one.topic_id,
        "partition": one.partition,
        "health": one.verdict.health.value,
        "why": one.verdict.why,
        "members": list(one.members),
        "lag": one.lag,
        "log_end_offset": one.log_end_offset,
        "start_offset": None if row is None else row.start_offset,
        "end_offset": None if row is None else row.end_offset,
        "available": None if row is None else row.available,
        "acknowledged": None if row is None else row.acknowledged,
        "archiving": None if row is None else row.archiving,
        "archived": None if row is None else row.archived,
        "delivery_counts": None if row is None else [list(pair) for pair in row.delivery_counts],
        "held_offset": None if row is None else row.held_offset,
        "held_state": None if row is None else row.held_state,
        "held_state_name": None if row is None or row.held_state is None else state_name(row.held_state),
        "held_count": None if row is None else row.held_count,
        "held_since_timestamp": None if row is None else row.held_since,
        "held_since_time": None if row is None or row.held_since is None else iso_8601(row.held_since),
        "rates": None if one.rates is None else _rates(one.rates),
    }


def _rates(rates: Rates) -> dict[str, object]:
    return {**rates._asdict(), "seconds": round(rates.seconds, 3)}
