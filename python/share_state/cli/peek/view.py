"""View of one record in `share-state peek`: to people a block of lines, to machines an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.cli.shared.payload_json import payload_json
from share_state.operate.analysis.names import counted_state, instant, state_name
from share_state.operate.analysis.trace_json import event_json
from share_state.operate.payloads import Missing, Payload, Reason, Shown, ShownRecord

if TYPE_CHECKING:
    from share_state.cli.shared.lines import Lines
    from share_state.operate.analysis.trace import RecordTrace

__all__ = ["MISSING", "PEEK_VERSION", "Peeked", "peek_json", "write_block", "write_payload"]

#: Version of the schema `share_state/schemas/peek-1.json`.
PEEK_VERSION: Final = 1
#: Reasons for the absence of a record, for people.
MISSING: Final = {
    Reason.BELOW_LOG_START: "the log of the topic begins after it",
    Reason.AT_OR_AFTER_LOG_END: "it is not produced yet: the log of the topic ends before it",
    Reason.NOT_THERE: "the log of the topic has no record there: compacted, or a control record",
}
#: Column where the contents of a block begin.
_INDENT: Final = 11


class Peeked(NamedTuple):
    """Record as `share-state peek` shows it.

    Attributes:
        topic: the name of its topic.
        trace: what became of it in the group.
        delivery_limit: of the group; None where it is not known.
        found: the record, or why there is none.
        shown: what is shown of it; None where there is none.
    """

    topic: str
    trace: RecordTrace
    delivery_limit: int | None
    found: Payload | Missing
    shown: ShownRecord | None


def peek_json(one: Peeked) -> dict[str, object]:
    """Return what `share_state/schemas/peek-1.json` describes."""
    trace = one.trace
    return {
        "schema_version": PEEK_VERSION,
        "group": trace.group,
        "topic": one.topic,
        "topic_id": trace.topic_id,
        "partition": trace.partition,
        "offset": trace.offset,
        "state": trace.state,
        "state_name": None if trace.state is None else state_name(trace.state),
        "delivery_count": trace.delivery_count,
        "delivery_limit": one.delivery_limit,
        "outcome": trace.outcome.value,
        "summary": trace.summary,
        "events": [event_json(event) for event in trace.events],
        **payload_json(one.found, one.shown),
    }


def write_block(lines: Lines, one: Peeked) -> None:
    """Write one record; everything from the cluster is escaped by `lines`."""
    trace = one.trace
    lines.write(f"{one.topic}-{trace.partition}  offset {trace.offset}  {trace.summary}", more=2)
    for event in trace.events:
        state = "" if event.state is None or event.delivery_count is None else counted_state(event.state, event.delivery_count)
        _line(lines, "history", f"{instant(event.at_ms)}  {event.kind}  {state}".rstrip())
    if isinstance(one.found, Missing) or one.shown is None:
        reason = one.found.reason if isinstance(one.found, Missing) else Reason.NOT_THERE
        _line(lines, "record", f"none to show: {MISSING[reason]}")
        return
    write_payload(lines, one.found, one.shown)


def write_payload(lines: Lines, found: Payload, record: ShownRecord) -> None:
    """Write the time, key, value and headers of a record."""
    if found.timestamp_ms is not None:
        _line(lines, "time", instant(found.timestamp_ms))
    for name, shown in (("key", record.key), ("value", record.value)):
        _line(lines, name, _text(shown))
    for header in record.headers:
        _line(lines, "header", f"{header.name}: {_text(header.value)}")


def _line(lines: Lines, name: str, text: str) -> None:
    lines.write(f"{name:<9}{text}", indent=2, more=_INDENT - 2)


def _text(shown: Shown) -> str:
    if shown.text is None:
        return "none"
    size = f"{shown.size} byte" if shown.size == 1 else f"{shown.size} bytes"
    notes = [*([] if shown.format is None else [shown.format.value]), size]
    if shown.cut:
        notes.append(f"{shown.cut} of them not shown" if shown.format == "hex" else f"{shown.cut} bytes of text not shown")
    if shown.reason is not None:
        notes.append(shown.reason)
    return f"{shown.text}  ({', '.join(notes)})"
