"""Reason for the position of a start offset, in one sentence, from the persisted state alone.

The start offset moves over settled records (ACKNOWLEDGED, ARCHIVED) and stops at the first that is not. What is
persisted lags by one write: settled records right at the start offset are passed when the next change is written.
A record in a consumer's hands is never persisted as such, so it shows as its last written state, or not at all.
"""

from collections.abc import Sequence
from typing import NamedTuple

from share_state.types import RecordState, StateBatch

#: States from which no record comes back.
TERMINAL = frozenset({RecordState.ACKNOWLEDGED, RecordState.ARCHIVED})


class StartOffsetReason(NamedTuple):
    """The oldest offset known to be unsettled, if any, and the sentence."""

    oldest_unsettled: int | None
    text: str


def explain_start_offset(start_offset: int, batches: Sequence[StateBatch]) -> StartOffsetReason:
    """Explain a start offset; `batches` are sorted and disjoint."""
    if start_offset < 0:
        return StartOffsetReason(None, "not resolved yet: share.auto.offset.reset decides when records are first fetched")
    position, blocker = _head(start_offset, batches)
    if blocker is None:
        return _nothing_written(start_offset, position)
    if blocker.first_offset > position:
        text = never_settled(position, blocker.first_offset - 1)
    else:
        text = unsettled(blocker._replace(first_offset=position))
    return StartOffsetReason(position, text + _settled_before(start_offset, position))


def head_offset(start_offset: int, batches: Sequence[StateBatch]) -> int:
    """Return the first offset from the start offset on that is not settled, whether something is written about it or not."""
    return _head(start_offset, batches)[0]


def _head(start_offset: int, batches: Sequence[StateBatch]) -> tuple[int, StateBatch | None]:
    """Return that offset, and the first batch at or after it; None where there is none."""
    position = start_offset
    for batch in batches:
        if batch.last_offset < position:
            continue
        if batch.first_offset > position or batch.delivery_state not in TERMINAL:
            return position, batch
        position = batch.last_offset + 1
    return position, None


def _nothing_written(start_offset: int, position: int) -> StartOffsetReason:
    text = f"nothing is written about offsets from {position} on: acquired for the first time, or never delivered"
    return StartOffsetReason(None, text + _settled_before(start_offset, position))


def never_settled(first: int, last: int) -> str:
    """Say what is known of offsets about which nothing is written, although later ones are known."""
    return f"{_offsets(first, last)} never settled: acquired for the first time, or never delivered"


def unsettled(batch: StateBatch) -> str:
    """Say how records stand that are not settled."""
    records = _records(batch.first_offset, batch.last_offset)
    state = batch.delivery_state
    if state == RecordState.AVAILABLE:
        count = batch.delivery_count
        return f"{records} available after {count} {'delivery' if count == 1 else 'deliveries'}"
    if state == RecordState.ARCHIVING:
        return f"{records} archiving: the dead-letter write is not finished"
    return f"{records} in state {state}, which this version does not know"


def _settled_before(start_offset: int, position: int) -> str:
    if position == start_offset:
        return ""
    settled = _span(start_offset, position - 1)
    verb = "is" if position - 1 == start_offset else "are"
    return f"; {settled} {verb} settled and passed with the next write"


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _records(first: int, last: int) -> str:
    return f"record {first} is" if first == last else f"records {first}-{last} are"


def _offsets(first: int, last: int) -> str:
    return f"offset {first} was" if first == last else f"offsets {first}-{last} were"
