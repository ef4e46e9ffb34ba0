"""Keys, values and headers of records for machines, as they are shown: decoded, redacted and cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from share_state.operate.analysis.names import iso_8601
from share_state.operate.payloads import Missing

if TYPE_CHECKING:
    from share_state.operate.payloads import Payload, Shown, ShownRecord

__all__ = ["payload_json"]


def payload_json(found: Payload | Missing, shown: ShownRecord | None) -> dict[str, object]:
    """Return the time, key, value and headers of a record, or why there is none."""
    if isinstance(found, Missing) or shown is None:
        reason = found.reason.value if isinstance(found, Missing) else None
        return {"missing": reason, "timestamp": None, "time": None, "key": None, "value": None, "headers": None}
    ms = found.timestamp_ms
    return {
        "missing": None,
        "timestamp": ms,
        "time": None if ms is None else iso_8601(ms),
        "key": shown_json(shown.key),
        "value": shown_json(shown.value),
        "headers": [{"name": header.name, "value": shown_json(header.value)} for header in shown.headers],
    }


def shown_json(shown: Shown) -> dict[str, object] | None:
    """Return a key, a value or the value of a header; None where there is nothing."""
    if shown.text is None:
        return None
    return {
        "format": None if shown.format is None else shown.format.value,
        "text": shown.text,
        "size": shown.size,
        "cut": shown.cut,
        "reason": shown.reason,
        "redacted": shown.redacted,
    }
