"""Dead letters with their payloads: blocks for people, rows for machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from share_state.cli.dlq.view import letter_line
from share_state.cli.peek.view import MISSING, write_payload
from share_state.cli.shared.lines import Lines
from share_state.cli.shared.payload_json import payload_json
from share_state.operate.dead_letters.json_rows import SHOW_VERSION, letter_json
from share_state.operate.payloads import Missing, Reason

if TYPE_CHECKING:
    from share_state.operate.dead_letters import LetterPayload
    from share_state.operate.payloads import Showing

__all__ = ["show_json", "write_payloads"]

#: Reasons for the absence of a record, for people.
_GONE = {reason.value: words for reason, words in MISSING.items()} | {"no_topic": "the topic, or its partition, is gone"}


def write_payloads(found: Iterable[LetterPayload], showing: Showing, nothing: str) -> None:
    """Write a block a record, as they come; `nothing` is said where none comes."""
    lines = Lines()
    met = False
    for one in found:
        if met:
            lines.write("")
        met = True
        lines.write(letter_line(one.letter), more=2)
        if one.missing is not None:
            lines.write(f"record   {_GONE[one.missing]}", indent=2, more=9)
        if one.payload is not None:
            if one.missing is not None:
                lines.write("copy     of its key and value, in the queue:", indent=2, more=9)
            write_payload(lines, one.payload, showing.record(one.payload))
    if not met:
        lines.write(nothing)


def show_json(one: LetterPayload, showing: Showing) -> dict[str, object]:
    """Return a dead letter with the record that it is of; null where that is gone."""
    letter, payload = one.letter, one.payload
    if payload is None:
        told = payload_json(Missing(letter.topic, letter.partition, letter.first_offset, Reason.NOT_THERE), None)
    else:
        told = payload_json(payload, showing.record(payload))
    told["missing"] = one.missing
    whole = {**letter_json(letter), "schema_version": SHOW_VERSION}
    for name, value in told.items():
        # The letter has a time of its own.
        whole[f"record_{name}" if name in whole else name] = value
        if name == "missing":
            whole["from_queue"] = payload is not None and one.missing is not None
    return whole
