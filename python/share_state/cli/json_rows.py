"""The rows of `state` and `history` for machines: what the schemas in `share_state/schemas` describe.

A name that a person reads stands beside each id, and a time in ISO 8601 beside each in ms. A new field keeps the version; one
that goes, or changes its meaning, raises it.
"""

from share_state.analysis.history_row import HistoryRow
from share_state.analysis.names import iso_8601, state_name
from share_state.cli.summary import summarise
from share_state.reading.plain import ShareState
from share_state.types import StateBatch

#: Versions of the two schemas, which are in the rows and in the names of the schemas' files.
STATE_VERSION = 1
HISTORY_VERSION = 1


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
        "batches": [_batch(StateBatch(*batch)) for batch in state["batches"]],
    }


def history_json(row: HistoryRow) -> dict[str, object]:
    """Return a row of a history, with names beside its ids."""
    told: dict[str, object] = {"schema_version": HISTORY_VERSION}
    for name, value in row._asdict().items():
        told[name] = value
        if name in {"from_state", "to_state"}:
            told[f"{name}_name"] = None if value is None else state_name(value)
        elif name == "at_timestamp":
            told["at_time"] = iso_8601(value)
    return told


def _batch(batch: StateBatch) -> dict[str, object]:
    return {
        "first_offset": batch.first_offset,
        "last_offset": batch.last_offset,
        "delivery_state": batch.delivery_state,
        "delivery_state_name": state_name(batch.delivery_state),
        "delivery_count": batch.delivery_count,
    }
