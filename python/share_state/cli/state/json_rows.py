"""The rows of `state` for machines: what `share_state/schemas/state-1.json` describes.

A name that a person reads stands beside each id, and a time in ISO 8601 beside each in ms. A new field keeps the version; one
that goes, or changes its meaning, raises it.
"""

from share_state.cli.state.summary import summarise
from share_state.operate.analysis.json_rows import batch_json
from share_state.operate.analysis.names import iso_8601
from share_state.operate.reading.plain import ShareState
from share_state.types import StateBatch

#: Version of the schema, which is in the rows and in the name of the schema's file.
STATE_VERSION = 1


def state_json(state: ShareState, log_end_offset: int | None = None) -> dict[str, object]:
    """Return the state of a share partition with every column of the table."""
    summary = summarise(state, log_end_offset)
    return {
        "schema_version": STATE_VERSION,
        "group": state["group"],
        "topic_id": state["topic_id"],
        "partition": state["partition"],
        "state_partition": state["state_partition"],
        "snapshot_epoch": state["snapshot_epoch"],
        "state_epoch": state["state_epoch"],
        "leader_epoch": state["leader_epoch"],
        "start_offset": state["start_offset"],
        "delivery_complete_count": state["delivery_complete_count"],
        "end_offset": summary.window_end,
        "available": summary.available,
        "acknowledged": summary.acknowledged,
        "archiving": summary.archiving,
        "archived": summary.archived,
        "highest_delivery_count": summary.highest_delivery_count,
        "oldest_unsettled": summary.oldest_unsettled,
        "log_end_offset": summary.log_end_offset,
        "lag": summary.lag,
        "reason": summary.reason,
        "incomplete": state["incomplete"],
        "create_timestamp": state["create_timestamp"],
        "create_time": iso_8601(state["create_timestamp"]),
        "write_timestamp": state["write_timestamp"],
        "write_time": iso_8601(state["write_timestamp"]),
        "batches": [batch_json(StateBatch(*batch)) for batch in state["batches"]],
    }
