"""Dead letters with their payloads: blocks for people, rows for machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from share_state.analysis.names import instant, iso_8601
from share_state.cli.dlq_view import letter_line
from share_state.cli.lines import Lines
from share_state.dead_letters.json_rows import SHOW_VERSION, letter_json

if TYPE_CHECKING:
    from share_state.dead_letters import LetterPayload
    from share_state.payloads import Payload, Showing, Shown

__all__ = ["payload_json", "write_payloads"]


def write_payloads(found: Iterable[LetterPayload], showing: Showing, nothing: str) -> None:
    """Write a block a record, as they come; `nothing` is said where none comes."""
    lines = Lines()
    met = False
    for one in found:
        if met:
            lines.write("")
        met = True
        # What is printable already is not escaped twice: the line is written as it is.
        lines.write_printable(letter_line(one.letter))
        if one.missing is not None:
            also = "" if one.payload is None else "; the queue holds a copy of its key and value"
            lines.write(f"gone from the source: {one.missing}{also}", indent=2)
        if one.payload is not None:
            _write_payload(lines, one.payload, showing)
    if not met:
        lines.write(nothing)


def _write_payload(lines: Lines, payload: Payload, showing: Showing) -> None:
    shown = showing.record(payload)
    if payload.timestamp_ms is not None:
        lines.write(f"time   {instant(payload.timestamp_ms)}", indent=2)
    lines.write(f"key    {_words(shown.key)}", indent=2, more=7)
    lines.write(f"value  {_words(shown.value)}", indent=2, more=7)
    for header in shown.headers:
        lines.write(f"header {header.name}: {_words(header.value)}", indent=2, more=7)


def _words(shown: Shown) -> str:
    if shown.text is None:
        return "(none)"
    more = f" … {shown.cut} bytes more" if shown.cut else ""
    why = f" ({shown.reason})" if shown.reason else ""
    return f"{shown.text}{more}{why}"


def payload_json(one: LetterPayload, showing: Showing) -> dict[str, object]:
    """Return a dead letter with the record that it is of; null where that is gone."""
    payload = one.payload
    told = {**letter_json(one.letter), "schema_version": SHOW_VERSION, "missing": one.missing, "record": None}
    if payload is not None:
        shown = showing.record(payload)
        told["record"] = {
            "from_queue": one.missing is not None,
            "timestamp": payload.timestamp_ms,
            "time": None if payload.timestamp_ms is None else iso_8601(payload.timestamp_ms),
            "key": _shown_json(shown.key),
            "value": _shown_json(shown.value),
            "headers": [{"name": header.name, **_shown_json(header.value)} for header in shown.headers],
        }
    return told


def _shown_json(shown: Shown) -> dict[str, object]:
    return {**shown._asdict(), "format": None if shown.format is None else shown.format.value}
