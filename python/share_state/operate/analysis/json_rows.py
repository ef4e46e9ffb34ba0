"""The rows of a history for machines: what `share_state/schemas/history-1.json` describes.

A name that a person reads stands beside each id, and a time in ISO 8601 beside each in ms. A new field keeps the version; one
that goes, or changes its meaning, raises it.
"""

from share_state.operate.analysis.history_row import HistoryRow
from share_state.operate.analysis.names import iso_8601, state_name
from share_state.types import StateBatch

__all__ = ["HISTORY_VERSION", "batch_json", "history_json"]

#: Version of the schema, which is in the rows and in the name of the schema's file.
HISTORY_VERSION = 1


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


def batch_json(batch: StateBatch) -> dict[str, object]:
    """Return what is known of an interval of offsets."""
    return {
        "first_offset": batch.first_offset,
        "last_offset": batch.last_offset,
        "delivery_state": batch.delivery_state,
        "delivery_state_name": state_name(batch.delivery_state),
        "delivery_count": batch.delivery_count,
    }
